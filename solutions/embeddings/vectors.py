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
# # Word vectors
#
# To a computer, *king* and *queen* are two ids, as far apart as any other two. In this notebook you
# build two models that learn a vector for each word, so that words which are used alike come to lie
# side by side: the loss of word2vec (Mikolov et al., 2013b) and, ten years older, the neural
# language model of Bengio et al. (2003). Every later model of this course starts with such vectors.
# At the end you train both, look at a word's neighbours, and measure your language model against
# one that counts.
#
# | exercise | what it computes | paper | difficulty | minutes |
# | --- | --- | --- | --- | --- |
# | `negative_sampling_loss` | how badly vectors tell a true neighbour from random words | Mikolov et al. (2013b), eq. 4 | ●●○ | 15 |
# | `NeuralLanguageModel` | scores for the next word from the vectors of the last ones | Bengio et al. (2003), eq. 1 | ●●○ | 20 |
#
# **How to work.** Replace `raise NotImplementedError()` by your code, run the cell, then run the
# `check(...)` below it. A check says what is wrong, by name where the mistake is a known one. Any
# way of computing the right values is right: loops, `einsum`, `bmm`.
#
# **Shapes.** $B$ examples in the batch, $K$ negatives for each of them, $V$ words in the vocabulary,
# sizes $d$, $m$, $h$. Tensors are batch first.

# %% nbgrader={"grade": false, "grade_id": "setup", "locked": true, "solution": false}
import torch
import torch.nn.functional as F
from torch import Tensor, nn

# %% nbgrader={"grade": false, "grade_id": "setup-check", "locked": true, "solution": false} tags=["active-ipynb"]
# from autograder import check

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-negative_sampling_loss", "locked": true, "solution": false}
# ## `negative_sampling_loss`
#
# Skip-gram learns vectors by a game: given a word, the *centre*, guess the words near it, its
# *context*. A softmax over all $V$ words would be a lot of work for each guess. Negative sampling
# asks $K + 1$ questions with the answer yes or no in its place: *is this a true neighbour?* Yes for
# the word that stood there, no for $K$ words drawn at random. The dot product of two vectors is the
# score, and $\sigma(x) = 1 / (1 + e^{-x})$ makes it the probability of a yes:
#
# $$L = \frac{1}{B} \sum_{b=1}^{B} \left[ -\log \sigma\left(u_b^\top v_b\right)
# - \sum_{k=1}^{K} \log \sigma\left(-u_{bk}^\top v_b\right) \right]$$
#
# $$v: (B, d) \text{ centre},\quad u_b: (B, d) \text{ context},\quad
# u_{bk}: (B, K, d) \text{ negatives},\quad L: ()$$
#
# Equation 4 of the paper is what is inside the brackets with the opposite sign, an objective to be
# *maximised*, and has an expectation over the random words where you have $K$ that were drawn. Two
# things to think about:
#
# * $1 - \sigma(x) = \sigma(-x)$, so that "no" needs no formula of its own. Which of the three
#   tensors meets which?
# * The probability of a yes may be as small as $e^{-1000}$. That rounds to 0, whose logarithm is
#   minus infinity; but $\log \sigma(-1000)$ is about $-1000$, an ordinary number. Loss and gradient
#   must be right for such dot products too: torch has a function for $\log \sigma$.
#
# *Mikolov et al. (2013b), equation 4, section 2.2. Difficulty ●●○, about 15 minutes.*


# %% nbgrader={"grade": false, "grade_id": "negative_sampling_loss", "locked": false, "solution": true}
def negative_sampling_loss(center: Tensor, context: Tensor, negatives: Tensor) -> Tensor:
    """Say how badly the vectors tell true neighbours from random words.

    L = mean over b of [-log sigma(u_b . v_b) - sum_k log sigma(-u_bk . v_b)]

    Args:
        center: v, vectors of the words in the middle, (B, d).
        context: u, for each the vector of a word that stood near it, (B, d).
        negatives: for each the vectors of K words drawn at random, (B, K, d).

    Returns:
        loss, one number (), not negative and finite however large the dot products are; 0 for an
        empty batch (which the checks do not try).

    Source: Mikolov et al. (2013b), equation 4.
    """
    ### BEGIN SOLUTION
    positive = (context * center).sum(dim=-1)  # (B,)
    negative = (negatives @ center.unsqueeze(-1)).squeeze(-1)  # (B, K)
    likelihood = F.logsigmoid(positive) + F.logsigmoid(-negative).sum(dim=-1)  # (B,)
    return -likelihood.sum() / max(len(center), 1)  # ()
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test-negative_sampling_loss", "locked": true, "points": 3, "solution": false} tags=["active-ipynb"]
# check(negative_sampling_loss)
# ### BEGIN HIDDEN TESTS
# from autograder.instructor import examine

# examine(negative_sampling_loss)
# ### END HIDDEN TESTS

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-NeuralLanguageModel", "locked": true, "solution": false}
# ## `NeuralLanguageModel`
#
# A model that counts knows only the word sequences it has met. Bengio et al. (2003) predict the next
# word from the *vectors* of the last $n$ words: what is learnt about *the cat sleeps* then also
# serves *the dog sleeps*, if *cat* and *dog* have similar vectors. The vectors, rows of a matrix $C$,
# are parameters like all others and are learnt together with them.
#
# $$x = \left[C(w_{t-n}); \dots; C(w_{t-1})\right] \qquad
# y = b + W x + U \tanh\left(d + H x\right)$$
#
# $$C: (V, m),\quad x: (B, nm),\quad H: (h, nm),\quad d: (h),\quad U: (V, h),\quad W: (V, nm),
# \quad b: (V),\quad y: (B, V)$$
#
# The vectors of the $n$ words stand *side by side* in $x$, in reading order, so that the model knows
# which word stood where (the paper writes the nearest word first; that only renames columns). The
# scores $y$ are logits: $p(w_t \mid w_{t-n}, \dots, w_{t-1}) = \mathrm{softmax}(y)$. They have two
# sources: a hidden layer, and the *direct connections* $W$ past it.
#
# The layers are created for you. Keep their names: the checks load their own values into them.
#
# *Bengio et al. (2003), equation 1. Difficulty ●●○, about 20 minutes.*


# %% nbgrader={"grade": false, "grade_id": "NeuralLanguageModel", "locked": false, "solution": true}
class NeuralLanguageModel(nn.Module):
    """Predict the next word from the vectors of the words before it.

    x = [C(w_{t-n}); ...; C(w_{t-1})],  y = b + W x + U tanh(d + H x)

    Parameters: `embedding.weight` = C (V, m); `hidden.weight` = H (h, n m) and `hidden.bias` = d
    (h,); `output.weight` = U (V, h) and `output.bias` = b (V,); `direct.weight` = W (V, n m), where
    V = vocabulary_size, m = embedding_size, n = window and h = hidden_size.

    Source: Bengio et al. (2003), equation 1.
    """

    def __init__(self, vocabulary_size: int, embedding_size: int, window: int, hidden_size: int):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary_size, embedding_size)
        self.hidden = nn.Linear(window * embedding_size, hidden_size)
        self.output = nn.Linear(hidden_size, vocabulary_size)
        self.direct = nn.Linear(window * embedding_size, vocabulary_size, bias=False)

    def forward(self, context: Tensor) -> Tensor:
        """Score every word of the vocabulary as the next one.

        Args:
            context: ids of the last n words in reading order, (B, n).

        Returns:
            logits y (B, V), before any softmax.
        """
        ### BEGIN SOLUTION
        vectors = self.embedding(context).flatten(start_dim=1)  # (B, n m)
        hidden = torch.tanh(self.hidden(vectors))  # (B, h)
        return self.output(hidden) + self.direct(vectors)  # (B, V)
        ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test-NeuralLanguageModel", "locked": true, "points": 4, "solution": false} tags=["active-ipynb"]
# check(NeuralLanguageModel)
# ### BEGIN HIDDEN TESTS
# from autograder.instructor import examine

# examine(NeuralLanguageModel)
# ### END HIDDEN TESTS

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-train", "locked": true, "solution": false}
# ## Your own word vectors
#
# The corpus is made by the course: 6,000 English sentences of 4 to 20 words, such as *the dark
# markets that the bird does not watch are not small*. Nobody tells the model what any word means.
#
# Each word has two vectors, one for its part as a centre and one for its part as a context: a word
# hardly ever stands next to itself, and with a single vector its dot product with itself would be
# large. The negatives are drawn by frequency to the power 3/4, as in the paper. Training takes a few
# seconds on a CPU. To train on real sentences instead (the English side of Multi30k, half a minute
# more), set `COURSEKIT_SIZE=full` before you start Jupyter, or in a cell:
# `import os; os.environ["COURSEKIT_SIZE"] = "full"`.

# %% nbgrader={"grade": false, "grade_id": "data", "locked": true, "solution": false} tags=["active-ipynb"]
# import re
#
# from coursekit import corpora, datasets, settings
# from coursekit.vocabulary import WordVocabulary
#
# if not settings.grading():
#     size = settings.size()
#     if size == "quick":
#         parts = corpora.splits("korean", 6_000, 0, 1_000, seed=1, min_length=4, max_length=20)
#         known, unseen = ([pair.source for pair in part] for part in (parts.train, parts.test))
#         samples = ["king", "goat", "mice", "apple", "book", "car", "garden", "runs", "opens", "five"]
#     else:
#         corpus = datasets.load("multi30k-de-en")
#         known, unseen = (
#             [re.findall(r"[\w'-]+", english.lower()) for _, english in part]
#             for part in (corpus.train, corpus.test)
#         )
#         samples = ["man", "dog", "guitar", "red", "street", "runs", "eating", "two", "beach", "snow"]
#     vocabulary = WordVocabulary(known, minimum_count=1 if size == "quick" else 3)
#     V = len(vocabulary)
#     print(f"{len(known)} sentences, {sum(map(len, known))} words, {V} different ones")
#     print("for example:", " ".join(known[3]))

# %% nbgrader={"grade": false, "grade_id": "train-vectors", "locked": true, "solution": false} tags=["active-ipynb"]
# from coursekit.skipgram import nearest, neighbour_pairs, noise_distribution, skipgram_batches
# from coursekit.training import seed_everything, train
#
#
# class SkipGram(nn.Module):
#     def __init__(self, vocabulary_size, vector_size):
#         super().__init__()
#         self.center = nn.Embedding(vocabulary_size, vector_size)
#         self.context = nn.Embedding(vocabulary_size, vector_size)
#         for table in (self.center, self.context):
#             nn.init.normal_(table.weight, std=0.1)
#
#
# def skipgram_loss(model, batch):
#     return negative_sampling_loss(
#         model.center(batch.center),  # (B, d)
#         model.context(batch.context),  # (B, d)
#         model.context(batch.negatives),  # (B, K, d)
#     )
#
#
# if not settings.grading():
#     sentences = [vocabulary.encode(words, eos=False) for words in known]
#     pairs = neighbour_pairs(sentences, window=2)  # (P, 2)
#     noise = noise_distribution(sentences, V)  # (V,)
#     seed_everything(1)
#     vectors = SkipGram(V, 32 if size == "quick" else 64)
#     history = train(
#         vectors,
#         lambda epoch: skipgram_batches(pairs, noise, negatives=5, batch_size=512, seed=epoch),
#         skipgram_loss,
#         epochs=3,
#         learning_rate=0.01,
#         decay=True,
#     )
#     print(f"{len(pairs)} pairs; loss per epoch:", *(f"{x:.2f}" for x in history.column("loss")))

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-neighbours", "locked": true, "solution": false}
# A word's nearest neighbours, by the cosine between the vectors. If they look drawn at random,
# compare your loss per epoch with that of a model that knows nothing: every dot product 0, so
# $(1 + K) \log 2 = 4.16$.

# %% nbgrader={"grade": false, "grade_id": "neighbours", "locked": true, "solution": false} tags=["active-ipynb"]
# if not settings.grading():
#     table = vectors.center.weight.detach()  # (V, d)
#     for word in samples:
#         near = nearest(table, vocabulary.ids[word], 5)
#         print(f"{word:>8}: ", ", ".join(f"{vocabulary.words[i]} {x:.2f}" for i, x in near))

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-language", "locked": true, "solution": false}
# ## Your own language model
#
# Now the next word. For comparison, a model that counts: how often did this word follow these $n$
# words in training? Most sequences of four words in a new sentence have never been seen, so the
# model goes back to the counts for three, two and one word where it has little to go by
# (Witten-Bell smoothing: the fewer different words have followed a context, the more its counts are
# trusted).
#
# *Perplexity* is $\exp$ of the mean loss per word, the end of the sentence counted as one: the model
# is as unsure as if it had to choose among so many words. Lower is better.

# %% nbgrader={"grade": false, "grade_id": "count", "locked": true, "solution": false} tags=["active-ipynb"]
# import math
# from collections import Counter
#
# from coursekit.vocabulary import BOS
#
#
# def windows(sentences, n):
#     """Every word with the n words before it: lists of n + 1 ids."""
#     padded = [[BOS] * n + sentence for sentence in sentences]
#     return [ids[i : i + n + 1] for ids in padded for i in range(len(ids) - n)]
#
#
# def count_perplexity(known, unseen, n):
#     seen, total, different = Counter(), Counter(), Counter()
#     for row in windows(known, n):
#         for i in range(n + 1):  # contexts of n, n - 1, ..., 0 words
#             before, word = tuple(row[i:-1]), row[-1]
#             different[before] += (before, word) not in seen
#             seen[before, word] += 1
#             total[before] += 1
#     loss, rows = 0.0, windows(unseen, n)
#     for row in rows:
#         p = 1 / V
#         for i in reversed(range(n + 1)):
#             before, word = tuple(row[i:-1]), row[-1]
#             if before in total:
#                 trust = different[before]
#                 p = (seen[before, word] + trust * p) / (total[before] + trust)
#         loss -= math.log(p)
#     return math.exp(loss / len(rows))

# %% nbgrader={"grade": false, "grade_id": "train-language", "locked": true, "solution": false} tags=["active-ipynb"]
# def language_loss(model, rows):
#     return F.cross_entropy(model(rows[:, :-1]), rows[:, -1])
#
#
# def perplexity(model, rows):
#     device = next(model.parameters()).device
#     with torch.no_grad():
#         parts = [language_loss(model, part.to(device)) * len(part) for part in rows.split(4096)]
#     return math.exp(sum(parts).item() / len(rows))
#
#
# if not settings.grading():
#     known_ids, unseen_ids = ([vocabulary.encode(s) for s in part] for part in (known, unseen))
#     print("words before    perplexity of counts    of your model")
#     for n in (1, 2, 4):
#         rows, new = (torch.tensor(windows(ids, n)) for ids in (known_ids, unseen_ids))  # (P, n + 1)
#         seed_everything(1)
#         model = NeuralLanguageModel(V, embedding_size=32, window=n, hidden_size=64)
#         train(
#             model,
#             lambda epoch: rows[torch.randperm(len(rows))].split(256),
#             language_loss,
#             epochs=5,
#             learning_rate=5e-3,
#             decay=True,
#             progress=False,
#         )
#         counted = count_perplexity(known_ids, unseen_ids, n)
#         print(f"{n:>12}    {counted:20.1f}    {perplexity(model, new):13.1f}")

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-questions", "locked": true, "solution": false}
# Counts gain from a second word of context and lose with the fourth; your model still finds
# something in four words, since it need not have met them together.
#
# **To think about.** Change one thing and train again:
#
# 1. Draw the negatives with `power=0` (all words equally often) and with `power=1`. Whose
#    neighbours change, those of frequent or of rare words?
# 2. Train the skip-gram with `window=8`. Are the neighbours of a verb still verbs?
# 3. Print the neighbours in `model.embedding.weight`. The language model was never asked for
#    neighbours: where do they come from?
