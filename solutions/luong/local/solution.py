"""Reference solutions of the exercises in luong/local."""

# %% setup
import torch
from torch import Tensor, nn

# %% earlier
from solutions.bahdanau.scores import masked_softmax


# %% exercise
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

    Source: Luong et al. (2015), section 3.2.
    """
    ### BEGIN SOLUTION
    positions = torch.arange(N, device=position.device)  # (N,)
    near = (positions - position.unsqueeze(1)).abs() <= D  # (B, N)
    return near & (positions < lengths.unsqueeze(1))  # (B, N)
    ### END SOLUTION


# %% exercise
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


# %% exercise
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


# %% exercise
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
        weights = masked_softmax(self.score(query, keys), window)  # (B, N)
        if self.kind == "predictive":
            weights = gaussian_weights(weights, centre, self.D)  # (B, N)
        context = torch.einsum("bn,bnd->bd", weights, keys)  # (B, d_k)
        return context, weights
        ### END SOLUTION
