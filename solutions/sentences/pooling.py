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

# %% nbgrader={"grade": false, "grade_id": "setup", "locked": true, "solution": false}
import torch
from torch import Tensor, nn

# %% nbgrader={"grade": false, "grade_id": "setup-check", "locked": true, "solution": false} tags=["active-ipynb"]
# from autograder import check


# %% nbgrader={"grade": false, "grade_id": "last_state", "locked": false, "solution": true}
def last_state(states: Tensor, lengths: Tensor) -> Tensor:
    """Take the state after each sentence's own last word.

    s = h_L

    Args:
        states: h_1 ... h_N, (B, N, d); what stands behind a sentence's end is arbitrary.
        lengths: L, number of real words of each sentence, (B,), all at least 1.

    Returns:
        sentence vectors (B, d).
    """
    ### BEGIN SOLUTION
    rows = torch.arange(len(states), device=states.device)  # (B,)
    return states[rows, lengths - 1]  # (B, d)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test-last_state", "locked": true, "points": 1, "solution": false} tags=["active-ipynb"]
# check(last_state)
# ### BEGIN HIDDEN TESTS
# from autograder.instructor import examine

# examine(last_state)
# ### END HIDDEN TESTS


# %% nbgrader={"grade": false, "grade_id": "masked_mean", "locked": false, "solution": true}
def masked_mean(states: Tensor, mask: Tensor) -> Tensor:
    """Average the states of the real words.

    s = sum_j m_j h_j / sum_j m_j

    Args:
        states: (B, N, d).
        mask: bool (B, N), True = a real word.

    Returns:
        sentence vectors (B, d); zeros for a sentence without any real word.
    """
    ### BEGIN SOLUTION
    total = states.masked_fill(~mask.unsqueeze(2), 0.0).sum(dim=1)  # (B, d)
    return total / mask.sum(dim=1, keepdim=True).clamp(min=1)  # (B, d)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test-masked_mean", "locked": true, "points": 2, "solution": false} tags=["active-ipynb"]
# check(masked_mean)
# ### BEGIN HIDDEN TESTS
# from autograder.instructor import examine

# examine(masked_mean)
# ### END HIDDEN TESTS


# %% nbgrader={"grade": false, "grade_id": "masked_max", "locked": false, "solution": true}
def masked_max(states: Tensor, mask: Tensor) -> Tensor:
    """Take the largest value of each feature over the real words.

    s_k = max over real j of h_{jk}

    Args:
        states: (B, N, d).
        mask: bool (B, N), True = a real word.

    Returns:
        sentence vectors (B, d); zeros for a sentence without any real word.
    """
    ### BEGIN SOLUTION
    largest = states.masked_fill(~mask.unsqueeze(2), -torch.inf).amax(dim=1)  # (B, d)
    return largest.masked_fill(~mask.any(dim=1, keepdim=True), 0.0)  # (B, d)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test-masked_max", "locked": true, "points": 2, "solution": false} tags=["active-ipynb"]
# check(masked_max)
# ### BEGIN HIDDEN TESTS
# from autograder.instructor import examine

# examine(masked_max)
# ### END HIDDEN TESTS


# %% nbgrader={"grade": false, "grade_id": "AttentionClassifier", "locked": false, "solution": true}
class AttentionClassifier(nn.Module):
    """A bidirectional LSTM whose final state asks all states what matters.

    h_j = [h_j->; h_j<-],  q = [h_L->; h_1<-],  e_j = v^T tanh(W q + U h_j),
    alpha = softmax over the real words of e,  logits = W_o sum_j alpha_j h_j + b_o

    Parameters: `embedding.weight` (V, e); `rnn.*`, those of
    `nn.LSTM(e, d, batch_first=True, bidirectional=True)`; `W` (a, 2d), `U` (a, 2d), `v` (a,);
    `output.weight` W_o (C, 2d) and `output.bias` b_o (C,). Here e = embedding_size,
    d = hidden_size, a = attention_size and C = classes. In training, `dropout` acts on the embedded
    words and on the sentence vector.

    Source: the score of Bahdanau et al. (2015), section A.1.2, with the final state as its query.
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
            tokens: ids (B, N), padded at the end.
            lengths: number of real words of each sentence, (B,); may be 0.

        Returns:
            logits (B, C) and weights (B, N), exactly 0 on padding; for a sentence without any word
            the weights are 0 and the logits are b_o.
        """
        ### BEGIN SOLUTION
        embedded = self.dropout(self.embedding(tokens))  # (B, N, e)
        packed = nn.utils.rnn.pack_padded_sequence(
            embedded, lengths.clamp(min=1).cpu(), batch_first=True, enforce_sorted=False
        )  # a sentence without words is read as one of padding, and masked below
        states, (final, _) = self.rnn(packed)  # final: (2, B, d), forward and backward
        states, _ = nn.utils.rnn.pad_packed_sequence(
            states, batch_first=True, total_length=tokens.shape[1]
        )  # (B, N, 2d)
        query = final.transpose(0, 1).flatten(1)  # (B, 2d)
        mask = torch.arange(tokens.shape[1], device=tokens.device) < lengths.unsqueeze(1)  # (B, N)
        projected = (query @ self.W.T).unsqueeze(1) + states @ self.U.T  # (B, N, a)
        scores = (torch.tanh(projected) @ self.v).masked_fill(~mask, -torch.inf)  # (B, N)
        empty = ~mask.any(dim=1, keepdim=True)  # (B, 1)
        weights = torch.softmax(scores.masked_fill(empty, 0.0), dim=1).masked_fill(empty, 0.0)
        sentence = torch.einsum("bn,bnd->bd", weights, states)  # (B, 2d)
        return self.output(self.dropout(sentence)), weights  # (B, C), (B, N)
        ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test-AttentionClassifier", "locked": true, "points": 5, "solution": false} tags=["active-ipynb"]
# check(AttentionClassifier)
# ### BEGIN HIDDEN TESTS
# from autograder.instructor import examine

# examine(AttentionClassifier)
# ### END HIDDEN TESTS
