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
# # Sequence to sequence II: encoder and decoder
#
# One recurrent network reads the source sentence into a vector, a second one writes the translation
# from it: two papers had this idea in 2014. You build both models, the GRU of Cho et al. and the LSTM
# of Sutskever, Vinyals and Le, with the loss that trains them, and the trick of turning the source
# sentence round. At the end your own models translate, and you measure what the trick is worth.
#
# The cells inside you know from `cells.ipynb`; here you use torch's.
#
# | exercise | what it computes | paper | difficulty | minutes |
# | --- | --- | --- | --- | --- |
# | `Encoder` | all states, and the one vector $c$ | Cho et al., eq. 1 | ●●○ | 20 |
# | `ContextDecoder` | first state, one step, the read-out, the whole sentence | Cho et al., section 2.2, A.1.2 | ●●● | 35 |
# | `reverse_source` | $x_S \dots x_1$ with the padding still at the end | Sutskever et al., section 3.3 | ●○○ | 10 |
# | `Seq2Seq` | two LSTMs, the state handed from one to the other | Sutskever et al., eq. 1 | ●●● | 35 |
# | `sequence_loss` | mean cross entropy per real token | Cho et al., eq. 4 | ●●○ | 15 |
#
# **Both models** write a sentence of any length as a product of next-word probabilities, where $c$
# is what the encoder has kept of the source $x$:
#
# $$p(y_1, \dots, y_T \mid x) = \prod_{t=1}^{T} p(y_t \mid y_1, \dots, y_{t-1}, c)$$
#
# The last word $y_T$ is the mark of the end, `<eos>`, so that the model also says when it is done.
#
# **Shapes.** $B$ sentences in the batch, $S$ source positions, $T$ target positions, $V$ words in a
# vocabulary, $e$ the size of an embedding, $d$ the size of a state. Sentences end in padding (id 0);
# `lengths` (B,) tells how many tokens of each are real.

# %% nbgrader={"grade": false, "grade_id": "setup", "locked": true, "solution": false}
import torch
import torch.nn.functional as F
from torch import Tensor, nn

# %% nbgrader={"grade": false, "grade_id": "setup-check", "locked": true, "solution": false} tags=["active-ipynb"]
# from autograder import check

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-Encoder", "locked": true, "solution": false}
# ## `Encoder`
#
# The encoder is an RNN that reads one word after the other. What it has read so far is in its state,
# which begins as 0; the state after the last word is the summary of the whole sentence, the *context*:
#
# $$h_t = f(h_{t-1}, E x_t), \qquad h_0 = 0, \qquad c = h_{L}
# \qquad x: (B, S),\quad h: (B, S, d),\quad c: (B, d)$$
#
# $f$ is a GRU and $L$ the length of the sentence. In a batch sentences differ in length, and a short
# one is followed by padding. Its context is the state after its *own* last word: padding must not
# change any result. `torch.nn.utils.rnn.pack_padded_sequence` keeps the RNN away from it (lengths go
# in on the CPU, and `enforce_sorted=False` spares you the sorting); `pad_packed_sequence` turns the
# states into a tensor again, and its `total_length` makes that as wide as the batch. What you return
# in `states` at padded positions does not matter.
#
# This model needs `final` alone. The other states are returned because they are there; the next
# chapter will not let them go to waste.
#
# *Cho et al. (2014), equation 1 and section 2.2; there a further layer, $\tanh(V h_L)$, makes the
# context. Difficulty ●●○, about 20 minutes.*


# %% nbgrader={"grade": false, "grade_id": "Encoder", "locked": false, "solution": true}
class Encoder(nn.Module):
    """Read a sentence from left to right into one vector.

    h_t = f(h_{t-1}, x_t),  c = h_S

    Parameters: `embedding.weight` (V, e); `rnn.*`, those of `nn.GRU(e, d, batch_first=True)`, where
    e = embedding_size and d = hidden_size. In training, `dropout` acts on the embedded words.

    Source: Cho et al. (2014), equation 1 and section 2.2.
    """

    def __init__(
        self, vocabulary_size: int, embedding_size: int, hidden_size: int, dropout: float = 0.0
    ):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary_size, embedding_size)
        self.rnn = nn.GRU(embedding_size, hidden_size, batch_first=True)
        self.dropout = nn.Dropout(dropout)

    def forward(self, tokens: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """Read a batch of sentences.

        Args:
            tokens: ids (B, S), padded at the end.
            lengths: number of real tokens of each sentence, (B,), all at least 1.

        Returns:
            states (B, S, d) and final (B, d), the state after each sentence's own last word.
        """
        ### BEGIN SOLUTION
        embedded = self.dropout(self.embedding(tokens))  # (B, S, e)
        packed = nn.utils.rnn.pack_padded_sequence(
            embedded, lengths.cpu(), batch_first=True, enforce_sorted=False
        )
        states, final = self.rnn(packed)  # final: (1, B, d)
        padded, _ = nn.utils.rnn.pad_packed_sequence(
            states, batch_first=True, total_length=tokens.shape[1]
        )  # (B, S, d)
        return padded, final[0]
        ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test-Encoder", "locked": true, "points": 3, "solution": false} tags=["active-ipynb"]
# check(Encoder)
# ### BEGIN HIDDEN TESTS
# from autograder.instructor import examine

# examine(Encoder)
# ### END HIDDEN TESTS

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-ContextDecoder", "locked": true, "solution": false}
# ## `ContextDecoder`
#
# The decoder is an RNN too, and it does not see the source at all: only $c$. In Cho's model it may look
# at $c$ at every step, both when it moves on and when it chooses a word:
#
# $$h_t = f(h_{t-1}, y_{t-1}, c), \qquad p(y_t \mid y_1, \dots, y_{t-1}, c) = g(h_t, y_{t-1}, c)$$
#
# 1. **Start.** $h_0 = \tanh(W_0 c + b_0)$.
# 2. **Move on.** A GRU cell whose input is $[E y_{t-1} ; c]$, in this order, and whose state is
#    $h_{t-1}$.
# 3. **Read out.** $u_t = \tanh(W_u\,[E y_{t-1} ; h_t ; c] + b_u)$, in this order, and
#    $\mathrm{logits}_t = W_o u_t + b_o$; the softmax of the logits is $g$.
#
# $$c: (B, d),\quad E y: (B, e),\quad h: (B, d),\quad u: (B, r),\quad \mathrm{logits}: (B, V)$$
#
# `start`, `step` and `readout` are 1, 2 and 3. `readout` works on any leading axes: `forward` may call
# it in each step, or once for all steps with (B, T, ...).
#
# In training the decoder is given the true previous words (*teacher forcing*): `tokens[:, t]` is the
# word before the one that `logits[:, t]` predicts, so `tokens` starts with the mark of the beginning,
# `<bos>`. The steps still come one after the other, because $h_t$ needs $h_{t-1}$.
#
# *Cho et al. (2014), section 2.2 and appendix A.1.2, which has a maxout layer where we have tanh.
# Difficulty ●●●, about 35 minutes.*


# %% nbgrader={"grade": false, "grade_id": "ContextDecoder", "locked": false, "solution": true}
class ContextDecoder(nn.Module):
    """Write a sentence word by word; every step sees the one context c.

    h_0 = tanh(W_0 c + b_0),  h_t = f(h_{t-1}, [E y_{t-1}; c]),
    u_t = tanh(W_u [E y_{t-1}; h_t; c] + b_u),  logits_t = W_o u_t + b_o

    Parameters: `embedding.weight` (V, e); `first_state.weight` = W_0 (d, d) and `first_state.bias`
    (d,); `cell.*`, those of `nn.GRUCell(e + d, d)`; `hidden.weight` = W_u (r, e + 2d) and
    `hidden.bias` (r,); `output.weight` = W_o (V, r) and `output.bias` (V,), where
    e = embedding_size, d = hidden_size and r = e. In training, `dropout` acts on the embedded words
    and on u.

    Source: Cho et al. (2014), section 2.2 and appendix A.1.2.
    """

    def __init__(
        self, vocabulary_size: int, embedding_size: int, hidden_size: int, dropout: float = 0.0
    ):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary_size, embedding_size)
        self.first_state = nn.Linear(hidden_size, hidden_size)
        self.cell = nn.GRUCell(embedding_size + hidden_size, hidden_size)
        self.hidden = nn.Linear(embedding_size + 2 * hidden_size, embedding_size)
        self.output = nn.Linear(embedding_size, vocabulary_size)
        self.dropout = nn.Dropout(dropout)

    def start(self, context: Tensor) -> Tensor:
        """Return the first state.

        Args:
            context: c, (B, d).

        Returns:
            h_0 = tanh(W_0 c + b_0), (B, d).
        """
        ### BEGIN SOLUTION
        return torch.tanh(self.first_state(context))  # (B, d)
        ### END SOLUTION

    def step(self, embedded: Tensor, state: Tensor, context: Tensor) -> Tensor:
        """Move on by one word.

        Args:
            embedded: E y_{t-1}, (B, e).
            state: h_{t-1}, (B, d).
            context: c, (B, d).

        Returns:
            state h_t, (B, d).
        """
        ### BEGIN SOLUTION
        return self.cell(torch.cat([embedded, context], dim=-1), state)  # (B, d)
        ### END SOLUTION

    def readout(self, embedded: Tensor, states: Tensor, contexts: Tensor) -> Tensor:
        """Score every word of the vocabulary.

        Args:
            embedded: E y_{t-1}, (..., e).
            states: h_t, (..., d).
            contexts: c, (..., d).

        Returns:
            logits (..., V).
        """
        ### BEGIN SOLUTION
        together = torch.cat([embedded, states, contexts], dim=-1)  # (..., e + 2d)
        hidden = torch.tanh(self.hidden(together))  # (..., r)
        return self.output(self.dropout(hidden))  # (..., V)
        ### END SOLUTION

    def forward(self, tokens: Tensor, context: Tensor) -> Tensor:
        """Predict each target word from the true words before it (teacher forcing).

        Args:
            tokens: y_0 ... y_{T-1}, ids (B, T); y_0 marks the beginning of the sentence.
            context: c, (B, d).

        Returns:
            logits (B, T, V), of which logits[:, t] predicts the word after tokens[:, t].
        """
        ### BEGIN SOLUTION
        embedded = self.dropout(self.embedding(tokens))  # (B, T, e)
        state = self.start(context)  # (B, d)
        states = []
        for t in range(tokens.shape[1]):
            state = self.step(embedded[:, t], state, context)
            states.append(state)
        contexts = context.unsqueeze(1).expand(-1, tokens.shape[1], -1)  # (B, T, d)
        return self.readout(embedded, torch.stack(states, 1), contexts)  # (B, T, V)
        ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test-ContextDecoder", "locked": true, "points": 5, "solution": false} tags=["active-ipynb"]
# check(ContextDecoder)
# ### BEGIN HIDDEN TESTS
# from autograder.instructor import examine

# examine(ContextDecoder)
# ### END HIDDEN TESTS

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-reverse_source", "locked": true, "solution": false}
# ## `reverse_source`
#
# Sutskever, Vinyals and Le let their LSTM read the source backwards, and the translation was no
# longer 25.9 BLEU but 30.6. In English and French the words come in about the same order: read
# forwards, every word is a whole sentence away from its translation; read backwards, the first words
# are close together. The mean distance is the same, but training has something to begin with.
#
# $$x_1\ x_2 \dots x_L\ \langle\mathrm{pad}\rangle \dots
# \;\longmapsto\; x_L \dots x_2\ x_1\ \langle\mathrm{pad}\rangle \dots
# \qquad (B, S) \mapsto (B, S)$$
#
# Each sentence is turned round within its own length $L$, which may be 0; padding stays where it is
# and keeps its id, whatever it is. A loop over the sentences is fine; so is one `gather`. The input
# must not be overwritten.
#
# *Sutskever et al. (2014), section 3.3. Difficulty ●○○, about 10 minutes.*


# %% nbgrader={"grade": false, "grade_id": "reverse_source", "locked": false, "solution": true}
def reverse_source(tokens: Tensor, lengths: Tensor) -> Tensor:
    """Turn each sentence round; its padding stays at the end.

    x_1 ... x_S <pad> ...  becomes  x_S ... x_1 <pad> ...

    Args:
        tokens: ids (B, S), padded at the end.
        lengths: number of real tokens of each sentence, (B,).

    Returns:
        ids (B, S); padding is where it was and what it was.

    Source: Sutskever, Vinyals and Le (2014), section 3.3.
    """
    ### BEGIN SOLUTION
    positions = torch.arange(tokens.shape[1], device=tokens.device)  # (S,)
    last = lengths.to(tokens.device).unsqueeze(1) - 1  # (B, 1)
    mirrored = torch.where(positions <= last, last - positions, positions)  # (B, S)
    return tokens.gather(1, mirrored)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test-reverse_source", "locked": true, "points": 2, "solution": false} tags=["active-ipynb"]
# check(reverse_source)
# ### BEGIN HIDDEN TESTS
# from autograder.instructor import examine

# examine(reverse_source)
# ### END HIDDEN TESTS

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-Seq2Seq", "locked": true, "solution": false}
# ## `Seq2Seq`
#
# In the model of Sutskever et al. the two networks are LSTMs, and the source reaches the decoder by
# one way only: the state in which the encoder ends is the state from which the decoder begins. The
# state of an LSTM is a pair, the output $h$ and the memory $c$; the whole pair is handed over.
# (This $c$ is the LSTM's memory, not the context of the exercise before.)
#
# $$(h, c) = \mathrm{LSTM}_x(x_1, \dots, x_L), \qquad
# (h_t, c_t) = \mathrm{LSTM}_y\big((h_{t-1}, c_{t-1}), E y_{t-1}\big), \quad (h_0, c_0) = (h, c)$$
#
# $$\mathrm{logits}_t = W h_t + b, \qquad
# p(y_t \mid y_1, \dots, y_{t-1}, x) = \mathrm{softmax}(\mathrm{logits}_t)$$
#
# $$h, c: (B, d),\quad E y: (B, T, e),\quad \mathrm{logits}: (B, T, V_t)$$
#
# Three methods, for two uses:
#
# - `encode` reads the source and returns $(h, c)$ after each sentence's own last word. torch's LSTM
#   works with states (1, B, d), one for each layer; ours are (B, d).
# - `forward` is for training: it is given all previous words at once (teacher forcing) and returns
#   *logits*. As no step needs what another one predicted, `self.decoder` may read them all in one call.
# - `step` is for translating: it is given one word for each sentence and the state, and returns
#   *log-probabilities*, which a search adds up from word to word, and the new state.
#
# The model does not reverse anything; its caller does, or not.
#
# *Sutskever et al. (2014), equation 1 and section 2; they stack four LSTM layers of size 1000.
# Difficulty ●●●, about 35 minutes.*


# %% nbgrader={"grade": false, "grade_id": "Seq2Seq", "locked": false, "solution": true}
class Seq2Seq(nn.Module):
    """Two LSTMs: one reads the source, the other starts from its last state and writes.

    (h, c) = LSTM_source(x_1 ... x_S),  s_t = LSTM_target(s_{t-1}, y_{t-1}) with s_0 = (h, c),
    logits_t = W h_t + b

    Parameters: `source_embedding.weight` (V_s, e); `target_embedding.weight` (V_t, e); `encoder.*`
    and `decoder.*`, those of `nn.LSTM(e, d, batch_first=True)`; `output.weight` = W (V_t, d) and
    `output.bias` (V_t,), where e = embedding_size and d = hidden_size. In training, `dropout` acts on
    the embedded words and on the decoder's states before the output.

    Source: Sutskever, Vinyals and Le (2014), section 2. Theirs has four layers.
    """

    def __init__(
        self,
        source_size: int,
        target_size: int,
        embedding_size: int,
        hidden_size: int,
        dropout: float = 0.0,
    ):
        super().__init__()
        self.source_embedding = nn.Embedding(source_size, embedding_size)
        self.target_embedding = nn.Embedding(target_size, embedding_size)
        self.encoder = nn.LSTM(embedding_size, hidden_size, batch_first=True)
        self.decoder = nn.LSTM(embedding_size, hidden_size, batch_first=True)
        self.output = nn.Linear(hidden_size, target_size)
        self.dropout = nn.Dropout(dropout)

    def encode(self, source: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """Read the source sentences as they stand.

        Args:
            source: ids (B, S), padded at the end.
            lengths: number of real tokens of each sentence, (B,), all at least 1.

        Returns:
            h and c of the LSTM after each sentence's own last word, both (B, d).
        """
        ### BEGIN SOLUTION
        embedded = self.dropout(self.source_embedding(source))  # (B, S, e)
        packed = nn.utils.rnn.pack_padded_sequence(
            embedded, lengths.cpu(), batch_first=True, enforce_sorted=False
        )
        _, (h, c) = self.encoder(packed)  # (1, B, d) each
        return h[0], c[0]
        ### END SOLUTION

    def step(
        self, tokens: Tensor, state: tuple[Tensor, Tensor]
    ) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """Read one target word and score the next.

        Args:
            tokens: y_{t-1}, ids (B,).
            state: (h, c), both (B, d).

        Returns:
            log p of every next word, (B, V_t), and the new state.
        """
        ### BEGIN SOLUTION
        h, c = (part.unsqueeze(0) for part in state)  # (1, B, d) each
        embedded = self.dropout(self.target_embedding(tokens)).unsqueeze(1)  # (B, 1, e)
        states, (h, c) = self.decoder(embedded, (h, c))
        logits = self.output(self.dropout(states[:, 0]))  # (B, V_t)
        return logits.log_softmax(dim=-1), (h[0], c[0])
        ### END SOLUTION

    def forward(self, source: Tensor, lengths: Tensor, previous: Tensor) -> Tensor:
        """Predict each target word from the true words before it (teacher forcing).

        Args:
            source: ids (B, S), padded at the end.
            lengths: number of real tokens of each sentence, (B,), all at least 1.
            previous: y_0 ... y_{T-1}, ids (B, T); y_0 marks the beginning of the sentence.

        Returns:
            logits (B, T, V_t), of which logits[:, t] predicts the word after previous[:, t].
        """
        ### BEGIN SOLUTION
        h, c = (part.unsqueeze(0) for part in self.encode(source, lengths))  # (1, B, d) each
        embedded = self.dropout(self.target_embedding(previous))  # (B, T, e)
        states, _ = self.decoder(embedded, (h, c))  # (B, T, d)
        return self.output(self.dropout(states))  # (B, T, V_t)
        ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test-Seq2Seq", "locked": true, "points": 6, "solution": false} tags=["active-ipynb"]
# check(Seq2Seq)
# ### BEGIN HIDDEN TESTS
# from autograder.instructor import examine

# examine(Seq2Seq)
# ### END HIDDEN TESTS

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-sequence_loss", "locked": true, "solution": false}
# ## `sequence_loss`
#
# Training makes the true translations more probable. The logarithm of the product above is a sum over
# words, and we take its mean over all $n$ real tokens of the batch, `<eos>` included:
#
# $$L = -\frac{1}{n} \sum_{t:\, y_t \text{ is real}} \log p(y_t \mid y_1, \dots, y_{t-1}, x)
# \qquad \mathrm{logits}: (B, T, V),\quad y: (B, T),\quad L: ()$$
#
# One sum over the whole batch and one division: every token counts the same, whether its sentence is
# short or long. A token is real unless its id is `pad_id`. If none is, the loss is 0, not 0 / 0.
#
# torch's `F.cross_entropy` is allowed; look at its `ignore_index` and `reduction`, and at where it wants
# the axis of the classes. It takes logits and applies the log-softmax itself.
#
# *Cho et al. (2014), equation 4, and Sutskever et al. (2014), section 3.2, who both take the mean per
# sentence. Difficulty ●●○, about 15 minutes.*


# %% nbgrader={"grade": false, "grade_id": "sequence_loss", "locked": false, "solution": true}
def sequence_loss(logits: Tensor, targets: Tensor, pad_id: int = 0) -> Tensor:
    """Return the mean cross entropy per real target token.

    L = -1/n sum_{t: y_t is real} log p(y_t | y_1 ... y_{t-1}, x),  n = number of real tokens

    Args:
        logits: (B, T, V).
        targets: ids (B, T).
        pad_id: the id of padding, which does not count.

    Returns:
        scalar; 0 if there is nothing but padding.

    Source: Sutskever, Vinyals and Le (2014), section 3.2; Cho et al. (2014), equation 4.
    """
    ### BEGIN SOLUTION
    real = targets != pad_id  # (B, T)
    total = F.cross_entropy(
        logits.flatten(0, 1), targets.flatten(), ignore_index=pad_id, reduction="sum"
    )
    return total / real.sum().clamp(min=1)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test-sequence_loss", "locked": true, "points": 2, "solution": false} tags=["active-ipynb"]
# check(sequence_loss)
# ### BEGIN HIDDEN TESTS
# from autograder.instructor import examine

# examine(sequence_loss)
# ### END HIDDEN TESTS

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-together", "locked": true, "solution": false}
# ## Your own translators
#
# Now the parts become models. `ContextTranslator` and `SequenceTranslator` only call what you wrote, one
# thing after the other; their `prepare` is what is done to the source first. Three models are trained
# with your `sequence_loss`: Cho's, Sutskever's, and Sutskever's on reversed sentences.
#
# The corpus is made by the course: English sentences and their Korean translations. Models that keep a
# whole sentence in one vector need much data and patience for long sentences, so you train on those
# of at most ten words. The three trainings together take less than a minute on a CPU. To train on real
# data instead (Multi30k, German to English, all lengths; better with a GPU), set `COURSEKIT_SIZE=full`
# before you start Jupyter, or in a cell: `import os; os.environ["COURSEKIT_SIZE"] = "full"`.

# %% nbgrader={"grade": false, "grade_id": "train", "locked": true, "solution": false} tags=["active-ipynb"]
# from coursekit import settings
# from coursekit.batching import batches_by_length
# from coursekit.lessons import translation_data
# from coursekit.training import seed_everything, train
# from coursekit.translators import ContextTranslator, SequenceTranslator
# from coursekit.vocabulary import PAD
#
#
# def loss(model, batch):
#     logits, _ = model(batch.source, batch.lengths, batch.previous)  # (B, T, V)
#     return sequence_loss(logits, batch.target, PAD)
#
#
# if not settings.grading():
#     size = settings.size()
#     data = translation_data(size)
#     longest, e, d, dropout, rate, epochs, batch_size = {
#         "quick": (10, 64, 128, 0.0, 4e-3, 8, 32),
#         "full": (1000, 256, 512, 0.3, 1e-3, 12, 64),
#     }[size]
#     sizes = len(data.source_words), len(data.target_words)
#     pairs = [pair for pair in data.train if len(pair[0]) <= longest + 1]  # one more for <eos>
#     seed_everything(1)
#     models = {
#         "Encoder, ContextDecoder": ContextTranslator(
#             Encoder(sizes[0], e, d, dropout), ContextDecoder(sizes[1], e, d, dropout)
#         ),
#         "Seq2Seq": SequenceTranslator(Seq2Seq(*sizes, e, d, dropout)),
#         "Seq2Seq, source reversed": SequenceTranslator(
#             Seq2Seq(*sizes, e, d, dropout), prepare=reverse_source
#         ),
#     }
#     print(f"{len(pairs):,} sentence pairs; loss per epoch:")
#     for name, model in models.items():
#         history = train(
#             model,
#             lambda epoch: batches_by_length(pairs, batch_size, seed=epoch),
#             loss,
#             epochs=epochs,
#             learning_rate=rate,
#             decay=True,
#         )
#         print(f"{name:<26}", ", ".join(f"{x:.2f}" for x in history.column("loss")))

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-translate", "locked": true, "solution": false}
# The loss is per word. How many sentences come out right from the first word to the last? These are from
# the test set; no model has seen them.

# %% nbgrader={"grade": false, "grade_id": "translate", "locked": true, "solution": false} tags=["active-ipynb"]
# if not settings.grading():
#     from coursekit.translation import translate
#
#     kept = [i for i, (source, _) in enumerate(data.test) if len(source) <= longest + 1]
#     references = [data.references[i] for i in kept]
#     translations = {}
#     for name, model in models.items():
#         found = translate(model, [data.test[i][0] for i in kept])
#         translations[name] = [data.target_words.decode(ids) for ids in found]
#     by_length = sorted(range(len(kept)), key=lambda k: data.source_lengths[kept[k]])
#     for k in by_length[:: max(1, len(kept) // 4)]:
#         print("source", " " * 19, data.source_words.decode(data.test[kept[k]][0]))
#         print("reference", " " * 16, references[k])
#         for name, sentences in translations.items():
#             print(f"{name:<26}", sentences[k])
#         print()

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-reversal", "locked": true, "solution": false}
# ## What reversal does
#
# The same model, the same loss, the same number of epochs; only the order in which the source is read
# differs. In the quick size the table counts sentences that are exactly right, in the full size it is
# BLEU, each for sentences of a range of lengths. One run is no proof: with another number in
# `seed_everything` each entry of the quick table moves by several points.

# %% nbgrader={"grade": false, "grade_id": "reversal", "locked": true, "solution": false} tags=["active-ipynb"]
# if not settings.grading():
#     from coursekit.metrics import bleu, exact_match
#
#     def quality(sentences, chosen):
#         mine, theirs = [sentences[k] for k in chosen], [references[k] for k in chosen]
#         if size == "quick":
#             return f"{exact_match(mine, theirs):.0%}"
#         return f"{bleu(mine, theirs).score:.1f}"
#
#     ranges = {"quick": [(4, 5), (6, 7), (8, 10)], "full": [(1, 9), (10, 14), (15, 40)]}[size]
#     groups = {
#         f"{low}-{high} words": [
#             k for k, i in enumerate(kept) if low <= data.source_lengths[i] <= high
#         ]
#         for low, high in ranges
#     }
#     groups["all"] = list(range(len(kept)))
#     print(" " * 26, "".join(f"{name:>14}" for name in groups))
#     print(f"{'sentences':<26}", "".join(f"{len(chosen):>14}" for chosen in groups.values()))
#     for name, sentences in translations.items():
#         cells = [f"{quality(sentences, chosen):>14}" for chosen in groups.values()]
#         print(f"{name:<26}", "".join(cells))

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-questions", "locked": true, "solution": false}
# **To think about.** Change one thing and train again:
#
# 1. English and French share their word order; English and Korean do not, a Korean verb stands at the
#    end. Which words of a pair come closer together when the source is reversed, and which move apart?
# 2. Give the `ContextTranslator` `prepare=reverse_source` as well. Does it gain what `Seq2Seq` gains?
#    What does its decoder see at every step that the other one has to remember?
# 3. Make `longest` 26. Which lengths are right now, and what does that say about one vector of
#    128 numbers? The next chapter begins there.
