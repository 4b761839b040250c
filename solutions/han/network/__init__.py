from solutions.han.network.solution import *
