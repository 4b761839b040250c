from solutions.han.attention.notebook import *
