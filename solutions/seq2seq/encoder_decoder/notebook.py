# %% [markdown]
# # Sequence to sequence II: encoder and decoder
#
# One recurrent network reads the source sentence into a vector, a second one writes the translation
# from it: two papers had this idea in 2014. You build both models, the GRU of Cho et al. and the LSTM
# of Sutskever, Vinyals and Le, with the loss that trains them, and the trick of turning the source
# sentence round. At the end your own models translate, and you measure what the trick is worth.
#
# The cells inside you know from `cells.ipynb`; here you use torch's.
#
# {{ exercises }}
#
# **Before you begin.** You need what a GRU and an LSTM are, from `cells.ipynb`. The ideas are explained in [Chapter 2](../../book/02_seq2seq.md). Allow half to one and
# a half times the minutes in the table, depending on how well you know torch.
#
# **Both models** write a sentence of any length as a product of next-word probabilities, where $c$
# is what the encoder has kept of the source $x$:
#
# $$p(y_1, \dots, y_T \mid x) = \prod_{t=1}^{T} p(y_t \mid y_1, \dots, y_{t-1}, c)$$
#
# The last word $y_T$ is the mark of the end, `<eos>`, so that the model also says when it is done.
#
# **Shapes.** $B$ sentences in the batch, $S$ source positions, $T$ target positions, $V$ words in a
# vocabulary, $e$ the size of an embedding, $d$ the size of a state. Sentences end in padding (id 0), so
# that $S$ is the width of the batch; `lengths` (B,) tells how many tokens of each sentence are real,
# its own length $L$.

# %% setup
import torch
import torch.nn.functional as F
from torch import Tensor, nn

# %% notebook setup-check
# from autograder import check
# from coursekit.notebook.session import start
#
# start()

# %% demo overview
# from coursekit.plots import diagrams
#
# figure = diagrams.draw("encoder-decoder")

# %% [markdown]
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
# one, [Chapter 3](../../book/03_bahdanau.md), will not let them go to waste.

# %% hints
# * The GRU must not read padding. What would be in `states[:, -1]` of a short sentence if it did,
#   and what if it did not?
# * Embed, apply dropout, pack. The GRU takes what was packed like any input, and its second
#   result is the state after each sentence's own last word.
# * That second result has an axis for layers in front, here of size 1. The first result has to be
#   unpacked with `total_length`, so that it is as wide as the batch.


# %% exercise
class Encoder(nn.Module):
    """Read a sentence from left to right into one vector.

    h_t = f(h_{t-1}, x_t),  c = h_L,  L = the sentence's own length

    Parameters: `embedding.weight` (V, e); `rnn.*`, those of `nn.GRU(e, d, batch_first=True)`, where
    e = embedding_size and d = hidden_size. In training, `dropout` acts on the embedded words.

    Source: Cho et al. (2014), equation 1 and section 2.2; there a further layer, tanh(V h_L),
    makes the context.
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
            tokens: ids (B, S); what stands after a sentence's end is arbitrary.
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


# %% [markdown]
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
# it in each step, or once for all steps with (B, T, ...). In training, dropout acts once on the embedded words,
# in `forward`: what `step` and `readout` are given has been through it. It acts again on $u$ in `readout`.
#
# In training the decoder is given the true previous words (*teacher forcing*): `tokens[:, t]` is the
# word before the one that `logits[:, t]` predicts, so `tokens` starts with the mark of the beginning,
# `<bos>`. The steps still come one after the other, because $h_t$ needs $h_{t-1}$.

# %% hints
# * Write `start`, `step` and `readout` one after the other. Each of them is one equation, and
#   `torch.cat` along the last axis is the semicolon in $[a; b]$.
# * In `forward`, embed all words at once and apply dropout there, once. Only the chain of states
#   needs a loop; what the loop collects is stacked along a new axis 1.
# * `readout` after the loop wants the context once for each target word: give it an axis of size
#   1 and let it expand to $T$. Its dropout acts on $u$, after the tanh.


# %% exercise
class ContextDecoder(nn.Module):
    """Write a sentence word by word; every step sees the one context c.

    h_0 = tanh(W_0 c + b_0),  h_t = f(h_{t-1}, [E y_{t-1}; c]),
    u_t = tanh(W_u [E y_{t-1}; h_t; c] + b_u),  logits_t = W_o u_t + b_o

    Parameters: `embedding.weight` (V, e); `first_state.weight` = W_0 (d, d) and `first_state.bias`
    (d,); `cell.*`, those of `nn.GRUCell(e + d, d)`; `hidden.weight` = W_u (r, e + 2d) and
    `hidden.bias` (r,); `output.weight` = W_o (V, r) and `output.bias` (V,), where
    e = embedding_size, d = hidden_size and r = e. In training, `dropout` acts on the embedded words
    and on u.

    Source: Cho et al. (2014), section 2.2 and appendix A.1.2, which has a maxout layer where we
    have tanh.
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


# %% [markdown]
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


# %% exercise
def reverse_source(tokens: Tensor, lengths: Tensor) -> Tensor:
    """Turn each sentence round; its padding stays at the end.

    x_1 ... x_L <pad> ...  becomes  x_L ... x_1 <pad> ...,  L = the sentence's own length

    Args:
        tokens: ids (B, S), padded at the end.
        lengths: number of real tokens of each sentence, (B,).

    Returns:
        ids (B, S); padding is where it was and what it was.

    Source: Sutskever et al. (2014), section 3.3.
    """
    ### BEGIN SOLUTION
    positions = torch.arange(tokens.shape[1], device=tokens.device)  # (S,)
    last = lengths.to(tokens.device).unsqueeze(1) - 1  # (B, 1)
    mirrored = torch.where(positions <= last, last - positions, positions)  # (B, S)
    return tokens.gather(1, mirrored)
    ### END SOLUTION


# %% [markdown]
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
# The model does not reverse anything; its caller does, or not. In training, dropout acts on all embedded words and on
# the states before $W$, in `step` as in `forward`.

# %% hints
# * Nothing but the pair $(h, c)$ passes from source to target. Which of torch's LSTM results is
#   it, and which axis has to be taken off?
# * `step` is `forward` for one word: the LSTM wants an axis of length 1 for time, and states with
#   an axis of size 1 for layers. Put both on before the call, and take both off after it.
# * `forward` returns logits, `step` log-probabilities. In both, dropout acts on the embedded
#   words and on the states before `output`.


# %% exercise
class Seq2Seq(nn.Module):
    """Two LSTMs: one reads the source, the other starts from its last state and writes.

    (h, c) = LSTM_source(x_1 ... x_L),  (h_t, c_t) = LSTM_target((h_{t-1}, c_{t-1}), y_{t-1})
    with (h_0, c_0) = (h, c),  logits_t = W h_t + b

    Parameters: `source_embedding.weight` (V_s, e); `target_embedding.weight` (V_t, e); `encoder.*`
    and `decoder.*`, those of `nn.LSTM(e, d, batch_first=True)`; `output.weight` = W (V_t, d) and
    `output.bias` (V_t,), where e = embedding_size and d = hidden_size. In training, `dropout` acts on
    the embedded words and on the decoder's states before the output.

    Source: Sutskever et al. (2014), equation 1 and section 2; they stack four LSTM layers of size
    1000.
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
            source: ids (B, S); what stands after a sentence's end is arbitrary.
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
            source: ids (B, S); what stands after a sentence's end is arbitrary.
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


# %% [markdown]
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

# %% hints
# * What do you divide by? Not by $B$, not by $B \cdot T$: by the number of targets that are
#   words.
# * `F.cross_entropy` wants the classes on axis 1, or all tokens in one long row: join $B$ and $T$
#   in logits and targets alike. Transposing is not the same as reshaping.
# * Take the sum over the real tokens and divide it yourself, by at least 1: then a batch of
#   nothing but padding gives 0.


# %% exercise
def sequence_loss(logits: Tensor, targets: Tensor, pad_id: int = 0) -> Tensor:
    """Return the mean cross entropy per real target token.

    L = -1/n sum_{t: y_t is real} log p(y_t | y_1 ... y_{t-1}, x),  n = number of real tokens

    Args:
        logits: (B, T, V).
        targets: ids (B, T).
        pad_id: the id of padding, which does not count.

    Returns:
        scalar; 0 if there is nothing but padding.

    Source: Cho et al. (2014), equation 4, and Sutskever et al. (2014), section 3.2, who both take
    the mean per sentence.
    """
    ### BEGIN SOLUTION
    real = targets != pad_id  # (B, T)
    total = F.cross_entropy(
        logits.flatten(0, 1), targets.flatten(), ignore_index=pad_id, reduction="sum"
    )
    return total / real.sum().clamp(min=1)
    ### END SOLUTION


# %% [markdown] together
# ## Your own translators
#
# Now the parts become models. `ContextTranslator` and `SequenceTranslator` only call what you wrote, one
# thing after the other; their `prepare` is what is done to the source first. Three models are trained
# with your `sequence_loss`: Cho's, Sutskever's, and Sutskever's on reversed sentences.
#
# The corpus is made by the course: English sentences and their Korean translations. Models that keep a
# whole sentence in one vector need much data and patience for long sentences, so you train on those
# of at most ten words. The three trainings together take one to three minutes on a CPU. To train on real
# data instead (Multi30k, German to English, all lengths; better with a GPU), set `COURSEKIT_SIZE=full`
# before you start Jupyter, or in a cell: `import os; os.environ["COURSEKIT_SIZE"] = "full"`.

# %% demo train
# from coursekit.notebook import settings
# from coursekit.data.batching import batches_by_length
# from coursekit.data.lesson_data import translation_data
# from coursekit.training import seed_everything, train
# from coursekit.models.translation import ContextTranslator, SequenceTranslator
# from coursekit.text.vocabulary import PAD
# from coursekit.notebook.session import save_weights
#
#
# def loss(model, batch):
#     logits, _ = model(batch.source, batch.lengths, batch.previous)  # (B, T, V)
#     return sequence_loss(logits, batch.target, PAD)
#
#
# size = settings.size()
# data = translation_data(size)
# longest, e, d, dropout, rate, epochs, batch_size = {
#     "quick": (10, 64, 128, 0.0, 4e-3, 8, 32),
#     "full": (1000, 256, 512, 0.3, 1e-3, 12, 64),
# }[size]
# sizes = len(data.source_words), len(data.target_words)
# pairs = [pair for pair in data.train if len(pair[0]) <= longest + 1]  # one more for <eos>
# seed_everything(1)
# models = {
#     "Encoder, ContextDecoder": ContextTranslator(
#         Encoder(sizes[0], e, d, dropout), ContextDecoder(sizes[1], e, d, dropout)
#     ),
#     "Seq2Seq": SequenceTranslator(Seq2Seq(*sizes, e, d, dropout)),
#     "Seq2Seq, source reversed": SequenceTranslator(
#         Seq2Seq(*sizes, e, d, dropout), prepare=reverse_source
#     ),
# }
# print(f"{len(pairs):,} sentence pairs; loss per epoch:")
# for name, model in models.items():
#     history = train(
#         model,
#         lambda epoch: batches_by_length(pairs, batch_size, seed=epoch),
#         loss,
#         epochs=epochs,
#         learning_rate=rate,
#         decay=True,
#     )
#     print(f"{name:<26}", ", ".join(f"{x:.2f}" for x in history.column("loss")))
# save_weights(models["Seq2Seq, source reversed"], "seq2seq-reversed")  # for decoding.ipynb

# %% [markdown]
# The loss is per word. How many sentences come out right from the first word to the last? These are from
# the test set; no model has seen them. You need no Korean: below each line stands its English, word by word. Korean
# puts the verb last, and particles such as 은, 는 (topic), 이, 가 (subject) and 을, 를 (object) after the nouns.

# %% demo translate
# from coursekit.models.translation import translate
#
# kept = [i for i, (source, _) in enumerate(data.test) if len(source) <= longest + 1]
# references = [data.references[i] for i in kept]
# translations = {}
# for name, model in models.items():
#     found = translate(model, [data.test[i][0] for i in kept])
#     translations[name] = [data.target_words.decode(ids) for ids in found]
# by_length = sorted(range(len(kept)), key=lambda k: data.source_lengths[kept[k]])
# for k in by_length[:: max(1, len(kept) // 4)]:
#     print("source", " " * 19, data.source_words.decode(data.test[kept[k]][0]))
#     for name, sentences in {"reference": references, **translations}.items():
#         print(f"{name:<26}", sentences[k])
#         print(" " * 26, data.gloss(sentences[k]))
#     print()

# %% [markdown] play-text-sentence
# **Predict, then run.** Change the order of two words of the sentence: which of the three models will notice? Then make the sentence
# longer, one word at a time. At which length does each of them break?

# %% play sentence
# sentence = data.source_words.decode(data.test[kept[0]][0])  # or your own, in words of the corpus
# ids = data.source_words.encode(sentence.split())
# print("source", " " * 19, sentence)
# for name, model in models.items():
#     said = data.target_words.decode(translate(model, [ids])[0])
#     print(f"{name:<26}", said)
#     print(" " * 26, data.gloss(said))

# %% [markdown]
# ## What reversal does
#
# The same model, the same loss, the same number of epochs; only the order in which the source is read
# differs. In the quick size the table counts sentences that are exactly right, in the full size it is
# BLEU, each for sentences of a range of lengths. One run is no proof: with another number in
# `seed_everything` each entry of the quick table moves by several points. Expect a gain at one length and none at
# another: Korean turns the order of the words round anyway, and the trick is worth less there, though not nothing.

# %% demo reversal
# from coursekit.training.metrics import bleu, exact_match
#
# def quality(sentences, chosen):
#     mine, theirs = [sentences[k] for k in chosen], [references[k] for k in chosen]
#     if size == "quick":
#         return f"{exact_match(mine, theirs):.0%}"
#     return f"{bleu(mine, theirs).score:.1f}"
#
# ranges = {"quick": [(4, 5), (6, 7), (8, 10)], "full": [(1, 9), (10, 14), (15, 40)]}[size]
# groups = {
#     f"{low}-{high} words": [
#         k for k, i in enumerate(kept) if low <= data.source_lengths[i] <= high
#     ]
#     for low, high in ranges
# }
# groups["all"] = list(range(len(kept)))
# print(" " * 26, "".join(f"{name:>14}" for name in groups))
# print(f"{'sentences':<26}", "".join(f"{len(chosen):>14}" for chosen in groups.values()))
# for name, sentences in translations.items():
#     cells = [f"{quality(sentences, chosen):>14}" for chosen in groups.values()]
#     print(f"{name:<26}", "".join(cells))

# %% [markdown] questions
# **To think about.** Given cells are locked: copy one (*Edit*, *Copy Cells*, *Paste*), change
# one thing in the copy, and train again:
#
# 1. English and French share their word order; English and Korean do not, a Korean verb stands at the
#    end. Which words of a pair come closer together when the source is reversed, and which move apart?
# 2. Give the `ContextTranslator` `prepare=reverse_source` as well. Does it gain what `Seq2Seq` gains?
#    What does its decoder see at every step that the other one has to remember?
# 3. Make `longest` 26. Which lengths are right now, and what does that say about one vector of
#    128 numbers? [Chapter 3](../../book/03_bahdanau.md) begins there.

# %% answers
# 1. Subjects come closer together: they stand first in both languages, and in the reversed
#    sentence they are read last, just before the translation begins. Objects move apart: last in
#    English, they are read first when the sentence is reversed. A verb in the middle stays in the
#    middle, and its Korean partner is written last either way. So the gain should be smaller than
#    between English and French, and in a single run it may drown in chance.
# 2. Little is to be expected. Its decoder sees $c$ at every step, in the cell and in the output,
#    so nothing has to be carried from step to step that stands in $c$. `Seq2Seq` sees the source
#    once, at its start, and has to remember it while it writes. What both have to do is get a
#    whole sentence into one vector, and there reversal changes only which words were read last.
# 3. The short sentences suffer, and the long ones are hardly ever right from the first word to
#    the last. The vector has 128 numbers whether there are 4 words or 26; the longer the
#    sentence, the more has to share them. A decoder that may go back to the source words does not
#    have this problem: attention.
