from solutions.sentences.structured.notebook import *
