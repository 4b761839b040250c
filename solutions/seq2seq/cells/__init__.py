from solutions.seq2seq.cells.solution import *
