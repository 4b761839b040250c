"""Oracles of the assignment `seq2seq`, one module for each notebook."""

from autograder.instructor.oracles.seq2seq import cells, decoding, encoder_decoder

ORACLES = {**cells.ORACLES, **encoder_decoder.ORACLES, **decoding.ORACLES}
