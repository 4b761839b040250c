from solutions.luong.decoder.notebook import *
