from solutions.bert.inputs.notebook import *
