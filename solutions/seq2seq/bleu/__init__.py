from solutions.seq2seq.bleu.solution import *
