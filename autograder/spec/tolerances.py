"""Defines how far a result may be from the expected one."""

import torch

# float32: the difference that a few dozen operations in another order may make. float64: tight
# enough to reveal every real mistake, wide enough for an answer that passes through float32.
TOLERANCE = {torch.float32: 1e-4, torch.float64: 1e-5}
GRADIENT_FACTOR = 10  # times the tolerance, because a gradient sums over many paths
