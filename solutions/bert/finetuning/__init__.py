from solutions.bert.finetuning.notebook import *
