from solutions.bahdanau.scores.notebook import *
