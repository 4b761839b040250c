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

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-data", "locked": true, "solution": false}
# ## Something to read
#
# The corpus is made by the course: English sentences of 4 to 20 words, such as *the dark markets
# that the bird does not watch are not small*. Nobody tells a model what any of the words means.
# Both trainings below take less than a minute on a CPU. To train on real sentences instead (the
# English side of Multi30k, descriptions of photographs; some minutes), set `COURSEKIT_SIZE=full`
# before you start Jupyter, or in a cell: `import os; os.environ["COURSEKIT_SIZE"] = "full"`.

# %% nbgrader={"grade": false, "grade_id": "data", "locked": true, "solution": false} tags=["active-ipynb"]
# import re
#
# from coursekit import corpora, datasets, settings
# from coursekit.vocabulary import WordVocabulary
#
# if not settings.grading():
#     size = settings.size()
#     if size == "quick":
#         parts = corpora.splits("korean", 6_000, 500, 1_000, seed=1, min_length=4, max_length=20)
#         texts = [[pair.source for pair in part] for part in parts]
#         samples = ["king", "goat", "mice", "apple", "book", "car", "garden", "runs", "opens", "five"]
#     else:
#         corpus = datasets.load("multi30k-de-en")
#         texts = [
#             [re.findall(r"[\w'-]+", english.lower()) for _, english in part]
#             for part in (corpus.train, corpus.validation, corpus.test)
#         ]
#         samples = ["man", "dog", "guitar", "red", "street", "runs", "eating", "two", "beach", "snow"]
#     vocabulary = WordVocabulary(texts[0], minimum_count=1 if size == "quick" else 3)
#     V = len(vocabulary)
#     # ids of the training, validation and test sentences, each with <eos> at its end
#     known, held_out, unseen = ([vocabulary.encode(words) for words in text] for text in texts)
#     print(f"{len(known)} sentences, {sum(map(len, texts[0]))} words, {V - 4} different ones")
#     print("for example:", " ".join(texts[0][3]))

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-vectors", "locked": true, "solution": false}
# ## Your own word vectors
#
# Each word has two vectors, one for its part as a centre and one for its part as a context: a word
# hardly ever stands next to itself, and with a single vector its dot product with itself would be
# large all the same. Neighbours are the two words to either side. The negatives are drawn by
# frequency to the power 3/4, as in the paper (which also leaves out some of the most frequent words;
# we do not).

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
#     sentences = [ids[:-1] for ids in known]  # without <eos>, which is no word
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
# A word's nearest neighbours, by the cosine between the vectors. Should they look drawn at random:
# is your loss below that of a model that knows nothing? There every dot product is 0, and the loss
# $(1 + 5) \log 2 = 4.16$.

# %% nbgrader={"grade": false, "grade_id": "neighbours", "locked": true, "solution": false} tags=["active-ipynb"]
# if not settings.grading():
#     table = vectors.center.weight.detach()  # (V, d)
#     for word in samples:
#         near = nearest(table, vocabulary.ids[word], 5)
#         print(f"{word:>8}: ", ", ".join(f"{vocabulary.words[i]} {x:.2f}" for i, x in near))

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-language", "locked": true, "solution": false}
# ## Your own language model
#
# Now the next word. Its rival counts: how often did this word follow these $n$ words in training?
# Most sequences of five words in a new sentence have never been seen, so the counts for long
# sequences are mixed with those for shorter ones (Kneser-Ney smoothing, whose discounts are chosen
# on held-out sentences). Both models get the same words of context.
#
# *Perplexity* is $\exp$ of the mean loss per word, the end of the sentence counted as one: the model
# is as unsure as if it had to choose among so many words. Lower is better.

# %% nbgrader={"grade": false, "grade_id": "train-language", "locked": true, "solution": false} tags=["active-ipynb"]
# from coursekit.ngrams import NgramModel, context_windows
#
#
# def language_loss(model, rows):
#     return F.cross_entropy(model(rows[:, :-1]), rows[:, -1])
#
#
# def perplexity(model, rows):
#     where = next(model.parameters()).device
#     with torch.no_grad():
#         parts = [language_loss(model, part.to(where)) * len(part) for part in rows.split(2048)]
#     return (sum(parts) / len(rows)).exp().item()
#
#
# if not settings.grading():
#     print("words before    perplexity of counts    of your model")
#     for n in (1, 2, 4):
#         counts = NgramModel(n + 1, V).fit(known).tune(held_out)
#         rows = torch.column_stack(context_windows(known, n))  # (P, n + 1): n words, then the next
#         seed_everything(1)
#         model = NeuralLanguageModel(V, embedding_size=32, window=n, hidden_size=64)
#         train(
#             model,
#             lambda epoch: rows[torch.randperm(len(rows))].split(256),
#             language_loss,
#             epochs=5,
#             learning_rate=5e-3 if size == "quick" else 2e-3,
#             decay=True,
#             progress=False,
#         )
#         yours = perplexity(model, torch.column_stack(context_windows(unseen, n)))
#         print(f"{n:>12}    {counts.perplexity(unseen):>20.1f}    {yours:>13.1f}")

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-questions", "locked": true, "solution": false}
# On the made-up sentences both models gain from a second word of context. From two more the counts
# gain next to nothing, since so long a sequence is hardly ever met again; your model need not have
# met the very words, only words like them.
#
# **To think about.** Change one thing and train again:
#
# 1. Draw the negatives with `power=0` (all words equally often) and with `power=1`. Whose
#    neighbours change, those of frequent or of rare words?
# 2. Train the skip-gram with `window=8`. Are the neighbours of a verb still verbs?
# 3. Print the neighbours in `model.embedding.weight`. The language model was never asked for
#    neighbours: where do they come from?
