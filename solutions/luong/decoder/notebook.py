# %% [markdown]
# # Luong attention II: the decoder
#
# Bahdanau's decoder looks at the source first and moves on afterwards. Luong, Pham and Manning (2015)
# turn this round: the decoder moves on, looks with its *new* state, and joins what it found with what
# it knows. In this notebook you build that decoder. At the end it translates with the attention that
# you wrote in `scores.ipynb`.
#
# {{ exercises }}
#
# **Before you begin.** You need `scores.ipynb`, solved. The ideas are explained in [Chapter 4](../../book/04_luong.md). Allow half to one and
# a half times the minutes in the table, depending on how well you know torch.
#
# **Shapes.** $B$ sentences in the batch, $S$ source positions (the width of the batch), $T$ target
# positions, $V$ words in the target vocabulary, $d$ the size of a state, $e$ of an embedding, $a$ of a
# key. The keys are the encoder's states. Source sentences end in padding; the mask is boolean and
# `True` means *a real word*.

# %% setup
import torch
from torch import Tensor, nn

# %% notebook setup-check
# from autograder import check
# from coursekit.notebook.session import start
#
# start()

# %% demo overview
# from coursekit.plots import diagrams
#
# figure = diagrams.draw("luong-step")

# %% [markdown]
# ## `attentional_state`
#
# The decoder knows two things about target word $t$: its state $h_t$, which has read all words before
# it, and the context $c_t$, which the attention found in the source. A layer of its own mixes them
# into the *attentional state*:
#
# $$\tilde h_t = \tanh\left(W_c\,[c_t ; h_t]\right)
# \qquad c: (\dots, a),\quad h: (\dots, d),\quad W_c: (n, a + d),\quad \tilde h: (\dots, n)$$
#
# The context comes first, and there is no bias. The leading axes are $(B,)$ for one target word or
# $(B, T)$ for all of them; your function should not care.


# %% exercise
def attentional_state(context: Tensor, state: Tensor, W: Tensor) -> Tensor:
    """Join what was found with what the decoder knows.

    h~ = tanh(W [c; h])

    Args:
        context: c, (..., a).
        state: h, (..., d).
        W: (n, a + d); its first a columns belong to the context.

    Returns:
        attentional state h~, (..., n).

    Source: Luong et al. (2015), equation 5.
    """
    ### BEGIN SOLUTION
    return torch.tanh(torch.cat([context, state], dim=-1) @ W.T)
    ### END SOLUTION


# %% [markdown]
# ## `LuongDecoder`
#
# For each target word the decoder does four things, in this order:
#
# 1. **Move on.** $h_t = f\left(h_{t-1},\, [E y_{t-1} ; \tilde h_{t-1}]\right)$: a GRU cell that reads
#    the word before and the attentional state of the step before, in this order.
# 2. **Attend.** The *new* state is the query: $c_t = \sum_s a_t(s)\, \bar h_s$, with the weights
#    $a_t$ computed from $h_t$ and the keys $\bar h_s$.
# 3. **Join.** $\tilde h_t = \tanh\left(W_c\,[c_t ; h_t]\right)$.
# 4. **Score the words.** $\mathrm{logits}_t = W_s\, \tilde h_t$, and
#    $p(y_t \mid y_1, \dots, y_{t-1}, x) = \mathrm{softmax}(\mathrm{logits}_t)$.
#
# $$E y: (B, e),\quad h, \tilde h: (B, d),\quad \bar h: (B, S, a),\quad W_c: (d, a + d),\quad
# W_s: (V, d),\quad \mathrm{logits}: (B, T, V)$$
#
# **Input feeding.** In step 1 the cell also reads $\tilde h_{t-1}$. Without it, the decoder would
# choose where to look in each step without knowing where it has looked before, since neither $c$ nor
# $\tilde h$ comes back into the recurrence. Before the first word nothing has been looked at:
# $\tilde h_0 = 0$. With `input_feeding=False` the cell reads $E y_{t-1}$ alone.
#
# **Two models side by side.**
#
# | | Bahdanau | Luong |
# | --- | --- | --- |
# | the query for word $t$ | $s_{t-1}$, the old state | $h_t$, the new state |
# | the way to the word | $s_{t-1} \to \alpha_t \to c_t \to s_t \to$ word | $h_{t-1} \to h_t \to a_t \to c_t \to \tilde h_t \to$ word |
# | how the past of attention comes back | $c_t$ goes into the cell | $\tilde h_{t-1}$ goes into the cell |
#
# The decoder does not know what attention it uses; it is given one and calls
# `attention(query, keys, mask, position)`. The position is the index of the target word, from 0: a
# global attention has no use for it, the local attention of `local.ipynb` has. `step` gets the
# position and hands it on; `forward` counts. The check passes an attention of its own; below, you pass
# yours.
#
# In training the decoder is given the true words (*teacher forcing*): `tokens[:, t]` is the word
# before the one that `logits[:, t]` predicts, so `tokens` starts with the id that marks the beginning
# of a sentence.

# %% hints
# * Where does this decoder differ from Bahdanau's? Two places: what the cell reads, and which
#   state asks.
# * In `step`: input of the cell (with or without $\tilde h_{t-1}$), cell, attention with the
#   *new* state, then the joined vector with the context in front. Return $\tilde h_t$ without
#   dropout, since it goes into the next step.
# * In `forward`, $\tilde h_0$ is zeros like the first state. Collect the $\tilde h_t$, stack
#   them, and apply dropout and the output layer once, after the loop.


# %% exercise
class LuongDecoder(nn.Module):
    """Write a sentence word by word, attending with the new state.

    h_t = f(h_{t-1}, [E y_{t-1}; h~_{t-1}]),  c_t = attention(h_t, keys),
    h~_t = tanh(W_c [c_t; h_t]),  logits_t = W_s h~_t

    Without input feeding the cell's input is E y_{t-1} alone. h~_0 = 0.

    Parameters: `embedding.weight` (V, e); `cell.*`, those of `nn.GRUCell(e + d, d)` with input
    feeding and of `nn.GRUCell(e, d)` without; `combine.weight` = W_c (d, a + d); `output.weight` =
    W_s (V, d); and those of `attention`. Here e = embedding_size, d = hidden_size, a = key_size. In
    training, `dropout` acts on the embedded words and on h~ before the output.

    Source: Luong et al. (2015), equations 5 and 6, section 3.3.
    """

    def __init__(
        self,
        vocabulary_size: int,
        embedding_size: int,
        hidden_size: int,
        key_size: int,
        attention: nn.Module,
        input_feeding: bool = True,
        dropout: float = 0.0,
    ):
        super().__init__()
        self.attention = attention
        self.input_feeding = input_feeding
        self.embedding = nn.Embedding(vocabulary_size, embedding_size)
        fed = hidden_size if input_feeding else 0
        self.cell = nn.GRUCell(embedding_size + fed, hidden_size)
        self.combine = nn.Linear(key_size + hidden_size, hidden_size, bias=False)
        self.output = nn.Linear(hidden_size, vocabulary_size, bias=False)
        self.dropout = nn.Dropout(dropout)

    def step(
        self,
        embedded: Tensor,
        state: Tensor,
        attentional: Tensor,
        keys: Tensor,
        mask: Tensor,
        position: int,
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Move on by one word, then attend with the new state.

        Args:
            embedded: E y_{t-1}, (B, e).
            state: h_{t-1}, (B, d).
            attentional: h~_{t-1}, (B, d).
            keys: encoder states (B, S, a).
            mask: bool (B, S), True = a real source word.
            position: index of the target word, from 0; handed on to the attention.

        Returns:
            state h_t (B, d), attentional state h~_t (B, d), weights (B, S).
        """
        ### BEGIN SOLUTION
        inputs = torch.cat([embedded, attentional], dim=-1) if self.input_feeding else embedded
        state = self.cell(inputs, state)  # (B, d)
        context, weights = self.attention(state, keys, mask, position)  # (B, a), (B, S)
        attentional = torch.tanh(self.combine(torch.cat([context, state], dim=-1)))  # (B, d)
        return state, attentional, weights
        ### END SOLUTION

    def forward(
        self, tokens: Tensor, keys: Tensor, mask: Tensor, first_state: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Predict each target word from the true words before it (teacher forcing).

        Args:
            tokens: y_0 ... y_{T-1}, ids (B, T); y_0 marks the beginning of the sentence.
            keys: encoder states (B, S, a).
            mask: bool (B, S), True = a real source word.
            first_state: h_0, (B, d).

        Returns:
            logits (B, T, V), of which logits[:, t] predicts the word after tokens[:, t], and
            weights (B, T, S).
        """
        ### BEGIN SOLUTION
        embedded = self.dropout(self.embedding(tokens))  # (B, T, e)
        state, attentional = first_state, torch.zeros_like(first_state)  # (B, d) each
        found, weights = [], []
        for t in range(tokens.shape[1]):
            state, attentional, alpha = self.step(embedded[:, t], state, attentional, keys, mask, t)
            found.append(attentional)
            weights.append(alpha)
        logits = self.output(self.dropout(torch.stack(found, 1)))  # (B, T, V)
        return logits, torch.stack(weights, 1)  # (B, T, S)
        ### END SOLUTION


# %% [markdown] together
# ## Your own translator
#
# The next cells put your decoder to work. They need the checks above to pass, and those of
# `scores.ipynb`. Save that notebook: your scores and your `attention` are read from the disk. The encoder is
# that of [Chapter 3](../../book/03_bahdanau.md), given here: it reads the sentence in both directions, so its keys have
# $a = 2d$ numbers.
#
# The corpus is made by the course: English sentences and their Korean translations, 14,000 to train
# on. Training takes one to three minutes on a CPU. To train on real data instead (Multi30k, German to
# English; better with a GPU), set `COURSEKIT_SIZE=full` before you start Jupyter, or in a cell:
# `import os; os.environ["COURSEKIT_SIZE"] = "full"`.


# %% encoder
class BidirectionalEncoder(nn.Module):
    """Bahdanau's encoder: a key [forward; backward] for each source word, and the first state."""

    def __init__(self, vocabulary_size: int, embedding_size: int, hidden_size: int, dropout: float):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary_size, embedding_size)
        self.rnn = nn.GRU(embedding_size, hidden_size, batch_first=True, bidirectional=True)
        self.first_state = nn.Linear(hidden_size, hidden_size)
        self.dropout = nn.Dropout(dropout)

    def forward(self, source: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """Return keys (B, S, 2d) and the decoder's first state (B, d) for ids (B, S)."""
        words = self.dropout(self.embedding(source))  # (B, S, e)
        rows = nn.utils.rnn.pack_padded_sequence(words, lengths.cpu(), True, False)
        both, last = self.rnn(rows)  # last: (2, B, d)
        keys, _ = nn.utils.rnn.pad_packed_sequence(both, True, total_length=source.shape[1])
        return self.dropout(keys), torch.tanh(self.first_state(last[1]))


# %% demo together
# from coursekit.notebook.session import import_answers
#
# import_answers("scores.ipynb")

# %% demo train
# from coursekit.notebook import settings
# import torch.nn.functional as F
#
# from coursekit.data.batching import batches_by_length
# from coursekit.data.lesson_data import translation_data
# from coursekit.training import seed_everything, train
# from coursekit.models.translation import LuongTranslator
# from coursekit.text.vocabulary import PAD
#
#
# def loss(model, batch):
#     logits, weights = model(batch.source, batch.lengths, batch.previous)  # (B, T, V), (B, T, S)
#     return F.cross_entropy(logits.flatten(0, 1), batch.target.flatten(), ignore_index=PAD)
#
#
# size = settings.size()
# data = translation_data(size)
# e, d, dropout, rate, epochs = {
#     "quick": (64, 96, 0.0, 6e-3, 3),
#     "full": (256, 256, 0.2, 1.5e-3, 14),
# }[size]
# seed_everything(1)
# look = GlobalAttention(Score("general", query_size=d, key_size=2 * d))
# model = LuongTranslator(
#     BidirectionalEncoder(len(data.source_words), e, d, dropout),
#     LuongDecoder(len(data.target_words), e, d, 2 * d, look, dropout=dropout),
# )
# history = train(
#     model,
#     lambda epoch: batches_by_length(data.train, 64, seed=epoch),
#     loss,
#     epochs=epochs,
#     learning_rate=rate,
#     decay=True,
# )
# print("loss per epoch:", ", ".join(f"{x:.2f}" for x in history.column("loss")))

# %% [markdown]
# It translates. The sentences are from the test set: it has never seen them.

# %% demo translate
# from coursekit.training.metrics import exact_match
# from coursekit.models.translation import translate
#
# found = translate(model, [source for source, _ in data.test])
# translations = [data.target_words.decode(ids) for ids in found]
# for i in range(5):
#     print("source      ", data.source_words.decode(data.test[i][0]))
#     print("reference   ", data.references[i])
#     print("your model  ", translations[i])
#     print("word by word", data.gloss(translations[i]), "\n")
# if size == "quick":
#     print(f"{exact_match(translations, data.references):.0%} of the test sentences are right")

# %% [markdown]
# And this is where it looked: a row for each target word, with its English. The outlines are the word links of the
# grammar (quick size only), which were not used in training.

# %% demo picture
# from coursekit.plots import charts
# from coursekit.plots import style
# from coursekit.models.translation import attention_weights
#
# style.use()
# i = next(i for i, length in enumerate(data.source_lengths) if length == 12)
# source, target = data.test[i]
# (weights,) = attention_weights(model, [source], [target])  # (T, S)
# axes = charts.alignment(
#     weights,
#     data.source_words.tokens(source),
#     data.glossed(target),
#     links=data.links[i] if data.links else None,
# )

# %% [markdown] play-text-sentence
# **Predict, then run.** Repeat a clause of the sentence word for word. Does the model know which of the two it has already
# translated?

# %% play sentence
# from coursekit.text.vocabulary import EOS
#
# sentence = data.source_words.decode(source)  # words of the corpus, in another order, longer, shorter
# ids = data.source_words.encode(sentence.split())
# (said,) = translate(model, [ids])
# print("your sentence", data.source_words.decode(ids))
# print("your model   ", data.target_words.decode(said))
# print("word by word ", data.gloss(data.target_words.decode(said)))
# (weights,) = attention_weights(model, [ids], [[*said, EOS]])  # (T, S)
# axes = charts.alignment(
#     weights, data.source_words.tokens(ids), data.glossed([*said, EOS])
# )

# %% [markdown]
# ## Beside the five translators
#
# The page [One sentence through the history](../../book/one_sentence.md) runs five translators side by side, and yours can join them. The next cell
# trains it on sentences like those of the page, English and French, in one to two minutes on a CPU, and saves it.
# Then choose the file at the end of the explorer on that page (in Colab or on Binder, download it first). The page computes with your
# parameters what the paper's equations say, and names the first place where your code gives something else.

# %% demo history
# from coursekit.data.lesson_data import everyday_data
# from coursekit.widgets import save_translator
#
# everyday = everyday_data()
# seed_everything(1)
# look = GlobalAttention(Score("general", query_size=80, key_size=160))
# mine = LuongTranslator(
#     BidirectionalEncoder(len(everyday.source_words), 48, 80, 0.0),
#     LuongDecoder(len(everyday.target_words), 48, 80, 160, look),
# )
# train(
#     mine,
#     lambda epoch: batches_by_length(everyday.train, 64, seed=epoch),
#     loss,
#     epochs=4,
#     learning_rate=6e-3,
#     decay=True,
# )
# found = translate(mine, [source for source, _ in everyday.test])
# said = [everyday.target_words.decode(ids) for ids in found]
# print(f"{exact_match(said, everyday.references):.0%} of the test sentences are right")
# saved = save_translator(
#     "my_luong.json", mine, everyday.source_words, everyday.target_words, everyday.test[0]
# )
# print("Saved:", saved)

# %% [markdown] questions
# **To think about.** Given cells are locked: copy one (*Edit*, *Copy Cells*, *Paste*), change
# one thing in the copy, and train again:
#
# 1. Build the decoder with `input_feeding=False`. Does it say a word twice, or leave one out, more
#    often than before? Why should it, and why may it not?
# 2. Without input feeding, the attention of all target words can be computed at once: which lines of
#    `forward` must stay in the loop, and which need not?
# 3. Give the decoder `Score("dot", ...)`. It needs queries and keys of one size: what would you change
#    in the encoder?

# %% answers
# 1. Look for repeated and missing words among the wrong translations. Without input feeding the
#    cell does not learn where it looked: all that it knows of the past is the words it has
#    written. If the sentence has two similar nouns, nothing says which of them is done. On these short,
#    regular sentences it may even translate a little better: the words already written tell the cell
#    enough, and it has fewer numbers to learn from.
# 2. Only the cell stays: $h_t$ needs $h_{t-1}$ and the true word. The attention of all target
#    words, the joined vectors and the output can be computed once, with all states $(B, T, d)$ as
#    queries. That is what your `attention` takes in its second form. Even the cell's loop may go,
#    into one call of `nn.GRU`.
# 3. Bring the keys to $d$ numbers: halve the encoder's hidden size, so that $a = 2 \cdot d/2 =
#    d$, or put a linear layer on the annotations, which is `general_score` in disguise. The
#    decoder's first state must have $d$ numbers all the same.
