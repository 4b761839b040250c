"""Reference solutions of the exercises in bert/finetuning."""

# %% setup
from collections.abc import Mapping

import torch
from torch import Tensor, nn


# %% exercise
def load_pretrained(model: nn.Module, state_dict: Mapping[str, Tensor]) -> list[str]:
    """Copy the weights of a Hugging Face BERT checkpoint into your own model.

    | the model's parameter | the checkpoint's |
    | --- | --- |
    | `encoder.embeddings.token.weight` | `embeddings.word_embeddings.weight` |
    | `encoder.embeddings.segment.weight` | `embeddings.token_type_embeddings.weight` |
    | `encoder.embeddings.position.weight` | `embeddings.position_embeddings.weight` |
    | `encoder.embeddings.norm.*` | `embeddings.LayerNorm.*` |
    | `encoder.layers.0.attention.query.*`, `.key.*`, `.value.*` | `encoder.layer.0.attention.self.query.*`, ... |
    | `encoder.layers.0.attention.output.*` | `encoder.layer.0.attention.output.dense.*` |
    | `encoder.layers.0.attention_norm.*` | `encoder.layer.0.attention.output.LayerNorm.*` |
    | `encoder.layers.0.inner.*` | `encoder.layer.0.intermediate.dense.*` |
    | `encoder.layers.0.outer.*` | `encoder.layer.0.output.dense.*` |
    | `encoder.layers.0.output_norm.*` | `encoder.layer.0.output.LayerNorm.*` |
    | `pooler.*` | `pooler.dense.*` |
    | `head.transform.*` | `cls.predictions.transform.dense.*` |
    | `head.norm.*` | `cls.predictions.transform.LayerNorm.*` |
    | `head.bias` | `cls.predictions.bias` |
    | `next.*` | `cls.seq_relationship.*` |

    The names of a checkpoint may begin with `bert.` (not those that begin with `cls.`), and an old
    one calls `LayerNorm.weight` and `.bias` `LayerNorm.gamma` and `.beta`. A checkpoint may hold
    more than the model needs, more layers too: that is left out. `head.embedding.weight` of the
    model is `encoder.embeddings.token.weight` itself, needs no entry, and stays tied to it.

    Args:
        model: with (some of) the parameters above, any number of layers.
        state_dict: name -> tensor. It is not changed, neither now nor when the model is trained
            later: the weights are copied.

    Returns:
        the names of the model's parameters that the checkpoint does not have, in the model's order;
        they keep their values. Only `pooler.*`, `head.*` and `next.*` may be missing, and what else
        a model may have on top, such as `output.*`.

    Raises:
        ValueError: a parameter of the model's `encoder` is missing in the checkpoint, or a tensor
            has another shape than the model's; the sentence names it. The model is then unchanged.

    Source: The checkpoints of Devlin et al. (2019), in the names of the library `transformers`
    (Wolf et al. 2020).
    """
    ### BEGIN SOLUTION
    known = {}
    for name, tensor in state_dict.items():
        name = name.removeprefix("bert.")
        name = name.replace("LayerNorm.gamma", "LayerNorm.weight")
        known[name.replace("LayerNorm.beta", "LayerNorm.bias")] = tensor
    found: dict[str, Tensor] = {}
    missing: list[str] = []
    for name, parameter in model.named_parameters():  # a tied parameter comes once
        theirs = known.get(_their_name(name))
        if theirs is None and name.startswith("encoder."):
            raise ValueError(f"The checkpoint has no {_their_name(name)}, which {name} needs.")
        if theirs is None:
            missing.append(name)
        elif theirs.shape != parameter.shape:
            raise ValueError(
                f"{name} has the shape {tuple(parameter.shape)}, but {_their_name(name)} of the "
                f"checkpoint has {tuple(theirs.shape)}; build the model with the checkpoint's sizes."
            )
        else:
            found[name] = theirs
    for name, parameter in model.named_parameters():
        if name in found:
            parameter.detach().copy_(found[name])  # outside the graph, in the same memory
    return missing


_THEIR_NAMES = {
    "encoder.embeddings.token": "embeddings.word_embeddings",
    "encoder.embeddings.segment": "embeddings.token_type_embeddings",
    "encoder.embeddings.position": "embeddings.position_embeddings",
    "encoder.embeddings.norm": "embeddings.LayerNorm",
    "attention.query": "attention.self.query",
    "attention.key": "attention.self.key",
    "attention.value": "attention.self.value",
    "attention.output": "attention.output.dense",
    "attention_norm": "attention.output.LayerNorm",
    "inner": "intermediate.dense",
    "outer": "output.dense",
    "output_norm": "output.LayerNorm",
    "pooler": "pooler.dense",
    "head.transform": "cls.predictions.transform.dense",
    "head.norm": "cls.predictions.transform.LayerNorm",
    "head": "cls.predictions",
    "next": "cls.seq_relationship",
}


def _their_name(name: str) -> str:
    """Return the checkpoint's name of a parameter of the model."""
    module, _, kind = name.rpartition(".")
    before = ""
    if module.startswith("encoder.layers."):
        number, _, module = module.removeprefix("encoder.layers.").partition(".")
        before = f"encoder.layer.{number}."
    return f"{before}{_THEIR_NAMES.get(module, module)}.{kind}"
    ### END SOLUTION


# %% exercise
class SequenceClassifier(nn.Module):
    """One class for the whole input, a sentence or a pair of sentences: from the state of [CLS].

    c = tanh(W_p h_0 + b_p),  logits = W c + b

    Parameters, d = hidden_size: `encoder.*`; `pooler.weight` W_p (d, d), `pooler.bias` b_p (d,);
    `output.weight` W (C, d), `output.bias` b (C,). In training, `dropout` acts on c.

    Args:
        encoder: `encoder(tokens, segments) -> states (B, N, d)`.
        hidden_size: d.
        classes: C.
        dropout: share of components set to 0.

    Source: Devlin et al. (2019), section 4.1 and figure 4 (a), (b).
    """

    def __init__(self, encoder: nn.Module, hidden_size: int, classes: int, dropout: float = 0.0):
        super().__init__()
        self.encoder = encoder
        self.pooler = nn.Linear(hidden_size, hidden_size)
        self.output = nn.Linear(hidden_size, classes)
        self.dropout = nn.Dropout(dropout)

    def forward(self, tokens: Tensor, segments: Tensor | None = None) -> Tensor:
        """Return logits (B, C) for ids (B, N) and segments (B, N)."""
        ### BEGIN SOLUTION
        first = self.encoder(tokens, segments)[:, 0]  # (B, d)
        return self.output(self.dropout(self.pooler(first).tanh()))  # (B, C)
        ### END SOLUTION


# %% exercise
class TokenClassifier(nn.Module):
    """One class for each token: from the state of each.

    logits_i = W h_i + b

    Parameters, d = hidden_size: `encoder.*`; `output.weight` W (C, d), `output.bias` b (C,). In
    training, `dropout` acts on the states.

    Args:
        encoder: `encoder(tokens, segments) -> states (B, N, d)`.
        hidden_size: d.
        classes: C.
        dropout: share of components set to 0.

    Source: Devlin et al. (2019), section 5.3 and figure 4 (d).
    """

    def __init__(self, encoder: nn.Module, hidden_size: int, classes: int, dropout: float = 0.0):
        super().__init__()
        self.encoder = encoder
        self.output = nn.Linear(hidden_size, classes)
        self.dropout = nn.Dropout(dropout)

    def forward(self, tokens: Tensor, segments: Tensor | None = None) -> Tensor:
        """Return logits (B, N, C) for ids (B, N) and segments (B, N)."""
        ### BEGIN SOLUTION
        return self.output(self.dropout(self.encoder(tokens, segments)))  # (B, N, C)
        ### END SOLUTION


# %% exercise
class SpanPredictor(nn.Module):
    """Where in the passage the answer begins and where it ends: two vectors, two products.

    start_i = S . h_i,  end_j = E . h_j,  answer = the pair i <= j with the largest start_i + end_j

    Parameters, d = hidden_size: `encoder.*`; `start` S (d,), `end` E (d,).

    Args:
        encoder: `encoder(tokens, segments) -> states (B, N, d)`.
        hidden_size: d.

    Source: Devlin et al. (2019), section 4.2 and figure 4 (c); `longest` is in their program, not in
    the paper.
    """

    def __init__(self, encoder: nn.Module, hidden_size: int):
        super().__init__()
        self.encoder = encoder
        self.start = nn.Parameter(torch.randn(hidden_size) * 0.02)
        self.end = nn.Parameter(torch.randn(hidden_size) * 0.02)

    def forward(self, tokens: Tensor, segments: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Return the scores of all beginnings and of all ends, both (B, N)."""
        ### BEGIN SOLUTION
        states = self.encoder(tokens, segments)  # (B, N, d)
        return states @ self.start, states @ self.end  # (B, N), (B, N)
        ### END SOLUTION

    def best(
        self, start_scores: Tensor, end_scores: Tensor, passage: Tensor, longest: int = 30
    ) -> tuple[Tensor, Tensor]:
        """Return the best answer that begins and ends in the passage, and ends where it may.

        Args:
            start_scores: (B, N).
            end_scores: (B, N).
            passage: bool (B, N), True for the tokens at which an answer may begin and end; at
                least one in each row.
            longest: the most tokens that an answer may have.

        Returns:
            first and last token, whole numbers (B,), first <= last < first + longest.
        """
        ### BEGIN SOLUTION
        n = start_scores.shape[1]
        score = start_scores.unsqueeze(2) + end_scores.unsqueeze(1)  # (B, N, N), first by last
        places = torch.arange(n, device=score.device)
        length = places - places.unsqueeze(1) + 1  # (N, N)
        allowed = (length >= 1) & (length <= longest)  # (N, N)
        allowed = allowed & passage.unsqueeze(2) & passage.unsqueeze(1)  # (B, N, N)
        best = score.masked_fill(~allowed, float("-inf")).flatten(1).argmax(dim=1)  # (B,)
        return best // n, best % n
        ### END SOLUTION
