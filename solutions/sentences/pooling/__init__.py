from solutions.sentences.pooling.solution import *
