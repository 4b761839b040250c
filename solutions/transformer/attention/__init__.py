from solutions.transformer.attention.notebook import *
