"""The exercises of the assignment `sentences`, one module for each notebook."""
