"""The exercises of the assignment `modern`, one module for each notebook."""
