from solutions.embeddings.vectors.notebook import *
