"""Reference solutions of the exercises in captioning/captioner."""

# %% setup
import torch
from torch import Tensor, nn


# %% exercise
class CaptionDecoder(nn.Module):
    """An LSTM that describes a picture, looking at it before every word.

    (h_0, c_0) = (tanh(W_h m + b_h), tanh(W_c m + b_c)),  m = mean_i a_i
    z_t = attention(h_{t-1}, a_1 ... a_N),  (h_t, c_t) = LSTM([E y_{t-1}; z_t], (h_{t-1}, c_{t-1}))
    logits_t = L_o (E y_{t-1} + L_h h_t + L_z z_t) + b_o

    Parameters: `embedding.weight` E (V, e); `first_state.weight` W_h (d, d_k) and `.bias`;
    `first_memory.weight` W_c (d, d_k) and `.bias`; `cell.*`, those of `nn.LSTMCell(e + d_k, d)`;
    `state_output.weight` L_h (e, d) and `context_output.weight` L_z (e, d_k), no bias;
    `output.weight` L_o (V, e) and `.bias`; and `attention.*`. Here e = embedding_size,
    d = hidden_size and d_k = key_size. In training, `dropout` acts on what L_o reads.

    Source: Xu et al. (2015), equations 1 to 3 and 7, section 3.1.2.
    """

    def __init__(
        self,
        vocabulary_size: int,
        embedding_size: int,
        hidden_size: int,
        key_size: int,
        attention: nn.Module,
        dropout: float = 0.0,
    ):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary_size, embedding_size)
        self.first_state = nn.Linear(key_size, hidden_size)
        self.first_memory = nn.Linear(key_size, hidden_size)
        self.cell = nn.LSTMCell(embedding_size + key_size, hidden_size)
        self.state_output = nn.Linear(hidden_size, embedding_size, bias=False)
        self.context_output = nn.Linear(key_size, embedding_size, bias=False)
        self.output = nn.Linear(embedding_size, vocabulary_size)
        self.attention = attention
        self.dropout = nn.Dropout(dropout)

    def start(self, annotations: Tensor) -> tuple[Tensor, Tensor]:
        """Compute the state before the first word.

        Args:
            annotations: (B, N, d_k).

        Returns:
            h_0 (B, d) and c_0 (B, d).
        """
        ### BEGIN SOLUTION
        mean = annotations.mean(dim=1)  # (B, d_k)
        return torch.tanh(self.first_state(mean)), torch.tanh(self.first_memory(mean))
        ### END SOLUTION

    def step(
        self, embedded: Tensor, state: tuple[Tensor, Tensor], annotations: Tensor
    ) -> tuple[tuple[Tensor, Tensor], Tensor, Tensor]:
        """Look at the picture, then move on by one word.

        Args:
            embedded: E y_{t-1}, (B, e).
            state: h_{t-1} (B, d) and c_{t-1} (B, d).
            annotations: (B, N, d_k).

        Returns:
            the new state (h_t, c_t), the context z_t (B, d_k) and the weights (B, N).
        """
        ### BEGIN SOLUTION
        context, weights = self.attention(state[0], annotations)  # (B, d_k), (B, N)
        state = self.cell(torch.cat([embedded, context], dim=1), state)  # 2 x (B, d)
        return state, context, weights
        ### END SOLUTION

    def readout(self, embedded: Tensor, states: Tensor, contexts: Tensor) -> Tensor:
        """Score every word of the vocabulary.

        Args:
            embedded: E y_{t-1}, (..., e).
            states: h_t, (..., d).
            contexts: z_t, (..., d_k).

        Returns:
            logits (..., V).
        """
        ### BEGIN SOLUTION
        mixed = embedded + self.state_output(states) + self.context_output(contexts)  # (..., e)
        return self.output(self.dropout(mixed))  # (..., V)
        ### END SOLUTION

    def forward(self, tokens: Tensor, annotations: Tensor) -> tuple[Tensor, Tensor]:
        """Score every next word of captions that are known (teacher forcing).

        Args:
            tokens: the words so far, y_0 ... y_{T-1}, (B, T); y_0 is <bos>.
            annotations: (B, N, d_k).

        Returns:
            logits (B, T, V) and weights (B, T, N).
        """
        ### BEGIN SOLUTION
        embedded = self.embedding(tokens)  # (B, T, e)
        state = self.start(annotations)
        states, contexts, weights = [], [], []
        for word in embedded.unbind(dim=1):  # (B, e)
            state, context, alpha = self.step(word, state, annotations)
            states.append(state[0])
            contexts.append(context)
            weights.append(alpha)
        logits = self.readout(embedded, torch.stack(states, 1), torch.stack(contexts, 1))
        return logits, torch.stack(weights, 1)  # (B, T, V), (B, T, N)
        ### END SOLUTION
