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
# # The Transformer III: the model
#
# The parts are there. This notebook puts them together: an encoder, a decoder, and one matrix of
# embeddings for everything. Two more things from the paper belong to its training: targets that are
# a little unsure, and a learning rate that rises before it falls. At the end your own Transformer,
# with your own layers and your own attention, learns to translate English into French.
#
# | exercise | what it computes | paper | difficulty | minutes |
# | --- | --- | --- | --- | --- |
# | `Transformer` | from the source's ids to logits, at once and word by word | figure 1, sections 3.1 to 3.5 | ●●● | 50 |
# | `label_smoothed_loss` | cross entropy against a smoothed target | section 5.4 | ●●○ | 15 |
# | `noam_learning_rate` | the learning rate of a step | eq. 3 | ●○○ | 5 |
#
# Sections and equations are those of Vaswani et al. (2017).
#
# **Shapes.** $B$ sentences in the batch, $S$ source positions, $T$ target positions, $V$ words in the
# vocabulary of both languages together, $d$ the size of a vector. Sentences end in padding, whose id
# is `pad_id`. Masks are boolean and `True` means *may be attended*.

# %% nbgrader={"grade": false, "grade_id": "setup", "locked": true, "solution": false}
import math
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor, nn

# %% nbgrader={"grade": false, "grade_id": "setup-check", "locked": true, "solution": false} tags=["active-ipynb"]
# from autograder import check

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-Transformer", "locked": true, "solution": false}
# ## `Transformer`
#
# **The way in** (`embed`). A word's vector is its row of $E$, times $\sqrt d$, plus the vector of its
# position:
#
# $$x_t = \sqrt{d}\; E_{w_t} + PE_t \qquad E: (V, d),\quad x: (B, S, d)$$
#
# **The encoder** (`encode`). All its layers in a row. What the last one returns is the memory. Its
# mask lets words look at words and not at padding, $(B, 1, S)$.
#
# **The decoder** (`forward`). All its layers in a row, each with the same memory. The mask of its
# words is the causal one *and* that of padding, $(B, T, T)$; the memory's mask is the encoder's.
#
# **The way out.** The logits are products with the same matrix of embeddings:
#
# $$\mathrm{logits} = y\, E^\top \qquad y: (B, T, d),\quad \mathrm{logits}: (B, T, V)$$
#
# So one matrix does three things: it embeds the source, embeds the target, and scores the words. The
# vocabulary is that of both languages together. The factor $\sqrt d$ belongs to the way in alone. $E$
# starts with small numbers, of variance $1/d$, which suit the way out; times $\sqrt d$ they are as
# large as those of the positions.
#
# In training, `previous[:, t]` is the word *before* the one that `logits[:, t]` predicts, and
# `previous` begins with the mark of the beginning. It is shifted already: position $t$ may see its own
# word.
#
# **Word by word** (`start` and `step`). To translate, `start` encodes the sentences and asks each
# layer of the decoder for its cache. `step` reads one word, gives each layer its cache, and returns
# $\log p$ of the next word. The state it carries is a dict:
#
# | key | what it holds | shape |
# | --- | --- | --- |
# | `"memory_mask"` | which source positions are words | (B, 1, S) |
# | `"caches"` | for each layer of the decoder, in order, what its `start` or `step` returned | the layers' own |
# | `"position"` | the number of words read so far, the same for all sentences | (B,) |
#
# A beam search goes on from one state several times, and picks rows from all its tensors: so `step`
# returns a new dict and leaves the one it was given as it is. `embed` takes the position of its first
# token, because in `step` the only token stands at `position`.
#
# The model does not know what its positions and layers are. It is given them; the check passes some
# of its own. `embed` and `encode` earn 2 of the 8 points, `forward` 3, `start` and `step` 3.
#
# *Vaswani et al. (2017), figure 1 and sections 3.1 to 3.5. Difficulty ●●●, about 50 minutes.*


# %% nbgrader={"grade": false, "grade_id": "Transformer", "locked": false, "solution": true}
class Transformer(nn.Module):
    """An encoder and a decoder without recurrence, and one matrix of embeddings for everything.

    x = sqrt(d) E[source] + PE,  memory = encoder layers(x),
    y = sqrt(d) E[previous] + PE,  logits = decoder layers(y, memory) E^T

    Parameters: `embedding.weight` E (V, d), which is also the output layer's, without a bias;
    `encoder_layers.0.*` and so on; `decoder_layers.0.*` and so on. In training, `dropout` acts on
    the sums of embeddings and positions. Padding is never attended to, and no target position sees
    a later one.

    Args:
        vocabulary_size: V, source and target together.
        model_size: d.
        positions: `positions(length, d) -> (length, d)`.
        encoder_layers: each `layer(x (B, S, d), mask) -> (B, S, d)`.
        decoder_layers: each `layer(y (B, T, d), memory, mask, memory_mask) -> (B, T, d)`, with
            `start(memory) -> cache` and `step(y (B, 1, d), cache, memory_mask) -> (y, cache)`.
        dropout: share of components set to 0.
        pad_id: id of padding.

    Source: Vaswani et al. (2017), figure 1 and sections 3.1 to 3.5.
    """

    def __init__(
        self,
        vocabulary_size: int,
        model_size: int,
        positions: Callable[[int, int], Tensor],
        encoder_layers: Iterable[nn.Module],
        decoder_layers: Iterable[nn.Module],
        dropout: float = 0.0,
        pad_id: int = 0,
    ):
        super().__init__()
        self.pad_id = pad_id
        self.positions = positions
        self.embedding = nn.Embedding(vocabulary_size, model_size)
        nn.init.normal_(self.embedding.weight, std=model_size**-0.5)
        self.encoder_layers = nn.ModuleList(encoder_layers)
        self.decoder_layers = nn.ModuleList(decoder_layers)
        self.dropout = nn.Dropout(dropout)

    def embed(self, tokens: Tensor, first: int = 0) -> Tensor:
        """Return sqrt(d) E[tokens] + PE, (B, T, d), for ids (B, T) at positions first, first + 1, ...

        Source: Vaswani et al. (2017), sections 3.4 and 3.5.
        """
        ### BEGIN SOLUTION
        d = self.embedding.embedding_dim
        positions = self.positions(first + tokens.shape[1], d)[first:]  # (T, d)
        embedded = math.sqrt(d) * self.embedding(tokens)  # (B, T, d)
        return self.dropout(embedded + positions.to(embedded))
        ### END SOLUTION

    def encode(self, source: Tensor) -> tuple[Tensor, Tensor]:
        """Read the source sentences.

        Args:
            source: ids (B, S).

        Returns:
            memory (B, S, d), and which positions may be attended to, bool (B, 1, S).
        """
        ### BEGIN SOLUTION
        mask = (source != self.pad_id).unsqueeze(1)  # (B, 1, S)
        memory = self.embed(source)  # (B, S, d)
        for layer in self.encoder_layers:
            memory = layer(memory, mask)
        return memory, mask
        ### END SOLUTION

    def forward(self, source: Tensor, previous: Tensor) -> Tensor:
        """Predict each target token from the true tokens before it, all at once.

        Args:
            source: ids (B, S).
            previous: ids (B, T), beginning with the mark of the beginning.

        Returns:
            logits (B, T, V).
        """
        ### BEGIN SOLUTION
        memory, memory_mask = self.encode(source)
        length = previous.shape[1]
        causal = torch.ones(length, length, dtype=torch.bool, device=previous.device).tril()
        mask = causal & (previous != self.pad_id).unsqueeze(1)  # (B, T, T)
        y = self.embed(previous)  # (B, T, d)
        for layer in self.decoder_layers:
            y = layer(y, memory, mask, memory_mask)
        return y @ self.embedding.weight.T  # (B, T, V)
        ### END SOLUTION

    def start(self, source: Tensor) -> dict[str, Any]:
        """Encode the sentences; return the state that `step` carries from word to word.

        Returns:
            "memory_mask" bool (B, 1, S), "caches": what `start` of each decoder layer returned, and
            "position", the number of words read so far, 0 for each sentence, whole numbers (B,).
        """
        ### BEGIN SOLUTION
        memory, mask = self.encode(source)
        return {
            "memory_mask": mask,
            "caches": [layer.start(memory) for layer in self.decoder_layers],
            # A tensor like the rest, so that a search may choose among hypotheses on axis 0.
            "position": torch.zeros(len(source), dtype=torch.long, device=source.device),
        }
        ### END SOLUTION

    def step(self, tokens: Tensor, state: dict[str, Any]) -> tuple[Tensor, dict[str, Any]]:
        """Score the next word after one more word, without computing anything twice.

        Args:
            tokens: the word read now, ids (B,); never padding.
            state: what `start` or the last `step` returned; it is not changed.

        Returns:
            log p of every next word, (B, V), and the new state.
        """
        ### BEGIN SOLUTION
        y = self.embed(tokens.unsqueeze(1), int(state["position"][0]))  # (B, 1, d)
        caches = []
        for layer, cache in zip(self.decoder_layers, state["caches"], strict=True):
            y, cache = layer.step(y, cache, state["memory_mask"])
            caches.append(cache)
        log_probs = (y.squeeze(1) @ self.embedding.weight.T).log_softmax(dim=-1)  # (B, V)
        return log_probs, {**state, "caches": caches, "position": state["position"] + 1}
        ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test-Transformer", "locked": true, "points": 8, "solution": false} tags=["active-ipynb"]
# check(Transformer)
# ### BEGIN HIDDEN TESTS
# from autograder.instructor import examine

# examine(Transformer)
# ### END HIDDEN TESTS

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-label_smoothed_loss", "locked": true, "solution": false}
# ## `label_smoothed_loss`
#
# Cross entropy is smallest when the model gives the true word a probability of 1, and for that its
# logits would have to be infinitely far apart. A smoothed target asks for less: the true word $y$
# gets $1 - \epsilon$, and $\epsilon$ is shared by all $V$ words, the true one among them.
#
# $$q(w) = (1 - \epsilon)\,[w = y] + \frac{\epsilon}{V}, \qquad
# -\sum_{w} q(w) \log p(w) = -(1 - \epsilon) \log p(y) - \frac{\epsilon}{V} \sum_{w} \log p(w)$$
#
# $$\mathrm{logits}: (B, T, V),\quad y: (B, T)$$
#
# The loss is the mean over the real targets; those equal to `pad_id` do not count, and without any
# real target the loss is 0. The smoothed model is less sure of itself: its perplexity becomes worse,
# its translations become better (section 5.4). The paper has $\epsilon = 0.1$.
#
# `torch.nn.functional.cross_entropy` has an argument `label_smoothing`, which would be the whole
# answer: write it without that argument.
#
# *Vaswani et al. (2017), section 5.4; Szegedy et al. (2016), section 7. Difficulty ●●○, about 15
# minutes.*


# %% nbgrader={"grade": false, "grade_id": "label_smoothed_loss", "locked": false, "solution": true}
def label_smoothed_loss(
    logits: Tensor, targets: Tensor, smoothing: float, pad_id: int = 0
) -> Tensor:
    """Return the cross entropy against a target that is a little unsure.

    loss = mean over real targets of -(1 - e) log p(y) - e/V sum over all words w of log p(w)

    Write it without `label_smoothing` of torch's cross entropy, which is the whole answer.

    Args:
        logits: (B, T, V).
        targets: ids (B, T).
        smoothing: e, from 0 to 1, shared by all V words, the true one too.
        pad_id: targets that do not count.

    Returns:
        a scalar; 0 if there is no real target.

    Source: Vaswani et al. (2017), section 5.4; Szegedy et al. (2016), section 7.
    """
    ### BEGIN SOLUTION
    log_probs = logits.log_softmax(dim=-1)  # (B, T, V)
    true = log_probs.gather(-1, targets.unsqueeze(-1)).squeeze(-1)  # (B, T)
    loss = -(1 - smoothing) * true - smoothing * log_probs.mean(dim=-1)  # (B, T)
    real = targets != pad_id  # (B, T)
    return loss.masked_fill(~real, 0.0).sum() / real.sum().clamp(min=1)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test-label_smoothed_loss", "locked": true, "points": 3, "solution": false} tags=["active-ipynb"]
# check(label_smoothed_loss)
# ### BEGIN HIDDEN TESTS
# from autograder.instructor import examine

# examine(label_smoothed_loss)
# ### END HIDDEN TESTS

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-noam_learning_rate", "locked": true, "solution": false}
# ## `noam_learning_rate`
#
# $$\mathrm{rate}(s) = d^{-1/2} \cdot \min\left(s^{-1/2},\; s \cdot \mathrm{warmup}^{-3/2}\right)
# \qquad s = 1, 2, 3, \dots$$
#
# In the first steps Adam knows little about the size of the gradients, and the norms behind the sums
# make them large: a large rate would ruin the weights before they mean anything. So the rate rises in
# a line until $s = \mathrm{warmup}$, where the two terms are equal, and falls with the root of the
# step after that. The name comes from the code of the paper's authors, one of whom is Noam Shazeer.
#
# *Vaswani et al. (2017), equation 3. Difficulty ●○○, about 5 minutes.*


# %% nbgrader={"grade": false, "grade_id": "noam_learning_rate", "locked": false, "solution": true}
def noam_learning_rate(step: int, model_size: int, warmup: int) -> float:
    """Return the learning rate of a step: up in a line, then down with the root of the step.

    rate = d^(-1/2) min(step^(-1/2), step warmup^(-3/2))

    Args:
        step: number of the step, from 1.
        model_size: d.
        warmup: the step at which the rate is largest.

    Returns:
        the rate, a float.

    Source: Vaswani et al. (2017), equation 3.
    """
    ### BEGIN SOLUTION
    return model_size**-0.5 * min(step**-0.5, step * warmup**-1.5)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test-noam_learning_rate", "locked": true, "points": 1, "solution": false} tags=["active-ipynb"]
# check(noam_learning_rate)
# ### BEGIN HIDDEN TESTS
# from autograder.instructor import examine

# examine(noam_learning_rate)
# ### END HIDDEN TESTS

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-together", "locked": true, "solution": false}
# ## Your own Transformer
#
# The next cells need all checks above to pass, and those of `attention.ipynb` and `layers.ipynb`,
# which are run to bring over your attention and your layers. Nothing in the model is torch's but
# `Linear`, `Embedding`, `LayerNorm` and `Dropout`.
#
# The corpus is made by the course: English sentences and their French translations, 14,000 to train
# on, with one vocabulary for both languages. Training takes about half a minute on a CPU. To train
# on real data instead (Multi30k, German to English; better with a GPU), set `COURSEKIT_SIZE=full`
# before you start Jupyter, or in a cell: `import os; os.environ["COURSEKIT_SIZE"] = "full"`.

# %% nbgrader={"grade": false, "grade_id": "together", "locked": true, "solution": false} tags=["active-ipynb"]
# from coursekit import settings
#
# training = not settings.grading() and "__file__" not in globals()  # not while grading
# if training:
#     %run attention.ipynb
#     %run layers.ipynb

# %% nbgrader={"grade": false, "grade_id": "data", "locked": true, "solution": false} tags=["active-ipynb"]
# from coursekit import corpora, datasets
# from coursekit.vocabulary import SubwordVocabulary, WordVocabulary
#
#
# def both_languages(size):
#     """Return one vocabulary, encoded pairs to train on, and the test pairs as text."""
#     if size == "quick":
#         made = corpora.splits("french", 14_000, 200, 600, seed=1, min_length=4, max_length=14)
#         parts = [[(p.source, p.target) for p in part] for part in (made.train, made.test)]
#         words = WordVocabulary([sentence for pair in parts[0] for sentence in pair])
#         test = [(" ".join(source), " ".join(target)) for source, target in parts[1]]
#     else:
#         corpus = datasets.load("multi30k-de-en")
#         parts = [corpus.train, corpus.test]
#         words = SubwordVocabulary([sentence for pair in parts[0] for sentence in pair], 8000)
#         test = list(corpus.test)
#     train, tested = ([(words.encode(s), words.encode(t)) for s, t in part] for part in parts)
#     return words, train, tested, test

# %% nbgrader={"grade": false, "grade_id": "build", "locked": true, "solution": false} tags=["active-ipynb"]
# def build(vocabulary_size, d, heads, inner, layers, dropout=0.0):
#     """Return a Transformer of your own parts."""
#
#     def attention():
#         return MultiHeadAttention(d, heads, dropout)
#
#     def network():
#         return PositionwiseFeedForward(d, inner)
#
#     return Transformer(
#         vocabulary_size,
#         d,
#         sinusoidal_positions,
#         [EncoderLayer(d, attention(), network(), dropout) for _ in range(layers)],
#         [DecoderLayer(d, attention(), attention(), network(), dropout) for _ in range(layers)],
#         dropout,
#     )

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-cause", "locked": true, "solution": false}
# First, with random weights, what has to hold whatever is learnt: another word at the end of the
# target changes no logit before it, and `step` says what `forward` says.

# %% nbgrader={"grade": false, "grade_id": "cause", "locked": true, "solution": false} tags=["active-ipynb"]
# if training:
#     torch.manual_seed(0)
#     small = build(vocabulary_size=20, d=16, heads=4, inner=32, layers=2).eval()
#     source = torch.tensor([[5, 9, 4, 3], [7, 3, 0, 0]])  # (B, S)
#     previous = torch.tensor([[2, 8, 6, 11, 5], [2, 10, 4, 9, 12]])  # (B, T)
#     with torch.no_grad():
#         logits = small(source, previous)  # (B, T, V)
#         changed = small(source, torch.cat([previous[:, :4], torch.tensor([[13], [14]])], dim=1))
#         apart = (logits - changed).abs().amax(dim=(0, 2))  # (T,)
#         print("the last word changed, logits differ by", [f"{x:.0e}" for x in apart.tolist()])
#         assert apart[:4].max() < 1e-6 and apart[4] > 0.01
#
#         state, gaps = small.start(source), []
#         for t in range(previous.shape[1]):
#             log_probs, state = small.step(previous[:, t], state)
#             gaps.append((log_probs - logits[:, t].log_softmax(dim=-1)).abs().max().item())
#         print("step against forward, differ by       ", [f"{x:.0e}" for x in gaps])
#         assert max(gaps) < 1e-5

# %% nbgrader={"grade": false, "grade_id": "train", "locked": true, "solution": false} tags=["active-ipynb"]
# from coursekit.batching import batches_by_length
# from coursekit.training import seed_everything, train
# from coursekit.translators import TransformerTranslator
# from coursekit.vocabulary import PAD
#
#
# def loss(model, batch):
#     logits, _ = model(batch.source, batch.lengths, batch.previous)  # (B, T, V)
#     return label_smoothed_loss(logits, batch.target, 0.1, PAD)
#
#
# if training:
#     size = settings.size()
#     words, pairs, tested, test = both_languages(size)
#     d, heads, inner, layers, dropout, batch_size, warmup, epochs = {
#         "quick": (64, 4, 128, 2, 0.0, 48, 400, 3),
#         "full": (256, 8, 512, 3, 0.3, 64, 2000, 20),
#     }[size]
#     seed_everything(1)
#     model = TransformerTranslator(build(len(words), d, heads, inner, layers, dropout))
#     history = train(
#         model,
#         lambda epoch: batches_by_length(pairs, batch_size, seed=epoch),
#         loss,
#         epochs=epochs,
#         schedule=lambda step: noam_learning_rate(step, d, warmup),
#         optimizer=lambda weights: torch.optim.Adam(weights, betas=(0.9, 0.98), eps=1e-9),
#     )
#     print("loss per epoch:", ", ".join(f"{x:.2f}" for x in history.column("loss")))

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-translate", "locked": true, "solution": false}
# It translates. The sentences are from the test set: it has never seen them. They are translated
# with `start` and `step`, all at once, each with its caches.

# %% nbgrader={"grade": false, "grade_id": "translate", "locked": true, "solution": false} tags=["active-ipynb"]
# if training:
#     from coursekit.metrics import bleu, exact_match
#     from coursekit.translation import translate
#
#     translations = [words.decode(ids) for ids in translate(model, [s for s, _ in tested])]
#     references = [target for _, target in test]
#     for i in range(5):
#         print("source      ", test[i][0])
#         print("reference   ", references[i])
#         print("your model  ", translations[i], "\n")
#     print(f"BLEU {bleu(translations, references).score:.1f}")
#     if size == "quick":
#         print(f"{exact_match(translations, references):.0%} of the test sentences are right")

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-picture", "locked": true, "solution": false}
# Where the last layer of the decoder looked in the source, a picture for each head: a row for each
# word that the model says. No head was told what to look for. French articles have the gender of
# their noun: where do the heads look before they say one?

# %% nbgrader={"grade": false, "grade_id": "picture", "locked": true, "solution": false} tags=["active-ipynb"]
# if training:
#     import matplotlib.pyplot as plt
#
#     from coursekit import plots, style
#     from coursekit.batching import translation_batch
#     from coursekit.looking import recorded_weights
#     from coursekit.training import device
#
#     style.use()
#     i = next(i for i, (source, _) in enumerate(tested) if len(source) == 10)
#     batch = translation_batch([tested[i]]).to(device())
#     with torch.no_grad(), recorded_weights(model) as seen:
#         model(batch.source, batch.lengths, batch.previous)
#     name = f"model.decoder_layers.{layers - 1}.memory_attention"
#     shown = seen[name][-1][0].cpu()  # (h, T, S)
#     figure, axes = plt.subplots(2, heads // 2, figsize=(10, 9), layout="constrained")
#     for head, ax in enumerate(axes.flat):
#         source_tokens, target_tokens = (words.tokens(ids) for ids in tested[i])
#         plots.alignment(shown[head], source_tokens, target_tokens, ax=ax, title=f"head {head + 1}")
#     plt.show()

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-questions", "locked": true, "solution": false}
# **To think about.** Change one thing and train again:
#
# 1. Pass `positions=lambda length, size: torch.zeros(length, size)`. What does the model still
#    translate well, and why that? What is lost first?
# 2. Train without the warmup: `schedule=lambda step: (d * step) ** -0.5`. Look at the loss of the
#    first epoch.
# 3. With a smoothing of 0, how small does the loss become, and how small with 0.1? Compute the
#    smallest value that the smoothed loss can have.
# 4. The sentences to train on have at most 14 words. Translate longer ones. Where does the model
#    stop being good, and what has it never seen there?
