"""Reference solutions of the exercises in modern/block."""

# %% setup
import torch
from torch import Tensor

# %% earlier
from solutions.transformer.attention import scaled_dot_product_attention


# %% exercise
def rms_norm(x: Tensor, weight: Tensor, eps: float = 1e-6) -> Tensor:
    """Divide each vector by the root of its mean square, then multiply by the gain.

    y = weight * x / sqrt(mean(x^2) + eps)

    The mean is over the last axis. A vector of zeros stays a vector of zeros. Write it without
    torch's `rms_norm`, which is the whole answer.

    Args:
        x: (..., d).
        weight: gain g, (d,).
        eps: added to the mean square.

    Returns:
        (..., d).

    Source: Zhang and Sennrich (2019), equation 4, where eps is 0.
    """
    ### BEGIN SOLUTION
    mean_square = x.square().mean(dim=-1, keepdim=True)  # (..., 1)
    return weight * x / (mean_square + eps).sqrt()
    ### END SOLUTION


# %% exercise
def rotary_positions(x: Tensor, positions: Tensor, base: float = 10_000.0) -> Tensor:
    """Turn each pair of components by an angle that is proportional to the position.

    theta_i = base^(-2i / d),
    y_2i = x_2i cos(p theta_i) - x_2i+1 sin(p theta_i),
    y_2i+1 = x_2i sin(p theta_i) + x_2i+1 cos(p theta_i)

    Args:
        x: queries or keys, (..., N, d); d is even.
        positions: p, whole numbers (N,), in any order.
        base: the larger it is, the more slowly the last pairs turn.

    Returns:
        (..., N, d), in x's dtype.

    Source: Su et al. (2024), section 3.4.2, equation 34.
    """
    ### BEGIN SOLUTION
    pairs = torch.arange(0, x.shape[-1], 2, dtype=x.dtype, device=x.device)  # 2i, (d / 2,)
    theta = base ** (-pairs / x.shape[-1])  # (d / 2,)
    angle = positions.unsqueeze(1) * theta  # (N, d / 2)
    even, odd = x[..., ::2], x[..., 1::2]  # (..., N, d / 2) each
    first = even * angle.cos() - odd * angle.sin()  # (..., N, d / 2)
    second = even * angle.sin() + odd * angle.cos()  # (..., N, d / 2)
    return torch.stack([first, second], dim=-1).flatten(-2)  # (..., N, d)
    ### END SOLUTION


# %% exercise
def grouped_query_attention(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Attend with more heads of queries than of keys and values.

    head_i = Attention(Q_i, K_g, V_g) with g = floor(i G / h)

    Not allowed, because it is the whole answer: torch's own scaled_dot_product_attention.

    Args:
        query: (B, h, T, d_k).
        key: (B, G, N, d_k); h is a multiple of G.
        value: (B, G, N, d_v).
        mask: bool, True = may be attended to; broadcasts to (B, h, T, N). None: everything may.

    Returns:
        output (B, h, T, d_v) and weights (B, h, T, N), exactly 0 where the mask is False. A query
        that may attend to nothing has weights and an output of 0.

    Source: Ainslie et al. (2023), section 2.2.
    """
    ### BEGIN SOLUTION
    sharing = query.shape[1] // key.shape[1]  # h / G
    keys = key.repeat_interleave(sharing, dim=1)  # (B, h, N, d_k)
    values = value.repeat_interleave(sharing, dim=1)  # (B, h, N, d_v)
    return scaled_dot_product_attention(query, keys, values, mask)
    ### END SOLUTION


# %% exercise
def swiglu(x: Tensor, gate: Tensor, up: Tensor, down: Tensor) -> Tensor:
    """Let one projection, through SiLU, decide how much of another passes.

    y = W_down (SiLU(W_gate x) * W_up x),  SiLU(z) = z sigmoid(z)

    Args:
        x: (..., d).
        gate: W_gate, (m, d).
        up: W_up, (m, d).
        down: W_down, (d, m).

    Returns:
        (..., d).

    Source: Shazeer (2020), equation 6, FFN_SwiGLU, where gate is W, up is V and down is W_2.
    """
    ### BEGIN SOLUTION
    gates = x @ gate.T  # (..., m)
    return (gates * gates.sigmoid() * (x @ up.T)) @ down.T  # (..., d)
    ### END SOLUTION


# %% exercise
def lora_linear(
    x: Tensor, weight: Tensor, bias: Tensor | None, A: Tensor, B: Tensor, scale: float
) -> Tensor:
    """Apply a frozen linear layer, and add a trained correction of low rank.

    y = W x + b + (s / r) B A x,  r = A.shape[0]

    Args:
        x: (..., d).
        weight: W, (m, d); no gradient flows into it.
        bias: b, (m,); no gradient flows into it. None: there is none.
        A: (r, d).
        B: (m, r).
        scale: s.

    Returns:
        (..., m).

    Source: Hu et al. (2022), section 4.1, equation 3, where the scale is alpha.
    """
    ### BEGIN SOLUTION
    frozen = x @ weight.detach().T  # (..., m)
    if bias is not None:
        frozen = frozen + bias.detach()
    return frozen + scale / len(A) * (x @ A.T @ B.T)  # (..., m)
    ### END SOLUTION
