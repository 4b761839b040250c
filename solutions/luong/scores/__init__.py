from solutions.luong.scores.solution import *
