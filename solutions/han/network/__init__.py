from solutions.han.network.notebook import *
