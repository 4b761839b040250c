from solutions.han.attention.solution import *
