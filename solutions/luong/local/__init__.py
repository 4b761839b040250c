from solutions.luong.local.notebook import *
