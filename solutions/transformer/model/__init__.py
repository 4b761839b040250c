from solutions.transformer.model.notebook import *
