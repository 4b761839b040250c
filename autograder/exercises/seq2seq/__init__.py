"""The exercises of the assignment `seq2seq`, one module for each notebook."""
