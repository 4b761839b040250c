"""Tests whether an observed count is plausible for a given probability (Chernoff bound).

Checks of random outputs (`Case.check_random_outputs`) use it.
"""

from __future__ import annotations

import math

# exp(-28) is 7e-13: if 10^9 right answers are tested a thousand times each, one test fails.
BOUND = 28.0


def is_plausible(count: int, draws: int, probability: float) -> bool:
    """Return whether an event of a given probability can plausibly occur `count` times.

    By Chernoff's bound (Hoeffding 1963, theorem 1), a share at least as far from p as f, on the
    same side, has a probability of at most exp(-n KL(f || p)), for any n and p. Around p = 1/2 the
    result is False beyond 7.5 standard deviations.

    Args:
        count: number of draws in which the event occurred.
        draws: number of independent draws.
        probability: probability of the event in each draw.
    """
    if draws == 0:
        return True
    share = count / draws
    return draws * (_part(share, probability) + _part(1 - share, 1 - probability)) <= BOUND


def _part(share: float, probability: float) -> float:
    if share == 0:
        return 0.0
    return share * math.log(share / probability) if probability > 0 else math.inf
