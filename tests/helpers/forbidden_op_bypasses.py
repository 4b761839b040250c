"""Right answers that reach a forbidden torch operator by detours.

`IN_A_CELL` are those that prepare something before the check; in a student's own notebook, some
of them cannot be distinguished from an honest answer.
"""

_IMPORTS = "import threading, torch, torch.nn.functional as F\nfrom torch import nn\n"
_GRU = "def gru_cell(x, h, *weights):\n    "
_EXAMPLE = "[torch.ones(s) for s in ((2, 3), (2, 4), (12, 3), (12, 4), (12,), (12,))]"
_LSTM = "def lstm_cell(x, state, *weights):\n    "
_NORM = "def layer_norm(x, weight, bias, eps=1e-5):\n    shape = weight.shape\n    "
_ROOT = "def rms_norm(x, weight, eps=1e-6):\n    "
_LOSS = (
    "def label_smoothed_loss(logits, targets, smoothing, pad_id=0):\n    real = targets != pad_id\n"
)
_FLAT = (
    "    if not real.any():\n        return logits.sum() * 0\n"
    "    flat = logits[real], targets[real]\n    "
)
_ATTEND = """
def weigh(query, key, mask):
    scores = query @ key.transpose(-2, -1) / key.shape[-1] ** 0.5
    if mask is None:
        return scores.softmax(-1)
    weights = scores.masked_fill(~mask, -1e300 if scores.dtype == torch.float64 else -1e30)
    return weights.softmax(-1) * mask

def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
    weights = weigh(query, key, mask)
    return attend(query, key, value, mask), weights
"""
_CLEAN = (
    "    if m is not None:\n"
    "        found = found * m.any(-1, keepdim=True)\n"
    "    return found.nan_to_num() if m is not None else found\n"
)


def _attention(operator: str) -> str:
    """Return an answer whose output comes from an operator applied to q, k, v and m."""
    return f"def attend(q, k, v, m):\n    found = {operator}\n{_CLEAN}{_ATTEND}"


WAYS = {
    "a thread": (
        "scaled_dot_product_attention",
        "from concurrent.futures import ThreadPoolExecutor\npool = ThreadPoolExecutor(1)\n"
        + _attention("pool.submit(F.scaled_dot_product_attention, q, k, v, m).result()"),
    ),
    "no modes": (
        "scaled_dot_product_attention",
        "def attend(q, k, v, m):\n    with torch._C.DisableTorchFunction():\n"
        "        found = F.scaled_dot_product_attention(q, k, v, m)\n" + _CLEAN + _ATTEND,
    ),
    "a script": (
        "scaled_dot_product_attention",
        "def attend(q, k, v, m):\n    found = scripted(q, k, v, m)\n"
        + _CLEAN
        + _ATTEND
        + "program = torch.jit.CompilationUnit('''\n"
        "def run(q: Tensor, k: Tensor, v: Tensor, m: Optional[Tensor]) -> Tensor:\n"
        "    return torch.nn.functional.scaled_dot_product_attention(q, k, v, m)\n''')\n"
        "scripted = program.run\n",
    ),
    "the operator": (
        "scaled_dot_product_attention",
        _attention("torch.ops.aten.scaled_dot_product_attention.default(q, k, v, m)"),
    ),
    "its other name": (
        "scaled_dot_product_attention",
        _attention("torch._scaled_dot_product_attention_math(q, k, v, m)[0]"),
    ),
    "the boxed call": (
        "scaled_dot_product_attention",
        _attention(
            "torch._C._jit_get_operation('aten::scaled_dot_product_attention')[0](q, k, v, m)"
        ),
    ),
    "its decomposition": (
        "scaled_dot_product_attention",
        _attention("torch.ops.aten.scaled_dot_product_attention.default.decompose(q, k, v, m)"),
    ),
    "in inference mode": (
        "gru_cell",
        _GRU + "with torch.inference_mode():\n"
        "        found = torch.gru_cell(x, h, *weights)\n    return found.clone()\n",
    ),
    "an explicit key": (
        "gru_cell",
        _GRU + "key = torch._C.DispatchKeySet(torch._C.DispatchKey.CPU)\n"
        "    return torch.ops.aten.gru_cell.default.redispatch(key, x, h, *weights)\n",
    ),
    "a whole layer": (
        "gru_cell",
        _GRU + "return torch._VF.gru(\n"
        "        x[None], h[None], weights, True, 1, 0.0, False, False, False)[1][0]\n",
    ),
    "a module": (
        "gru_cell",
        _GRU + "cell = nn.GRUCell(x.shape[1], h.shape[1], dtype=x.dtype)\n"
        "    names = [name for name, _ in cell.named_parameters()]\n"
        "    return torch.func.functional_call(cell, dict(zip(names, weights)), (x, h))\n",
    ),
    "a decomposition in Python": (
        "gru_cell",
        "from torch._decomp.decompositions import gru_cell as found\n"
        + _GRU
        + "w, u, b, c = weights\n"
        "    return found(F.linear(x, w, b), h[None], None, None, u, c)[0]\n",
    ),
    "a kernel in Python": (
        "gru_cell",
        "import torch._decomp.decompositions\n"
        + _GRU
        + "return torch.ops.aten.gru.input.decompose(\n"
        "        x[None], h[None], weights, True, 1, 0.0, False, False, False)[1][0]\n",
    ),
    "an error that is caught": (
        "lstm_cell",
        _LSTM + "try:\n        return torch.lstm_cell(x, state, *weights)\n"
        "    except BaseException:\n        h, c = state\n"
        "    i, f, g, o = (F.linear(x, weights[0], weights[2])\n"
        "        + F.linear(h, weights[1], weights[3])).chunk(4, 1)\n"
        "    c = f.sigmoid() * c + i.sigmoid() * g.tanh()\n    return o.sigmoid() * c.tanh(), c\n",
    ),
    "a layer of LSTMs": (
        "lstm_cell",
        _LSTM + "state = tuple(t[None] for t in state)\n"
        "    found = torch.lstm(x[None], state, weights, True, 1, 0.0, False, False, False)\n"
        "    return found[1][0], found[2][0]\n",
    ),
    "onednn": (
        "lstm_cell",
        _LSTM + "h, c = (t[None].float() for t in state)\n"
        "    w = [t.float() for t in weights]\n"
        "    found = torch.mkldnn_rnn_layer(x[None].float(), w[0], w[1], w[2], w[3], h[0], c[0],\n"
        "        False, [], 2, h.shape[-1], 1, True, False, False, False)\n"
        "    return found[1].to(x).reshape(h[0].shape), found[2].to(x).reshape(h[0].shape)\n",
    ),
    "its core": (
        "layer_norm",
        _NORM + "return torch.native_layer_norm(x, shape, weight, bias, eps)[0]\n",
    ),
    "groups": (
        "layer_norm",
        _NORM + "flat = x.reshape(-1, 1, *shape)\n"
        "    return F.group_norm(flat, 1, eps=eps).reshape(x.shape) * weight + bias\n",
    ),
    "a batch on its side": (
        "layer_norm",
        _NORM + "flat = x.reshape(1, -1, *shape)\n"
        "    found = F.batch_norm(flat, None, None, training=True, eps=eps)\n"
        "    return found.reshape(x.shape) * weight + bias\n",
    ),
    "an instance": (
        "layer_norm",
        _NORM + "flat = x.reshape(1, -1, *shape)\n"
        "    return F.instance_norm(flat, eps=eps).reshape(x.shape) * weight + bias\n",
    ),
    "each row for itself": (
        "layer_norm",
        _NORM + "rows = x.reshape(-1, *shape)\n"
        "    found = torch.vmap(lambda r: F.layer_norm(r, shape, weight, bias, eps))(rows)\n"
        "    return found.reshape(x.shape)\n",
    ),
    "a reference in Python": (
        "layer_norm",
        "import torch._refs\n"
        + _NORM
        + "return torch._refs.native_layer_norm(x, tuple(shape), weight, bias, eps)[0]\n",
    ),
    "its root": ("rms_norm", _ROOT + "return F.rms_norm(x, weight.shape, weight, eps)\n"),
    "a module with a root": (
        "rms_norm",
        _ROOT + "return nn.RMSNorm(weight.shape[0], eps=eps, dtype=x.dtype)(x) * weight\n",
    ),
    "the root's core": (
        "rms_norm",
        _ROOT + "return torch.ops.aten._fused_rms_norm(x, weight.shape, weight, eps)[0]\n",
    ),
    "the root's decomposition": (
        "rms_norm",
        "import torch._decomp.decompositions as parts\n"
        + _ROOT
        + "return parts._fused_rms_norm(x, list(weight.shape), weight, eps)[0]\n",
    ),
    "groups share what a group needs": (
        "grouped_query_attention",
        "def grouped_query_attention(query, key, value, mask=None):\n"
        "    found = F.scaled_dot_product_attention(query, key, value, mask, enable_gqa=True)\n"
        "    return found, found\n",
    ),
    "a module that smooths": (
        "label_smoothed_loss",
        _LOSS + _FLAT + "return nn.CrossEntropyLoss(label_smoothing=smoothing)(*flat)\n",
    ),
    "the operator that smooths": (
        "label_smoothed_loss",
        _LOSS
        + _FLAT
        + "return torch.ops.aten.cross_entropy_loss(*flat, None, 1, -100, smoothing)\n",
    ),
    "a script that smooths": (
        "label_smoothed_loss",
        "program = torch.jit.CompilationUnit('''\n"
        "def run(x: Tensor, y: Tensor, e: float) -> Tensor:\n"
        "    return torch.nn.functional.cross_entropy(x, y, label_smoothing=e)\n''')\n"
        + _LOSS
        + _FLAT
        + "return program.run(*flat, smoothing)\n",
    ),
    "what was compiled before": (
        "gru_cell",
        "made = torch.compile(torch.gru_cell, backend='aot_eager', dynamic=True)\n"
        f"try:\n    made(*{_EXAMPLE})\n"
        "except Exception:\n    pass\n" + _GRU + "return made(x, h, *weights)\n",
    ),
}
IN_A_CELL = {
    "a trace": (
        "gru_cell",
        f"made = torch.jit.trace(lambda *all: torch.gru_cell(*all), {_EXAMPLE})\n"
        + _GRU
        + "return made(x, h, *weights)\n",
    ),
    "a graph": (
        "gru_cell",
        "from torch.fx.experimental.proxy_tensor import make_fx\n"
        f"made = make_fx(torch.gru_cell, tracing_mode='symbolic')(*{_EXAMPLE})\n"
        + _GRU
        + "return made(x, h, *weights)\n",
    ),
    "the kernel itself": (
        "gru_cell",
        "kernel = torch.library.get_kernel('aten::gru_cell', 'CPU')\n"
        "key = torch._C.DispatchKeySet(torch._C.DispatchKey.CPU)\n"
        + _GRU
        + "return kernel.call_boxed(key, x, h, *weights)\n",
    ),
    "a static program": (
        "layer_norm",
        "program = torch.jit.CompilationUnit('''\n"
        "def norm(x: Tensor, w: Tensor, b: Tensor, e: float) -> Tensor:\n"
        "    return torch.layer_norm(x, [w.size(0)], w, b, e)\n''')\n"
        "made = torch._C._jit_to_static_module(program.norm.graph)\n"
        + _NORM
        + "return made(x.detach(), weight.detach(), bias.detach(), eps)\n",
    ),
}
WAYS = {name: (exercise, _IMPORTS + code) for name, (exercise, code) in WAYS.items()}
IN_A_CELL = {name: (exercise, _IMPORTS + code) for name, (exercise, code) in IN_A_CELL.items()}
