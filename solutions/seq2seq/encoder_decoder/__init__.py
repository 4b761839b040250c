from solutions.seq2seq.encoder_decoder.solution import *
