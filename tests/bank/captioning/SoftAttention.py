"""Answers to `SoftAttention`."""

import sys
import warnings

import torch
import torch.nn.functional as F
from torch import nn
from tqdm.auto import tqdm


class Stub(nn.Module):
    """What the stub gives: the parameters."""

    def __init__(self, query_size: int, key_size: int, hidden_size: int):
        super().__init__()
        self.W = nn.Parameter(torch.empty(hidden_size, query_size))
        self.U = nn.Parameter(torch.empty(hidden_size, key_size))
        self.v = nn.Parameter(torch.empty(hidden_size))
        self.gate = nn.Linear(query_size, 1)
        for parameter in (self.W, self.U):
            nn.init.xavier_uniform_(parameter)
        nn.init.normal_(self.v, std=hidden_size**-0.5)


# Right


class AsWritten(Stub):
    def beta(self, query):
        return self.gate(query).sigmoid()[:, 0]

    def forward(self, query, annotations):
        e = torch.tanh((query @ self.W.T)[:, None, :] + annotations @ self.U.T) @ self.v
        alpha = e.softmax(-1)
        z = torch.bmm(alpha[:, None], annotations)[:, 0]
        return self.beta(query)[:, None] * z, alpha


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


class GateBeforeTheSum(Stub):
    """beta times each annotation is the same."""

    def beta(self, query):
        return 1 / (1 + torch.exp(-self.gate(query).squeeze(-1)))

    def forward(self, query, annotations):
        hidden = F.linear(query, self.W).unsqueeze(1) + F.linear(annotations, self.U)
        alpha = F.softmax(torch.einsum("bnd,d->bn", hidden.tanh(), self.v), dim=1)
        scaled = annotations * self.beta(query).reshape(-1, 1, 1)
        return torch.einsum("bn,bnk->bk", alpha, scaled), alpha


class OneMatrix(Stub):
    """[W U] on [h; a]."""

    def beta(self, query):
        return torch.sigmoid(query @ self.gate.weight[0] + self.gate.bias)

    def forward(self, query, annotations):
        n = annotations.shape[1]
        both = torch.cat([query.unsqueeze(1).expand(-1, n, -1), annotations], dim=2)
        hidden = torch.tanh(both @ torch.cat([self.W, self.U], dim=1).T)
        e = (hidden * self.v).sum(2)
        alpha = (e - e.logsumexp(1, keepdim=True)).exp()
        context = (alpha.unsqueeze(-1) * annotations).sum(dim=1)
        return context * self.beta(query).view(-1, 1), alpha


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


RIGHT = [
    AsWritten,
    OnePictureAtATime,
    GateBeforeTheSum,
    OneMatrix,
    ByExponentials,
    WithHelpersAndABuffer,
    Talkative,
    Wide,
]

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


class BetaWithTanh(Pieces):
    def beta(self, query):
        return torch.tanh(self.gate(query)).squeeze(1)


class BetaWithSoftmax(Pieces):
    """A softmax over one number is 1."""

    def beta(self, query):
        return torch.softmax(self.gate(query), 1).squeeze(1)


class BetaOverTheBatch(Pieces):
    def beta(self, query):
        return torch.softmax(self.gate(query), 0).squeeze(1)


class BetaWithoutBias(Pieces):
    def beta(self, query):
        return torch.sigmoid(query @ self.gate.weight[0])


class BetaSqueezedAway(Pieces):
    """Also a batch of one is squeezed away."""

    def beta(self, query):
        return torch.sigmoid(self.gate(query)).squeeze()

    def gated(self, z, query):
        return self.beta(query).reshape(-1, 1) * z


class BetaOfTheMean(Pieces):
    def beta(self, query):
        return super().beta(query).mean().expand(len(query))


class BetaRounded(Pieces):
    def beta(self, query):
        return super().beta(query).round()


class BetaTwice(Pieces):
    def gated(self, z, query):
        return super().gated(super().gated(z, query), query)


class BetaDetached(Pieces):
    def gated(self, z, query):
        return self.beta(query).detach().unsqueeze(1) * z


class BetaBroadcastTheWrongWay(Pieces):
    """Fits only if the batch is as large as an annotation."""

    def gated(self, z, query):
        beta = self.beta(query)
        return z * beta if len(beta) == z.shape[1] else z * beta.unsqueeze(1)


class BetaNeverTrained(Pieces):
    def beta(self, query):
        with torch.no_grad():
            return torch.sigmoid(self.gate(query)).squeeze(1)


class SigmoidForTanh(Pieces):
    def energies(self, query, annotations):
        return torch.sigmoid((query @ self.W.T).unsqueeze(1) + annotations @ self.U.T) @ self.v


class ReluForTanh(Pieces):
    def energies(self, query, annotations):
        return torch.relu((query @ self.W.T).unsqueeze(1) + annotations @ self.U.T) @ self.v


class TanhOfTheEnergy(Pieces):
    def energies(self, query, annotations):
        return torch.tanh(super().energies(query, annotations))


class WithoutV(Pieces):
    def energies(self, query, annotations):
        hidden = torch.tanh((query @ self.W.T).unsqueeze(1) + annotations @ self.U.T)
        return hidden.sum(-1) + 0 * self.v.sum()


class Scaled(Pieces):
    def energies(self, query, annotations):
        return super().energies(query, annotations) / len(self.v) ** 0.5


class ProductForSum(Pieces):
    def energies(self, query, annotations):
        return torch.tanh((query @ self.W.T).unsqueeze(1) * (annotations @ self.U.T)) @ self.v


class ScoreDetached(Pieces):
    def energies(self, query, annotations):
        return super().energies(query, annotations).detach()


class QueryDetached(Pieces):
    def energies(self, query, annotations):
        return super().energies(query.detach(), annotations)


class SoftmaxOfAll(Pieces):
    def softmax(self, e):
        return torch.softmax(e.flatten(), 0).reshape(e.shape)


class WithoutSoftmax(Pieces):
    def softmax(self, e):
        return e / e.sum(1, keepdim=True)


class ExponentialsOnly(Pieces):
    def softmax(self, e):
        return torch.exp(e)


class EpsilonInTheSum(Pieces):
    def softmax(self, e):
        return e.exp() / (e.exp().sum(1, keepdim=True) + 1e-2)


class Largest(Pieces):
    def softmax(self, e):
        return F.one_hot(e.argmax(1), e.shape[1]).to(e.dtype) + 0 * e


class SoftmaxTwice(Pieces):
    def softmax(self, e):
        return torch.softmax(torch.softmax(e, 1), 1)


class MeanOfTheSum(Pieces):
    def average(self, alpha, annotations):
        return (alpha.unsqueeze(2) * annotations).mean(1)


class PlainMean(Pieces):
    def average(self, alpha, annotations):
        return annotations.mean(1) + 0 * alpha.sum()


class AnnotationsDetached(Pieces):
    def average(self, alpha, annotations):
        return super().average(alpha, annotations.detach())


class ContextKeepsAxis(Pieces):
    def average(self, alpha, annotations):
        return alpha.unsqueeze(1) @ annotations

    def gated(self, z, query):
        return self.beta(query).reshape(-1, 1, 1) * z


class OnlyTheContext(Pieces):
    def forward(self, query, annotations):
        return super().forward(query, annotations)[0]


class WeightsFirst(Pieces):
    def forward(self, query, annotations):
        context, alpha = super().forward(query, annotations)
        return alpha, context


class BetaToo(Pieces):
    def forward(self, query, annotations):
        return (*super().forward(query, annotations), self.beta(query))


class ProjectionKept(Pieces):
    """The projected annotations of the first batch are kept."""

    kept = None

    def energies(self, query, annotations):
        if self.kept is None or self.kept.shape[1] != annotations.shape[1]:
            self.kept = annotations @ self.U.T
        kept = self.kept[: len(query)]
        if len(kept) < len(query):
            kept = annotations @ self.U.T
        return torch.tanh((query @ self.W.T).unsqueeze(1) + kept) @ self.v


class GateKept(Pieces):
    kept = None

    def beta(self, query):
        if self.kept is None:
            self.kept = super().beta(query)
        return self.kept[:1].expand(len(query)) if len(self.kept) < len(query) else self.kept


class NoModuleForTheGate(Pieces):
    def __init__(self, query_size, key_size, hidden_size):
        super().__init__(query_size, key_size, hidden_size)
        del self.gate
        self.gate_weight = nn.Parameter(torch.zeros(query_size))

    def beta(self, query):
        return torch.sigmoid(query @ self.gate_weight)


class AnnotationsScaledInPlace(Pieces):
    def average(self, alpha, annotations):
        annotations *= alpha.unsqueeze(2)
        return annotations.sum(1)


class Always32(Pieces):
    def softmax(self, e):
        return super().softmax(e.float())

    def average(self, alpha, annotations):
        return super().average(alpha, annotations.float())


class NeedsAMask(Pieces):
    def forward(self, query, annotations, mask):
        return super().forward(query, annotations)


class DropoutLeftOn(Pieces):
    def softmax(self, e):
        return F.dropout(super().softmax(e), 0.2)


WRONG = [
    BetaWithTanh,
    BetaWithSoftmax,
    BetaOverTheBatch,
    BetaWithoutBias,
    BetaSqueezedAway,
    BetaOfTheMean,
    BetaRounded,
    BetaTwice,
    BetaDetached,
    BetaBroadcastTheWrongWay,
    BetaNeverTrained,
    SigmoidForTanh,
    ReluForTanh,
    TanhOfTheEnergy,
    WithoutV,
    Scaled,
    ProductForSum,
    ScoreDetached,
    QueryDetached,
    SoftmaxOfAll,
    WithoutSoftmax,
    ExponentialsOnly,
    EpsilonInTheSum,
    Largest,
    SoftmaxTwice,
    MeanOfTheSum,
    PlainMean,
    AnnotationsDetached,
    ContextKeepsAxis,
    OnlyTheContext,
    WeightsFirst,
    BetaToo,
    ProjectionKept,
    GateKept,
    NoModuleForTheGate,
    AnnotationsScaledInPlace,
    Always32,
    NeedsAMask,
    DropoutLeftOn,
]
