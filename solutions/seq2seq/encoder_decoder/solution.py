"""Reference solutions of the exercises in seq2seq/encoder_decoder."""

# %% setup
import torch
import torch.nn.functional as F
from torch import Tensor, nn


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
