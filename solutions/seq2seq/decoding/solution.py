"""Reference solutions of the exercises in seq2seq/decoding."""

# %% setup
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from coursekit.models.greedy_decoding import choose, device_of


# %% exercise
@torch.no_grad()  # nobody learns from a search
def beam_search(
    step: Callable[[Tensor, Any], tuple[Tensor, Any]],
    state: Any,
    beam_size: int,
    bos_id: int,
    eos_id: int,
    max_length: int,
    length_penalty: float = 0.0,
) -> tuple[Tensor, Tensor | float]:
    """Search for a probable sentence, keeping a few hypotheses at a time.

    score(y) = 1 / L^length_penalty * sum_t log p(y_t | y_1 ... y_{t-1}, x)

    Each step keeps the best (beam_size - finished) extensions by their plain sums of log p; the
    score is for the choice among the finished hypotheses.

    Args:
        step: `step(tokens (K,), state) -> (log_probs (K, V), state)`, K being the number of live
            hypotheses.
        state: what the first call of `step` gets; its tensors have the hypotheses on axis 0, one
            to begin with.
        beam_size: hypotheses, live and finished together, at least 1; may be larger than V.
        bos_id: the token that is read first.
        eos_id: the token that finishes a hypothesis.
        max_length: largest number of tokens, the end mark included, at least 1. Hypotheses that
            are live when it is reached count as finished.
        length_penalty: alpha, 0 for plain sums.

    Returns:
        tokens (L,), int64, without the bos that was read first, with eos if it was found; and the
        score, a number or a tensor without axes.

    Source: Sutskever et al. (2014), section 3.2.
    """
    ### BEGIN SOLUTION
    tokens = torch.full((1, 1), bos_id, device=device_of(state))  # (K, 1 + length)
    totals = torch.zeros(1, device=tokens.device)  # (K,)
    finished: list[tuple[Tensor, Tensor]] = []  # tokens and score
    for length in range(1, max_length + 1):
        log_probs, state = step(tokens[:, -1], state)  # (K, V)
        extended = totals.unsqueeze(1) + log_probs  # (K, V)
        kept = min(beam_size - len(finished), extended.numel())
        totals, places = extended.flatten().topk(kept)  # (K',) each
        rows, words = places // extended.shape[1], places % extended.shape[1]  # (K',) each
        tokens = torch.cat([tokens[rows], words.unsqueeze(1)], dim=1)  # (K', 1 + length)
        ends = (words == eos_id) | (length == max_length)  # (K',)
        scores = totals / length**length_penalty  # (K',)
        finished += zip(tokens[ends, 1:], scores[ends], strict=True)
        if ends.all():
            break
        tokens, totals = tokens[~ends], totals[~ends]
        state = choose(state, rows[~ends])
    return max(finished, key=lambda found: float(found[1]))
    ### END SOLUTION
