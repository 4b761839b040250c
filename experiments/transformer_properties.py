"""Properties of the Transformer's parts that chapter 8 measures while its page is built."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.flop_counter import FlopCounterMode

from coursekit.training.metrics import entropy
from solutions.transformer.attention import MultiHeadAttention
from solutions.transformer.layers import DecoderLayer, EncoderLayer, PositionwiseFeedForward
from solutions.transformer.model import Transformer, causal_mask, padding_mask


def compare_with_recurrence(lengths: Iterable[int], d: int) -> tuple[list[int], list[dict]]:
    """Compare a GRU with a Transformer's encoder layer of the same width, on one core.

    Args:
        lengths: numbers of words, of one random sentence each.
        d: width of both.

    Returns:
        their numbers of weights; and for each length N, each as a pair (GRU, layer), the "ms" of
        the fastest of five training steps, and the gradient "share" of the first word in the last
        output, that of the last word but one being 1.
    """
    rnn = nn.GRU(d, d, batch_first=True)
    layer = EncoderLayer(d, MultiHeadAttention(d, 4), PositionwiseFeedForward(d, d))
    models = (lambda x: rnn(x)[0], layer)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    rows = []
    for N in lengths:
        x = torch.randn(1, N, d)
        rows.append(
            {
                "N": N,
                "ms": [min(_time_step(model, x) for _ in range(5)) for model in models],
                "share": [_measure_first_share(model, x) for model in models],
            }
        )
    torch.set_num_threads(threads)
    return [sum(p.numel() for p in model.parameters()) for model in (rnn, layer)], rows


def _time_step(model: Callable[[Tensor], Tensor], x: Tensor) -> float:
    """Return the milliseconds of the processor for one training step."""
    started = time.process_time()
    model(x).square().mean().backward()
    return 1000 * (time.process_time() - started)


def _measure_first_share(model: Callable[[Tensor], Tensor], x: Tensor) -> float:
    """Return |d(last output) / d(first input)| / |d(last output) / d(last input but one)|."""
    x = x.clone().requires_grad_()
    probe = torch.randn(x.shape[0], x.shape[2], generator=torch.Generator().manual_seed(1))
    (model(x)[:, -1] * probe).sum().backward()
    assert x.grad is not None
    norms = x.grad.double().norm(dim=-1)  # (B, N); squares of small numbers need 64 bits
    return (norms[:, 0] / norms[:, -2]).mean().item()


def measure_scaling(sizes: Iterable[int], keys: int = 20, draws: int = 400) -> list[dict]:
    """Measure softmax(q k) with and without the division by sqrt(d_k), for random q and k.

    Returns:
        for each size d_k the "variance" of the scores, the "entropy" in nats of the weights, and
        the "derivative", the Frobenius norm of the softmax's Jacobian; the last two also "scaled".
    """
    generator = torch.Generator().manual_seed(1)
    rows = []
    for d_k in sizes:
        q = torch.randn(draws, d_k, 1, generator=generator)
        k = torch.randn(draws, keys, d_k, generator=generator)
        scores = (k @ q).squeeze(-1)  # (draws, keys)
        row = {"d_k": d_k, "variance": scores.var().item()}
        for name, some in (("", scores), (", scaled", scores / math.sqrt(d_k))):
            a = some.softmax(dim=-1)  # (draws, keys)
            jacobian = torch.diag_embed(a) - a.unsqueeze(2) * a.unsqueeze(1)  # (draws, keys, keys)
            row["entropy" + name] = entropy(a).mean().item()
            row["derivative" + name] = jacobian.norm(dim=(1, 2)).mean().item()
        rows.append(row)
    return rows


def measure_stack(
    depth: int, residual: bool, norm: bool, he: bool = False
) -> tuple[float, float, float]:
    """Measure an untrained stack of feed-forward networks, with or without residual and LayerNorm.

    Args:
        depth: number of networks.
        residual: whether the input of each is added to its output.
        norm: whether each sum is normalised.
        he: whether the weights are drawn as He proposes for networks with ReLUs, not as torch does.

    Returns:
        the norm of the gradient at its input (1 at its output), the standard deviation of its
        output's components, and how far the outputs of 50 inputs differ from each other.
    """
    torch.manual_seed(1)
    stack = [PositionwiseFeedForward(64, 256) for _ in range(depth)]
    for linear in (each for part in stack for each in part.modules() if he):
        if isinstance(linear, nn.Linear):
            nn.init.kaiming_normal_(linear.weight)
    x = torch.randn(50, 64, requires_grad=True)  # (B, d)
    y: Tensor = x
    for part in stack:
        found = part(y)  # (B, d)
        y = y + found if residual else found
        y = F.layer_norm(y, (64,)) if norm else y
    direction = torch.randn(50, 64)
    (y * direction / direction.norm()).sum().backward()
    assert x.grad is not None
    return x.grad.norm().item(), y.std().item(), y.std(0).mean().item()


def rename_torch_weights(theirs: nn.Module) -> dict[str, Tensor]:
    """Return the weights of torch's encoder or decoder layer under the names of the course's."""
    names = {"self_attn": "attention", "multihead_attn": "memory_attention"}
    norms = ["attention", "memory_attention", "feed_forward"]
    state = theirs.state_dict()
    if "norm3.weight" not in state:
        norms.remove("memory_attention")
    ours = {}
    for name, value in state.items():
        first, *rest = name.split(".")
        if first in names and rest[0].startswith("in_proj"):  # three matrices in one
            for part, piece in zip(("query", "key", "value"), value.chunk(3), strict=True):
                ours[f"{names[first]}.{part}.{rest[0][8:]}"] = piece
        elif first in names:
            ours[f"{names[first]}.output.{rest[1]}"] = value
        elif first.startswith("norm"):
            ours[f"{norms[int(first[4:]) - 1]}_norm.{rest[0]}"] = value
        else:
            ours[f"feed_forward.{'inner' if first == 'linear1' else 'outer'}.{rest[0]}"] = value
    return ours


@torch.no_grad()
def compare_with_torch_layers() -> dict[str, float]:
    """Compare the course's layers with torch's, with the same weights, with padding and masks.

    Returns:
        "encoder layer" and "decoder layer" -> the largest difference of an output.
    """
    torch.manual_seed(1)
    d, h, m = 24, 4, 50
    encoder = EncoderLayer(d, MultiHeadAttention(d, h), PositionwiseFeedForward(d, m)).eval()
    decoder = DecoderLayer(
        d, MultiHeadAttention(d, h), MultiHeadAttention(d, h), PositionwiseFeedForward(d, m)
    ).eval()
    torch_encoder = nn.TransformerEncoderLayer(d, h, m, dropout=0.0, batch_first=True)
    torch_decoder = nn.TransformerDecoderLayer(d, h, m, dropout=0.0, batch_first=True)
    encoder.load_state_dict(rename_torch_weights(torch_encoder))
    decoder.load_state_dict(rename_torch_weights(torch_decoder))
    real = padding_mask(torch.tensor([[5, 9, 4, 8, 3], [7, 6, 3, 0, 0]]))  # (B, S)
    x, y = torch.randn(2, 5, d), torch.randn(2, 4, d)  # (B, S, d), (B, T, d)
    causal = causal_mask(4)  # (T, T)
    memory = encoder(x, real.unsqueeze(1))  # (B, S, d)
    # In torch's masks True means *keep out*.
    torch_memory = torch_encoder(x, src_key_padding_mask=~real)
    z = decoder(y, memory, causal, real.unsqueeze(1))  # (B, T, d)
    torch_z = torch_decoder(y, memory, tgt_mask=~causal, memory_key_padding_mask=~real)
    return {
        "encoder layer": (memory - torch_memory).abs().max().item(),
        "decoder layer": (z - torch_z).abs().max().item(),
    }


def make_position_rotation(k: int, d: int) -> Tensor:
    """Return R_k, (d, d), which turns the sinusoidal position p, as a column, into p + k.

    Vaswani et al. (2017), section 3.5, say that a linear map does it; the addition theorems of sine
    and cosine give the map.
    """
    blocks = []
    for i in range(d // 2):
        angle = torch.tensor(k / 10_000 ** (2 * i / d))
        blocks.append(torch.tensor([[angle.cos(), angle.sin()], [-angle.sin(), angle.cos()]]))
    return torch.block_diag(*blocks)


PARTS = {  # of a Transformer with two layers
    "embedding": "embedded words, before the positions are added",
    "encoder_layers.0.attention.query": "encoder layer 1: queries of all heads, one product",
    "encoder_layers.0.attention": "encoder layer 1: weights",
    "encoder_layers.0.feed_forward.inner": "encoder layer 1: inside the feed-forward network",
    "encoder_layers.1": "encoder layer 2: the memory",
    "decoder_layers.0.attention": "decoder layer 1: weights of the masked self-attention",
    "decoder_layers.0.memory_attention.key": "decoder layer 1: keys made of the memory",
    "decoder_layers.0.memory_attention": "decoder layer 1: weights on the source",
    "decoder_layers.1": "decoder layer 2: the result z",
    "": "logits: z times the embeddings",
}


@torch.no_grad()
def list_shapes(model: nn.Module, *inputs: Tensor) -> list[tuple[str, tuple[int, ...]]]:
    """Return the label and the shape of what each of `PARTS` computes, in the order of the pass.

    Of an attention, which returns two tensors, the weights count.
    """
    shapes = []

    def note(label: str) -> Callable[..., None]:
        def hook(module: nn.Module, given: Any, out: Any) -> None:
            shapes.append((label, tuple((out[1] if isinstance(out, tuple) else out).shape)))

        return hook

    hooks = [
        model.get_submodule(name).register_forward_hook(note(label))
        for name, label in PARTS.items()
    ]
    model(*inputs)
    for hook in hooks:
        hook.remove()
    return shapes


@torch.no_grad()
def compare_with_cache(model: Transformer, source: Tensor, lengths: Iterable[int]) -> list[dict]:
    """Compare the decoder's work with and without the cache of keys and values.

    Args:
        model: in eval mode.
        source: one sentence, (1, S); encoding it is not counted.
        lengths: numbers of words that are written, drawn at random.

    Returns:
        for each length T, each as a pair (without, with cache), the "operations" in millions and
        the "seconds" of the processor; and the largest "difference" of the log probabilities.
    """
    begun, encoded = model.start(source), model.encode(source)
    starting = _count_operations(lambda: model.start(source)) - _count_operations(
        lambda: model.encode(source)
    )
    rows = []
    for T in lengths:
        written = torch.randint(4, model.embedding.num_embeddings, (1, T))
        ways = [
            lambda written=written: _predict_without_cache(model, written, *encoded),
            lambda written=written: _predict_with_cache(model, written, begun),
        ]
        seconds, found = [], []
        for way in ways:
            started = time.process_time()
            found.append(way())
            seconds.append(time.process_time() - started)
        operations = [_count_operations(way) for way in ways]
        rows.append(
            {
                "T": T,
                "operations": [operations[0], starting + operations[1]],
                "seconds": seconds,
                "difference": (found[0] - found[1]).abs().max().item(),
            }
        )
    return rows


def _count_operations(work: Callable[[], object]) -> float:
    """Return the multiplications and additions, in millions."""
    with FlopCounterMode(display=False) as counter:
        work()
    return counter.get_total_flops() / 1e6


def _predict_with_cache(model: Transformer, written: Tensor, state: dict[str, Any]) -> Tensor:
    rows = []
    for t in range(written.shape[1]):
        log_probs, state = model.step(written[:, t], state)
        rows.append(log_probs)
    return torch.stack(rows, dim=1)  # (B, T, V)


def _predict_without_cache(
    model: Transformer, written: Tensor, memory: Tensor, mask: Tensor
) -> Tensor:
    rows = [
        read_written(model, written[:, : t + 1], memory, mask, causal_mask(t + 1))
        for t in range(written.shape[1])
    ]
    return torch.stack(rows, dim=1).log_softmax(-1)  # (B, T, V)


def read_written(
    model: Transformer, written: Tensor, memory: Tensor, memory_mask: Tensor, mask: Tensor
) -> Tensor:
    """Return the logits (B, V) of the word after those written, with any mask among these."""
    z = model.embed(written)  # (B, t, d)
    for layer in model.decoder_layers:
        z = layer(z, memory, mask, memory_mask)
    return z[:, -1] @ model.embedding.weight.T  # (B, V)
