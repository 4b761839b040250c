"""Reference solutions of the exercises in embeddings/vectors."""

# %% setup
import torch
import torch.nn.functional as F
from torch import Tensor, nn


# %% exercise
def negative_sampling_loss(center: Tensor, context: Tensor, negatives: Tensor) -> Tensor:
    """Say how badly the vectors tell true neighbours from random words.

    L = mean over b of [-log sigma(u_b . v_b) - sum_k log sigma(-u_bk . v_b)]

    Args:
        center: v, vectors of the words in the middle, (B, d).
        context: u, for each the vector of a word that stood near it, (B, d).
        negatives: for each the vectors of K words drawn at random, (B, K, d).

    Returns:
        loss, one number (), not negative and finite however large the dot products are; 0 for an
        empty batch.

    Source: Mikolov et al. (2013b), equation 4, section 2.2.
    """
    ### BEGIN SOLUTION
    positive = (context * center).sum(dim=-1)  # (B,)
    negative = (negatives @ center.unsqueeze(-1)).squeeze(-1)  # (B, K)
    likelihood = F.logsigmoid(positive) + F.logsigmoid(-negative).sum(dim=-1)  # (B,)
    return -likelihood.sum() / max(len(center), 1)  # ()
    ### END SOLUTION


# %% exercise
class NeuralLanguageModel(nn.Module):
    """Predict the next word from the vectors of the words before it.

    x = [C(w_{t-n}); ...; C(w_{t-1})],  y = b + W x + U tanh(d + H x)

    Parameters: `embedding.weight` = C (V, m); `hidden.weight` = H (h, n m) and `hidden.bias` = d
    (h,); `output.weight` = U (V, h) and `output.bias` = b (V,); `direct.weight` = W (V, n m), where
    V = vocabulary_size, m = embedding_size, n = window and h = hidden_size.

    Source: Bengio et al. (2003), equation 1.
    """

    def __init__(self, vocabulary_size: int, embedding_size: int, window: int, hidden_size: int):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary_size, embedding_size)
        self.hidden = nn.Linear(window * embedding_size, hidden_size)
        self.output = nn.Linear(hidden_size, vocabulary_size)
        self.direct = nn.Linear(window * embedding_size, vocabulary_size, bias=False)

    def forward(self, context: Tensor) -> Tensor:
        """Score every word of the vocabulary as the next one.

        Args:
            context: ids of the last n words in reading order, (B, n).

        Returns:
            logits y (B, V), before any softmax.
        """
        ### BEGIN SOLUTION
        vectors = self.embedding(context).flatten(start_dim=1)  # (B, n m)
        hidden = torch.tanh(self.hidden(vectors))  # (B, h)
        return self.output(hidden) + self.direct(vectors)  # (B, V)
        ### END SOLUTION
