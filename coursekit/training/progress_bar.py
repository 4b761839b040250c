"""Progress bar of a training: steps, epochs, and the curve of the loss in one line."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from tqdm.auto import tqdm

from coursekit.notebook.settings import is_page_build

_HEIGHTS = "▁▂▃▄▅▆▇█"
_WIDTH = 16  # characters of the curve
_FORMAT = "{desc}{percentage:3.0f}% |{bar}| step {n_fmt} of {total_fmt}, {remaining} left{postfix}"


class ProgressBar:
    """A bar that moves with each step of a training and draws the loss so far.

    How many steps an epoch has may be unknown until the first one has ended. Until then the bar
    counts without a total.
    """

    def __init__(self, epochs: int, done: int, steps_per_epoch: int, shown: bool):
        """Show the bar.

        Args:
            epochs: number of epochs of the training.
            done: number of steps done before, if a training is resumed.
            steps_per_epoch: number of steps in an epoch, 0 if unknown.
            shown: whether to show a bar at all; the pages of the site have none.
        """
        self._epochs = epochs
        self._losses: list[float] = []
        total = epochs * steps_per_epoch or None
        hidden = not shown or is_page_build()
        self._bar = tqdm(total=total, initial=done, leave=True, disable=hidden, bar_format=_FORMAT)

    def start_epoch(self, epoch: int, steps: int) -> None:
        """Name the epoch, counted from 1, and set the total if its number of steps is known."""
        self._bar.set_description(f"epoch {epoch} of {self._epochs}", refresh=False)
        if steps:
            self._set_total(self._bar.n + steps * (self._epochs - epoch + 1))

    def add_step(self, loss: float) -> None:
        """Move on by one step, and draw the loss."""
        self._losses.append(loss)
        if not self._bar.disable:
            if len(self._losses) % (1 + len(self._losses) // 200) == 0:  # a curve costs time
                recent = self._losses[-50:]
                told = f"loss {sum(recent) / len(recent):.3f} {draw_curve(self._losses)}"
                self._bar.set_postfix_str(told, refresh=False)
            self._bar.update()

    def end_epoch(self, epoch: int, steps: int) -> None:
        """Set the total for the remaining epochs as if they had as many steps as this one."""
        self._set_total(self._bar.n + steps * (self._epochs - epoch))

    def close(self) -> None:
        """Leave the bar full: a training that stops early is complete, too."""
        self._set_total(self._bar.n)
        self._bar.close()

    def _set_total(self, total: float) -> None:
        bar = self._bar
        if bar.disable or bar.total == total:
            return
        begun, done = bar.start_t, bar.n
        bar.reset(total)  # only this tells the widget in a notebook, and it sets the bar back to 0
        bar.start_t, bar.n, bar.last_print_n = begun, done, done
        bar.refresh()


def draw_curve(values: Sequence[float], width: int = _WIDTH) -> str:
    """Return a curve of block characters, scaled from the least to the greatest value.

    Args:
        values: finite numbers.
        width: at most so many characters; each is the mean of as many values as the others, but
            for rounding.
    """
    count = min(width, len(values))
    bounds = [round(i * len(values) / count) for i in range(count + 1)] if count else []
    means = [sum(values[a:b]) / (b - a) for a, b in pairwise(bounds)]
    if not means:
        return ""
    low, high = min(means), max(means)
    if high == low:
        return _HEIGHTS[0] * count
    steps = len(_HEIGHTS) - 1
    return "".join(_HEIGHTS[round(steps * (mean - low) / (high - low))] for mean in means)
