from solutions.sentences.pooling.notebook import *
