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


# %% nbgrader={"grade": false, "grade_id": "AttentionPooling", "locked": false, "solution": true}
class AttentionPooling(nn.Module):
    """Attention without a query from outside: a learnt vector asks which states are informative.

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
        empty = ~mask.any(dim=1, keepdim=True)  # (B, 1)
        scores = scores.masked_fill(~mask, -torch.inf).masked_fill(empty, 0.0)  # (B, N)
        weights = torch.softmax(scores, dim=1).masked_fill(empty, 0.0)  # (B, N)
        return torch.einsum("bn,bnd->bd", weights, states), weights  # (B, d), (B, N)
        ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test-AttentionPooling", "locked": true, "points": 4, "solution": false} tags=["active-ipynb"]
# check(AttentionPooling)
# ### BEGIN HIDDEN TESTS
# from autograder.instructor import examine

# examine(AttentionPooling)
# ### END HIDDEN TESTS
