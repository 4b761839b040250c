"""Answers to `MaskedLanguageModelHead`."""

import copy
import math

import torch
import torch.nn.functional as F

from tests.answers.stubs import stub

Stub = stub("MaskedLanguageModelHead")

# Right


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


class Wide(Stub):
    """Returns float64 whatever its dtype."""

    def forward(self, states):
        t = self.norm(F.gelu(self.transform(states))).double()
        return t @ self.embedding.weight.double().T + self.bias.double()


RIGHT = [WithErf, NormByHand, StateByState, ByTheNormalDistribution, Wide]

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


class NormEpsOutside(Pieces):
    """Added to the deviation, not to the variance."""

    def normalise(self, x):
        mean, spread = x.mean(-1, keepdim=True), x.var(-1, keepdim=True, unbiased=False).sqrt()
        return (x - mean) / (spread + self.norm.eps) * self.norm.weight + self.norm.bias


class NormSmallEps(Pieces):
    """1e-6."""

    def normalise(self, x):
        return F.layer_norm(x, x.shape[-1:], self.norm.weight, self.norm.bias, 1e-6)


class ThreeAxesOnly(Pieces):
    def forward(self, states):
        B, N, _ = states.shape
        return super().forward(states).reshape(B, N, len(self.bias))


class TableCopied(Pieces):
    """The same numbers at first, but it learns by itself."""

    def __init__(self, embedding, *rest):
        super().__init__(copy.deepcopy(embedding), *rest)


class StatesOverwritten(Pieces):
    def forward(self, states):
        found = super().forward(states)
        states *= 0.5
        return found


class In32(Pieces):
    def forward(self, states):
        return super().forward(states).float()


WRONG = [NormEpsOutside, NormSmallEps, ThreeAxesOnly, TableCopied, StatesOverwritten, In32]
