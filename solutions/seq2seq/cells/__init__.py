from solutions.seq2seq.cells.notebook import *
