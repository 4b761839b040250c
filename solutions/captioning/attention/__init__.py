from solutions.captioning.attention.notebook import *
