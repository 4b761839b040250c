from solutions.captioning.captioner.notebook import *
