from solutions.transformer.layers.notebook import *
