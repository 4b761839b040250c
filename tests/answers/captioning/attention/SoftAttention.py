"""Answers to `SoftAttention`."""

import sys
import warnings

import torch
from torch import nn
from tqdm.auto import tqdm

from tests.answers.stubs import stub

Stub = stub("SoftAttention")

# Right


class OnePictureAtATime(Stub):
    def beta(self, query):
        found = [torch.dot(self.gate.weight[0], q) + self.gate.bias[0] for q in query]
        return torch.sigmoid(torch.stack(found))

    def forward(self, query, annotations):
        contexts, rows = [], []
        for q, picture, beta in zip(query, annotations, self.beta(query), strict=True):
            e = [self.v @ torch.tanh(self.W @ q + self.U @ a) for a in picture]
            alpha = torch.softmax(torch.stack(e), 0)
            contexts.append(beta * (alpha @ picture))
            rows.append(alpha)
        return torch.stack(contexts), torch.stack(rows)


class ByExponentials(Stub):
    def beta(self, query):
        return torch.sigmoid(self.gate(query)).flatten()

    def forward(self, query, annotations):
        asked = torch.einsum("dq,bq->bd", self.W, query)
        kept = torch.einsum("dk,bnk->bnd", self.U, annotations)
        e = torch.tanh(asked[:, None] + kept).matmul(self.v)
        powers = torch.exp(e - e.max(dim=1, keepdim=True).values)
        alpha = powers / powers.sum(1, keepdim=True)
        return torch.diag(self.beta(query)) @ (alpha[:, None] @ annotations).squeeze(1), alpha


class WithHelpersAndABuffer(Stub):
    def __init__(self, query_size, key_size, hidden_size):
        super().__init__(query_size, key_size, hidden_size)
        self.register_buffer("one", torch.ones(1))

    def _energy(self, query, annotation):
        return torch.tanh(query @ self.W.T + annotation @ self.U.T) @ self.v

    def beta(self, query):
        return self.one * torch.sigmoid(self.gate(query)).squeeze(dim=1)

    def forward(self, query, annotations):
        e = torch.stack([self._energy(query, a) for a in annotations.unbind(1)], dim=1)
        weights = nn.Softmax(dim=-1)(e)
        context = sum(w[:, None] * a for w, a in zip(weights.T, annotations.unbind(1), strict=True))
        return self.beta(query)[:, None] * context, weights


class Talkative(Stub):
    def beta(self, query):
        print("gate")
        return torch.sigmoid(self.gate(query))[..., 0]

    def forward(self, query, annotations):
        warnings.warn("soft", stacklevel=1)
        e = []
        for i in tqdm(range(annotations.shape[1]), file=sys.stderr):
            e.append(torch.tanh(query @ self.W.T + annotations[:, i] @ self.U.T) @ self.v)
        alpha = torch.stack(e, -1).log_softmax(-1).exp()
        return [self.beta(query).unsqueeze(-1) * (alpha.unsqueeze(1) @ annotations)[:, 0], alpha]


class Wide(Stub):
    """Returns float64 whatever it is given."""

    def beta(self, query):
        return torch.sigmoid(self.gate(query).double()).squeeze(1)

    def forward(self, query, annotations):
        hidden = (query @ self.W.T).unsqueeze(1) + annotations @ self.U.T
        alpha = torch.softmax((torch.tanh(hidden) @ self.v).double(), 1)
        z = torch.einsum("bn,bnd->bd", alpha, annotations.double())
        return z * self.beta(query).unsqueeze(1), alpha


RIGHT = [OnePictureAtATime, ByExponentials, WithHelpersAndABuffer, Talkative, Wide]

# Wrong


class Pieces(Stub):
    """A right answer; each of the wrong ones below replaces one piece."""

    def beta(self, query):
        return torch.sigmoid(self.gate(query)).squeeze(1)

    def energies(self, query, annotations):
        return torch.tanh((query @ self.W.T).unsqueeze(1) + annotations @ self.U.T) @ self.v

    def softmax(self, e):
        return torch.softmax(e, 1)

    def average(self, alpha, annotations):
        return torch.einsum("bn,bnd->bd", alpha, annotations)

    def gated(self, z, query):
        return self.beta(query).unsqueeze(1) * z

    def forward(self, query, annotations):
        alpha = self.softmax(self.energies(query, annotations))
        return self.gated(self.average(alpha, annotations), query), alpha


class BetaSqueezedAway(Pieces):
    """Also a batch of one is squeezed away."""

    def beta(self, query):
        return torch.sigmoid(self.gate(query)).squeeze()

    def gated(self, z, query):
        return self.beta(query).reshape(-1, 1) * z


class BetaOfTheMean(Pieces):
    def beta(self, query):
        return super().beta(query).mean().expand(len(query))


class BetaBroadcastTheWrongWay(Pieces):
    """Fits only if the batch is as large as an annotation."""

    def gated(self, z, query):
        beta = self.beta(query)
        return z * beta if len(beta) == z.shape[1] else z * beta.unsqueeze(1)


class QueryDetached(Pieces):
    def energies(self, query, annotations):
        return super().energies(query.detach(), annotations)


class GateKept(Pieces):
    kept = None

    def beta(self, query):
        if self.kept is None:
            self.kept = super().beta(query)
        return self.kept[:1].expand(len(query)) if len(self.kept) < len(query) else self.kept


WRONG = [BetaSqueezedAway, BetaOfTheMean, BetaBroadcastTheWrongWay, QueryDetached, GateKept]
