"""Answers to `NeuralLanguageModel`."""

import sys
import warnings

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from tqdm.auto import tqdm


class Stub(nn.Module):
    """What the stub gives: the layers."""

    def __init__(self, vocabulary_size: int, embedding_size: int, window: int, hidden_size: int):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary_size, embedding_size)
        self.hidden = nn.Linear(window * embedding_size, hidden_size)
        self.output = nn.Linear(hidden_size, vocabulary_size)
        self.direct = nn.Linear(window * embedding_size, vocabulary_size, bias=False)


# Right


class WithReshape(nn.Module):
    def __init__(self, vocabulary_size: int, embedding_size: int, window: int, hidden_size: int):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary_size, embedding_size)
        self.hidden = nn.Linear(window * embedding_size, hidden_size)
        self.output = nn.Linear(hidden_size, vocabulary_size)
        self.direct = nn.Linear(window * embedding_size, vocabulary_size, bias=False)

    def forward(self, context: Tensor) -> Tensor:
        x = self.embedding(context).reshape(context.shape[0], -1)
        return self.direct(x) + self.output(self.hidden(x).tanh())


class WithCat(Stub):
    def forward(self, context):
        words = [self.embedding(context[:, i]) for i in range(context.size(1))]
        x = torch.cat(words, dim=-1)
        y = self.output(torch.tanh(self.hidden(x)))
        y = y + self.direct(x)
        return y


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


class OneMatrixForBoth(Stub):
    """[U W] [tanh(...); x] + b."""

    def forward(self, context):
        x = F.embedding(context, self.embedding.weight).flatten(1)
        both = torch.cat([torch.tanh(self.hidden(x)), x], dim=1)
        matrix = torch.cat([self.output.weight, self.direct.weight], dim=1)
        return both @ matrix.T + self.output.bias


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


class PaddingIndex(Stub):
    """No context in the course holds <pad>."""

    def __init__(self, vocabulary_size, embedding_size, window, hidden_size):
        super().__init__(vocabulary_size, embedding_size, window, hidden_size)
        self.embedding = nn.Embedding(vocabulary_size, embedding_size, padding_idx=0)

    def forward(self, context):
        x = self.embedding(context).flatten(1)
        return self.output(torch.tanh(self.hidden(x))) + self.direct(x)


class Talkative(Stub):
    def forward(self, context):
        warnings.warn("slow", stacklevel=1)
        sys.stderr.write("predicting\n")
        rows = []
        for ids in tqdm(context):
            print(ids)
            x = self.embedding(ids).flatten()
            rows.append(self.output(torch.tanh(self.hidden(x))) + self.direct(x))
        return torch.stack(rows, dim=0)


class Wide(Stub):
    """Returns float64 whatever it is given."""

    def forward(self, context):
        x = self.embedding(context).flatten(1).double()
        inside = torch.tanh(x @ self.hidden.weight.double().T + self.hidden.bias.double())
        y = inside @ self.output.weight.double().T + self.output.bias.double()
        return y + x @ self.direct.weight.double().T


RIGHT = [
    WithReshape,
    WithCat,
    WithEinsum,
    WithLoops,
    OneHot,
    OneMatrixForBoth,
    WithHelpersAndDropout,
    PaddingIndex,
    Talkative,
    Wide,
]

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


class MeanOfVectors(Pieces):
    """Fits only with a window of 1."""

    def vectors(self, context):
        return self.embedding(context).mean(1)


class SumOfVectors(Pieces):
    def vectors(self, context):
        words = self.embedding(context)
        return words.sum(1, keepdim=True).expand_as(words).flatten(1)


class FirstWordOnly(Pieces):
    def vectors(self, context):
        words = self.embedding(context)
        return torch.cat([words[:, :1], torch.zeros_like(words[:, 1:])], 1).flatten(1)


class LastWordEverywhere(Pieces):
    def vectors(self, context):
        words = self.embedding(context)
        return words[:, -1:].expand_as(words).flatten(1)


class LastWordFirst(Pieces):
    """Rolled, not reversed."""

    def vectors(self, context):
        return self.embedding(context.roll(1, 1)).flatten(1)


class SortedWords(Pieces):
    def vectors(self, context):
        return self.embedding(context.sort(dim=1).values).flatten(1)


class IdsOfTheFirstRow(Pieces):
    def vectors(self, context):
        return super().vectors(context[:1].expand_as(context))


class MixesTheBatch(Pieces):
    """(n, B, m) reshaped to (B, n m): numbers of several examples in one row."""

    def vectors(self, context):
        return self.embedding(context.T).reshape(context.shape[0], -1)


class NormalisedVectors(Pieces):
    def vectors(self, context):
        return F.normalize(self.embedding(context), dim=-1).flatten(1)


class SkipsPaddingByUnk(Pieces):
    """Id 1 is a word like any other here."""

    def vectors(self, context):
        words = self.embedding(context) * (context > 1).unsqueeze(-1)
        return words.flatten(1)


class Sigmoid(Pieces):
    def inside(self, x):
        return torch.sigmoid(self.hidden(x))


class HardTanh(Pieces):
    def inside(self, x):
        return F.hardtanh(self.hidden(x))


class Gelu(Pieces):
    def inside(self, x):
        return F.gelu(self.hidden(x))


class BiasOutsideTanh(Pieces):
    def inside(self, x):
        return torch.tanh(x @ self.hidden.weight.T) + self.hidden.bias


class BiasSubtracted(Pieces):
    def inside(self, x):
        return torch.tanh(x @ self.hidden.weight.T - self.hidden.bias)


class NoBiasAtAll(Pieces):
    def forward(self, context):
        x = self.vectors(context)
        inside = torch.tanh(x @ self.hidden.weight.T)
        return inside @ self.output.weight.T + self.direct(x)


class OutputBiasTwice(Pieces):
    def forward(self, context):
        return super().forward(context) + self.output.bias


class TanhOfTheHiddenPartOfTheScores(Pieces):
    def forward(self, context):
        x = self.vectors(context)
        return torch.tanh(self.output(self.hidden(x))) + self.direct(x)


class TanhAtBothPlaces(Pieces):
    def forward(self, context):
        return torch.tanh(super().forward(context))


class DirectOfTanh(Pieces):
    def forward(self, context):
        x = self.vectors(context)
        return self.output(self.inside(x)) + torch.tanh(self.direct(x))


class DirectOfTanhVectors(Pieces):
    def forward(self, context):
        x = self.vectors(context)
        return self.output(self.inside(x)) + self.direct(torch.tanh(x))


class DirectMultiplied(Pieces):
    def forward(self, context):
        x = self.vectors(context)
        return self.output(self.inside(x)) * self.direct(x)


class DirectSubtracted(Pieces):
    def forward(self, context):
        x = self.vectors(context)
        return self.output(self.inside(x)) - self.direct(x)


class Averaged(Pieces):
    def forward(self, context):
        return super().forward(context) / 2


class DirectOfTheLastWord(Pieces):
    def forward(self, context):
        words = self.embedding(context)
        x = words.flatten(1)
        last = torch.cat([torch.zeros_like(words[:, :-1]), words[:, -1:]], 1).flatten(1)
        return self.output(self.inside(x)) + self.direct(last)


class HiddenTwice(Pieces):
    """A hidden layer too many, where the sizes allow it."""

    def inside(self, x):
        h = super().inside(x)
        return torch.tanh(self.hidden(h)) if h.shape[1] == x.shape[1] else h


class TransposedWhereSquare(Pieces):
    def inside(self, x):
        H = self.hidden.weight
        H = H if H.shape[0] == H.shape[1] else H.T
        return torch.tanh(x @ H + self.hidden.bias)


class DirectTransposedWhereSquare(Pieces):
    def forward(self, context):
        x, W = self.vectors(context), self.direct.weight
        W = W if W.shape[0] == W.shape[1] else W.T
        return self.output(self.inside(x)) + x @ W


class Centred(Pieces):
    """A softmax would not notice, but these are not the scores."""

    def forward(self, context):
        y = super().forward(context)
        return y - y.mean(-1, keepdim=True)


class NegatedLogProbabilities(Pieces):
    def forward(self, context):
        return -super().forward(context).log_softmax(-1)


class BestWord(Pieces):
    def forward(self, context):
        return super().forward(context).argmax(-1)


class OneMoreAxis(Pieces):
    def forward(self, context):
        return super().forward(context).unsqueeze(1)


class ScoresForEveryPlace(Stub):
    """The blocks of H and W applied place by place, and not added up."""

    def forward(self, context):
        words = self.embedding(context)
        n, m = words.shape[1:]
        H, W = self.hidden.weight.view(-1, n, m), self.direct.weight.view(-1, n, m)
        inside = torch.tanh(torch.einsum("bnm,hnm->bnh", words, H) + self.hidden.bias)
        return self.output(inside) + torch.einsum("bnm,vnm->bnv", words, W)


class TanhForEveryPlace(Stub):
    """As before, and added up: the words never meet inside a tanh."""

    def forward(self, context):
        words = self.embedding(context)
        n, m = words.shape[1:]
        H = self.hidden.weight.view(-1, n, m)
        inside = torch.tanh(torch.einsum("bnm,hnm->bnh", words, H) + self.hidden.bias)
        return self.output(inside.sum(1)) + self.direct(words.flatten(1))


class SqueezedBatch(Pieces):
    def forward(self, context):
        return super().forward(context).squeeze()


class FlattensTheBatch(Pieces):
    def vectors(self, context):
        return self.embedding(context).flatten()


class DropoutLeftOn(Pieces):
    def inside(self, x):
        return F.dropout(super().inside(x), 0.2)


class NormInBetween(Pieces):
    def inside(self, x):
        return torch.tanh(F.layer_norm(self.hidden(x), (self.hidden.out_features,)))


class NewLayersInForward(Pieces):
    def forward(self, context):
        x = self.vectors(context)
        direct = nn.Linear(x.shape[1], self.output.out_features, bias=False).to(x.dtype)
        return self.output(self.inside(x)) + direct(x)


class DirectBias(Stub):
    """A parameter that the docstring does not list."""

    def __init__(self, vocabulary_size, embedding_size, window, hidden_size):
        super().__init__(vocabulary_size, embedding_size, window, hidden_size)
        self.direct = nn.Linear(window * embedding_size, vocabulary_size)

    def forward(self, context):
        x = self.embedding(context).flatten(1)
        return self.output(torch.tanh(self.hidden(x))) + self.direct(x)


class OtherNames(nn.Module):
    def __init__(self, vocabulary_size, embedding_size, window, hidden_size):
        super().__init__()
        self.C = nn.Embedding(vocabulary_size, embedding_size)
        self.H = nn.Linear(window * embedding_size, hidden_size)
        self.U = nn.Linear(hidden_size, vocabulary_size)
        self.W = nn.Linear(window * embedding_size, vocabulary_size, bias=False)

    def forward(self, context):
        x = self.C(context).flatten(1)
        return self.U(torch.tanh(self.H(x))) + self.W(x)


class SmallLayersForAveraging(nn.Module):
    """The constructor changed so that the mean fits."""

    def __init__(self, vocabulary_size, embedding_size, window, hidden_size):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary_size, embedding_size)
        self.hidden = nn.Linear(embedding_size, hidden_size)
        self.output = nn.Linear(hidden_size, vocabulary_size)
        self.direct = nn.Linear(embedding_size, vocabulary_size, bias=False)

    def forward(self, context):
        x = self.embedding(context).mean(1)
        return self.output(torch.tanh(self.hidden(x))) + self.direct(x)


class NoForward(Stub):
    pass


class KeepsTheContext(Pieces):
    """The first batch, for all that come."""

    kept = None

    def vectors(self, context):
        if self.kept is None:
            self.kept = super().vectors(context)
        return self.kept


class KeepsTheScores(Pieces):
    """Adds to what the last call gave."""

    before = 0.0

    def forward(self, context):
        y = super().forward(context)
        rows = min(len(y), len(self.before)) if isinstance(self.before, Tensor) else 0
        if rows:
            y = torch.cat([y[:rows] + 0.01 * self.before[:rows], y[rows:]])
        self.before = y.detach()
        return y


class ChangesItsParameters(Pieces):
    """The second batch meets other vectors than the first."""

    def forward(self, context):
        y = super().forward(context)
        with torch.no_grad():
            self.embedding.weight.mul_(0.99)
        return y


class ChangesTheIds(Pieces):
    def vectors(self, context):
        x = super().vectors(context)
        context.fill_(0)
        return x


class HiddenCut(Pieces):
    def inside(self, x):
        return super().inside(x).detach()


class VectorsCutForDirect(Pieces):
    def forward(self, context):
        x = self.vectors(context)
        return self.output(self.inside(x)) + self.direct(x.detach())


class VectorsCutForHidden(Pieces):
    def inside(self, x):
        return super().inside(x.detach())


class DirectCut(Pieces):
    def forward(self, context):
        x = self.vectors(context)
        return self.output(self.inside(x)) + x @ self.direct.weight.data.T


class Always32(Pieces):
    def forward(self, context):
        return super().forward(context).float()


class Numpy(Pieces):
    def forward(self, context):
        return super().forward(context).detach().numpy()


class ReturnsNothing(Pieces):
    def forward(self, context):
        super().forward(context)


class ReturnsBoth(Pieces):
    def forward(self, context):
        x = self.vectors(context)
        return self.output(self.inside(x)), self.direct(x)


WRONG = [
    MeanOfVectors,
    SumOfVectors,
    FirstWordOnly,
    LastWordEverywhere,
    LastWordFirst,
    SortedWords,
    IdsOfTheFirstRow,
    MixesTheBatch,
    NormalisedVectors,
    SkipsPaddingByUnk,
    Sigmoid,
    HardTanh,
    Gelu,
    BiasOutsideTanh,
    BiasSubtracted,
    NoBiasAtAll,
    OutputBiasTwice,
    TanhOfTheHiddenPartOfTheScores,
    TanhAtBothPlaces,
    DirectOfTanh,
    DirectOfTanhVectors,
    DirectMultiplied,
    DirectSubtracted,
    Averaged,
    DirectOfTheLastWord,
    HiddenTwice,
    TransposedWhereSquare,
    DirectTransposedWhereSquare,
    Centred,
    NegatedLogProbabilities,
    BestWord,
    OneMoreAxis,
    ScoresForEveryPlace,
    TanhForEveryPlace,
    SqueezedBatch,
    FlattensTheBatch,
    DropoutLeftOn,
    NormInBetween,
    NewLayersInForward,
    DirectBias,
    OtherNames,
    SmallLayersForAveraging,
    NoForward,
    KeepsTheContext,
    KeepsTheScores,
    ChangesItsParameters,
    ChangesTheIds,
    HiddenCut,
    VectorsCutForDirect,
    VectorsCutForHidden,
    DirectCut,
    Always32,
    Numpy,
    ReturnsNothing,
    ReturnsBoth,
]
