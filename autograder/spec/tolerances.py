"""How far a result may be from the expected one."""

import torch

# float32: what a few dozen operations in another order may differ by. float64: tight enough for
# every mistake worth the name, wide enough for an answer that passes through float32.
TOLERANCE = {torch.float32: 1e-4, torch.float64: 1e-5}
GRADIENT_FACTOR = 10  # so many times the tolerance: a gradient sums over many paths
