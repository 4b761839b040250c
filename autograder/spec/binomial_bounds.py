"""Tests whether an observed count is plausible for a given probability (Chernoff bound).

For the relations of cases with random outputs (`Case.relation`).
"""

from __future__ import annotations

import math

# exp(-28) is 7e-13: of 10^9 right answers that are asked a thousand such questions, one fails.
BOUND = 28.0


def is_plausible(count: int, draws: int, probability: float) -> bool:
    """Tell whether something of a probability may have happened so often in so many draws.

    By Chernoff's bound (Hoeffding 1963, theorem 1) a share at least as far from p as f, on the same
    side, has a probability of at most exp(-n KL(f || p)), for any n and p. Around p = 1/2 the
    answer is no beyond 7.5 standard deviations.

    Args:
        count: how often it happened.
        draws: how often it might have happened, independent of each other.
        probability: of happening each time.
    """
    if draws == 0:
        return True
    share = count / draws
    return draws * (_part(share, probability) + _part(1 - share, 1 - probability)) <= BOUND


def _part(share: float, probability: float) -> float:
    if share == 0:
        return 0.0
    return share * math.log(share / probability) if probability > 0 else math.inf
