from solutions.bert.pretraining.notebook import *
