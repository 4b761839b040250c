from solutions.bert.finetuning.solution import *
