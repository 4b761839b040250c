"""The one exception of the data loader."""


class DatasetError(Exception):
    """A data set could not be loaded; the message is one sentence that says what to do."""
