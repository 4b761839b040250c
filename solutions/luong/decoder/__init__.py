from solutions.luong.decoder.solution import *
