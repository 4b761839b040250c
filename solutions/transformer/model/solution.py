"""Reference solutions of the exercises in transformer/model."""

# %% setup
import math
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor, nn


# %% exercise
def padding_mask(tokens: Tensor, pad_id: int = 0) -> Tensor:
    """Tell real tokens from padding.

    Args:
        tokens: ids (B, S).
        pad_id: the id of padding.

    Returns:
        bool (B, S), True where there is a real token.
    """
    ### BEGIN SOLUTION
    return tokens != pad_id  # (B, S)
    ### END SOLUTION


# %% exercise
def causal_mask(length: int) -> Tensor:
    """Let each position see itself and what is before it, nothing after.

    Args:
        length: T.

    Returns:
        bool (T, T): row t is True in columns 0 to t.

    Source: Vaswani et al. (2017), section 3.2.3.
    """
    ### BEGIN SOLUTION
    return torch.ones(length, length, dtype=torch.bool).tril()  # (T, T)
    ### END SOLUTION


# %% exercise
class Transformer(nn.Module):
    """An encoder and a decoder without recurrence, and one matrix of embeddings for everything.

    x = sqrt(d) E[source] + PE,  memory = encoder layers(x),
    y = sqrt(d) E[previous] + PE,  logits = decoder layers(y, memory) E^T

    Parameters: `embedding.weight` E (V, d), which is also the output layer's, without a bias;
    `encoder_layers.0.*` and so on; `decoder_layers.0.*` and so on. In training, `dropout` acts on
    the sums of embeddings and positions. Padding is never attended to, wherever it stands, and no
    target position sees a later one.

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

        In training with dropout.

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
        mask = padding_mask(source, self.pad_id).unsqueeze(1)  # (B, 1, S)
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
        causal = causal_mask(previous.shape[1]).to(previous.device)  # (T, T)
        mask = causal & padding_mask(previous, self.pad_id).unsqueeze(1)  # (B, T, T)
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


# %% exercise
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


# %% exercise
def noam_learning_rate(step: int, model_size: int, warmup: int) -> float:
    """Return the learning rate of a step: up in a line, then down as 1 / sqrt(step).

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
