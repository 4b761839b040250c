from solutions.seq2seq.decoding.solution import *
