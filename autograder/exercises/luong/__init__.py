"""The exercises of the assignment `luong`, one module for each notebook."""
