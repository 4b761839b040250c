# %% [markdown]
# # BERT II: pre-training
#
# BERT is a Transformer's encoder that has learned from plain text, in two tasks that need no labels:
# fill in words that were hidden, and tell whether one sentence follows another. In this notebook you
# put the encoder together, build the heads of both tasks, and write the loss. At the end your own
# BERT is pre-trained on small stories and fills in masked words.
#
# {{ exercises }}
#
# **Before you begin.** You need `inputs.ipynb`, solved; what an encoder layer is, from `transformer/layers.ipynb`. The ideas are explained in [Chapter 9](../../book/09_bert.md). Allow half to one and
# a half times the minutes in the table, depending on how well you know torch.
#
# **Shapes.** $B$ inputs in the batch, each a sentence or a pair of sentences; $N$ tokens, $V$ tokens
# in the vocabulary, $d$ the size of a state, $m$ of the feed-forward network inside, $h$ heads.
# Inputs end in padding, and masks are boolean: `True` means *may be attended to*.

# %% setup
from collections.abc import Iterable

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
# figure = diagrams.draw("bert-pretraining")

# %% [markdown]
# ## Given: `SelfAttention` and `BertLayer`
#
# You have built these in the notebooks of [Chapter 8](../../book/08_transformer.md); here they are given, with the names that later let
# you load real weights. A layer lets every token look at every other, then works on each token by
# itself. Around both parts there are residual connections, with the LayerNorm after them (*post-norm*):
#
# $$a = \mathrm{LayerNorm}\left(x + \mathrm{SelfAttention}(x)\right) \qquad
# y = \mathrm{LayerNorm}\left(a + W_2\,\mathrm{GELU}(W_1 a + b_1) + b_2\right)$$
#
# $$x, a, y: (B, N, d),\quad W_1: (m, d),\quad W_2: (d, m)$$
#
# What differs from the Transformer's encoder layer is the GELU (Hendrycks and Gimpel 2016) in place
# of the ReLU: $\mathrm{GELU}(x) = x\,\Phi(x)$, where $\Phi(x)$ is the probability that a standard
# normal number lies below $x$. And the LayerNorm's $\varepsilon$ is $10^{-12}$, not torch's
# $10^{-5}$.


# %% BertLayer
class SelfAttention(nn.Module):
    """Multi-head self-attention, as in the notebook `transformer/attention`, with four biases.

    Parameters, d = hidden_size: `query.*`, `key.*`, `value.*`, `output.*`, each a `weight` (d, d)
    and a `bias` (d,).
    """

    def __init__(self, hidden_size: int, heads: int, dropout: float = 0.0):
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(hidden_size, hidden_size)
        self.key = nn.Linear(hidden_size, hidden_size)
        self.value = nn.Linear(hidden_size, hidden_size)
        self.output = nn.Linear(hidden_size, hidden_size)
        self.dropout = dropout

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """Return (B, N, d) for x (B, N, d) and a bool mask that broadcasts to (B, N, N)."""
        q, k, v = (
            part(x).unflatten(-1, (self.heads, -1)).transpose(1, 2)  # (B, h, N, d / h)
            for part in (self.query, self.key, self.value)
        )
        found = F.scaled_dot_product_attention(
            q, k, v, mask.unsqueeze(-3), self.dropout if self.training else 0.0
        )  # (B, h, N, d / h)
        return self.output(found.transpose(1, 2).flatten(2))  # (B, N, d)


class BertLayer(nn.Module):
    """The Transformer's encoder layer with BERT's GELU in place of ReLU.

    a = LayerNorm(x + SelfAttention(x)),  y = LayerNorm(a + W_2 GELU(W_1 a + b_1) + b_2)

    Parameters: `attention.*`, `attention_norm.*`, `inner.*`, `outer.*`, `output_norm.*`.
    """

    def __init__(
        self,
        hidden_size: int,
        heads: int,
        inner_size: int,
        dropout: float = 0.0,
        eps: float = 1e-12,
    ):
        super().__init__()
        self.attention = SelfAttention(hidden_size, heads, dropout)
        self.attention_norm = nn.LayerNorm(hidden_size, eps=eps)
        self.inner = nn.Linear(hidden_size, inner_size)
        self.outer = nn.Linear(inner_size, hidden_size)
        self.output_norm = nn.LayerNorm(hidden_size, eps=eps)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """Return (B, N, d) for x (B, N, d) and a bool mask that broadcasts to (B, N, N)."""
        x = self.attention_norm(x + self.dropout(self.attention(x, mask)))
        inner = F.gelu(self.inner(x))  # (B, N, m)
        return self.output_norm(x + self.dropout(self.outer(inner)))


# %% [markdown]
# ## `BertEncoder`
#
# The embeddings go into the first layer, and each layer's result into the next:
#
# $$H_0 = \mathrm{embeddings}(w, s) \qquad H_l = \mathrm{layer}_l(H_{l-1}, \mathrm{mask})
# \qquad H_l: (B, N, d)$$
#
# * **Who sees whom.** In GPT a token sees those before it. In BERT it sees all real tokens of the
#   input, on both sides, in every layer. That is what "bidirectional" means; it is also why the model
#   could not be trained to predict the next word: the word would already be in its input.
# * **The mask.** If none is given, make one from the ids: `True` where the token is not `pad_id`. It
#   needs an axis for the tokens that look, all of which see the same: $(B, 1, N)$. A mask that is
#   given says everything, and is handed to the layers as it is.
# * **Segments** say for each token whether it is in the first sentence (0) or the second (1), or they
#   are None. Hand them on; the embeddings know what None means.
# * Embeddings and layers are given to the constructor. The check passes its own, zero layers among
#   them; below, you pass yours.

# %% hints
# * Three lines: a mask if there is none, the embeddings, the layers in a row.
# * The mask from the ids is $(B, N)$ and says who may be *seen*. The axis of those who look goes
#   in the middle, and has size 1.


# %% exercise
class BertEncoder(nn.Module):
    """The embeddings, then a stack of layers; every token sees every real one.

    H_0 = embeddings(w, s),  H_l = layer_l(H_{l-1}, mask)

    Parameters: `embeddings.*`; `layers.0.*` and so on.

    Args:
        embeddings: `embeddings(tokens (B, N), segments (B, N) or None) -> (B, N, d)`.
        layers: each `layer(x (B, N, d), mask) -> (B, N, d)`.
        pad_id: id of padding.

    Source: Devlin et al. (2019), section 3.
    """

    def __init__(self, embeddings: nn.Module, layers: Iterable[nn.Module], pad_id: int = 0):
        super().__init__()
        self.pad_id = pad_id
        self.embeddings = embeddings
        self.layers = nn.ModuleList(layers)

    def forward(
        self, tokens: Tensor, segments: Tensor | None = None, mask: Tensor | None = None
    ) -> Tensor:
        """Read a batch of token sequences.

        Args:
            tokens: ids (B, N).
            segments: ids (B, N) or None; handed on to the embeddings.
            mask: bool, True = may be attended to; broadcasts to (B, N, N). None: (B, 1, N), every
                token that is not padding.

        Returns:
            states of the last layer, (B, N, d).
        """
        ### BEGIN SOLUTION
        if mask is None:
            mask = (tokens != self.pad_id).unsqueeze(1)  # (B, 1, N)
        states = self.embeddings(tokens, segments)  # (B, N, d)
        for layer in self.layers:
            states = layer(states, mask)
        return states
        ### END SOLUTION


# %% [markdown]
# ## `pool_first`
#
# Some tasks ask about the whole input, and want one vector for it. BERT puts a token of its own,
# `[CLS]`, before every input. It is no word, so its state is free to hold what the model needs to
# know about all the others:
#
# $$c = \tanh\left(W h_0 + b\right) \qquad h_0: (B, d),\quad W: (d_{out}, d),\quad b: (d_{out},),\quad
# c: (B, d_{out})$$
#
# Here $h_0$ is the state of the *first* token of each input. In a recurrent network the last state
# has seen everything; in self-attention all have, and the first has the advantage of always standing
# in the same place.


# %% exercise
def pool_first(states: Tensor, W: Tensor, b: Tensor) -> Tensor:
    """Take the first token's state, that of [CLS], for the whole input.

    c = tanh(W h_0 + b)

    Args:
        states: H, (B, N, d).
        W: (d_out, d).
        b: (d_out,).

    Returns:
        c, (B, d_out).

    Source: Devlin et al. (2019), section 3, the vector C; layer and tanh are in the paper's code.
    """
    ### BEGIN SOLUTION
    return torch.tanh(states[:, 0] @ W.T + b)  # (B, d_out)
    ### END SOLUTION


# %% [markdown]
# ## `MaskedLanguageModelHead`
#
# Which word was hidden? The state of its position goes through one more layer, and is compared with
# the embedding of every word of the vocabulary:
#
# $$t = \mathrm{LayerNorm}\left(\mathrm{GELU}(W h + b)\right) \qquad
# \mathrm{logits} = E\,t + b_{out}$$
#
# $$h, t: (\dots, d),\quad W: (d, d),\quad E: (V, d),\quad b_{out}: (V,),\quad
# \mathrm{logits}: (\dots, V)$$
#
# * **Tied weights.** $E$ is the encoder's own table of token embeddings, the very same parameter. It
#   learns from both sides: as what a word looks like when it is read, and as what it is compared
#   with when it is to be guessed. So use the table itself, not a copy of it.
# * GELU is the exact one, with erf, as in the layers and as the library `transformers` computes it
#   for BERT's weights. The approximation with tanh, which the authors' released code has, differs in
#   the fourth digit.
# * The constructor builds what you need: `transform`, `norm`, `bias`. States may have any leading
#   axes.

# %% hints
# * Follow the formula from the inside: linear layer, GELU, norm. Which of the four is not in the
#   constructor as a layer?
# * The last step is a product with the weight of `self.embedding`, transposed, plus the bias. Do
#   not store a copy of the weight anywhere.


# %% exercise
class MaskedLanguageModelHead(nn.Module):
    """Score all tokens for each position, with the embeddings as the output layer's weights.

    t = LayerNorm(GELU(W h + b)),  logits = E t + b_out

    Parameters, d = the size of an embedding: `embedding.weight` E (V, d), tied; `transform.weight`
    W (d, d) and `transform.bias` b (d,); `norm.weight` and `norm.bias` (d,); `bias` b_out (V,).

    Args:
        embedding: the encoder's token embedding, whose weights are used, not copied.
        eps: of the LayerNorm.

    Source: Devlin et al. (2019), section 3.1, task 1; the layer between is in the paper's code.
    """

    def __init__(self, embedding: nn.Embedding, eps: float = 1e-12):
        super().__init__()
        size = embedding.embedding_dim
        self.embedding = embedding
        self.transform = nn.Linear(size, size)
        self.norm = nn.LayerNorm(size, eps=eps)
        self.bias = nn.Parameter(torch.zeros(embedding.num_embeddings))

    def forward(self, states: Tensor) -> Tensor:
        """Return logits (..., V) for states (..., d)."""
        ### BEGIN SOLUTION
        transformed = self.norm(F.gelu(self.transform(states)))  # (..., d)
        return transformed @ self.embedding.weight.T + self.bias  # (..., V)
        ### END SOLUTION


# %% [markdown]
# ## `pretraining_loss`
#
# Both tasks are trained at once. For each token that `mask_tokens` has chosen, the model should give
# its true id $w_i$ a high probability; for each pair of sentences, the right one of two classes:
#
# $$\mathrm{loss} = \frac{1}{|C|}\sum_{i \in C} -\log p(w_i)
# \;+\; \frac{1}{B}\sum_{b=1}^{B} -\log p(\mathrm{class}_b)$$
#
# $$\mathrm{token\ logits}: (B, N, V),\quad \mathrm{next\ logits}: (B, 2),\quad
# \mathrm{labels}: (B, N),\quad \mathrm{is\ next}: (B,)$$
#
# * $C$ are the positions whose label is not $-100$, in the whole batch. Only they count: not the
#   tokens that the model could see, and not padding.
# * In a small batch it may happen that no token was chosen. Then the first part is 0 (and not 0 / 0).
# * **Class 0 means "is next"**, class 1 "is not", as in the published weights. `is_next` is boolean,
#   and `True` where the second sentence follows: mind the direction.

# %% hints
# * Two means over two different things: chosen tokens, and pairs. Compute each by itself and add.
# * Pick the chosen positions with a boolean index from logits and labels alike. If there is none,
#   a mean is 0 / 0: take the sum, and divide by at least 1.
# * Class 0 means *is next*, and `True` as a number is 1: the boolean has to be turned round
#   before it becomes a class.


# %% exercise
def pretraining_loss(
    token_logits: Tensor, next_logits: Tensor, labels: Tensor, is_next: Tensor
) -> Tensor:
    """Return the mean loss over the chosen tokens plus the mean loss over the pairs.

    loss = mean_{chosen i} -log p(w_i) + mean_pairs -log p(is_next)

    Args:
        token_logits: (B, N, V).
        next_logits: (B, 2); class 0 means that the second sentence is the next one.
        labels: true ids (B, N), -100 where nothing is to be predicted.
        is_next: bool (B,), True where the second sentence is the next one.

    Returns:
        a scalar; the first part is 0 if no token was chosen.

    Source: Devlin et al. (2019), appendix A.2.
    """
    ### BEGIN SOLUTION
    chosen = labels != -100  # (B, N)
    tokens = F.cross_entropy(token_logits[chosen], labels[chosen], reduction="sum")
    tokens = tokens / chosen.sum().clamp(min=1)
    return tokens + F.cross_entropy(next_logits, (~is_next).long())
    ### END SOLUTION


# %% [markdown] together
# ## Your own BERT
#
# The next cells put your encoder to work. They need the checks above to pass, and those of
# `inputs.ipynb`. Save that notebook: your embeddings, your masking and your pairs are read from the disk.
#
# The corpus is made by the course: 1,500 short stories about people, things and animals. What stands
# in one place of a story often follows from another, before it or after it: who is meant by "she",
# what one does with a book, what a butcher cuts. Training takes one to three minutes on a CPU.
#
# `pretrain` is a function because `finetuning.ipynb` will call it, too. Each epoch flips the coins of
# the pairs again and hides other words, so that the model never sees the same input twice.

# %% notebook pretrain
# from coursekit.models.bert import PretrainingModel, initialise, pretraining_batches
# from coursekit.corpora import stories
# from coursekit.training import device, seed_everything, train
# from coursekit.text.wordpiece import WordPieceVocabulary
#
#
# def build(vocabulary_size, hidden_size, layers, heads, inner_size, max_length):
#     """Your own BERT with both heads of pre-training."""
#     embeddings = BertEmbeddings(vocabulary_size, hidden_size, max_length)
#     stack = [BertLayer(hidden_size, heads, inner_size) for _ in range(layers)]
#     encoder = BertEncoder(embeddings, stack)
#     head = MaskedLanguageModelHead(embeddings.token)
#     return PretrainingModel(encoder, head, hidden_size, pool_first)
#
#
# def encoded_pairs(part, vocabulary, seed):
#     """[CLS] first sentence [SEP] second sentence [SEP], and 1 if the second follows the first."""
#     documents = [[vocabulary.ids(" ".join(s)) for s in story.sentences] for story in part]
#     coins = torch.Generator().manual_seed(seed)
#     return [
#         (*vocabulary.join(first, second), int(follows))
#         for first, second, follows in next_sentence_pairs(documents, coins)
#     ]
#
#
# def batches(part, vocabulary, seed):
#     """All pairs of the stories once, masked."""
#
#     def mask(tokens, special):
#         return mask_tokens(tokens, special, len(vocabulary), vocabulary.mask_id)
#
#     pairs = encoded_pairs(part, vocabulary, seed)
#     return pretraining_batches(pairs, 64, seed, mask, vocabulary.special_ids)
#
#
# def loss(model, batch):
#     token_logits, next_logits = model(batch.tokens, batch.segments)  # (B, N, V), (B, 2)
#     return pretraining_loss(token_logits, next_logits, batch.labels, batch.is_next)
#
#
# def pretrain(part, vocabulary, epochs=8, rate=5e-3):
#     """Pre-train a small BERT of your own; the learning rate rises first, then falls."""
#     seed_everything(1)
#     model = initialise(build(len(vocabulary), 64, 2, 4, 256, max_length=40), deviation=0.08)
#     steps = epochs * sum(1 for _ in batches(part, vocabulary, 1))
#     warm = steps // 10
#     history = train(
#         model,
#         lambda epoch: batches(part, vocabulary, epoch),
#         loss,
#         epochs=epochs,
#         schedule=lambda step: rate * min(step / warm, max(0, steps - step) / (steps - warm)),
#     )
#     print("loss per epoch:", ", ".join(f"{x:.2f}" for x in history.column("loss")))
#     return model

# %% demo train
# from coursekit.notebook.session import import_answers, save_weights
#
# import_answers("inputs.ipynb")
#
# known, _, unseen = stories.splits(1500, 0, 300, seed=1)
# sentences = (" ".join(sentence) for story in known for sentence in story.sentences)
# vocabulary = WordPieceVocabulary(sentences, 800)
# model = pretrain(known, vocabulary)
# save_weights(model, "bert-stories")  # for finetuning.ipynb

# %% [markdown]
# How much has it learned? On stories that it has never seen: how many of the chosen words it guesses,
# and of how many pairs it knows whether they belong together. To compare: how many words one would
# guess by always saying the most frequent one.

# %% demo test
# guessed, true, told = [], [], []
# for batch in batches(unseen, vocabulary, seed=0):
#     batch = batch.to(device())
#     with torch.no_grad():
#         token_logits, next_logits = model(batch.tokens, batch.segments)
#     chosen = batch.labels != -100
#     guessed.append(token_logits.argmax(-1)[chosen])
#     true.append(batch.labels[chosen])
#     told.append((next_logits.argmax(-1) == 0) == batch.is_next)
# guessed, true, told = torch.cat(guessed), torch.cat(true), torch.cat(told)
# most = (true == true.mode().values).float().mean()
# right = (guessed == true).float().mean()
# print(f"hidden words guessed right: {right:.1%} (always the same word: {most:.1%})")
# print(f"pairs told right:           {told.float().mean():.1%} (by a coin: 50.0%)")

# %% [markdown]
# And here it fills in masked words, in one story of each kind. Some can be inferred from the rest, some cannot: if nothing
# tells Peter from Max, a probability of 10 % each is the *right* answer, and the word that stood there was luck. So look first at
# whether the guesses are of the right kind, and then at whether they use the other sentence, where it says what is hidden: in the
# time of this page the model learns the first, and hardly the second: with a sentence of another story in its place, we
# counted about as many gaps filled rightly. Below that, for the same pairs of
# sentences, how probable it finds that the second follows the first, and how probable with the
# second sentence of another story. Ask it about sentences of your own; the words have to be those of
# the stories.

# %% notebook fill-in
# def fill(model, vocabulary, first, second=None, best=3):
#     """Print what the model would put in the place of [MASK]."""
#     ids, segments = vocabulary.encode(first, second)
#     tokens, segments = (torch.tensor([row], device=device()) for row in (ids, segments))
#     with torch.no_grad():
#         token_logits, _ = model(tokens, segments)
#     shares, words = token_logits[0, ids.index(vocabulary.mask_id)].softmax(-1).topk(best)
#     named = zip(vocabulary.tokens(words.tolist()), shares.tolist())
#     print(first, "/", second) if second else print(first)
#     print("    " + ", ".join(f"{word} {share:.0%}" for word, share in named))
#
#
# def follows(model, vocabulary, first, second):
#     """Return the probability that the second sentence is the next one."""
#     ids, segments = vocabulary.encode(first, second)
#     tokens, segments = (torch.tensor([row], device=device()) for row in (ids, segments))
#     with torch.no_grad():
#         _, next_logits = model(tokens, segments)
#     return next_logits[0].softmax(-1)[0].item()

# %% demo fill
# chosen = {story.plot: story for story in reversed(unseen)}.values()  # the first of each kind
# pairs = [story.sentences[:2] for story in chosen]
# for number, (first, second) in enumerate(pairs):
#     place = (3 + 2 * number) % len(first)  # here and there
#     hidden = (*first[:place], "[MASK]", *first[place + 1 :])
#     fill(model, vocabulary, " ".join(hidden), " ".join(second))
#     print("    it was:", first[place])
# print("\nthe true next sentence, and one of another story:")
# for (first, second), (_, other) in zip(pairs, pairs[1:] + pairs[:1]):
#     first, second, other = (" ".join(words) for words in (first, second, other))
#     print(f"{follows(model, vocabulary, first, second):5.0%} {follows(model, vocabulary, first, other):5.0%}  {first}")

# %% [markdown] play-text-fill
# **Predict, then run.** Say what the model will answer before you run it. Then change the second sentence, and see whether the
# first is filled in another way.

# %% play fill
# first, second = "[MASK] reads a book", "she likes it"
# fill(model, vocabulary, first, second, best=5)
# print(f"follows with p = {follows(model, vocabulary, first, second):.0%}")

# %% [markdown]
# The explorer of [chapter 9](../../book/09_bert.md) with your BERT: hide any word of the two texts, see what the guess rests on, and switch
# heads off.

# %% demo explorer
# from coursekit.widgets import ClozeExplorer, pack
#
# texts = [(list(first), list(second), len(first) // 2) for first, second in pairs[:6]]
# display(ClozeExplorer(pack(model, levels=87), vocabulary, heads=4, examples=texts))

# %% [markdown] questions
# **To think about.** Given cells are locked: copy one (*Edit*, *Copy Cells*, *Paste*), change
# one thing in the copy, and train again:
#
# 1. Hide 50 % of the words, or 5 %: pass `probability` to `mask_tokens` in `batches`. What becomes
#    worse, and why?
# 2. Leave out the second part of the loss. Does the model guess words worse? (RoBERTa, Liu et al.
#    2019, dropped the pairs.)
# 3. Give the encoder a causal mask, `torch.ones(N, N, dtype=torch.bool).tril()`, together with that
#    for padding. Which of the words above does it now guess worse?
# 4. Some words follow from their own sentence, some only from the other one: *lucy works as a [MASK]*, *she works in
#    the theatre*. Train longer, `epochs=24`: does the second sentence change the guess now? Which guesses must stay luck?
# 5. The state of a position that is *not* masked also has to be good for something: why are 10 % of
#    the chosen words left as they are?

# %% answers
# 1. At 50 % much of what would decide a word is hidden itself: guesses become worse, because
#    there is less to go by. At 5 % each guess has more context, but there are three times fewer
#    questions in each epoch, so the model learns more slowly. 15 % is between the two; it was not
#    derived from anything.
# 2. Not much, if at all: most hidden words follow from their own sentence. RoBERTa found that the
#    task can be dropped without harm. What is lost is the answer to "does this follow", which
#    nobody has trained then.
# 3. Those whose reason stands *after* them: a pronoun or a name that only the second sentence
#    explains, an object before its use. Words that follow from what was before are guessed as
#    well as ever.
# 4. Hardly: in our run of 24 epochs the guesses for Lucy's trade were the same with *theatre* and with *garden*. What
#    the own sentence decides becomes better first, because most gaps can be filled so. Names without any trace
#    elsewhere stay luck: if nothing tells Peter from Max, the best one can do is give each his frequency.
# 5. Otherwise a state would only ever be asked about at `[MASK]` or at a wrong word, and could
#    forget the word that stands there. Fine-tuning uses exactly those states.
