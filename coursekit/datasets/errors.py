"""Exception that the data sets raise."""


class DatasetError(Exception):
    """A data set could not be loaded; the message is one sentence that says what to do."""
