from solutions.bahdanau.scores.solution import *
