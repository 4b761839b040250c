"""The exercises of the assignment `bahdanau`, one module for each notebook."""
