from solutions.sentences.structured.solution import *
