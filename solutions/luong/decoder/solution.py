"""Reference solutions of the exercises in luong/decoder."""

# %% setup
import torch
from torch import Tensor, nn


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
