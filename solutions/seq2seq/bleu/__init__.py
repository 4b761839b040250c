from solutions.seq2seq.bleu.notebook import *
