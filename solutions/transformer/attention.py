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

# %% [markdown] nbgrader={"grade": false, "grade_id": "title", "locked": true, "solution": false}
# # TITLE

# %% nbgrader={"grade": false, "grade_id": "setup", "locked": true, "solution": false}
import math

import torch
from torch import Tensor, nn

# %% nbgrader={"grade": false, "grade_id": "setup-check", "locked": true, "solution": false} tags=["active-ipynb"]
# from autograder import check

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-scaled_dot_product_attention", "locked": true, "solution": false}
# ## `scaled_dot_product_attention`


# %% nbgrader={"grade": false, "grade_id": "scaled_dot_product_attention", "locked": false, "solution": true}
def scaled_dot_product_attention(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Attend with every query at once.

    Attention(Q, K, V) = softmax(Q K^T / sqrt(d_k)) V

    Args:
        query: Q, (..., T, d_k).
        key: K, (..., N, d_k).
        value: V, (..., N, d_v).
        mask: bool, True = may be attended; broadcasts to (..., T, N). None: everything may.

    Returns:
        output (..., T, d_v) and weights (..., T, N), exactly 0 where the mask is False. A query that
        may attend to nothing has weights and an output of 0.

    Source: Vaswani et al. (2017), equation 1.
    """
    ### BEGIN SOLUTION
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])  # (..., T, N)
    if mask is None:
        weights = scores.softmax(dim=-1)  # (..., T, N)
    else:
        nothing = ~mask.any(dim=-1, keepdim=True)  # (..., T, 1)
        # Rows without anything to attend to take a softmax over all, which is then set to 0.
        scores = scores.masked_fill(~mask & ~nothing, float("-inf"))
        weights = scores.softmax(dim=-1).masked_fill(~mask, 0.0)  # (..., T, N)
    return weights @ value, weights  # (..., T, d_v), (..., T, N)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test-scaled_dot_product_attention", "locked": true, "points": 4, "solution": false} tags=["active-ipynb"]
# check(scaled_dot_product_attention)
# ### BEGIN HIDDEN TESTS
# from autograder.instructor import examine

# examine(scaled_dot_product_attention)
# ### END HIDDEN TESTS

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-padding_mask", "locked": true, "solution": false}
# ## `padding_mask`


# %% nbgrader={"grade": false, "grade_id": "padding_mask", "locked": false, "solution": true}
def padding_mask(tokens: Tensor, pad_id: int = 0) -> Tensor:
    """Tell real tokens from padding.

    Args:
        tokens: ids (B, S).
        pad_id: the id of padding.

    Returns:
        bool (B, S), True where there is a real token.
    """
    ### BEGIN SOLUTION
    return tokens != pad_id  # (B, S)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test-padding_mask", "locked": true, "points": 1, "solution": false} tags=["active-ipynb"]
# check(padding_mask)
# ### BEGIN HIDDEN TESTS
# from autograder.instructor import examine

# examine(padding_mask)
# ### END HIDDEN TESTS

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-causal_mask", "locked": true, "solution": false}
# ## `causal_mask`


# %% nbgrader={"grade": false, "grade_id": "causal_mask", "locked": false, "solution": true}
def causal_mask(length: int) -> Tensor:
    """Let each position see itself and what is before it, nothing behind.

    Args:
        length: T.

    Returns:
        bool (T, T): row t is True in columns 0 to t.

    Source: Vaswani et al. (2017), section 3.2.3.
    """
    ### BEGIN SOLUTION
    return torch.ones(length, length, dtype=torch.bool).tril()  # (T, T)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test-causal_mask", "locked": true, "points": 1, "solution": false} tags=["active-ipynb"]
# check(causal_mask)
# ### BEGIN HIDDEN TESTS
# from autograder.instructor import examine

# examine(causal_mask)
# ### END HIDDEN TESTS

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-split_heads", "locked": true, "solution": false}
# ## `split_heads`


# %% nbgrader={"grade": false, "grade_id": "split_heads", "locked": false, "solution": true}
def split_heads(x: Tensor, heads: int) -> Tensor:
    """Cut each vector into one piece for each head.

    Args:
        x: (B, T, d); d is a multiple of `heads`.
        heads: h.

    Returns:
        (B, h, T, d / h): head i gets components i d/h to (i + 1) d/h - 1 of each vector.

    Source: Vaswani et al. (2017), section 3.2.2.
    """
    ### BEGIN SOLUTION
    return x.unflatten(-1, (heads, -1)).transpose(1, 2)  # (B, h, T, d / h)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test-split_heads", "locked": true, "points": 2, "solution": false} tags=["active-ipynb"]
# check(split_heads)
# ### BEGIN HIDDEN TESTS
# from autograder.instructor import examine

# examine(split_heads)
# ### END HIDDEN TESTS

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-merge_heads", "locked": true, "solution": false}
# ## `merge_heads`


# %% nbgrader={"grade": false, "grade_id": "merge_heads", "locked": false, "solution": true}
def merge_heads(x: Tensor) -> Tensor:
    """Put the pieces of all heads side by side again; undoes `split_heads`.

    Args:
        x: (B, h, T, d / h).

    Returns:
        (B, T, d).

    Source: Vaswani et al. (2017), section 3.2.2, Concat(head_1, ..., head_h).
    """
    ### BEGIN SOLUTION
    return x.transpose(1, 2).flatten(2)  # (B, T, d)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test-merge_heads", "locked": true, "points": 1, "solution": false} tags=["active-ipynb"]
# check(merge_heads)
# ### BEGIN HIDDEN TESTS
# from autograder.instructor import examine

# examine(merge_heads)
# ### END HIDDEN TESTS

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-MultiHeadAttention", "locked": true, "solution": false}
# ## `MultiHeadAttention`


# %% nbgrader={"grade": false, "grade_id": "MultiHeadAttention", "locked": false, "solution": true}
class MultiHeadAttention(nn.Module):
    """Several attentions side by side, each in a subspace of its own.

    head_i = Attention(Q W_i^Q, K W_i^K, V W_i^V),  MultiHead = Concat(head_1, ..., head_h) W^O

    The W_i^Q of all heads are one matrix, cut into pieces after the product; so are W^K and W^V.

    Parameters, d = model_size: `query.weight`, `key.weight`, `value.weight`, `output.weight`, all
    (d, d), and `query.bias`, `key.bias`, `value.bias`, `output.bias`, all (d,). The paper has no
    biases; torch and BERT have them. In training, `dropout` acts on the weights.

    Raises:
        ValueError: model_size is not a multiple of heads.

    Source: Vaswani et al. (2017), section 3.2.2.
    """

    def __init__(self, model_size: int, heads: int, dropout: float = 0.0):
        super().__init__()
        if model_size % heads:
            raise ValueError(f"{heads} heads cannot share vectors of size {model_size} equally.")
        self.heads = heads
        self.query = nn.Linear(model_size, model_size)
        self.key = nn.Linear(model_size, model_size)
        self.value = nn.Linear(model_size, model_size)
        self.output = nn.Linear(model_size, model_size)
        self.dropout = nn.Dropout(dropout)

    def project(self, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """Return K W^K and V W^V, cut into heads: what a decoder computes once and keeps.

        Args:
            key: (B, N, d).
            value: (B, N, d).

        Returns:
            keys and values, both (B, h, N, d / h).
        """
        ### BEGIN SOLUTION
        return split_heads(self.key(key), self.heads), split_heads(self.value(value), self.heads)
        ### END SOLUTION

    def forward(
        self,
        query: Tensor,
        key: Tensor | None,
        value: Tensor | None,
        mask: Tensor | None = None,
        projected: tuple[Tensor, Tensor] | None = None,
    ) -> tuple[Tensor, Tensor]:
        """Let each query attend, once in each head.

        Args:
            query: (B, T, d).
            key: (B, N, d); not looked at if `projected` is given.
            value: (B, N, d); not looked at if `projected` is given.
            mask: bool, True = may be attended; broadcasts to (B, T, N) and holds for all heads.
            projected: what `project(key, value)` returned.

        Returns:
            output (B, T, d) and the weights of each head, (B, h, T, N).
        """
        ### BEGIN SOLUTION
        q = split_heads(self.query(query), self.heads)  # (B, h, T, d / h)
        k, v = self.project(key, value) if projected is None else projected  # (B, h, N, d / h)
        mask = None if mask is None else mask.unsqueeze(-3)  # one axis more, for the heads
        found, weights = scaled_dot_product_attention(q, k, v, mask)  # (B, h, T, .)
        if self.training and self.dropout.p:
            found = self.dropout(weights) @ v  # (B, h, T, d / h)
        return self.output(merge_heads(found)), weights  # (B, T, d), (B, h, T, N)
        ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test-MultiHeadAttention", "locked": true, "points": 5, "solution": false} tags=["active-ipynb"]
# check(MultiHeadAttention)
# ### BEGIN HIDDEN TESTS
# from autograder.instructor import examine

# examine(MultiHeadAttention)
# ### END HIDDEN TESTS
