"""The exercises of the assignment `han`, one module for each notebook."""
