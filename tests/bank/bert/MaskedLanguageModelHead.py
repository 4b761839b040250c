"""Answers to `MaskedLanguageModelHead`."""

import math
import sys
import warnings

import torch
import torch.nn.functional as F
from torch import nn
from tqdm.auto import tqdm


class Stub(nn.Module):
    """What the stub gives: the layers."""

    def __init__(self, embedding, eps=1e-12):
        super().__init__()
        size = embedding.embedding_dim
        self.embedding = embedding
        self.transform = nn.Linear(size, size)
        self.norm = nn.LayerNorm(size, eps=eps)
        self.bias = nn.Parameter(torch.zeros(embedding.num_embeddings))


# Right


class Plain(Stub):
    def forward(self, states):
        x = self.norm(F.gelu(self.transform(states)))
        return x @ self.embedding.weight.T + self.bias


class WithLinear(Stub):
    def forward(self, states):
        h = nn.GELU()(self.transform(states))
        return F.linear(self.norm(h), self.embedding.weight, self.bias)


class WithErf(Stub):
    def forward(self, states):
        x = states @ self.transform.weight.mT + self.transform.bias
        x = 0.5 * x * (1.0 + torch.erf(x / math.sqrt(2.0)))
        return torch.einsum("...d,vd->...v", self.norm(x), self.embedding.weight) + self.bias


class NormByHand(Stub):
    def forward(self, states):
        x = F.gelu(self.transform(states))
        mean = x.mean(-1, keepdim=True)
        variance = x.var(-1, keepdim=True, unbiased=False)
        x = (x - mean) / torch.sqrt(variance + self.norm.eps)
        x = self.norm.weight * x + self.norm.bias
        return torch.matmul(x, self.embedding.weight.transpose(0, 1)) + self.bias


class StateByState(Stub):
    def forward(self, states):
        found = [
            self.embedding.weight @ self.norm(F.gelu(self.transform(state))) + self.bias
            for state in states.reshape(-1, states.shape[-1])
        ]
        return torch.stack(found).reshape(*states.shape[:-1], len(self.bias))


class ByTheNormalDistribution(Stub):
    """GELU as x times the share of a normal below it; the table in parts."""

    def forward(self, states):
        x = self.transform(states)
        t = self.norm(x * torch.special.ndtr(x))
        parts = [t @ part.T for part in self.embedding.weight.split(2)]
        return torch.cat(parts, -1) + self.bias


class LooksUpAll(Stub):
    """All rows of the table, looked up."""

    def forward(self, states):
        table = self.embedding(torch.arange(self.embedding.num_embeddings))
        t = self.norm(F.gelu(self.transform(states), approximate="none"))
        return (t.unsqueeze(-2) * table).sum(-1) + self.bias


class Talkative(Stub):
    def forward(self, states):
        warnings.warn("scoring", stacklevel=1)
        print(states.shape)
        t = self.norm(F.gelu(self.transform(states)))
        columns = [t @ row for row in tqdm(self.embedding.weight, file=sys.stderr)]
        return torch.stack(columns, -1) + self.bias


class Wide(Stub):
    """Returns float64 whatever its dtype."""

    def forward(self, states):
        t = self.norm(F.gelu(self.transform(states))).double()
        return t @ self.embedding.weight.double().T + self.bias.double()


RIGHT = [
    Plain,
    WithLinear,
    WithErf,
    NormByHand,
    StateByState,
    ByTheNormalDistribution,
    LooksUpAll,
    Talkative,
    Wide,
]

# Wrong


class Pieces(Stub):
    """The right head in pieces."""

    def project(self, h):
        return self.transform(h)

    def curve(self, x):
        return F.gelu(x)

    def normalise(self, x):
        return self.norm(x)

    def table(self):
        return self.embedding.weight

    def score(self, t):
        return t @ self.table().T + self.bias

    def forward(self, states):
        return self.score(self.normalise(self.curve(self.project(states))))


class ProjectionTransposed(Pieces):
    def project(self, h):
        return h @ self.transform.weight + self.transform.bias


class ProjectionWithoutBias(Pieces):
    def project(self, h):
        return h @ self.transform.weight.T


class ProjectionResidual(Pieces):
    def project(self, h):
        return h + self.transform(h)


class ProjectionTwice(Pieces):
    def project(self, h):
        return self.transform(self.transform(h))


class StatesDetached(Pieces):
    def project(self, h):
        return self.transform(h.detach())


class SigmoidGelu(Pieces):
    """x sigmoid(1.702 x), another approximation."""

    def curve(self, x):
        return x * torch.sigmoid(1.702 * x)


class Silu(Pieces):
    def curve(self, x):
        return F.silu(x)


class Elu(Pieces):
    def curve(self, x):
        return F.elu(x)


class TanhByHand(Pieces):
    """The approximation with other constants."""

    def curve(self, x):
        return 0.5 * x * (1 + torch.tanh(0.8 * (x + 0.045 * x**3)))


class ErfWithoutRoot(Pieces):
    def curve(self, x):
        return 0.5 * x * (1 + torch.erf(x))


class GeluTwice(Pieces):
    def curve(self, x):
        return F.gelu(F.gelu(x))


class NormWithoutItsWeights(Pieces):
    def normalise(self, x):
        return F.layer_norm(x, x.shape[-1:], eps=self.norm.eps)


class NormUnbiased(Pieces):
    def normalise(self, x):
        mean, spread = x.mean(-1, keepdim=True), x.std(-1, keepdim=True)
        return (x - mean) / (spread + self.norm.eps) * self.norm.weight + self.norm.bias


class NormEpsOutside(Pieces):
    """Added to the deviation, not to the variance."""

    def normalise(self, x):
        mean, spread = x.mean(-1, keepdim=True), x.var(-1, keepdim=True, unbiased=False).sqrt()
        return (x - mean) / (spread + self.norm.eps) * self.norm.weight + self.norm.bias


class NormSmallEps(Pieces):
    """1e-6."""

    def normalise(self, x):
        return F.layer_norm(x, x.shape[-1:], self.norm.weight, self.norm.bias, 1e-6)


class NormOfAllAxes(Pieces):
    def normalise(self, x):
        x = F.layer_norm(x, x.shape, eps=self.norm.eps)
        return x * self.norm.weight + self.norm.bias


class NormOfRoot(Pieces):
    """RMSNorm: no mean."""

    def normalise(self, x):
        root = (x.square().mean(-1, keepdim=True) + self.norm.eps).sqrt()
        return x / root * self.norm.weight + self.norm.bias


class NormOfUnitLength(Pieces):
    def normalise(self, x):
        return F.normalize(x, dim=-1) * self.norm.weight + self.norm.bias


class TableCut(Pieces):
    def table(self):
        return self.embedding.weight.data * 1.0001


class TableCopied(Pieces):
    """A new tensor without the graph."""

    def table(self):
        return torch.tensor(self.embedding.weight.tolist(), dtype=self.bias.dtype) * 1.01


class TableOfUnitLength(Pieces):
    def table(self):
        return F.normalize(self.embedding.weight, dim=-1)


class TableOfItsOwn(Stub):
    """A matrix that is not tied."""

    def __init__(self, embedding, eps=1e-12):
        super().__init__(embedding, eps)
        self.decoder = nn.Linear(embedding.embedding_dim, embedding.num_embeddings, bias=False)

    def forward(self, states):
        return self.decoder(self.norm(F.gelu(self.transform(states)))) + self.bias


class TableCopiedAtFirst(Stub):
    """Taken when the head is built: what is loaded or learnt later does not come through."""

    def __init__(self, embedding, eps=1e-12):
        super().__init__(embedding, eps)
        self.kept = embedding.weight.detach().clone()

    def forward(self, states):
        t = self.norm(F.gelu(self.transform(states)))
        return t @ self.kept.to(t.dtype).T + self.bias


class BiasTwice(Pieces):
    def score(self, t):
        return F.linear(t, self.table(), self.bias) + self.bias


class BiasNegative(Pieces):
    def score(self, t):
        return t @ self.table().T - self.bias


class BiasDetached(Pieces):
    def score(self, t):
        return t @ self.table().T + self.bias.detach()


class LogProbabilities(Pieces):
    def score(self, t):
        return super().score(t).log_softmax(-1)


class Distances(Pieces):
    def score(self, t):
        return -torch.cdist(t, self.table()) + self.bias


class BestWord(Pieces):
    def score(self, t):
        return super().score(t).argmax(-1)


class FirstStateAlone(Pieces):
    def forward(self, states):
        return super().forward(states[:, 0])


class Flattened(Pieces):
    def forward(self, states):
        return super().forward(states).reshape(-1, len(self.bias))


class ThreeAxesOnly(Pieces):
    def forward(self, states):
        B, N, _ = states.shape
        return super().forward(states).reshape(B, N, len(self.bias))


class DropoutLeftOn(Pieces):
    def forward(self, states):
        return super().forward(F.dropout(states, 0.1))


class StatesOverwritten(Pieces):
    def forward(self, states):
        found = super().forward(states)
        states *= 0.5
        return found


class In32(Pieces):
    def forward(self, states):
        return super().forward(states).float()


class ReturnsNothing(Pieces):
    def forward(self, states):
        super().forward(states)


WRONG = [
    ProjectionTransposed,
    ProjectionWithoutBias,
    ProjectionResidual,
    ProjectionTwice,
    StatesDetached,
    SigmoidGelu,
    Silu,
    Elu,
    TanhByHand,
    ErfWithoutRoot,
    GeluTwice,
    NormWithoutItsWeights,
    NormUnbiased,
    NormEpsOutside,
    NormSmallEps,
    NormOfAllAxes,
    NormOfRoot,
    NormOfUnitLength,
    TableCut,
    TableCopied,
    TableOfUnitLength,
    TableOfItsOwn,
    TableCopiedAtFirst,
    BiasTwice,
    BiasNegative,
    BiasDetached,
    LogProbabilities,
    Distances,
    BestWord,
    FirstStateAlone,
    Flattened,
    ThreeAxesOnly,
    DropoutLeftOn,
    StatesOverwritten,
    In32,
    ReturnsNothing,
]
