"""Exception raised when a data set cannot be loaded."""


class DatasetError(Exception):
    """A data set could not be loaded; the message is one sentence that says what to do."""
