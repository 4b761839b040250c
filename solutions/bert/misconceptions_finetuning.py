"""Mistakes that people really make in the notebook `bert/finetuning`, without `load_pretrained`.

Each class is one wrong implementation; the first line of its docstring is the title of the card,
the rest the hint.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from solutions.bert import finetuning as right


class _Sequence(right.SequenceClassifier):
    """The right classifier in pieces, so that a mistake changes one of them."""

    def read(self, tokens: Tensor, segments: Tensor | None) -> Tensor:
        """(B, N, d)."""
        return self.encoder(tokens, segments)

    def chosen(self, states: Tensor) -> Tensor:
        """(B, d)."""
        return states[:, 0]

    def pooled(self, state: Tensor) -> Tensor:
        """(B, d)."""
        return torch.tanh(self.pooler(state))

    def said(self, c: Tensor) -> Tensor:
        """(B, C)."""
        return self.output(c)

    def forward(self, tokens: Tensor, segments: Tensor | None = None) -> Tensor:
        """As in the reference."""
        return self.said(self.pooled(self.chosen(self.read(tokens, segments))))


class SequenceWithoutSegments(_Sequence):
    """The segments do not reach the encoder.

    Pairs of sentences are told apart by them. Hand them on, whether they are ids or None.
    """

    def read(self, tokens: Tensor, segments: Tensor | None) -> Tensor:
        """Tokens alone."""
        return self.encoder(tokens, None)


class SequenceOfTheMean(_Sequence):
    """The mean of all states is classified, not the first one.

    The paper takes the state of [CLS], the first token. The mean would also take in padding.
    """

    def chosen(self, states: Tensor) -> Tensor:
        """Mean."""
        return states.mean(dim=1)


class SequenceOfTheLast(_Sequence):
    """The last state is classified, not the first one.

    The last position is [SEP] or padding. The paper takes the state of [CLS], the first token.
    """

    def chosen(self, states: Tensor) -> Tensor:
        """Last."""
        return states[:, -1]


class SequenceOfTheLargest(_Sequence):
    """The largest of all states is classified, number by number.

    That is max-pooling. The paper takes the state of [CLS], the first token.
    """

    def chosen(self, states: Tensor) -> Tensor:
        """Maximum."""
        return states.max(dim=1).values


class SequenceWithoutPooler(_Sequence):
    """The pooler is left out.

    c = tanh(W_p h_0 + b_p) stands between the state of [CLS] and the classifier. Its weights come
    from pre-training, where they served the next-sentence task.
    """

    def pooled(self, state: Tensor) -> Tensor:
        """As it is."""
        return state


class SequenceWithoutTanh(_Sequence):
    """The tanh is missing.

    c = tanh(W_p h_0 + b_p). Without it the pooler and the classifier behind it would be one linear
    map.
    """

    def pooled(self, state: Tensor) -> Tensor:
        """Linear."""
        return self.pooler(state)


class SequenceTanhFirst(_Sequence):
    """The tanh comes before the pooler's projection.

    c = tanh(W_p h_0 + b_p): first the projection, then the tanh.
    """

    def pooled(self, state: Tensor) -> Tensor:
        """The other way."""
        return self.pooler(torch.tanh(state))


class SequenceWithRelu(_Sequence):
    """A ReLU stands where BERT has tanh.

    c = tanh(W_p h_0 + b_p).
    """

    def pooled(self, state: Tensor) -> Tensor:
        """ReLU."""
        return self.pooler(state).relu()


class SequenceReturnsProbabilities(_Sequence):
    """These are probabilities, not logits.

    forward returns the scores before the softmax; the loss takes it itself.
    """

    def said(self, c: Tensor) -> Tensor:
        """Softmax."""
        return self.output(c).softmax(dim=-1)


class SequenceOfAllTokens(_Sequence):
    """There are logits for every token.

    That is the token classifier. Here one class is found for the whole input, from the state of
    [CLS] alone: (B, C).
    """

    def chosen(self, states: Tensor) -> Tensor:
        """All of them."""
        return states


class _Token(right.TokenClassifier):
    """The right classifier in pieces, so that a mistake changes one of them."""

    def read(self, tokens: Tensor, segments: Tensor | None) -> Tensor:
        """(B, N, d)."""
        return self.encoder(tokens, segments)

    def chosen(self, states: Tensor) -> Tensor:
        """(B, N, d)."""
        return states

    def said(self, states: Tensor) -> Tensor:
        """(B, N, C)."""
        return self.output(states)

    def forward(self, tokens: Tensor, segments: Tensor | None = None) -> Tensor:
        """As in the reference."""
        return self.said(self.chosen(self.read(tokens, segments)))


class TokensWithoutSegments(_Token):
    """The segments do not reach the encoder.

    Hand them on, whether they are ids or None; the encoder knows what None means.
    """

    def read(self, tokens: Tensor, segments: Tensor | None) -> Tensor:
        """Tokens alone."""
        return self.encoder(tokens, None)


class TokensFirstAlone(_Token):
    """Only the first token is classified.

    That is the sequence classifier. Here every token gets a class of its own, from its own state:
    (B, N, C).
    """

    def chosen(self, states: Tensor) -> Tensor:
        """First."""
        return states[:, 0]


class TokensWithoutFirst(_Token):
    """The first token is left out.

    [CLS] gets logits like every other token, (B, N, C), so that logits and ids have the same
    positions; the loss leaves out what has no label.
    """

    def chosen(self, states: Tensor) -> Tensor:
        """From 1."""
        return states[:, 1:]


class TokensWithTanh(_Token):
    """A tanh stands between the states and the classifier.

    The pooler's tanh belongs to the state of [CLS]. Here logits_i = W h_i + b.
    """

    def chosen(self, states: Tensor) -> Tensor:
        """tanh."""
        return torch.tanh(states)


class TokensReturnProbabilities(_Token):
    """These are probabilities, not logits.

    forward returns the scores before the softmax; the loss takes it itself.
    """

    def said(self, states: Tensor) -> Tensor:
        """Softmax."""
        return self.output(states).softmax(dim=-1)


class TokensClassesFirst(_Token):
    """The classes stand on axis 1, not on the last one.

    (B, C, N) is what F.cross_entropy wants to be given; the module returns (B, N, C), and the loss
    transposes.
    """

    def said(self, states: Tensor) -> Tensor:
        """(B, C, N)."""
        return self.output(states).transpose(1, 2)


class TokensWithoutBias(_Token):
    """The bias is missing.

    logits_i = W h_i + b.
    """

    def said(self, states: Tensor) -> Tensor:
        """W alone."""
        return states @ self.output.weight.T


class _Span(right.SpanPredictor):
    """The right predictor in pieces, so that a mistake changes one of them."""

    def read(self, tokens: Tensor, segments: Tensor | None) -> Tensor:
        """(B, N, d)."""
        return self.encoder(tokens, segments)

    def scored(self, states: Tensor) -> tuple[Tensor, Tensor]:
        """(B, N) each."""
        return states @ self.start, states @ self.end

    def forward(self, tokens: Tensor, segments: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """As in the reference."""
        return self.scored(self.read(tokens, segments))

    def orderly(self, first: Tensor, last: Tensor, longest: int) -> Tensor:
        """Which pairs of places may be an answer, (N, N)."""
        return (last >= first) & (last - first < longest)

    def within(self, passage: Tensor) -> Tensor:
        """(B, N, N)."""
        return passage[:, :, None] & passage[:, None]

    def sums(self, starts: Tensor, ends: Tensor) -> Tensor:
        """(B, N, N)."""
        return starts[:, :, None] + ends[:, None]

    def hidden(self, sums: Tensor, allowed: Tensor) -> Tensor:
        """(B, N, N)."""
        return sums.masked_fill(~allowed, -torch.inf)

    def best(
        self, start_scores: Tensor, end_scores: Tensor, passage: Tensor, longest: int = 30
    ) -> tuple[Tensor, Tensor]:
        """As in the reference."""
        N = start_scores.shape[1]
        places = torch.arange(N)
        allowed = self.within(passage) & self.orderly(places[:, None], places, longest)
        chosen = self.hidden(self.sums(start_scores, end_scores), allowed).flatten(1).argmax(1)
        return chosen // N, chosen % N


class SpanWithoutSegments(_Span):
    """The segments do not reach the encoder.

    They tell the question from the passage. Hand them on, whether they are ids or None.
    """

    def read(self, tokens: Tensor, segments: Tensor | None) -> Tensor:
        """Tokens alone."""
        return self.encoder(tokens, None)


class SpanSwapped(_Span):
    """Beginnings and ends are swapped.

    forward returns the scores of the beginnings first, S . h_i, then those of the ends, E . h_j.
    """

    def scored(self, states: Tensor) -> tuple[Tensor, Tensor]:
        """Swapped."""
        return states @ self.end, states @ self.start


class SpanReturnsProbabilities(_Span):
    """These are probabilities, not scores.

    forward returns the products before the softmax over the places; the loss takes it itself, and
    best compares sums of scores.
    """

    def scored(self, states: Tensor) -> tuple[Tensor, Tensor]:
        """Softmax."""
        return (states @ self.start).softmax(dim=1), (states @ self.end).softmax(dim=1)


class SpanLogProbabilities(_Span):
    """These are log-probabilities, not scores.

    forward returns the products as they are. The loss takes the log-softmax itself.
    """

    def scored(self, states: Tensor) -> tuple[Tensor, Tensor]:
        """Log-softmax."""
        return (states @ self.start).log_softmax(dim=1), (states @ self.end).log_softmax(dim=1)


class SpanAnyOrder(_Span):
    """The answer may end before it begins.

    Beginning and end are looked for each by itself. The best pair i <= j counts: form all sums,
    and set those of pairs in the wrong order to minus infinity.
    """

    def orderly(self, first: Tensor, last: Tensor, longest: int) -> Tensor:
        """Any."""
        return torch.ones_like(last >= first)


class SpanOutsideThePassage(_Span):
    """The answer may lie outside of the passage.

    Question, [CLS], [SEP] and padding have scores too. Both ends must stand where passage is True.
    """

    def within(self, passage: Tensor) -> Tensor:
        """Everywhere."""
        return torch.ones_like(super().within(passage))


class SpanBeginsInThePassage(_Span):
    """Only the beginning has to be in the passage.

    The end must stand where passage is True, too.
    """

    def within(self, passage: Tensor) -> Tensor:
        """First."""
        return passage[:, :, None].expand(-1, -1, passage.shape[1])


class SpanEndsInThePassage(_Span):
    """Only the end has to be in the passage.

    The beginning must stand where passage is True, too.
    """

    def within(self, passage: Tensor) -> Tensor:
        """Last."""
        return passage[:, None].expand(-1, passage.shape[1], -1)


class SpanOfAnyLength(_Span):
    """The answer may have any length.

    It has at most longest tokens: last - first + 1 <= longest.
    """

    def orderly(self, first: Tensor, last: Tensor, longest: int) -> Tensor:
        """Only in order."""
        return last >= first


class SpanOneTooLong(_Span):
    """The answer may be one token too long.

    An answer from first to last has last - first + 1 tokens, and may have longest:
    last < first + longest.
    """

    def orderly(self, first: Tensor, last: Tensor, longest: int) -> Tensor:
        """<=."""
        return (last >= first) & (last - first <= longest)


class SpanOneTooShort(_Span):
    """The answer may not be as long as allowed.

    An answer from first to last has last - first + 1 tokens, and may have longest of them.
    """

    def orderly(self, first: Tensor, last: Tensor, longest: int) -> Tensor:
        """One less, but an answer of one token always."""
        return (last >= first) & ((last - first < longest - 1) | (last == first))


class SpanOfTwoAtLeast(_Span):
    """An answer of a single token is not allowed.

    An answer may begin and end with the same token: i <= j.
    """

    def orderly(self, first: Tensor, last: Tensor, longest: int) -> Tensor:
        """Later, if that is possible at all."""
        later = (last > first) & (last - first < longest)
        return later if later.any() else last == first


class SpanGreedy(_Span):
    """The best beginning is chosen first, and then the best end behind it.

    The best beginning need not belong to the best pair: a little worse a beginning may have a much
    better end. All pairs have to be compared.
    """

    def sums(self, starts: Tensor, ends: Tensor) -> Tensor:
        """What begins best wins, whatever its end."""
        return 1e6 * starts[:, :, None] + ends[:, None]


class SpanWithoutHoles(_Span):
    """All tokens of an answer have to be in the passage.

    Only its first and its last have to be: what stands between them may be anything.
    """

    def within(self, passage: Tensor) -> Tensor:
        """As many holes before the end as before the beginning."""
        holes = (~passage).cumsum(dim=1)
        return super().within(passage) & (holes[:, :, None] == holes[:, None])


class SpanHiddenByZero(_Span):
    """Pairs that are not allowed get the score 0.

    If all scores are negative, 0 is the largest. Set them to minus infinity.
    """

    def hidden(self, sums: Tensor, allowed: Tensor) -> Tensor:
        """Times the mask."""
        return sums * allowed


class SpanEndsBehind(_Span):
    """The end is the place behind the last token.

    best returns the first and the last token of the answer, both of which belong to it.
    """

    def best(
        self, start_scores: Tensor, end_scores: Tensor, passage: Tensor, longest: int = 30
    ) -> tuple[Tensor, Tensor]:
        """As a slice."""
        first, last = super().best(start_scores, end_scores, passage, longest)
        return first, last + 1


class SpanProductOfScores(_Span):
    """The scores are multiplied, not added.

    Probabilities would be multiplied. These are scores before the softmax, whose exponentials are
    the probabilities' shares: they are added.
    """

    def sums(self, starts: Tensor, ends: Tensor) -> Tensor:
        """Product."""
        return starts[:, :, None] * ends[:, None]


MISCONCEPTIONS: dict[str, list[Any]] = {
    "SequenceClassifier": [
        SequenceWithoutSegments,
        SequenceOfTheMean,
        SequenceOfTheLast,
        SequenceOfTheLargest,
        SequenceWithoutPooler,
        SequenceWithoutTanh,
        SequenceTanhFirst,
        SequenceWithRelu,
        SequenceReturnsProbabilities,
        SequenceOfAllTokens,
    ],
    "TokenClassifier": [
        TokensWithoutSegments,
        TokensFirstAlone,
        TokensWithoutFirst,
        TokensWithTanh,
        TokensReturnProbabilities,
        TokensClassesFirst,
        TokensWithoutBias,
    ],
    "SpanPredictor": [
        SpanWithoutSegments,
        SpanSwapped,
        SpanReturnsProbabilities,
        SpanLogProbabilities,
        SpanAnyOrder,
        SpanOutsideThePassage,
        SpanBeginsInThePassage,
        SpanEndsInThePassage,
        SpanOfAnyLength,
        SpanOneTooLong,
        SpanOneTooShort,
        SpanOfTwoAtLeast,
        SpanGreedy,
        SpanWithoutHoles,
        SpanHiddenByZero,
        SpanEndsBehind,
        SpanProductOfScores,
    ],
}
