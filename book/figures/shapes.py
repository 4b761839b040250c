"""What several drawn models are made of."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

from coursekit import style


def box(axes: Axes, x: float, y: float, label: str, colour: str) -> None:
    """Draw a rounded box of 1.36 by 0.9 (data units) around a point, with a label in it."""
    axes.add_patch(
        FancyBboxPatch(
            (x - 0.68, y - 0.45),
            1.36,
            0.9,
            boxstyle="round,pad=0.02,rounding_size=0.18",
            facecolor=style.LIGHT["paper"],
            edgecolor=colour,
            linewidth=1.8,
            zorder=3,
        )
    )
    axes.text(x, y, label, ha="center", va="center", fontsize=11, zorder=4)


def arrow(
    axes: Axes,
    start: tuple[float, float],
    end: tuple[float, float],
    colour: str,
    width: float = 1.5,
    shrink: float = 0,
    dashed: bool = False,
) -> None:
    """Draw an arrow from one point to another (data units); width and shrink in points."""
    axes.add_patch(
        FancyArrowPatch(
            start,
            end,
            arrowstyle="-|>",
            mutation_scale=11,
            color=colour,
            linewidth=width,
            linestyle="--" if dashed else "-",
            shrinkA=0,
            shrinkB=shrink,
            zorder=2,
        )
    )
