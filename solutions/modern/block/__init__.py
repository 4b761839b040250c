from solutions.modern.block.notebook import *
