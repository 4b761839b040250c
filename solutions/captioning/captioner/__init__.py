from solutions.captioning.captioner.solution import *
