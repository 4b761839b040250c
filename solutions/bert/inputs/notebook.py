# %% [markdown]
# # BERT I: what goes in
#
# BERT reads one sentence or two, as a row of ids. Before its first layer, much has been decided: how a
# word that it has never seen is cut into pieces that it knows, what a piece is told about its place, which
# pieces are hidden so that the model has to guess them, and which sentences are put side by side. In this
# notebook you build those four things; the model itself comes in `pretraining.ipynb`.
#
# {{ exercises }}
#
# **Before you begin.** You need none of the earlier notebooks. The ideas are explained in [Chapter 9](../../book/09_bert.md). Allow half to one and
# a half times the minutes in the table, depending on how well you know torch.
#
# Where no other paper is named, the sections are those of Devlin et al. (2019).
#
# **Shapes.** $B$ inputs in the batch, $N$ tokens in a row, $V$ tokens in the vocabulary, $d$ the size of a
# vector. A *token* is a piece of a word or one of the marks: `[CLS]` stands before every input, `[SEP]` after
# each sentence, `[PAD]` fills up shorter rows, `[MASK]` stands for a hidden token, `[UNK]` for a word that
# cannot be spelt.

# %% setup
from collections.abc import Container, Sequence
from itertools import pairwise
from typing import TypeVar

import torch
from torch import Tensor, nn

Sentence = TypeVar("Sentence")

# %% notebook setup-check
# from autograder import check
# from coursekit.notebook.session import start
#
# start()

# %% demo overview
# from coursekit.plots import diagrams
#
# figure = diagrams.draw("bert-inputs")

# %% [markdown]
# ## `wordpiece`
#
# A vocabulary of words is never complete, and one of letters makes long rows. BERT's is in between: 30,000
# words and pieces of words. Frequent words stand in it as they are; all others are put together from pieces.
# A piece that continues a word is written with two marks in front, so that "able" and "##able" are two
# different tokens.
#
# Which pieces? The rule is *greedy*. Take the longest piece that the word begins with, then the longest one
# that the rest begins with (with `##` in front), and so on. If $w_{i:j}$ are the letters $i$ to $j - 1$ of a
# word of $n$ letters and $\mathcal V$ is the vocabulary:
#
# $$i_1 = 0, \qquad i_{k+1} = \max\left\{\, j > i_k : \; m_k\, w_{i_k:j} \in \mathcal V \,\right\}, \qquad
# m_1 = \text{nothing}, \quad m_k = \mathtt{\#\#} \text{ for } k > 1$$
#
# until $i_{k+1} = n$. With the pieces `un`, `una`, `##aff`, `##ffa`, `##ble`, `##able`:
#
# | word | pieces | |
# | --- | --- | --- |
# | unable | `una` `##ble` | not `un` `##able`: the longer first piece wins |
# | unaffable | `una` `##ffa` `##ble` | |
# | unaff | `[UNK]` | after `una` there is no `##ff`; what was taken is not given back |
#
# If there is no such piece at some place, the *whole* word is unknown. So is a word of more than 100
# characters, whatever the vocabulary holds: looking for its pieces would take long, and it is hardly a word.
# An empty word has no pieces.
#
# The vocabulary may be a set, a dict, or an object of somebody's own: all you may ask it is whether a piece is
# `in` it.

# %% hints
# * Two loops: an outer one that moves on through the word, and an inner one that tries ends, from
#   far to near.
# * Only the first piece comes without `##`. If the inner loop finds nothing, the whole word is
#   unknown, also what was found before. Python's `for ... else` says just that.


# %% exercise
def wordpiece(word: str, vocabulary: Container[str], unknown: str = "[UNK]") -> list[str]:
    """Spell a word in the longest pieces that the vocabulary has, from left to right.

    Args:
        word: without spaces; already lower-cased, if the vocabulary is.
        vocabulary: the pieces; those that continue a word begin with "##". Anything that can say
            whether a piece is `in` it.
        unknown: what stands for a word that cannot be spelt, and for one of more than 100 characters.

    Returns:
        the pieces; [] for an empty word.

    Source: Devlin et al. (2019), section 3; Wu et al. (2016), section 4.1; the limit of 100
    characters is that of the library `tokenizers`.
    """
    ### BEGIN SOLUTION
    if len(word) > 100:
        return [unknown]
    pieces: list[str] = []
    start = 0
    while start < len(word):
        for end in range(len(word), start, -1):
            piece = ("##" if start > 0 else "") + word[start:end]
            if piece in vocabulary:
                break
        else:
            return [unknown]
        pieces.append(piece)
        start = end
    return pieces
    ### END SOLUTION


# %% [markdown]
# ## `BertEmbeddings`
#
# A row of ids becomes a row of vectors. Attention sees no order and no borders, so three things are told to
# the model about each token, each as a vector that it learns: what the token is, which of the two sentences it
# belongs to, and at which place it stands. The three are *added*, and the sum is normalised:
#
# $$x_i = \mathrm{LayerNorm}\left(E^{\mathrm{token}}_{w_i} + E^{\mathrm{segment}}_{s_i} +
# E^{\mathrm{position}}_{i}\right)$$
#
# $$w, s: (B, N), \quad E^{\mathrm{token}}: (V, d), \quad E^{\mathrm{segment}}: (2, d), \quad
# E^{\mathrm{position}}: (N_{\max}, d), \quad x: (B, N, d)$$
#
# | | | | | | | | |
# | --- | --- | --- | --- | --- | --- | --- | --- |
# | token | `[CLS]` | the | dog | `[SEP]` | it | barks | `[SEP]` |
# | segment | 0 | 0 | 0 | 0 | 1 | 1 | 1 |
# | position | 0 | 1 | 2 | 3 | 4 | 5 | 6 |
#
# The positions are learned, not sines, so a row may have at most $N_{\max}$ = `max_length` tokens; nothing is multiplied by
# $\sqrt d$ as in the Transformer. Without `segments` all tokens are in segment 0, which has a vector like any
# other. Padding gets a vector too; it is the encoder's mask that keeps it from being seen.
#
# All layers are made for you. Call `dropout` on the result.


# %% exercise
class BertEmbeddings(nn.Module):
    """What the token is, which sentence it is in, and where it stands: three vectors, added.

    x_i = LayerNorm(E_token[w_i] + E_segment[s_i] + E_position[i])

    Parameters, d = hidden_size: `token.weight` (V, d), `segment.weight` (segments, d),
    `position.weight` (max_length, d), `norm.weight` and `norm.bias` (d,). In training, `dropout`
    acts on the result.

    Source: Devlin et al. (2019), section 3 and figure 2; the LayerNorm is in the paper's code.
    """

    def __init__(
        self,
        vocabulary_size: int,
        hidden_size: int,
        max_length: int = 512,
        segments: int = 2,
        dropout: float = 0.0,
        eps: float = 1e-12,
    ):
        super().__init__()
        self.token = nn.Embedding(vocabulary_size, hidden_size)
        self.segment = nn.Embedding(segments, hidden_size)
        self.position = nn.Embedding(max_length, hidden_size)
        self.norm = nn.LayerNorm(hidden_size, eps=eps)
        self.dropout = nn.Dropout(dropout)

    def forward(self, tokens: Tensor, segments: Tensor | None = None) -> Tensor:
        """Return the vectors of a batch of token sequences.

        Args:
            tokens: ids (B, N), N at most max_length.
            segments: ids (B, N), 0 = first sentence, 1 = second; None: 0 everywhere.

        Returns:
            x, (B, N, d).
        """
        ### BEGIN SOLUTION
        if segments is None:
            segments = torch.zeros_like(tokens)
        places = torch.arange(tokens.shape[1], device=tokens.device)  # (N,)
        total = self.token(tokens) + self.segment(segments) + self.position(places)  # (B, N, d)
        return self.dropout(self.norm(total))
        ### END SOLUTION


# %% [markdown]
# ## `mask_tokens`
#
# A model that reads from left to right can be asked for the next word. BERT reads both sides, so that every
# word would already have been seen by the others. Its task is another one: some tokens are hidden, and it has
# to say what they were. Each token that is not special is *chosen* with the probability $p = 0.15$, independently
# of all others. What the model then sees in its place is drawn again:
#
# $$\begin{gathered}
# c_i \sim \mathrm{Bernoulli}(p), \qquad
# \tilde w_i = \begin{cases}
# w_i & \text{if } c_i = 0 \\
# \texttt{[MASK]} & \text{if } c_i = 1, \text{ with probability } 0.8 \\
# r_i \sim \mathrm{Uniform}\{0, \dots, V - 1\} & \text{if } c_i = 1, \text{ with probability } 0.1 \\
# w_i & \text{if } c_i = 1, \text{ with probability } 0.1
# \end{cases}
# \\
# y_i = \begin{cases} w_i & \text{if } c_i = 1 \\ -100 & \text{if } c_i = 0 \end{cases}
# \end{gathered}$$
#
# $$w, \tilde w, y: (\dots) \text{ of any one shape}$$
#
# Why not `[MASK]` always? It never comes when the model is used. If only `[MASK]` were asked about, the model
# would have no reason to keep anything about the words it sees; since any token may be a wrong one, or may be
# asked about although it is right, it has to know each of them. The label $-100$ is the one that
# `cross_entropy` leaves out.
#
# Two things are easily overlooked. The number of chosen tokens is not fixed: in 20 tokens there may be none or
# seven. And a random token is any token, also a special one, also by chance the true one.
#
# **Chance that can be repeated.** Everything is drawn with the `generator`; with `None`, torch's own draws. The
# check looks at what must hold for *any* way of drawing, and over many tokens at how often things happen.

# %% hints
# * Two independent decisions for each token: *whether* it is chosen, and *what becomes* of it if
#   so. One tensor of random numbers for each.
# * With one uniform number in $[0, 1)$ for the second decision, its range can be cut into 0.8,
#   0.1 and 0.1. Special tokens drop out of the first decision.
# * Draw with `torch.rand` and `torch.randint`, both with the generator and on the device of the
#   tokens. Use `torch.where` or `masked_fill`, which leave the input as it is; labels are the
#   true ids where chosen and -100 elsewhere.


# %% exercise
def mask_tokens(
    tokens: Tensor,
    special: Tensor,
    vocabulary_size: int,
    mask_id: int,
    generator: torch.Generator | None = None,
    probability: float = 0.15,
) -> tuple[Tensor, Tensor]:
    """Choose tokens to be predicted, and hide most of them.

    Each token that is not special is chosen with the given probability, independently. Of the
    chosen ones 80 % become [MASK], 10 % a random token, 10 % stay as they are.

    Args:
        tokens: ids, any shape. They are not changed.
        special: bool, like tokens: True for [CLS], [SEP] and padding, which are never chosen.
        vocabulary_size: V; random tokens are uniform on 0 to V - 1.
        mask_id: the id of [MASK].
        generator: all random numbers are drawn from it (None: torch's own); it is on the device of
            the tokens.
        probability: of being chosen.

    Returns:
        inputs, what the model sees, and labels: the true id where a token was chosen, -100
        elsewhere; both like tokens.

    Source: Devlin et al. (2019), section 3.1, task 1, and appendix A.1.
    """
    ### BEGIN SOLUTION
    shape, device = tokens.shape, tokens.device
    chosen = (torch.rand(shape, generator=generator, device=device) < probability) & ~special
    share = torch.rand(shape, generator=generator, device=device)  # below 0.8: [MASK]
    random_ids = torch.randint(vocabulary_size, shape, generator=generator, device=device)
    inputs = tokens.masked_fill(chosen & (share < 0.8), mask_id)
    inputs = torch.where(chosen & (share >= 0.9), random_ids, inputs)
    labels = tokens.masked_fill(~chosen, -100)
    return inputs, labels
    ### END SOLUTION


# %% [markdown]
# ## `next_sentence_pairs`
#
# Whether two sentences belong together is a question of many tasks: does this sentence follow from that one, is
# this the answer? So BERT is also trained on pairs, and asked whether the second sentence really came next. For
# each two neighbours of a document a fair coin is tossed: heads, and the pair is a true one; tails, and the
# second sentence is replaced by one of another document. If document $a$ has the sentences
# $s_{a,1}, \dots, s_{a,n_a}$, the pairs are
#
# $$\begin{gathered}
# \left(s_{a,j},\; \begin{cases} s_{a,j+1} & \text{if } z_{a,j} = 1 \\ \text{a sentence of a document } a' \ne a &
# \text{if } z_{a,j} = 0 \end{cases},\; z_{a,j}\right) \\
# z_{a,j} \sim \mathrm{Bernoulli}(\tfrac12), \qquad j = 1, \dots, n_a - 1
# \end{gathered}$$
#
# in the order of the documents and of their sentences: as many pairs as neighbours. A document of one sentence
# gives no pair, but its sentence may be drawn. How you choose among the other documents is up to you, as long as
# every one of their sentences may come: first a document and then a sentence, or a sentence at once.
#
# A sentence may be anything: a string, a list of ids. Two sentences may be equal, and so may two documents, so go
# by their places and not by what they are. The documents are not changed, and what is drawn is drawn with the
# `generator`.

# %% hints
# * Walk through the documents by their number, and in each through its neighbours. One coin for
#   each pair, tossed inside the inner loop.
# * For a false pair choose the number of another document, never the document itself by its
#   contents: two may be equal. Documents without any sentence cannot be chosen, and must not be
#   counted.
# * `torch.randint(n, (), generator=generator)` draws a number below $n$; the coin is such a draw
#   with $n = 2$. Check for the two documents before you begin.


# %% exercise
def next_sentence_pairs(
    documents: Sequence[Sequence[Sentence]], generator: torch.Generator | None = None
) -> list[tuple[Sentence, Sentence, bool]]:
    """Make pairs of sentences, of which about half follow each other.

    There is one pair for each two neighbours of a document, in order. For each a fair coin decides:
    either the second sentence is the true next one, or it is a sentence of another document, chosen
    at random.

    Args:
        documents: at least 2, each a list of sentences; a sentence may be anything.
        generator: all random numbers are drawn from it (None: torch's own).

    Returns:
        (first, second, is_next), one for each pair of neighbours; is_next is True or False.

    Raises:
        ValueError: there are fewer than 2 documents with a sentence.

    Source: Devlin et al. (2019), section 3.1, task 2, where the random sentence may be any of the
    corpus.
    """
    ### BEGIN SOLUTION
    filled = [i for i, document in enumerate(documents) if document]
    if len(filled) < 2:
        raise ValueError("Next sentences need at least two documents that have a sentence.")

    def draw(n: int) -> int:
        return int(torch.randint(n, (), generator=generator))

    pairs = []
    for i, document in enumerate(documents):
        for first, following in pairwise(document):
            if draw(2):
                pairs.append((first, following, True))
                continue
            others = [j for j in filled if j != i]
            other = documents[others[draw(len(others))]]
            pairs.append((first, other[draw(len(other))], False))
    return pairs
    ### END SOLUTION


# %% [markdown] together
# ## From stories to inputs
#
# The next cells need the checks above to pass. They make a small vocabulary from short stories, which
# are made by the course, and turn the stories into what BERT reads. First the pieces: the vocabulary is
# kept so small that many words of the stories are not in it. Your pieces are compared with those of the
# library `tokenizers`, for every word.

# %% demo pieces
# from coursekit.corpora import stories
# from coursekit.text.wordpiece import WordPieceVocabulary
#
# told = stories.stories(400, seed=1)
# sentences = [" ".join(words) for story in told for words in story.sentences]
# vocabulary = WordPieceVocabulary(sentences, 160)
# words = sorted({word for story in told for words in story.sentences for word in words})
# same = sum(wordpiece(word, vocabulary) == vocabulary.pieces(word) for word in words)
# whole = sum(word in vocabulary for word in words)
# print(f"{len(words)} words, {whole} of them pieces themselves; {same} spelt as the library does")
# for word in [*words[:: len(words) // 8], "unbelievable", "c3po", "wow!"]:
#     print(f"  {word:14}", " ".join(wordpiece(word, vocabulary)))

# %% [markdown]
# Now a pair of sentences as an input, and what `mask_tokens` makes of it, three times. Below a token that was
# chosen stands what it was.

# %% demo masks
# documents = [[vocabulary.ids(" ".join(words)) for words in story.sentences] for story in told]
# coins = torch.Generator().manual_seed(4)
# pairs = next_sentence_pairs(documents, coins)
# first, second, is_next = pairs[0]
# ids, kinds = vocabulary.join(first, second)
# tokens = torch.tensor([ids])
# special = torch.isin(tokens, torch.tensor(vocabulary.special_ids))
# print("the second sentence", "is the next one" if is_next else "is from another story", "\n")
# for _ in range(3):
#     inputs, labels = mask_tokens(
#         tokens, special, len(vocabulary), vocabulary.mask_id, coins
#     )
#     above, below = [], []
#     for piece, label in zip(vocabulary.tokens(inputs[0]), labels[0].tolist()):
#         was = vocabulary.tokens([label])[0] if label != -100 else ""
#         width = max(len(piece), len(was))
#         above.append(piece.ljust(width))
#         below.append(was.ljust(width))
#     print(" ".join(above), " ".join(below), "", sep="\n")

# %% [markdown] play-text-mask
# **Predict, then run.** How is a word spelt that you invent? How many of the tokens are chosen if `probability` is 0.5, and
# how many of the chosen are still right?

# %% play mask
# word, probability = "unthinkable", 0.15
# print(word, "->", " ".join(wordpiece(word, vocabulary)))
# inputs, labels = mask_tokens(
#     tokens, special, len(vocabulary), vocabulary.mask_id, probability=probability
# )
# print(" ".join(vocabulary.tokens(inputs[0])))
# asked = labels != -100
# print("asked about:", " ".join(vocabulary.tokens(labels[asked].tolist())))
# print(f"chosen: {asked.sum()} of {asked.numel()}; still right: {(inputs == labels).sum()}")

# %% [markdown]
# Over all pairs: what happened to the chosen tokens, and how many were chosen in each input of 30 tokens or
# so. Some inputs have none: from those BERT learns nothing in this epoch, and in the next one others are
# chosen.

# %% demo counts
# import matplotlib.pyplot as plt
#
# from coursekit.plots import style
#
# chosen, hidden, same = [], 0, 0
# for a, b, _ in pairs:
#     ids = torch.tensor(vocabulary.join(a, b)[0])
#     marks = torch.isin(ids, torch.tensor(vocabulary.special_ids))
#     hid, asked = mask_tokens(ids, marks, len(vocabulary), vocabulary.mask_id, coins)
#     chosen.append(int((asked != -100).sum()))
#     hidden += int((hid == vocabulary.mask_id).sum())
#     same += int((hid == asked).sum())
# total = sum(chosen)
# print(f"of {total} chosen tokens {hidden / total:.1%} are hidden and {same / total:.1%} as they were")
# style.use()
# figure, axes = plt.subplots(figsize=(6.0, 2.6), layout="constrained")
# numbers = range(max(chosen) + 1)
# axes.bar(numbers, [chosen.count(n) for n in numbers], color=style.SERIES[0])
# _ = axes.set(xlabel="chosen tokens in an input", ylabel="inputs", xticks=numbers)

# %% [markdown]
# And at last the vectors. The layers have not learned anything yet; but already the same token has another vector
# at another place, and in the other sentence.

# %% demo vectors
# torch.manual_seed(1)
# embed = BertEmbeddings(len(vocabulary), 32, max_length=40)
# the = vocabulary.id("the")
# row = torch.tensor([[vocabulary.cls_id, the, the, vocabulary.sep_id, the, vocabulary.sep_id]])
# kinds = torch.tensor([[0, 0, 0, 0, 1, 1]])
# vectors = embed(row, kinds)  # (1, 6, 32)
# print(tuple(vectors.shape))
# for i, j in ((1, 1), (1, 2), (1, 4)):
#     gap = (vectors[0, i] - vectors[0, j]).norm().item()
#     print(f"'the' at place {i} and 'the' at place {j}: distance {gap:.2f}")

# %% [markdown] questions
# **To think about.** To change a given cell, which is locked, copy it (*Edit*, *Copy Cells*, *Paste*).
#
# 1. Make the vocabulary larger and smaller, 60 or 600 pieces. How long do the rows become, and which words are
#    still cut? What would be lost with a vocabulary of letters alone, and what with one of words alone?
# 2. A word in three pieces may have one of them hidden. Is that an easy question? (Later versions of BERT
#    hide all pieces of a word or none.)
# 3. A random second sentence comes from another story. What could the model look at to tell it from the true
#    one, without understanding either of them?

# %% answers
# 1. With fewer pieces rows become longer, and frequent words are cut, too; with more, only rare
#    ones are. Letters alone spell every word, but rows are five times as long and each piece
#    means little. Words alone mean much and keep rows short, but the unknown word says nothing,
#    and no two forms of a word share anything.
# 2. Often it is: the other two pieces leave few choices. The model learns to spell, not to
#    understand. Hiding all pieces of a word makes the question harder and more useful.
# 3. At what the stories are about: names, *he* or *she*, things that recur. Two sentences of one
#    story share words far more often than two of different stories do. That is one reason why
#    later models dropped the task.
