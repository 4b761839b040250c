"""The exercises of the assignment `transformer`, one module for each notebook."""
