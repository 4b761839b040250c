"""Figure of chapter 8: the learning rate's schedule, and what label smoothing asks for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from coursekit.plots import charts, style
from solutions.transformer.model import noam_learning_rate

SIZES = ((512, 4000), (512, 8000), (1024, 4000))  # model size and warm-up
STEPS = list(range(100, 12_001, 100))


def draw(leads: Sequence[float], losses: Mapping[str, Sequence[float]]) -> Figure:
    """Draw equation 3 for three models, and the loss against the lead of the right word's logit.

    Args:
        leads: how far the right word's logit is above the others.
        losses: label -> the loss at each lead.
    """
    figure, (upper, lower) = plt.subplots(2, 1, figsize=(style.WIDTH, 5.6), layout="constrained")
    rates = {
        f"d {size}, warm-up {warmup:,}": [
            1000 * noam_learning_rate(step, size, warmup) for step in STEPS
        ]
        for size, warmup in SIZES
    }
    charts.curves(rates, x=STEPS, xlabel="step", ylabel="rate × 1,000", ax=upper)
    upper.set_xticks([0, 4_000, 8_000, 12_000])
    charts.curves(losses, x=leads, xlabel="lead of the right word's logit", ylabel="loss", ax=lower)
    return figure
