from solutions.modern.block.solution import *
