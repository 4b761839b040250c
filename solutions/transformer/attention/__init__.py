from solutions.transformer.attention.solution import *
