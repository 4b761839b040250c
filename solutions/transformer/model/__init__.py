from solutions.transformer.model.solution import *
