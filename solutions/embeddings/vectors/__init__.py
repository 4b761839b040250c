from solutions.embeddings.vectors.solution import *
