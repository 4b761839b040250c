from solutions.bahdanau.translator.notebook import *
