from solutions.bahdanau.translator.solution import *
