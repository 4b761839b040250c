from solutions.bert.pretraining.solution import *
