"""Reference solutions of the exercises in bert/pretraining."""

# %% setup
from collections.abc import Iterable

import torch
import torch.nn.functional as F
from torch import Tensor, nn


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
