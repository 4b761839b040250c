# %% [markdown]
# # Sequence to sequence III: beam search
#
# A translator does not return a translation. It returns, word by word, how probable each next word
# is. Which sentence to write down is a search of its own, and the one that Sutskever et al. (2014)
# and nearly everybody after them used is built here.
#
# {{ exercises }}
#
# **Before you begin.** You need `encoder_decoder.ipynb`, solved and run to its end: its trained model is used again. The ideas are explained in [Chapter 2](../../book/02_seq2seq.md). Allow half to one and
# a half times the minutes in the table, depending on how well you know torch.
#
# **Shapes.** $K$ hypotheses that are live at the moment, $V$ words in the target vocabulary, $L$
# tokens in a sentence.

# %% setup
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from coursekit.models.greedy_decoding import choose, device_of

# %% notebook setup-check
# from autograder import check
# from coursekit.notebook.session import start
#
# start()

# %% demo overview
# from coursekit.plots import diagrams
#
# figure = diagrams.draw("beam")

# %% [markdown]
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
#   tensor, or a tuple or dict of such, also one inside the other; all its tensors have the
#   hypotheses on axis 0. It comes in with one row.
# * **`choose(state, rows)`** from `coursekit.models.greedy_decoding` picks rows out of such a state, whatever its
#   form: with `rows = torch.tensor([2, 0, 2])` the new state has three rows, copies of rows 2, 0
#   and 2 of the old one. `device_of(state)` says where the tokens have to be (`device=...`); on a
#   CPU you need not care.
# * `torch.topk` on the flattened totals finds the best extensions. `//` and `%` by $V$ then tell which
#   hypothesis and which word each of them is.
# * All ids are words like any other, 0 and `bos_id` too; only `eos_id` means something to the search.
#   In the checks all $\log p$ are finite, so that no word is forbidden, and no two totals are equal.
#   Shortcuts that never change the result are fine.
#
# **Where this differs from the papers.** Sutskever et al. compare plain sums ($\alpha = 0$) and have
# the other rule for hypotheses that end (their section 3.2): as soon as one has written `eos`, it is
# *removed* from the beam, so the beam always holds the same number of live hypotheses. Here it keeps
# its place, so the beam gets narrower and the search ends by itself. Wu et al.
# (2016), equation 14, divide by $\left(\frac{5 + L}{5 + 1}\right)^{\alpha}$, which punishes short
# sentences less than $L^\alpha$ does, and add a term that rewards having attended to the whole
# source.

# %% hints
# * Do two steps on paper, with a beam of 2 and three words. Write down for each hypothesis its
#   tokens and its total. What do you do with one that has just written `eos`?
# * Keep four things for the live hypotheses: tokens, totals, the state, and apart from them a
#   list of what is finished. Totals $(K, 1)$ plus log-probabilities $(K, V)$ are all extensions;
#   flattened, `topk` chooses among them. How many it may choose changes as hypotheses finish.
# * After each choice there are two groups: kept extensions that end now (`eos`, or the length is
#   reached) and those that live on. The first go into the list with their *score*; for the
#   second, pick tokens, totals and state by the row each of them came from. Start with one
#   hypothesis, not with `beam_size` copies.


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


# %% [markdown]
# ## Your translator searches
#
# You search with the model that you trained in `encoder_decoder.ipynb`, Sutskever's that reads the source in
# reverse: its weights were kept when that notebook was run. Save that notebook, and run the next cell.

# %% demo together
# from coursekit.notebook import settings
# from coursekit.data.lesson_data import translation_data
# from coursekit.models.translation import SequenceTranslator
# from coursekit.notebook.session import import_answers, load_weights
#
# import_answers("encoder_decoder.ipynb")
#
# data = translation_data(settings.size())
# longest, e, d = {"quick": (10, 64, 128), "full": (1000, 256, 512)}[settings.size()]  # as there
# sizes = len(data.source_words), len(data.target_words)
# searcher = SequenceTranslator(Seq2Seq(*sizes, e, d), prepare=reverse_source)
# load_weights(searcher, "seq2seq-reversed", "encoder_decoder.ipynb")
# _ = searcher.eval()

# %% [markdown]
# A beam of 1 is greedy decoding. The first lines make sure of it, on sentences from the test set; then
# come some for which a beam of 5 finds something else. The number is $\log p$ of the whole sentence.
# A wider beam looks at more sentences, and mostly finds a more probable one. Is it also the better one? The model
# under it is small and right in fewer than half of the sentences, so do not expect much: a search finds what the
# model holds for probable, and no more.

# %% demo one
# from coursekit.data.batching import source_batch
# from coursekit.models.greedy_decoding import greedy_decode
# from coursekit.text.vocabulary import BOS, EOS
#
# shown = [i for i, (source, _) in enumerate(data.test) if len(source) <= longest + 1][:150]
#
# def search(i, beam_size, length_penalty=0.0):
#     source, lengths = source_batch([data.test[i][0]])  # (1, S), (1,)
#     with torch.no_grad():
#         state = searcher.encode(source, lengths)
#     most = 2 * source.shape[1] + 10
#     return beam_search(searcher.step, state, beam_size, BOS, EOS, most, length_penalty)
#
# def greedy(i):
#     source, lengths = source_batch([data.test[i][0]])
#     with torch.no_grad():
#         state = searcher.encode(source, lengths)
#     return greedy_decode(searcher.step, state, BOS, EOS, 2 * source.shape[1] + 10)[0]
#
# assert all(torch.equal(search(i, 1)[0], greedy(i)) for i in shown[:30])
#
# found = {k: [search(i, k) for i in shown] for k in (1, 2, 5, 10)}
# differ = [n for n in range(len(shown)) if not torch.equal(found[1][n][0], found[5][n][0])]
# print(f"A beam of 5 writes another sentence for {len(differ)} of {len(shown)}.\n")
# for n in differ[:5]:
#     print("source            ", data.source_words.decode(data.test[shown[n]][0]))
#     print("reference         ", data.references[shown[n]])
#     print("  word by word    ", data.gloss(data.references[shown[n]]))
#     for name, k in (("greedy", 1), ("beam of 5", 5)):
#         tokens, score = found[k][n]
#         said = data.target_words.decode(tokens.tolist())
#         print(f"{name:<9} {float(score):8.2f}", said)
#         print("  word by word    ", data.gloss(said))
#     print()

# %% [markdown]
# Over all these sentences: what the wider beam gains, and what the length penalty does to the length.

# %% demo many
# from coursekit.training.metrics import bleu
#
# references = [data.references[i] for i in shown]
#
# def line(name, results):
#     texts = [data.target_words.decode(tokens.tolist()) for tokens, _ in results]
#     length = sum(len(tokens) for tokens, _ in results) / len(results)
#     quality = bleu(texts, references).score
#     score = sum(float(score) for _, score in results) / len(results)
#     print(f"{name:<24} {score:10.3f} {length:10.2f} {quality:10.1f}")
#
# print(" " * 24, f"{'mean score':>10} {'tokens':>10} {'BLEU':>10}")
# for k, results in found.items():
#     line(f"beam of {k}", results)
# for alpha in (0.5, 1.0, 2.0):
#     line(f"beam of 5, penalty {alpha}", [search(i, 5, alpha) for i in shown])

# %% [markdown] play-text-beam
# **Predict, then run.** A beam of 50, and a penalty of 5: will the sentence become longer, shorter, better?

# %% play beam
# n, beam, penalty = 3, 5, 0.0  # which of the shown sentences; hypotheses; length penalty
# tokens, score = search(shown[n], beam, penalty)
# print("source   ", data.source_words.decode(data.test[shown[n]][0]))
# print("reference", data.references[shown[n]])
# said = data.target_words.decode(tokens.tolist())
# print(f"{float(score):8.2f} ", said)
# print("         ", data.gloss(said))

# %% [markdown] questions
# **To think about.**
#
# 1. May a beam of 2 end with a sentence that is *less* probable than the greedy one? Look at point 3
#    again, and think of a greedy path that falls out of the beam for one step.
# 2. Scores under different length penalties cannot be compared with each other. Which columns of
#    the table may you compare?
# 3. With a beam as wide as $V^L$ the search finds the most probable sentence of all. Would you want
#    it, if the model gives an empty sentence a probability of 0.01 and each good translation less?

# %% answers
# 1. Yes. Let the greedy path be the third best for one step: a beam of 2 drops it, although it
#    would have been the best in the end. A wider beam does not contain the search of a narrower
#    one. On average it finds more probable sentences, but no single sentence is promised.
# 2. Number of tokens and BLEU, which are measured on the sentences that came out. The scores are
#    sums divided by different powers of the length, numbers of different kinds: not to be
#    compared across penalties.
# 3. Hardly: the empty sentence would win each time, because good translations share their
#    probability among many, while there is only one empty sentence. The most probable sentence
#    and the best translation are two things. A narrow beam hides this fault of the model by not
#    finding the empty sentence; a length penalty works against it openly.

# %% [markdown] open-task
# ## An open task
#
# A search cannot repair a model. Which is worth more: a beam of 10 under this model, or a beam of 1 under a better one? Spend three minutes
# of training in `encoder_decoder.ipynb` on the second (more epochs, a wider state, two layers), and compare BLEU on the same sentences.
#
# | | |
# | --- | --- |
# | ours, one run on a CPU | this model with beams of 1, 2, 5 and 10: BLEU 51.6, 52.9, 52.6 and 52.9 |
# | yours | |
