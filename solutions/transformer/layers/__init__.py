from solutions.transformer.layers.solution import *
