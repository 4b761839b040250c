from solutions.luong.local.solution import *
