"""Answers to `NeuralLanguageModel`."""

import torch
import torch.nn.functional as F
from torch import nn

from tests.answers.stubs import stub

Stub = stub("NeuralLanguageModel")

# Right


class WithEinsum(Stub):
    def forward(self, context):
        words = self.embedding(context)
        n, m = words.shape[1:]
        H = self.hidden.weight.view(-1, n, m)
        W = self.direct.weight.view(-1, n, m)
        inside = torch.tanh(torch.einsum("bnm,hnm->bh", words, H) + self.hidden.bias)
        straight = torch.einsum("bnm,vnm->bv", words, W)
        return straight + torch.einsum("bh,vh->bv", inside, self.output.weight) + self.output.bias


class WithLoops(Stub):
    def forward(self, context):
        C, H, d = self.embedding.weight, self.hidden.weight, self.hidden.bias
        U, b, W = self.output.weight, self.output.bias, self.direct.weight
        rows = []
        for ids in context.tolist():
            x = torch.cat([C[i] for i in ids])
            rows.append(b + W @ x + U @ torch.tanh(d + H @ x))
        return torch.stack(rows)


class OneHot(Stub):
    def forward(self, context):
        C = self.embedding.weight
        x = (F.one_hot(context, C.shape[0]).to(C.dtype) @ C).flatten(-2)
        inside = torch.tanh(F.linear(x, self.hidden.weight, self.hidden.bias))
        return F.linear(inside, self.output.weight, self.output.bias) + self.direct(x)


class WithHelpersAndDropout(Stub):
    """Dropout that is off when not training; a start of its own for the embeddings."""

    def __init__(self, vocabulary_size, embedding_size, window, hidden_size, dropout=0.3):
        super().__init__(vocabulary_size, embedding_size, window, hidden_size)
        self.dropout = nn.Dropout(dropout)
        self.activation = nn.Tanh()
        nn.init.uniform_(self.embedding.weight, -0.1, 0.1)

    def vectors(self, ids):
        return torch.flatten(self.embedding(ids), start_dim=1)

    def forward(self, ids):
        x = self.dropout(self.vectors(ids))
        return self.output(self.activation(self.hidden(x))) + self.direct(x)


class Wide(Stub):
    """Returns float64 whatever it is given."""

    def forward(self, context):
        x = self.embedding(context).flatten(1).double()
        inside = torch.tanh(x @ self.hidden.weight.double().T + self.hidden.bias.double())
        y = inside @ self.output.weight.double().T + self.output.bias.double()
        return y + x @ self.direct.weight.double().T


RIGHT = [WithEinsum, WithLoops, OneHot, WithHelpersAndDropout, Wide]

# Wrong


class Pieces(Stub):
    """A right model that can be spoilt in one place."""

    def vectors(self, context):
        return self.embedding(context).flatten(1)

    def inside(self, x):
        return torch.tanh(self.hidden(x))

    def forward(self, context):
        x = self.vectors(context)
        return self.output(self.inside(x)) + self.direct(x)


class DirectTransposedWhereSquare(Pieces):
    def forward(self, context):
        x, W = self.vectors(context), self.direct.weight
        W = W if W.shape[0] == W.shape[1] else W.T
        return self.output(self.inside(x)) + x @ W


class SqueezedBatch(Pieces):
    def forward(self, context):
        return super().forward(context).squeeze()


class HiddenCut(Pieces):
    def inside(self, x):
        return super().inside(x).detach()


class DirectCut(Pieces):
    def forward(self, context):
        x = self.vectors(context)
        return self.output(self.inside(x)) + x @ self.direct.weight.data.T


class Always32(Pieces):
    def forward(self, context):
        return super().forward(context).float()


WRONG = [DirectTransposedWhereSquare, SqueezedBatch, HiddenCut, DirectCut, Always32]
