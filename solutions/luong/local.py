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


# %% nbgrader={"grade": false, "grade_id": "local_window", "locked": false, "solution": true}
def local_window(position: Tensor, lengths: Tensor, D: float, N: int) -> Tensor:
    """Mark the source positions near p that are real words.

    |s - p| <= D  and  s < length

    Args:
        position: p, real numbers (B,), counted from 0 and not rounded.
        lengths: number of real source words, (B,).
        D: half the width of the window.
        N: number of source positions.

    Returns:
        bool (B, N).

    Source: Luong et al. (2015), section 3.2: the window [p_t - D, p_t + D].
    """
    ### BEGIN SOLUTION
    positions = torch.arange(N, device=position.device)  # (N,)
    near = (positions - position.unsqueeze(1)).abs() <= D  # (B, N)
    return near & (positions < lengths.unsqueeze(1))  # (B, N)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test-local_window", "locked": true, "points": 2, "solution": false} tags=["active-ipynb"]
# check(local_window)
# ### BEGIN HIDDEN TESTS
# from autograder.instructor import examine

# examine(local_window)
# ### END HIDDEN TESTS


# %% nbgrader={"grade": false, "grade_id": "predictive_position", "locked": false, "solution": true}
def predictive_position(state: Tensor, lengths: Tensor, W: Tensor, v: Tensor) -> Tensor:
    """Predict from the decoder's state where to look.

    p = S sigmoid(v^T tanh(W h)),  S = the sentence's length

    Args:
        state: h, (B, d).
        lengths: number of real source words, (B,).
        W: (n, d).
        v: (n,).

    Returns:
        positions between 0 and S, (B,), real numbers.

    Source: Luong et al. (2015), equation 9.
    """
    ### BEGIN SOLUTION
    return lengths * torch.sigmoid(torch.tanh(state @ W.T) @ v)  # (B,)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test-predictive_position", "locked": true, "points": 2, "solution": false} tags=["active-ipynb"]
# check(predictive_position)
# ### BEGIN HIDDEN TESTS
# from autograder.instructor import examine

# examine(predictive_position)
# ### END HIDDEN TESTS


# %% nbgrader={"grade": false, "grade_id": "gaussian_weights", "locked": false, "solution": true}
def gaussian_weights(weights: Tensor, position: Tensor, D: float) -> Tensor:
    """Favour the positions near p.

    a_s = weights_s exp(-(s - p)^2 / (2 sigma^2)),  sigma = D / 2

    Args:
        weights: of the softmax over the window, (B, N).
        position: p, (B,).
        D: half the width of the window.

    Returns:
        weights (B, N), not renormalised: their sum is below 1.

    Source: Luong et al. (2015), equation 10.
    """
    ### BEGIN SOLUTION
    positions = torch.arange(weights.shape[1], device=weights.device)  # (N,)
    distance = positions - position.unsqueeze(1)  # (B, N)
    return weights * torch.exp(-(distance**2) / (2 * (D / 2) ** 2))
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test-gaussian_weights", "locked": true, "points": 2, "solution": false} tags=["active-ipynb"]
# check(gaussian_weights)
# ### BEGIN HIDDEN TESTS
# from autograder.instructor import examine

# examine(gaussian_weights)
# ### END HIDDEN TESTS


# %% nbgrader={"grade": false, "grade_id": "LocalAttention", "locked": false, "solution": true}
class LocalAttention(nn.Module):
    """Attend to a window of the source around one position.

    "monotonic":   p = t,                           a = softmax over the window
    "predictive":  p = S sigmoid(v^T tanh(W h_t)),  a = softmax over the window, times a Gaussian

    Parameters: those of `score`; for "predictive" also `W` (hidden_size, query_size) and `v`
    (hidden_size,). A window without a real word gives weights and a context of 0.

    Source: Luong et al. (2015), section 3.2, equations 7, 9 and 10.
    """

    def __init__(self, kind: str, score: nn.Module, query_size: int, hidden_size: int, D: float):
        super().__init__()
        if kind not in ("monotonic", "predictive"):
            raise ValueError(f"kind is {kind!r}; it must be monotonic or predictive.")
        self.kind = kind
        self.score = score
        self.D = D
        if kind == "predictive":
            self.W = nn.Parameter(torch.empty(hidden_size, query_size))
            self.v = nn.Parameter(torch.empty(hidden_size))
            nn.init.xavier_uniform_(self.W)
            nn.init.uniform_(self.v, -(hidden_size**-0.5), hidden_size**-0.5)

    def forward(
        self, query: Tensor, keys: Tensor, mask: Tensor, position: int
    ) -> tuple[Tensor, Tensor]:
        """Attend around the target word's own position, or around a predicted one.

        Args:
            query: h_t, (B, d_q).
            keys: encoder states (B, N, d_k).
            mask: bool (B, N), True = a real source word; real words come first.
            position: t, index of the target word, from 0.

        Returns:
            context (B, d_k) and weights (B, N).
        """
        ### BEGIN SOLUTION
        lengths = mask.sum(dim=1)  # (B,)
        if self.kind == "monotonic":
            centre = torch.full_like(query[:, 0], position)  # (B,)
        else:
            centre = predictive_position(query, lengths, self.W, self.v)  # (B,)
        window = local_window(centre, lengths, self.D, keys.shape[1])  # (B, N)
        nothing = ~window.any(dim=1, keepdim=True)  # (B, 1)
        scores = self.score(query, keys).masked_fill(~window, -torch.inf)  # (B, N)
        weights = torch.softmax(scores.masked_fill(nothing, 0.0), dim=1)  # (B, N)
        weights = weights.masked_fill(nothing, 0.0)
        if self.kind == "predictive":
            weights = gaussian_weights(weights, centre, self.D)  # (B, N)
        return torch.einsum("bn,bnd->bd", weights, keys), weights
        ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test-LocalAttention", "locked": true, "points": 5, "solution": false} tags=["active-ipynb"]
# check(LocalAttention)
# ### BEGIN HIDDEN TESTS
# from autograder.instructor import examine

# examine(LocalAttention)
# ### END HIDDEN TESTS

