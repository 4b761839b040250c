from solutions.captioning.attention.solution import *
