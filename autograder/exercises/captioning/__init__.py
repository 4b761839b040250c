"""The exercises of the assignment `captioning`, one module for each notebook."""
