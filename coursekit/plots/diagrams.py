"""Diagrams of the mechanisms for exercise notebooks, drawn from declarative tables.

A diagram is data: boxes on a grid, arrows between them, tables of cells. Colours mean the same in
all diagrams: blue for inputs, green for states, orange for results of attention, grey for words and
numbers that are only passed on.
"""

# ruff: noqa: E501  (the diagrams are tables, with a box or an arrow in each entry)
from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle

from coursekit.plots import style

_COLOURS = {
    "read": style.SERIES[0],
    "found": style.SERIES[1],
    "state": style.SERIES[2],
    "word": style.LIGHT["muted"],
}
Box = tuple[float, float, str, str]  # column, row (from the top), text, kind
Arrow = tuple[str, str] | tuple[str, str, str]  # from, to, label


@dataclass(frozen=True)
class Table:
    """Rows of squares; a dark square means True or a large weight.

    Attributes:
        column: column of the left edge.
        row: row of the upper edge.
        dark: darkness of each square, from 0 to 1.
        title: text above the table.
        rows: names of the rows.
        columns: names of the columns.
    """

    column: float
    row: float
    dark: tuple[tuple[float, ...], ...]
    title: str = ""
    rows: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()


@dataclass(frozen=True)
class Diagram:
    """A diagram as data.

    Attributes:
        boxes: boxes by name.
        arrows: arrows between boxes.
        tables: tables of squares.
        caption: text below the diagram.
    """

    boxes: dict[str, Box]
    arrows: tuple[Arrow, ...] = ()
    tables: tuple[Table, ...] = ()
    caption: str = ""
    unit: float = field(default=0.62)  # inches per row


def draw(name: str) -> Figure:
    """Draw the diagram with this name in `DIAGRAMS`."""
    style.use()
    diagram = DIAGRAMS[name]
    columns = [x for x, *_ in diagram.boxes.values()]
    rows = [y for _, y, *_ in diagram.boxes.values()]
    for table in diagram.tables:
        columns += [table.column, table.column + 0.5 * len(table.dark[0])]
        rows += [table.row - 0.5, table.row + 0.5 * len(table.dark)]
    left, right = min(columns) - 1.2, max(columns) + 1.2
    top, bottom = min(rows) - 0.6, max(rows) + (1.0 if diagram.caption else 0.6)
    figure, axes = plt.subplots(
        figsize=(7.0, max(1.6, diagram.unit * (bottom - top))),
        dpi=144,  # 1,008 pixels in a notebook, which shows one of them as one of the screen's
        layout="constrained",
    )
    axes.set(xlim=(left, right), ylim=(bottom, top))
    axes.set_axis_off()
    patches = {name: _box(axes, *box) for name, box in diagram.boxes.items()}
    figure.draw_without_rendering()  # computes the box sizes, so that arrows end at their edges
    for arrow in diagram.arrows:
        _arrow(axes, diagram.boxes, patches, arrow)
    for table in diagram.tables:
        _table(axes, table)
    if diagram.caption:
        axes.text(
            (left + right) / 2, bottom - 0.25, diagram.caption,
            ha="center", va="center", fontsize=8.5, color=style.LIGHT["muted"],
        )  # fmt: skip
    return figure


def _box(axes: Axes, x: float, y: float, text: str, kind: str) -> Patch | None:
    colour = _COLOURS.get(kind)
    edge = {"edgecolor": colour or "none", "linewidth": 1.4 if colour else 0}
    shape = {"boxstyle": "round,pad=0.35", "facecolor": style.LIGHT["paper"], **edge}
    written = axes.text(x, y, text, ha="center", va="center", fontsize=9, bbox=shape, zorder=3)
    return written.get_bbox_patch() if text else None


def _arrow(
    axes: Axes, boxes: dict[str, Box], patches: dict[str, Patch | None], arrow: Arrow
) -> None:
    start, end = boxes[arrow[0]], boxes[arrow[1]]
    axes.annotate(
        "",
        xy=end[:2],
        xytext=start[:2],
        arrowprops={
            "arrowstyle": "-|>",
            "color": _COLOURS.get(start[3], style.LIGHT["muted"]),
            "linewidth": 1.2,
            "patchA": patches[arrow[0]],
            "patchB": patches[arrow[1]],
            "shrinkA": 2,
            "shrinkB": 3,
        },
        zorder=1,
    )
    if len(arrow) == 3:
        upright = start[0] == end[0]  # label beside it, so as not to hide a short arrow's head
        axes.text(
            (start[0] + end[0]) / 2 + 0.12 * upright, (start[1] + end[1]) / 2, arrow[2],
            ha="left" if upright else "center", va="center", fontsize=8,
            color=style.LIGHT["muted"], zorder=2,
            bbox={"facecolor": style.LIGHT["paper"], "edgecolor": "none", "pad": 1},
        )  # fmt: skip


def _table(axes: Axes, table: Table) -> None:
    side = 0.5
    for i, row in enumerate(table.dark):
        for j, dark in enumerate(row):
            x, y = table.column + side * j, table.row + side * i
            face = style.ATTENTION(0.75 * dark)
            axes.add_patch(
                Rectangle((x, y), side, side, facecolor=face, edgecolor=style.LIGHT["line"])
            )
    small: dict[str, Any] = {"fontsize": 8, "color": style.LIGHT["ink"]}
    middle = table.column + side * len(table.dark[0]) / 2
    above = table.row - (0.5 if table.columns else 0.2)
    axes.text(middle, above, table.title, ha="center", va="bottom", **small)
    for i, name in enumerate(table.rows):
        axes.text(
            table.column - 0.1, table.row + side * (i + 0.5), name, ha="right", va="center", **small
        )
    for j, name in enumerate(table.columns):
        axes.text(
            table.column + side * (j + 0.5),
            table.row - 0.1,
            name,
            ha="center",
            va="bottom",
            **small,
        )


def _steps(length: int) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(float(j <= i) for j in range(length)) for i in range(length))


# fmt: off
DIAGRAMS: dict[str, Diagram] = {
    "skip-gram": Diagram(
        {
            "v": (0, 1, "centre $v_b$\n(B, d)", "read"),
            "u": (2.6, 0, "true neighbour $u_b$\n(B, d)", "state"),
            "n": (2.6, 2, "K random words $u_{bk}$\n(B, K, d)", "word"),
            "yes": (5.2, 0, "$\\sigma(u_b \\cdot v_b)$: yes", "found"),
            "no": (5.2, 2, "$\\sigma(-u_{bk} \\cdot v_b)$: no", "found"),
        },
        (("v", "yes", "dot product"), ("u", "yes"), ("v", "no", "dot product"), ("n", "no")),
        caption="One centre meets one true neighbour and K random words: K + 1 questions.",
    ),
    "gru": Diagram(
        {
            "x": (0, 2.2, "word $x$", "read"),
            "h": (0, 0, "old state $h$", "state"),
            "r": (2, 3.3, "reset $r$", "word"),
            "n": (4, 2.2, "candidate $n$", "found"),
            "z": (4, 1.1, "update $z$", "word"),
            "new": (6.4, 0, "new state $h'$", "state"),
        },
        (
            ("x", "r"), ("h", "r"), ("x", "n"), ("h", "n"), ("r", "n"), ("x", "z"), ("h", "z"),
            ("n", "new", "$(1 - z)\\, n$"), ("h", "new", "$z\\, h$: kept"), ("z", "new"),
        ),
        caption="Where z is near 1, the upper arrow carries the number, and its gradient, through untouched.",
    ),
    "encoder-decoder": Diagram(
        {
            "x1": (0, 2, "$x_1$", "read"), "x2": (1.2, 2, "$x_2$", "read"), "x3": (2.4, 2, "$x_L$", "read"),
            "h1": (0, 1, "$h_1$", "read"), "h2": (1.2, 1, "$h_2$", "read"), "h3": (2.4, 1, "$h_L$", "read"),
            "c": (3.7, 1, "$c$", "found"),
            "s1": (5, 1, "$h_1$", "state"), "s2": (6.2, 1, "$h_2$", "state"), "s3": (7.4, 1, "$h_3$", "state"),
            "y0": (5, 2, "<bos>", "word"), "y1": (6.2, 2, "$y_1$", "word"), "y2": (7.4, 2, "$y_2$", "word"),
            "p1": (5, 0, "$y_1$", "word"), "p2": (6.2, 0, "$y_2$", "word"), "p3": (7.4, 0, "<eos>", "word"),
        },
        (
            ("x1", "h1"), ("x2", "h2"), ("x3", "h3"), ("h1", "h2"), ("h2", "h3"), ("h3", "c"), ("c", "s1"),
            ("s1", "s2"), ("s2", "s3"), ("y0", "s1"), ("y1", "s2"), ("y2", "s3"),
            ("s1", "p1"), ("s2", "p2"), ("s3", "p3"),
        ),
        caption="One vector, c, carries the whole source. (In Cho's model it also goes into every step.)",
    ),
    "beam": Diagram(
        {
            "0": (0, 1, "<bos>", "word"),
            "a": (2, 0, "a\n0.5", "state"), "b": (2, 1.4, "b\n0.4", "state"), "c": (2, 2.6, "c\n0.1", ""),
            "aa": (4.4, -0.5, "a x\n0.5 · 0.4 = 0.20", "state"), "ab": (4.4, 0.5, "a y\n0.5 · 0.3 = 0.15", ""),
            "ba": (4.4, 1.6, "b x\n0.4 · 0.9 = 0.36", "found"),
        },
        (("0", "a"), ("0", "b"), ("0", "c"), ("a", "aa"), ("a", "ab"), ("b", "ba")),
        caption="A beam of 2: boxes are kept, words without a box are dropped. Greedy decoding would never see b x.",
    ),
    "bleu": Diagram(
        {
            "h": (-1.6, 0, "hypothesis", ""), "r": (-1.6, 1.6, "reference", ""),
            "h1": (0, 0, "the", "found"), "h2": (1.3, 0, "the", ""), "h3": (2.6, 0, "dog", "found"), "h4": (3.9, 0, "sees", "found"),
            "h5": (5.2, 0, "the", ""), "h6": (6.5, 0, "bird", "found"),
            "r1": (0, 1.6, "the", "read"), "r2": (1.5, 1.6, "dog", "read"), "r3": (3, 1.6, "sees", "read"), "r4": (4.5, 1.6, "a", "read"),
            "r5": (6, 1.6, "bird", "read"),
        },
        (("h1", "r1"), ("h3", "r2"), ("h4", "r3"), ("h6", "r5")),
        caption="4 of 6 words match, as the reference has one the. Of 5 word pairs 2 match: the dog, dog sees.",
    ),
    "attention": Diagram(
        {
            "q": (0, 2.85, "query $s$", "state"),
            "k1": (2, 3.2, "$h_1$", "read"), "k2": (3.6, 3.2, "$h_2$", "read"), "k3": (5.2, 3.2, "$h_3$", "read"),
            "e1": (2, 2.1, "$e_1$", "word"), "e2": (3.6, 2.1, "$e_2$", "word"), "e3": (5.2, 2.1, "$e_3$", "word"),
            "a1": (2, 1.1, "0.7", "word"), "a2": (3.6, 1.1, "0.2", "word"), "a3": (5.2, 1.1, "0.1", "word"),
            "c": (3.6, 0, "context $c = 0.7\\, h_1 + 0.2\\, h_2 + 0.1\\, h_3$", "found"),
            "s": (6.6, 1.6, "softmax, 0 on padding", ""), "f": (6.6, 2.65, "score", ""), "m": (6.6, 0.5, "weighted sum", ""),
        },
        (
            ("k1", "e1"), ("k2", "e2"), ("k3", "e3"), ("q", "e1"), ("q", "e2"), ("q", "e3"), ("e1", "a1"), ("e2", "a2"), ("e3", "a3"),
            ("a1", "c"), ("a2", "c"), ("a3", "c"),
        ),
        caption="The query meets every annotation; what comes back is an average of the annotations.",
    ),
    "bahdanau-step": Diagram(
        {
            "s0": (0, 1.2, "$s_{i-1}$", "state"), "at": (1.8, 2.4, "attention", "found"), "h": (0, 3.2, "annotations $h$", "read"),
            "c": (3.4, 2.4, "$c_i$", "found"), "cell": (4.8, 1.2, "GRU cell: $s_i$", "state"),
            "y": (3.4, 3.2, "$y_{i-1}$", "word"), "t": (6.6, 1.2, "read out $t_i$", "word"), "p": (6.6, 0, "next word", "word"),
        },
        (
            ("s0", "at", "1 query"), ("h", "at"), ("at", "c"), ("c", "cell", "2"), ("s0", "cell"), ("y", "cell"),
            ("cell", "t", "3"), ("c", "t"), ("y", "t"), ("t", "p", "4"),
        ),
        caption="One target word of Bahdanau's decoder: look with the old state, then move on.",
    ),
    "scores": Diagram(
        {
            "q": (0, 1, "query $q$", "state"), "k": (0, 2.6, "key $k_j$", "read"),
            "dot": (3, 0, "dot:  $q \\cdot k_j$", "found"),
            "gen": (3, 1.2, "general:  $q \\cdot W k_j$", "found"),
            "con": (3, 2.4, "concat:  $v \\cdot \\tanh(W [q; k_j])$", "found"),
            "loc": (3, 3.4, "location:  row $j$ of $W q$", "found"),
            "e": (6.2, 1.6, "score $e_j$", "word"),
        },
        (
            ("q", "dot"), ("k", "dot"), ("q", "gen"), ("k", "gen"), ("q", "con"), ("k", "con"), ("q", "loc"),
            ("dot", "e"), ("gen", "e"), ("con", "e"), ("loc", "e"),
        ),
        caption="From a query and a key to one number: five ways, since the dot product may also be scaled. The last ignores the key.",
    ),
    "luong-step": Diagram(
        {
            "s0": (0, 1.2, "$h_{t-1}$", "state"), "y": (0, 2.6, "$y_{t-1},\\ \\tilde{h}_{t-1}$", "word"),
            "cell": (1.9, 1.2, "GRU cell: $h_t$", "state"), "at": (3.8, 2.4, "attention", "found"),
            "k": (1.9, 3.2, "keys", "read"), "c": (5.2, 2.4, "$c_t$", "found"),
            "j": (6.4, 1.2, "$\\tilde{h}_t$", "found"), "p": (6.4, 0, "next word", "word"),
        },
        (
            ("s0", "cell", "1"), ("y", "cell"), ("cell", "at", "2 query"), ("k", "at"), ("at", "c"),
            ("c", "j"), ("cell", "j", "3"), ("j", "p", "4"),
        ),
        caption="One target word of Luong's decoder: move on, then look with the new state.",
    ),
    "window": Diagram(
        {"p": (2.85, 2.6, "$p = 5.2$", "found")},
        tables=(
            Table(
                0, 1, ((0, 0, 0, 1, 1, 1, 1, 1, 0, 0, 0, 0),), "window: $|s - p| \\leq 2.5$ and $s < S$",
                columns=(*"0123456789", "10", "11"),
            ),
            Table(0, 1.6, ((0, 0, 0, 0.25, 0.6, 1, 0.75, 0.35, 0, 0, 0, 0),)),
        ),
        caption="Above: in or out. Below: the weights of the softmax over the window, times a Gaussian around p.",
    ),
    "places": Diagram(
        {
            "cnn": (-1.6, 1.5, "picture\n(convolutions)", "read"), "to": (3.9, 1.5, "→  row by row  →", ""),
            "a": (7.4, 0.9, "$a_0, a_1, \\dots, a_{HW-1}$\n(B, HW, C)", "read"),
            "z": (7.4, 2.4, "weights: one softmax\nover the places", "found"),
        },
        (("a", "z"),),
        (
            Table(0.4, 0.6, ((0.1, 0.1, 0.3, 0.1), (0.1, 0.9, 0.5, 0.1), (0.1, 0.3, 0.2, 0.1), (0.1, 0.1, 0.1, 0.1)), "map: C numbers in each place"),
        ),
        caption="Each place of the last map becomes one annotation with C numbers.",
    ),
    "caption-step": Diagram(
        {
            "h": (0, 1.2, "$h_{t-1}, c_{t-1}$", "state"), "a": (0, 3, "annotations", "read"), "at": (2, 2.2, "attention,\ngate", "found"),
            "z": (3.6, 2.2, "$z_t$", "found"), "y": (3.6, 3.2, "$E y_{t-1}$", "word"), "cell": (5.2, 1.2, "LSTM: $h_t, c_t$", "state"),
            "sum": (7, 2.2, "$+$", "word"), "p": (7, 0.4, "next word", "word"),
        },
        (
            ("h", "at", "query"), ("a", "at"), ("at", "z"), ("z", "cell"), ("y", "cell"), ("h", "cell"),
            ("z", "sum"), ("y", "sum"), ("cell", "sum"), ("sum", "p"),
        ),
        caption="One word of a caption: look, move on, and let word, state and look speak together.",
    ),
    "pooling": Diagram(
        {
            "h1": (0, 2.6, "$h_1$", "read"), "h2": (1.4, 2.6, "$h_2$", "read"), "h3": (2.8, 2.6, "$h_L$", "read"), "pad": (4.2, 2.6, "padding", ""),
            "last": (0, 0.4, "last state", "found"), "mean": (1.9, 0.4, "mean", "found"),
            "max": (3.6, 0.4, "maximum", "found"), "att": (5.6, 0.4, "attention", "found"), "q": (6.6, 1.8, "query: both\nfinal states", "state"),
        },
        (
            ("h3", "last"), ("h1", "mean"), ("h2", "mean"), ("h3", "mean"), ("h1", "max"), ("h2", "max"), ("h3", "max"),
            ("h1", "att"), ("h2", "att"), ("h3", "att"), ("q", "att"),
        ),
        caption="Four ways from the states of a sentence to one vector. Padding has no part in any.",
    ),
    "hops": Diagram(
        {
            "x": (4.3, 1.9, "×", ""), "=": (7.1, 1.9, "=", ""),
            "H": (5.6, 1.9, "$H$: states\n(N, d)", "read"), "M": (8.4, 1.9, "$M$: r averages\n(r, d)", "found"),
        },
        tables=(
            Table(
                1, 1.2, ((0.9, 0.2, 0, 0, 0, 0), (0, 0, 0.8, 0.3, 0, 0), (0, 0, 0, 0.1, 0.3, 0.9)), "$A$: (r, N), each row sums to 1",
                ("hop 1", "hop 2", "hop 3"), ("the", "room", "was", "fine", "but", "loud"),
            ),
        ),
        caption="Each hop spreads a weight of 1 over the words, and gets an average of its own.",
    ),
    "question": Diagram(
        {
            "h1": (0, 2.6, "$h_1$", "read"), "h2": (1.6, 2.6, "$h_2$", "read"), "h3": (3.2, 2.6, "$h_3$", "read"),
            "u1": (0, 1.5, "$u_1$", "word"), "u2": (1.6, 1.5, "$u_2$", "word"), "u3": (3.2, 1.5, "$u_3$", "word"),
            "uw": (5.6, 1.5, "$u_w$, learned:\n\"which is informative?\"", "state"),
            "a": (1.6, 0.4, "weights $\\alpha_1, \\alpha_2, \\alpha_3$", "word"), "s": (5.6, 0.4, "$s = \\alpha_1 h_1 + \\alpha_2 h_2 + \\alpha_3 h_3$", "found"),
        },
        (
            ("h1", "u1"), ("h2", "u2"), ("h3", "u3"), ("u1", "a"), ("u2", "a"), ("u3", "a"), ("uw", "a", "dot products"), ("a", "s"),
        ),
        caption="The u are for asking, the states h for answering.",
    ),
    "hierarchy": Diagram(
        {
            "w1": (0, 4.2, "words of\nsentence 1", "read"), "w2": (3, 4.2, "words of\nsentence 2", "read"), "w3": (6, 4.2, "words of\nsentence L", "read"),
            "g1": (0, 3.1, "GRU, attention", "word"), "g2": (3, 3.1, "GRU, attention", "word"), "g3": (6, 3.1, "GRU, attention", "word"),
            "s1": (0, 2.1, "$s_1$", "found"), "s2": (3, 2.1, "$s_2$", "found"), "s3": (6, 2.1, "$s_L$", "found"),
            "g": (3, 1, "sentence GRU, attention", "word"), "v": (3, 0, "document $v$", "state"), "o": (6, 0, "class", "word"),
        },
        (
            ("w1", "g1"), ("w2", "g2"), ("w3", "g3"), ("g1", "s1"), ("g2", "s2"), ("g3", "s3"),
            ("s1", "g"), ("s2", "g"), ("s3", "g"), ("g", "v"), ("v", "o"),
        ),
        caption="The same two steps on two levels: (B L, T) words below, (B, L) sentences above.",
    ),
    "qkv": Diagram(
        {
            "Q": (-0.2, 1.4, "$Q$\n(T, $d_k$)", "state"), "K": (-0.2, 3.2, "$K$\n(N, $d_k$)", "read"),
            "V": (6.4, 3.2, "$V$\n(N, $d_v$)", "read"), "s": (1.62, 2.2, "", ""), "e": (4.5, 1.9, "", ""),
            "o": (6.4, 1.4, "output\n(T, $d_v$)", "found"),
        },
        (("Q", "s"), ("K", "s"), ("e", "o"), ("V", "o")),
        (
            Table(
                1.9, 1.2, ((0.9, 0.2, 0.1, 0, 0), (0.1, 0.8, 0.3, 0, 0), (0, 0.1, 0.5, 0.7, 0.1)), "T × N weights: softmax($QK^T / \\sqrt{d_k}$)",
                ("query 1", "2", "3"), ("key 1", "2", "3", "4", "5"),
            ),
        ),
        caption="A row for each query, a column for each key. Each row sums to 1, and makes one row of the output.",
    ),
    "layers": Diagram(
        {
            "x": (0, 4, "$x$ (B, N, d)", "read"), "sa": (0, 3, "self-attention", "word"), "n1": (0, 2, "add $x$, norm", "read"),
            "ff": (0, 1, "feed-forward", "word"), "y": (0, 0, "add, norm: $y$", "read"),
            "t": (4.6, 6, "$y$ (B, T, d)", "state"), "m": (4.6, 5, "masked self-attention", "word"), "o1": (4.6, 4, "add $y$, norm", "state"),
            "ca": (4.6, 3, "attention to the memory", "found"), "o2": (4.6, 2, "add, norm", "state"),
            "f2": (4.6, 1, "feed-forward", "word"), "z": (4.6, 0, "add, norm: $z$", "state"),
        },
        (
            ("x", "sa"), ("sa", "n1"), ("n1", "ff"), ("ff", "y"), ("t", "m"), ("m", "o1"), ("o1", "ca", "queries"),
            ("y", "ca", "the last layer's:\nkeys and values"), ("ca", "o2"), ("o2", "f2"), ("f2", "z"),
        ),
        caption="Left the encoder's layer, right the decoder's: read from bottom to top. Each norm follows a sum.",
        unit=0.55,
    ),
    "today": Diagram(
        {
            "x": (0, 4, "$x$ (B, N, d)", "read"), "n1": (0, 3, "RMSNorm", "word"),
            "q": (-1.5, 2, "queries (B, h, N, $d_k$),\nturned by $R_p$", "state"), "k": (1.7, 2, "keys, values (B, G, N, $d_k$),\nkeys turned by $R_j$", "read"),
            "a": (0, 1, "attention, $h / G$ queries to a key", "found"), "y": (0, 0, "add $x$", "read"),
            "x2": (6.2, 4, "$x$ (B, N, d)", "read"), "n2": (6.2, 3, "RMSNorm", "word"), "g": (5.2, 2, "SiLU(gate)\n(B, N, m)", "found"), "u": (7.2, 2, "up\n(B, N, m)", "state"),
            "d": (6.2, 1, "product, down", "word"), "y2": (6.2, 0, "add $x$", "read"),
        },
        (
            ("x", "n1"), ("n1", "q"), ("n1", "k"), ("q", "a"), ("k", "a"), ("a", "y"),
            ("x2", "n2"), ("n2", "g"), ("n2", "u"), ("g", "d"), ("u", "d"), ("d", "y2"),
        ),
        caption="Two halves of a block of today, read from bottom to top. Nothing acts on the sums.",
    ),
    "masks": Diagram(
        {"and": (3.2, 1.9, "and", ""), "=": (7.0, 1.9, "=", "")},
        tables=(
            Table(0, 0.7, _steps(5), "causal (T, T)", ("the", "cat", "sat", "pad", "pad"), ("the", "cat", "sat", "pad", "pad")),
            Table(3.9, 0.7, ((1, 1, 1, 0, 0),) * 5, "padding (B, 1, T)", (), ("the", "cat", "sat", "pad", "pad")),
            Table(
                7.5, 0.7, tuple(tuple(x * (j < 3) for j, x in enumerate(row)) for row in _steps(5)), "decoder (B, T, T)",
                (), ("the", "cat", "sat", "pad", "pad"),
            ),
        ),
        caption="A row for who asks, a column for who is asked; dark may be attended to.",
    ),
    "bert-inputs": Diagram(
        {
            f"{i}{j}": (1.25 * j, float(i), text, kind)
            for i, (kind, texts) in enumerate(
                [
                    ("read", ["[CLS]", "the", "dog", "[SEP]", "it", "barks", "[SEP]"]),
                    ("found", ["0", "0", "0", "0", "1", "1", "1"]),
                    ("state", ["0", "1", "2", "3", "4", "5", "6"]),
                ]
            )
            for j, text in enumerate(texts)
        }
        | {"t": (-1.6, 0, "token", ""), "s": (-1.6, 1, "+ segment", ""), "p": (-1.6, 2, "+ position", "")},
        caption="Three vectors for each token are added, then normalised: one vector of d numbers.",
    ),
    "bert-pretraining": Diagram(
        {
            "c": (0, 3, "[CLS]", "word"), "w1": (1.5, 3, "the", "word"), "m": (3, 3, "[MASK]", "found"), "w2": (4.5, 3, "barks", "word"),
            "sep": (6, 3, "[SEP] ...", "word"), "e": (3, 2, "        encoder: every token sees every real token        ", "read"),
            "h0": (0, 1, "$h_0$", "state"), "h2": (3, 1, "$h_2$", "state"),
            "n": (0, 0, "is next?", "word"), "p": (3, 0, "dog 81 %, cat 9 %", "found"),
        },
        (("c", "e"), ("w1", "e"), ("m", "e"), ("w2", "e"), ("sep", "e"), ("e", "h0"), ("e", "h2"), ("h0", "n", "pool"), ("h2", "p", "head")),
        caption="Two questions about one input: what was hidden, and does the second sentence follow?",
    ),
    "bert-tasks": Diagram(
        {
            "e1": (0, 2, "encoder", "read"), "e2": (3, 2, "encoder", "read"), "e3": (6, 2, "encoder", "read"),
            "h0": (0, 1, "$h_0$ of [CLS]", "state"), "all": (3, 1, "every $h_i$", "state"), "pas": (6, 1, "every $h_i$", "state"),
            "cls": (0, 0, "one class", "found"), "tag": (3, 0, "a class for each token", "found"), "span": (6, 0, "best pair: start, end", "found"),
        },
        (
            ("e1", "h0"), ("e2", "all"), ("e3", "pas"), ("h0", "cls", "pooler, W"), ("all", "tag", "W"), ("pas", "span", "S, E"),
        ),
        caption="One encoder, three small layers on top: sequence, tokens, span.",
    ),
}
# fmt: on
