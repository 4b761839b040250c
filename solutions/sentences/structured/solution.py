"""Reference solutions of the exercises in sentences/structured."""

# %% setup
import torch
from torch import Tensor, nn

# %% earlier
from coursekit.data.batching import length_mask
from solutions.bahdanau.scores import masked_softmax


# %% exercise
class StructuredSelfAttention(nn.Module):
    """Several weighted averages of the states at once, each with its own idea of what matters.

    A = softmax over the words of W_s2 tanh(W_s1 H^T),  M = A H

    Parameters: `W_s1` (d_a, d) and `W_s2` (r, d_a), where d = hidden_size is the size of one state
    (2u in the paper, whose states are of two directions), d_a = attention_size and r = hops.

    Source: Lin et al. (2017), equations 5, 6 and 7.
    """

    def __init__(self, hidden_size: int, attention_size: int, hops: int):
        super().__init__()
        self.W_s1 = nn.Parameter(torch.empty(attention_size, hidden_size))
        self.W_s2 = nn.Parameter(torch.empty(hops, attention_size))
        for parameter in (self.W_s1, self.W_s2):
            nn.init.xavier_uniform_(parameter)

    def forward(self, states: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Look at a sentence r times.

        Args:
            states: H, (B, N, d).
            mask: bool (B, N), True = a real word.

        Returns:
            the sentence's matrix M (B, r, d) and the weights A (B, r, N), exactly 0 on padding;
            both 0 for a sentence without any real word.
        """
        ### BEGIN SOLUTION
        scores = (torch.tanh(states @ self.W_s1.T) @ self.W_s2.T).transpose(1, 2)  # (B, r, N)
        weights = masked_softmax(scores, mask.unsqueeze(1))  # (B, r, N)
        return weights @ states, weights  # (B, r, d), (B, r, N)
        ### END SOLUTION


# %% exercise
def redundancy_penalty(A: Tensor) -> Tensor:
    """Punish hops that look at the same words.

    P = mean over the batch of ||A A^T - I||_F^2

    Args:
        A: the weights of the hops, (B, r, N).

    Returns:
        penalty, a scalar.

    Source: Lin et al. (2017), equation 8.
    """
    ### BEGIN SOLUTION
    overlap = A @ A.transpose(1, 2)  # (B, r, r)
    identity = torch.eye(A.shape[1], dtype=A.dtype, device=A.device)  # (r, r)
    return (overlap - identity).square().sum(dim=(1, 2)).mean()  # ()
    ### END SOLUTION


# %% exercise
class StructuredClassifier(nn.Module):
    """A bidirectional LSTM, r weighted averages of its states, and a small network on all of them.

    h_j = [h_j->; h_j<-],  M, A = attention(H),  logits = W_o relu(W_h flatten(M) + b_h) + b_o

    Parameters: `embedding.weight` (V, e); `rnn.*`, those of
    `nn.LSTM(e, d, batch_first=True, bidirectional=True)`; `attention.*`; `hidden.weight` W_h
    (m, r 2d) and `hidden.bias`; `output.weight` W_o (C, m) and `output.bias`. Here
    e = embedding_size, d = hidden_size, r = hops, m = inner_size and C = classes. flatten puts the
    rows of M one after the other. In training, `dropout` acts on the embedded words and on flatten(M).

    Source: Lin et al. (2017), section 2.1 with equation 7; the network on top is described with the
    experiments in section 4.
    """

    def __init__(
        self,
        vocabulary_size: int,
        embedding_size: int,
        hidden_size: int,
        attention: nn.Module,
        hops: int,
        inner_size: int,
        classes: int,
        dropout: float = 0.0,
    ):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary_size, embedding_size)
        self.rnn = nn.LSTM(embedding_size, hidden_size, batch_first=True, bidirectional=True)
        self.attention = attention
        self.hidden = nn.Linear(hops * 2 * hidden_size, inner_size)
        self.output = nn.Linear(inner_size, classes)
        self.dropout = nn.Dropout(dropout)

    def forward(self, tokens: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """Classify a batch of sentences.

        Args:
            tokens: ids (B, N); what stands after a sentence's end is arbitrary.
            lengths: number of real words of each sentence, (B,); may be 0.

        Returns:
            logits (B, C) and the attention's weights A (B, r, N).
        """
        ### BEGIN SOLUTION
        words = self.dropout(self.embedding(tokens))  # (B, N, e)
        sequences = nn.utils.rnn.pack_padded_sequence(
            words, lengths.clamp(min=1).cpu(), batch_first=True, enforce_sorted=False
        )
        states, _ = self.rnn(sequences)
        states = nn.utils.rnn.pad_packed_sequence(
            states, batch_first=True, total_length=tokens.shape[1]
        )[0]  # (B, N, 2d)
        mask = length_mask(lengths, tokens.shape[1])  # (B, N)
        matrix, weights = self.attention(states, mask)  # (B, r, 2d), (B, r, N)
        inner = torch.relu(self.hidden(self.dropout(matrix.flatten(1))))  # (B, m)
        return self.output(inner), weights  # (B, C), (B, r, N)
        ### END SOLUTION
