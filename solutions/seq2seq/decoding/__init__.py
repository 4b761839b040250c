from solutions.seq2seq.decoding.notebook import *
