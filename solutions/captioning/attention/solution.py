"""Reference solutions of the exercises in captioning/attention."""

# %% setup
import torch
from torch import Tensor, nn


# %% exercise
def annotation_vectors(feature_map: Tensor) -> Tensor:
    """Turn a feature map into one vector for each location of the picture, row by row.

    a_i = feature_map[:, :, i // W, i % W],  i = 0 ... HW - 1

    Args:
        feature_map: (B, C, H, W), the activations of a convolutional layer.

    Returns:
        annotations (B, HW, C).

    Source: Xu et al. (2015), section 3.1.1.
    """
    ### BEGIN SOLUTION
    return feature_map.flatten(2).transpose(1, 2)  # (B, C, HW) -> (B, HW, C)
    ### END SOLUTION


# %% exercise
class SoftAttention(nn.Module):
    """Soft attention over the locations of a picture, with a gate on the context.

    e_i = v^T tanh(W h_{t-1} + U a_i),  alpha = softmax(e),  beta = sigmoid(w_beta h_{t-1} + b_beta),
    z = beta sum_i alpha_i a_i

    Parameters: `W` (d, d_q), `U` (d, d_k), `v` (d,), where d = hidden_size, d_q = query_size and
    d_k = key_size; `gate.weight` w_beta (1, d_q), `gate.bias` b_beta (1,).

    Source: Xu et al. (2015), equations 4, 5 and 13, and section 4.2.1.
    """

    def __init__(self, query_size: int, key_size: int, hidden_size: int):
        super().__init__()
        self.W = nn.Parameter(torch.empty(hidden_size, query_size))
        self.U = nn.Parameter(torch.empty(hidden_size, key_size))
        self.v = nn.Parameter(torch.empty(hidden_size))
        self.gate = nn.Linear(query_size, 1)
        for parameter in (self.W, self.U):
            nn.init.xavier_uniform_(parameter)
        nn.init.normal_(self.v, std=hidden_size**-0.5)

    def beta(self, query: Tensor) -> Tensor:
        """Say how much the picture counts in this step, a number between 0 and 1.

        Args:
            query: the decoder's state h_{t-1}, (B, d_q).

        Returns:
            beta (B,).
        """
        ### BEGIN SOLUTION
        return torch.sigmoid(self.gate(query)).squeeze(1)  # (B,)
        ### END SOLUTION

    def forward(self, query: Tensor, annotations: Tensor) -> tuple[Tensor, Tensor]:
        """Look at the picture.

        Args:
            query: the decoder's state h_{t-1}, (B, d_q).
            annotations: (B, N, d_k); every location is real, so there is no mask.

        Returns:
            gated context z (B, d_k) and weights alpha (B, N).
        """
        ### BEGIN SOLUTION
        projected = (query @ self.W.T).unsqueeze(1) + annotations @ self.U.T  # (B, N, d)
        weights = torch.softmax(torch.tanh(projected) @ self.v, dim=1)  # (B, N)
        attended = torch.einsum("bn,bnd->bd", weights, annotations)  # (B, d_k)
        return self.beta(query).unsqueeze(1) * attended, weights
        ### END SOLUTION


# %% exercise
def doubly_stochastic_penalty(weights: Tensor, mask: Tensor) -> Tensor:
    """Punish locations that get less or more than one look in all.

    L = mean over the batch of sum_i (1 - sum_t m_t alpha_{ti})^2

    Args:
        weights: alpha, (B, T, N), rows sum to 1.
        mask: bool (B, T), True = a real word.

    Returns:
        penalty, a scalar; 0 for a caption without any real word.

    Source: Xu et al. (2015), equation 14.
    """
    ### BEGIN SOLUTION
    looks = weights.masked_fill(~mask.unsqueeze(2), 0.0).sum(dim=1)  # (B, N)
    penalty = (1 - looks).square().sum(dim=1)  # (B,)
    return penalty.masked_fill(~mask.any(dim=1), 0.0).mean()  # ()
    ### END SOLUTION


# %% exercise
def hard_attention(
    weights: Tensor, values: Tensor, generator: torch.Generator | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """Look at one location only, drawn with the weights as probabilities.

    s ~ Multinoulli(alpha),  z = sum_i s_i a_i,  log p(s) = log alpha_i at the location drawn

    Args:
        weights: alpha, (B, N), rows sum to 1; some may be exactly 0.
        values: a, (B, N, d_v).
        generator: draws the locations; torch's own generator if None.

    Returns:
        context (B, d_v), the sample s as one-hot rows (B, N) in the weights' dtype, and log p(s),
        (B,). Gradients reach the weights through log p(s), and the values through the context.

    Source: Xu et al. (2015), equations 8 and 9, section 4.1.
    """
    ### BEGIN SOLUTION
    place = torch.multinomial(weights, 1, generator=generator)  # (B, 1)
    sample = torch.zeros_like(weights).scatter(1, place, 1.0)  # (B, N)
    context = torch.einsum("bn,bnd->bd", sample, values)  # (B, d_v)
    return context, sample, weights.gather(1, place).squeeze(1).log()
    ### END SOLUTION


# %% exercise
def reinforce_loss(
    log_prob: Tensor, reward: Tensor, baseline: Tensor | float, mask: Tensor
) -> Tensor:
    """Make looks that were followed by a better caption than usual more probable.

    L = - mean over the batch of (R - b) sum_t m_t log p(s_t)

    Args:
        log_prob: log p(s_t) of the locations drawn, (B, T).
        reward: R, (B,); no gradient flows into it.
        baseline: b, a number or (B,); no gradient flows into it.
        mask: bool (B, T), True = a real word.

    Returns:
        loss, a scalar.

    Source: Williams (1992); Xu et al. (2015), equations 11 and 12, section 4.1.
    """
    ### BEGIN SOLUTION
    advantage = (reward - baseline).detach()  # (B,)
    looks = log_prob.masked_fill(~mask, 0.0).sum(dim=1)  # (B,)
    return -(advantage * looks).mean()  # ()
    ### END SOLUTION
