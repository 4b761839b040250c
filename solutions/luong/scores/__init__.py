from solutions.luong.scores.notebook import *
