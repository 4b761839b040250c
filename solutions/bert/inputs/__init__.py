from solutions.bert.inputs.solution import *
