"""Reference solutions of the exercises in han/attention."""

# %% setup
import torch
from torch import Tensor, nn

# %% earlier
from solutions.bahdanau.scores import context_vector, masked_softmax


# %% exercise
class AttentionPooling(nn.Module):
    """Attention without a query from outside: a learned vector asks which states are informative.

    u_j = tanh(W h_j + b),  alpha = softmax over the real j of u_j^T u_w,  s = sum_j alpha_j h_j

    Parameters: `projection.weight` W (a, d), `projection.bias` b (a,), `context` u_w (a,), where
    d = input_size and a = attention_size.

    Source: Yang et al. (2016), equations 5 to 7 for words, 8 to 10 for sentences.
    """

    def __init__(self, input_size: int, attention_size: int):
        super().__init__()
        self.projection = nn.Linear(input_size, attention_size)
        self.context = nn.Parameter(torch.empty(attention_size))
        nn.init.normal_(self.context, std=attention_size**-0.5)

    def forward(self, states: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Average the states that are worth it.

        Args:
            states: h, (B, N, d).
            mask: bool (B, N), True = a real word (or sentence).

        Returns:
            s (B, d) and weights (B, N), exactly 0 where the mask is False; both 0 for a row without
            anything real.
        """
        ### BEGIN SOLUTION
        scores = torch.tanh(self.projection(states)) @ self.context  # (B, N)
        weights = masked_softmax(scores, mask)  # (B, N)
        return context_vector(weights, states), weights  # (B, d), (B, N)
        ### END SOLUTION
