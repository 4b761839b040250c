"""Reference solutions of the exercises in sentences/pooling."""

# %% setup
import torch
from torch import Tensor, nn

# %% earlier
from coursekit.data.batching import length_mask
from solutions.bahdanau.scores import additive_score, context_vector, masked_softmax


# %% exercise
def last_state(states: Tensor, lengths: Tensor) -> Tensor:
    """Take the state after each sentence's own last word.

    s = h_L

    Args:
        states: h_1 ... h_N, (B, N, d); what comes after a sentence's end is arbitrary.
        lengths: L, number of real words of each sentence, (B,), all at least 1.

    Returns:
        sentence vectors (B, d).

    Source: Lin et al. (2017), section 1.
    """
    ### BEGIN SOLUTION
    rows = torch.arange(len(states), device=states.device)  # (B,)
    return states[rows, lengths - 1]  # (B, d)
    ### END SOLUTION


# %% exercise
def masked_mean(states: Tensor, mask: Tensor) -> Tensor:
    """Average the states of the real words.

    s = sum_j m_j h_j / sum_j m_j

    Args:
        states: (B, N, d).
        mask: bool (B, N), True = a real word.

    Returns:
        sentence vectors (B, d); zeros for a sentence without any real word.

    Source: Lin et al. (2017), section 1.
    """
    ### BEGIN SOLUTION
    total = states.masked_fill(~mask.unsqueeze(2), 0.0).sum(dim=1)  # (B, d)
    return total / mask.sum(dim=1, keepdim=True).clamp(min=1)  # (B, d)
    ### END SOLUTION


# %% exercise
def masked_max(states: Tensor, mask: Tensor) -> Tensor:
    """Take the largest value of each feature over the real words.

    s_k = max over real j of h_{jk}

    Args:
        states: (B, N, d).
        mask: bool (B, N), True = a real word.

    Returns:
        sentence vectors (B, d); zeros for a sentence without any real word.

    Source: Lin et al. (2017), section 1.
    """
    ### BEGIN SOLUTION
    largest = states.masked_fill(~mask.unsqueeze(2), -torch.inf).amax(dim=1)  # (B, d)
    return largest.masked_fill(~mask.any(dim=1, keepdim=True), 0.0)  # (B, d)
    ### END SOLUTION


# %% exercise
class AttentionClassifier(nn.Module):
    """A bidirectional LSTM whose final state asks all states what matters.

    h_j = [h_j->; h_j<-],  q = [h_L->; h_1<-],  e_j = v^T tanh(W q + U h_j),
    alpha = softmax over the real words of e,  logits = W_o sum_j alpha_j h_j + b_o

    Parameters: `embedding.weight` (V, e); `rnn.*`, those of
    `nn.LSTM(e, d, batch_first=True, bidirectional=True)`; `W` (a, 2d), `U` (a, 2d), `v` (a,);
    `output.weight` W_o (C, 2d) and `output.bias` b_o (C,). Here e = embedding_size,
    d = hidden_size, a = attention_size and C = classes. In training, `dropout` acts on the embedded
    words and on the sentence vector.

    Source: The score is that of Bahdanau et al. (2015), section A.1.2, with another query.
    """

    def __init__(
        self,
        vocabulary_size: int,
        embedding_size: int,
        hidden_size: int,
        attention_size: int,
        classes: int,
        dropout: float = 0.0,
    ):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary_size, embedding_size)
        self.rnn = nn.LSTM(embedding_size, hidden_size, batch_first=True, bidirectional=True)
        self.W = nn.Parameter(torch.empty(attention_size, 2 * hidden_size))
        self.U = nn.Parameter(torch.empty(attention_size, 2 * hidden_size))
        self.v = nn.Parameter(torch.empty(attention_size))
        self.output = nn.Linear(2 * hidden_size, classes)
        self.dropout = nn.Dropout(dropout)
        for parameter in (self.W, self.U):
            nn.init.xavier_uniform_(parameter)
        nn.init.normal_(self.v, std=attention_size**-0.5)

    def forward(self, tokens: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """Classify a batch of sentences.

        Args:
            tokens: ids (B, N); what stands after a sentence's end is arbitrary.
            lengths: number of real words of each sentence, (B,); may be 0.

        Returns:
            logits (B, C) and weights (B, N), exactly 0 on padding; for a sentence without any word
            the weights are 0 and the logits are b_o.
        """
        ### BEGIN SOLUTION
        words = self.dropout(self.embedding(tokens))  # (B, N, e)
        sequences = nn.utils.rnn.pack_padded_sequence(
            words, lengths.clamp(min=1).cpu(), batch_first=True, enforce_sorted=False
        )  # a sentence without words is read as one of padding, and masked below
        states, (final, _) = self.rnn(sequences)  # final: (2, B, d), forward and backward
        states = nn.utils.rnn.pad_packed_sequence(
            states, batch_first=True, total_length=tokens.shape[1]
        )[0]  # (B, N, 2d)
        query = final.transpose(0, 1).flatten(1)  # (B, 2d)
        mask = length_mask(lengths, tokens.shape[1])  # (B, N)
        scores = additive_score(query, states, self.W, self.U, self.v)  # (B, N)
        weights = masked_softmax(scores, mask)  # (B, N)
        sentence = context_vector(weights, states)  # (B, 2d)
        return self.output(self.dropout(sentence)), weights  # (B, C), (B, N)
        ### END SOLUTION
