"""The exercises of the assignment `bert`, one module for each notebook."""
