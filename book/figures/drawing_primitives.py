"""Boxes and arrows shared by the figures."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

from coursekit.plots import style


def box(
    axes: Axes,
    x: float,
    y: float,
    label: str,
    colour: str,
    width: float = 1.36,
    height: float = 0.9,
    rounding: float = 0.18,
    size: float = 11,
    dashed: bool = False,
) -> None:
    """Draw a rounded box centred on a point (data units), with a label (`size` in points)."""
    axes.add_patch(
        FancyBboxPatch(
            (x - width / 2, y - height / 2),
            width,
            height,
            boxstyle=f"round,pad=0.02,rounding_size={rounding}",
            facecolor=style.LIGHT["paper"],
            edgecolor=colour,
            linewidth=1.2 if dashed else 1.8,
            linestyle="--" if dashed else "-",
            zorder=3,
        )
    )
    axes.text(x, y, label, ha="center", va="center", fontsize=size, zorder=4)


def arrow(
    axes: Axes,
    start: tuple[float, float],
    end: tuple[float, float],
    colour: str,
    width: float = 1.5,
    shrink: float = 0,
    dashed: bool = False,
    curve: float = 0.0,
    head: float = 11,
) -> None:
    """Draw an arrow from one point to another (data units); width, shrink and head in points."""
    axes.add_patch(
        FancyArrowPatch(
            start,
            end,
            arrowstyle="-|>",
            mutation_scale=head,
            color=colour,
            linewidth=width,
            linestyle="--" if dashed else "-",
            shrinkA=0,
            shrinkB=shrink,
            connectionstyle=f"arc3,rad={curve}",
            zorder=2,
        )
    )
