from solutions.seq2seq.encoder_decoder.notebook import *
