# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown] nbgrader={"grade": false, "grade_id": "title", "locked": true, "solution": false}
# # Sequence to sequence III: beam search
#
# A translator does not return a translation. It returns, word by word, how probable each next word
# is. Which sentence to write down is a search of its own, and the one that Sutskever et al. (2014)
# and nearly everybody after them used is built here.
#
# | exercise | what it computes | paper | difficulty | minutes |
# | --- | --- | --- | --- | --- |
# | `beam_search` | a probable sentence, with its score | Sutskever et al., section 3.2 | ●●● | 45 |
#
# **Shapes.** $K$ hypotheses that are live at the moment, $V$ words in the target vocabulary, $L$
# tokens in a sentence.

# %% nbgrader={"grade": false, "grade_id": "setup", "locked": true, "solution": false}
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from coursekit.decoding import choose, device_of

# %% nbgrader={"grade": false, "grade_id": "setup-check", "locked": true, "solution": false} tags=["active-ipynb"]
# from autograder import check

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-beam_search", "locked": true, "solution": false}
# ## `beam_search`
#
# The probability of a sentence is the product over its words, its logarithm the sum:
#
# $$\log p(y_1 \dots y_L \mid x) = \sum_{t=1}^{L} \log p(y_t \mid y_1 \dots y_{t-1}, x)$$
#
# **Greedy decoding** takes the most probable word, then the most probable word after it, and so on.
# It cannot go back. Suppose the first word is *a* with probability 0.5 or *b* with 0.4, and that after
# *a* the best word has 0.4, after *b* 0.9. Greedy decoding writes *a ...* with $0.5 \cdot 0.4 = 0.20$;
# *b ...* would have had $0.4 \cdot 0.9 = 0.36$. Trying all $V^L$ sentences is out of the question.
# **Beam search** keeps the best few beginnings, the *hypotheses*, and goes on from each of them.
#
# A hypothesis has its tokens, its *total* $\sum \log p$ so far, and its own row in the state of the
# decoder. It is *live* until it is *finished*.
#
# 1. **Start** with one live hypothesis: no tokens, total 0, the state you were given. The first token
#    that `step` reads is `bos_id`.
# 2. **Extend.** Call `step` with the last tokens $(K)$ of the live hypotheses and their state. It
#    returns $\log p$ of every next word, $(K, V)$, and the state after reading, row $k$ for
#    hypothesis $k$. Each pair of a live hypothesis and a word is an *extension*; its total is the
#    hypothesis' total plus the word's $\log p$.
# 3. **Keep** the `beam_size - finished` extensions with the best totals, where `finished` is the
#    number of hypotheses that were finished before this step (all extensions, if there are fewer). A
#    finished hypothesis keeps its place in the beam, is never extended and never dropped.
# 4. **Finish.** A kept extension whose last token is `eos_id` is finished. The others are the live
#    hypotheses of the next step, each with the state of the hypothesis that it extends.
# 5. **Stop** when `beam_size` hypotheses are finished, or when the hypotheses have `max_length` tokens
#    (`eos_id` counts as one). Then the live ones count as finished too, as they are.
# 6. **Choose** among all finished hypotheses the one with the best score:
#
# $$\text{score}(y) = \frac{1}{L^{\alpha}} \sum_{t=1}^{L} \log p(y_t \mid y_1 \dots y_{t-1}, x)
# \qquad \alpha = \texttt{length\_penalty}$$
#
# $L$ is the number of tokens, `eos_id` included if it is there. Every further word makes the sum
# smaller, so with $\alpha = 0$ short sentences have the advantage; with $\alpha = 1$ the score is the
# mean per token. **The length penalty plays no part before point 6.** Within one step all extensions
# have the same length, so it could not change their order; the totals that are carried on stay plain
# sums.
#
# Good to know:
#
# * `step` is any function `step(tokens (K,), state) -> (log_probs (K, V), state)`. The state is a
#   tensor, or a tuple, list or dict of such, also one inside the other; all its tensors have the
#   hypotheses on axis 0. It comes in with one row.
# * **`choose(state, rows)`** from `coursekit.decoding` picks rows out of such a state, whatever its
#   form: with `rows = torch.tensor([2, 0, 2])` the new state has three rows, copies of rows 2, 0
#   and 2 of the old one. `device_of(state)` says where the tokens have to be (`device=...`); on a
#   CPU you need not care.
# * `torch.topk` on the flattened totals finds the best extensions. `//` and `%` by $V$ then tell which
#   hypothesis and which word each of them is.
# * All ids are words like any other, 0 and `bos_id` too; only `eos_id` means something to the search.
#   No two totals are equal in the checks. Shortcuts that never change the result are fine.
#
# **Where this differs from the papers.** Sutskever et al. compare plain sums ($\alpha = 0$), and do
# not say whether a finished hypothesis keeps its place; here it does, so a search ends. Wu et al.
# (2016), equation 14, divide by $\left(\frac{5 + L}{5 + 1}\right)^{\alpha}$, which punishes short
# sentences less than $L^\alpha$ does, and add a term that rewards having attended to the whole
# source.
#
# *Sutskever et al. (2014), section 3.2. Difficulty ●●●, about 45 minutes.*


# %% nbgrader={"grade": false, "grade_id": "beam_search", "locked": false, "solution": true}
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

    Source: Sutskever, Vinyals and Le (2014), section 3.2.
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


# %% nbgrader={"grade": true, "grade_id": "test-beam_search", "locked": true, "points": 5, "solution": false} tags=["active-ipynb"]
# check(beam_search)
# ### BEGIN HIDDEN TESTS
# from autograder.instructor import examine

# examine(beam_search)
# ### END HIDDEN TESTS

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-together", "locked": true, "solution": false}
# ## Your translator searches
#
# The next cell runs `encoder_decoder.ipynb` (so its checks have to pass), trainings included: about a
# minute on a CPU. `models` and `data` come from there. You search with Sutskever's model, the one that
# reads the source in reverse.

# %% nbgrader={"grade": false, "grade_id": "together", "locked": true, "solution": false} tags=["active-ipynb"]
# from coursekit import settings
#
# if not settings.grading():
#     %run encoder_decoder.ipynb

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-one", "locked": true, "solution": false}
# A beam of 1 is greedy decoding. The first lines make sure of it, on sentences from the test set; then
# come some for which a beam of 5 finds something else. The number is $\log p$ of the whole sentence.
# A wider beam looks at more sentences, and mostly finds a more probable one. Is it also the better one?

# %% nbgrader={"grade": false, "grade_id": "one", "locked": true, "solution": false} tags=["active-ipynb"]
# if not settings.grading():
#     import copy
#
#     from coursekit.batching import source_batch
#     from coursekit.decoding import greedy_decode
#     from coursekit.vocabulary import BOS, EOS
#
#     # One short sentence at a time is no work for a GPU.
#     searcher = copy.deepcopy(models["Seq2Seq, source reversed"]).cpu().eval()
#     shown = [i for i, (source, _) in enumerate(data.test) if len(source) <= longest + 1][:150]
#
#     def search(i, beam_size, length_penalty=0.0):
#         source, lengths = source_batch([data.test[i][0]])  # (1, S), (1,)
#         with torch.no_grad():
#             state = searcher.start(source, lengths)
#         most = 2 * source.shape[1] + 10
#         return beam_search(searcher.step, state, beam_size, BOS, EOS, most, length_penalty)
#
#     def greedy(i):
#         source, lengths = source_batch([data.test[i][0]])
#         with torch.no_grad():
#             state = searcher.start(source, lengths)
#         return greedy_decode(searcher.step, state, BOS, EOS, 2 * source.shape[1] + 10)[0]
#
#     assert all(torch.equal(search(i, 1)[0], greedy(i)) for i in shown[:30])
#
#     found = {k: [search(i, k) for i in shown] for k in (1, 2, 5, 10)}
#     differ = [n for n in range(len(shown)) if not torch.equal(found[1][n][0], found[5][n][0])]
#     print(f"A beam of 5 writes another sentence for {len(differ)} of {len(shown)}.\n")
#     for n in differ[:5]:
#         print("source            ", data.source_words.decode(data.test[shown[n]][0]))
#         print("reference         ", data.references[shown[n]])
#         for name, k in (("greedy", 1), ("beam of 5", 5)):
#             tokens, score = found[k][n]
#             print(f"{name:<9} {float(score):8.2f}", data.target_words.decode(tokens.tolist()))
#         print()

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-many", "locked": true, "solution": false}
# Over all these sentences: what the wider beam gains, and what the length penalty does to the length.

# %% nbgrader={"grade": false, "grade_id": "many", "locked": true, "solution": false} tags=["active-ipynb"]
# if not settings.grading():
#     from coursekit.metrics import bleu
#
#     references = [data.references[i] for i in shown]
#
#     def line(name, results):
#         texts = [data.target_words.decode(tokens.tolist()) for tokens, _ in results]
#         length = sum(len(tokens) for tokens, _ in results) / len(results)
#         quality = bleu(texts, references).score
#         score = sum(float(score) for _, score in results) / len(results)
#         print(f"{name:<24} {score:10.3f} {length:10.2f} {quality:10.1f}")
#
#     print(" " * 24, f"{'mean score':>10} {'tokens':>10} {'BLEU':>10}")
#     for k, results in found.items():
#         line(f"beam of {k}", results)
#     for alpha in (0.5, 1.0, 2.0):
#         line(f"beam of 5, penalty {alpha}", [search(i, 5, alpha) for i in shown])

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-questions", "locked": true, "solution": false}
# **To think about.**
#
# 1. May a beam of 2 end with a sentence that is *less* probable than the greedy one? Look at point 3
#    again, and think of a greedy path that falls out of the beam for one step.
# 2. Scores under different length penalties cannot be compared with each other. Which columns of
#    the table may you compare?
# 3. With a beam as wide as $V^L$ the search finds the most probable sentence of all. Would you want
#    it, if the model gives an empty sentence a probability of 0.01 and each good translation less?
