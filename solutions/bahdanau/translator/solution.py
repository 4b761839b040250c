"""Reference solutions of the exercises in bahdanau/translator."""

# %% setup
import torch
from torch import Tensor, nn


# %% exercise
class BidirectionalEncoder(nn.Module):
    """Encode each source word together with what stands before and after it.

    h_j = [h->_j ; h<-_j],  s_0 = tanh(W_s h<-_1)

    Parameters: `embedding.weight` (V, e); `rnn.*`, those of a bidirectional `nn.GRU` with one
    layer; `first_state.weight` = W_s (d, d) and `first_state.bias` (d,), where e = embedding_size
    and d = hidden_size. In training, `dropout` acts on the embedded words and on the annotations
    that are returned; s_0 is made from the state before it.

    Source: Bahdanau et al. (2015), equation 7 and appendix A.2.
    """

    def __init__(
        self, vocabulary_size: int, embedding_size: int, hidden_size: int, dropout: float = 0.0
    ):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary_size, embedding_size)
        self.rnn = nn.GRU(embedding_size, hidden_size, batch_first=True, bidirectional=True)
        self.first_state = nn.Linear(hidden_size, hidden_size)
        self.dropout = nn.Dropout(dropout)

    def forward(self, tokens: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """Read a batch of sentences in both directions.

        Args:
            tokens: ids (B, S); what stands after a sentence's end is arbitrary.
            lengths: number of real tokens of each sentence, (B,), all at least 1.

        Returns:
            annotations (B, S, 2d), forward states first, and the decoder's first state (B, d).
        """
        ### BEGIN SOLUTION
        embedded = self.dropout(self.embedding(tokens))  # (B, S, e)
        packed = nn.utils.rnn.pack_padded_sequence(
            embedded, lengths.cpu(), batch_first=True, enforce_sorted=False
        )
        states, _ = self.rnn(packed)
        annotations, _ = nn.utils.rnn.pad_packed_sequence(
            states, batch_first=True, total_length=tokens.shape[1]
        )  # (B, S, 2d)
        backward_at_first = annotations[:, 0, self.rnn.hidden_size :]  # (B, d)
        return self.dropout(annotations), torch.tanh(self.first_state(backward_at_first))
        ### END SOLUTION


# %% exercise
class AttentionDecoder(nn.Module):
    """Produce a sentence word by word, attending to the annotations before each word.

    c_i = attention(s_{i-1}, h),  s_i = f(s_{i-1}, [E y_{i-1}; c_i]),
    t_i = tanh(W_t [E y_{i-1}; s_i; c_i] + b_t),  logits_i = W_o t_i + b_o

    Parameters: `embedding.weight` (V, e); `cell.*`, those of `nn.GRUCell(e + a, d)`;
    `hidden.weight` = W_t (r, e + d + a) and `hidden.bias` (r,); `output.weight` = W_o (V, r) and
    `output.bias` (V,); and those of `attention`. Here e = embedding_size, d = hidden_size,
    a = annotation_size, and r = e. In training, `dropout` acts on the embedded words and on t.

    Source: Bahdanau et al. (2015), equations 4 and 5, section A.2.2.
    """

    def __init__(
        self,
        vocabulary_size: int,
        embedding_size: int,
        hidden_size: int,
        annotation_size: int,
        attention: nn.Module,
        dropout: float = 0.0,
    ):
        super().__init__()
        self.attention = attention
        self.embedding = nn.Embedding(vocabulary_size, embedding_size)
        self.cell = nn.GRUCell(embedding_size + annotation_size, hidden_size)
        self.hidden = nn.Linear(embedding_size + hidden_size + annotation_size, embedding_size)
        self.output = nn.Linear(embedding_size, vocabulary_size)
        self.dropout = nn.Dropout(dropout)

    def step(
        self,
        embedded: Tensor,
        state: Tensor,
        annotations: Tensor,
        mask: Tensor,
        projected_keys: Tensor | None = None,
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Attend with the old state, then move on to the new one (steps 1 and 2).

        Args:
            embedded: E y_{i-1}, (B, e).
            state: s_{i-1}, (B, d).
            annotations: h, (B, S, a).
            mask: bool (B, S), True = a real source word.
            projected_keys: what `attention.project(annotations)` returned, or None; handed on to the
                attention as it is.

        Returns:
            state s_i (B, d), context c_i (B, a), weights alpha_i (B, S).
        """
        ### BEGIN SOLUTION
        context, weights = self.attention(state, annotations, mask, projected_keys)
        state = self.cell(torch.cat([embedded, context], dim=-1), state)  # (B, d)
        return state, context, weights
        ### END SOLUTION

    def readout(self, embedded: Tensor, states: Tensor, contexts: Tensor) -> Tensor:
        """Score every word of the vocabulary (steps 3 and 4).

        Args:
            embedded: E y_{i-1}, (..., e).
            states: s_i, (..., d).
            contexts: c_i, (..., a).

        Returns:
            logits (..., V).
        """
        ### BEGIN SOLUTION
        together = torch.cat([embedded, states, contexts], dim=-1)  # (..., e + d + a)
        hidden = torch.tanh(self.hidden(together))  # (..., r)
        return self.output(self.dropout(hidden))  # (..., V)
        ### END SOLUTION

    def forward(
        self, tokens: Tensor, annotations: Tensor, mask: Tensor, first_state: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Predict each target word from the true words before it (teacher forcing).

        Args:
            tokens: y_0 ... y_{T-1}, ids (B, T); y_0 marks the beginning of the sentence.
            annotations: h, (B, S, a).
            mask: bool (B, S), True = a real source word.
            first_state: s_0, (B, d).

        Returns:
            logits (B, T, V), of which logits[:, i] predicts the word after tokens[:, i], and
            weights (B, T, S).
        """
        ### BEGIN SOLUTION
        embedded = self.dropout(self.embedding(tokens))  # (B, T, e)
        projected_keys = self.attention.project(annotations)
        state = first_state  # (B, d)
        states, contexts, weights = [], [], []
        for i in range(tokens.shape[1]):
            state, context, alpha = self.step(
                embedded[:, i], state, annotations, mask, projected_keys
            )
            states.append(state)
            contexts.append(context)
            weights.append(alpha)
        logits = self.readout(embedded, torch.stack(states, 1), torch.stack(contexts, 1))
        return logits, torch.stack(weights, 1)  # (B, T, V), (B, T, S)
        ### END SOLUTION
