"""The exercises of the assignment `embeddings`, one module for each notebook."""
