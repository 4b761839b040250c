"""The exercises of the notebook `bert/inputs`: what is called with which inputs."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor

from autograder.exercises._dropout_cases import add_training_cases
from autograder.exercises._padded_sequences import make_second_batch_case
from autograder.spec import plain_codec
from autograder.spec.binomial_bounds import is_plausible
from autograder.spec.exercise import Call, Case, Exercise, Fake
from autograder.spec.outcome import Outcome
from autograder.spec.seeded_inputs import SeededInputs, increase_variance

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_RANDOM_WORDS = 10


def _syllables(draw: SeededInputs, count: int) -> list[str]:
    """Return strings of two or three letters, none of which share a letter."""
    left = list(_LETTERS)
    return [
        "".join(left.pop(draw.integer(0, len(left) - 1)) for _ in range(draw.integer(2, 3)))
        for _ in range(count)
    ]


def _written(draw: SeededInputs, letters: str, length: int) -> str:
    return "".join(letters[draw.integer(0, len(letters) - 1)] for _ in range(length))


def _wordpiece_cases(draw: SeededInputs) -> list[Case]:
    kept = {"pieces": "a list of strings"}

    def case(
        name: str, word: str, pieces: Sequence[str] | Fake, unknown: str = "", note: str = ""
    ) -> Case:
        vocabulary = pieces if isinstance(pieces, Fake) else list(pieces)
        given: dict[str, Any] = {"word": word, "vocabulary": vocabulary}
        if unknown:
            given["unknown"] = unknown
        return Case(name, {}, (Call("", tuple(given), ("pieces",), plain=kept),), given, note=note)

    def random_case(number: int) -> Case:
        pieces = []
        for _ in range(9):
            piece = _written(draw, "abc", draw.integer(1, 3))
            pieces.append(piece if draw.integer(0, 1) else f"##{piece}")
        word = _written(draw, "abc", draw.integer(2, 7))
        return case(f"a word of a, b, c: number {number}", word, [*pieces, "a", "##b", "##c"])

    a, b, c, d = _syllables(draw, 4)
    first, second = a[0], a[1]
    hangul = "".join(chr(0xAC00 + draw.integer(0, 11_000)) for _ in range(5))
    times = draw.integer(3, 5)
    alone = "The vocabulary may be anything that knows `in`: no loop over it, no length, no index."
    long = "A word of more than 100 characters is unknown, whatever the vocabulary has."
    return [
        case("a word that is a piece", a + b, [a + b, a, f"##{b}", f"##{a + b}"]),
        case("a word of two pieces", a + b, [a, b, f"##{a}", f"##{b}", first]),
        case("a word of three pieces", a + b + c, ["[UNK]", f"##{c}", f"##{b}", a, c]),
        case("one letter", first, [second, first, f"##{first}"]),
        case("one letter that is not there", first, [second, f"##{first}"]),
        case("a word in single letters", a + b, [*a, *(f"##{letter}" for letter in a + b)]),
        case(
            "the longest first piece wins",
            a + b + c,
            [a, a + b, f"##{b}", f"##{c}", f"##{b + c}"],
            note="From the left, the longest piece is taken each time.",
        ),
        case(
            "the longest of the later pieces wins",
            a + b + c,
            [a, f"##{b}", f"##{c}", f"##{b + c}", f"##{b + c[0]}"],
        ),
        case(
            "the longest last piece would leave more to spell",
            a + b + c,
            [first, f"##{a[1:]}", a + b, f"##{c}", f"##{b + c}"],
            note="From the left, the longest piece is taken each time.",
        ),
        case(
            "the longest piece leads nowhere, a shorter one would",
            a + b + c,
            [a, a + b, f"##{b + c}"],
            note="What was taken is not given back: then the word is unknown.",
        ),
        case("a later piece that stands there only without ##", a + b, [a, b, first]),
        case("a first piece that stands there only with ##", a + b, [f"##{a}", f"##{b}", b]),
        case("the whole word only with ##", a + b, [f"##{a + b}", a, f"##{b}"]),
        case("the end of a word has no piece", a + b + c, [a, f"##{b}", c, a + b]),
        case("the middle of a word has no piece", a + b + c, [a, f"##{c}", b]),
        case("the beginning of a word has no piece", a + b + c, [b, f"##{b}", f"##{c}", b + c]),
        case("nothing fits", a + b, [d, f"##{d}"]),
        case("an empty vocabulary", a, []),
        case("a piece that comes again", b + a * times, [b, f"##{a}"]),
        case("a letter that comes again", first * times, [first, f"##{first}"]),
        case("capital letters", (a + b).capitalize(), [a, f"##{b}", a + b, "[UNK]"]),
        case(
            "letters of another script", hangul, [hangul[:2], f"##{hangul[2:4]}", f"##{hangul[4]}"]
        ),
        case("an empty word", "", [a, f"##{b}"]),
        case("an empty word, and a sign of its own", "", [a, f"##{b}"], f"<{c}>"),
        case("a sign of its own for what cannot be spelt", a + b, [a, b], f"<{c}>"),
        case("a sign of its own is not needed", a + b, [a, f"##{b}"], f"<{c}>"),
        case("100 characters", (first + second) * 50, [first + second, f"##{first + second}"]),
        case("100 characters of several bytes", hangul * 20, [hangul, f"##{hangul}"]),
        case(
            "101 characters",
            (first + second) * 50 + first,
            [first + second, f"##{first + second}", f"##{first}"],
            note=long,
        ),
        case("101 characters that are a piece", a[:1] * 101, [a[:1] * 101, a], note=long),
        case("101 characters, and a sign of its own", first * 101, [first, f"##{first}"], f"<{c}>"),
        case("a dict from pieces to ids", a + b, Fake("PieceIds", (a, f"##{b}", b))),
        case(
            "a vocabulary that can only be asked with `in`",
            a + b + c,
            Fake("PieceSet", (a, f"##{b}", f"##{b + c}", c)),
            note=alone,
        ),
        case(
            "a vocabulary that can only be asked with `in`, and lacks a piece",
            a + b + c,
            Fake("PieceSet", (a, f"##{b}", c)),
            note=alone,
        ),
        case(
            "a vocabulary that has ## itself",
            a + b,
            [a, "##"],
            note="A piece has letters: ## alone spells nothing.",
        ),
        *(random_case(number) for number in range(1, _RANDOM_WORDS + 1)),
    ]


WORDPIECE = Exercise(
    name="wordpiece",
    points=3,
    difficulty=2,
    minutes=20,
    signature="(word, vocabulary, unknown='[UNK]')",
    axes={},
    cases=_wordpiece_cases,
)


def _ids(draw: SeededInputs, *shape: int, below: int) -> Tensor:
    """Return ids from 0: no id means padding here."""
    return draw.tokens(*shape, vocabulary_size=below + 1) - 1


def _embedding_cases(draw: SeededInputs) -> list[Case]:
    def case(
        name: str,
        b: int,
        n: int,
        d: int,
        longest: int,
        v: int = 11,
        kinds: int = 2,
        arguments: tuple[str, ...] = ("tokens", "segments"),
        in_segment: int | None = None,
        eps: float | None = None,
        scale: float = 1.0,
        note: str = "",
    ) -> Case:
        parts = _ids(draw, b, n, below=kinds)
        if in_segment is not None:
            parts = torch.full_like(parts, in_segment)
        inputs, given = {"tokens": _ids(draw, b, n, below=v), "segments": parts}, {}
        if "segments" not in arguments:
            del inputs["segments"]
        if "nothing" in arguments:
            given = {"nothing": None}
        upstream = {"embedded": draw.tensor(b, n, d)}
        construct: dict[str, Any] = {
            "vocabulary_size": v,
            "hidden_size": d,
            "max_length": longest,
            "segments": kinds,
        }
        if eps is not None:
            construct |= {"dropout": 0.0, "eps": eps}
        return Case(
            name,
            inputs,
            (Call("forward", arguments, ("embedded",)),),
            given=given,
            construct=construct,
            weights={
                "token.weight": draw.tensor(v, d, scale=scale),
                "segment.weight": draw.tensor(kinds, d, scale=0.8 * scale),
                "position.weight": increase_variance(
                    draw.tensor(longest, d, scale=0.9 * scale), by=4 * scale
                ),
                "norm.weight": draw.tensor(d, scale=0.4, shift=1.2),
                "norm.bias": draw.tensor(d, scale=0.5),
            },
            upstream=upstream,
            note=note,
        )

    b, n, d, longest = draw.sizes(4, 3, 9)
    n, longest = sorted((n, longest))
    zero = "Without segments every token is in segment 0, and gets its vector too."
    return [
        case("one text of one token", 1, 1, 4, 3),
        case("one text of three tokens", 1, 3, 4, 5),
        case("two texts of three tokens", 2, 3, 5, 4),
        case("all sizes different", b, n, d, longest, v=12),
        case("segments is None", b, n, d, longest, arguments=("tokens", "nothing"), note=zero),
        case("tokens alone", b, n, d, longest, arguments=("tokens",), note=zero),
        case("as many tokens as positions", b, longest, d, longest),
        case("as many texts as tokens", n, n, d, longest),
        case("as many tokens as numbers in a vector", b, d, d, d + 2),
        case("all sizes equal", 4, 4, 4, 4, v=4),
        case("three kinds of segments", b, n, d, longest, kinds=3),
        case("all tokens in the second segment", b, n, d, longest, in_segment=1),
        case("a large eps", b, n, d, longest, eps=0.75),
        case(
            "small numbers",
            b,
            n,
            d,
            longest,
            scale=2e-3,
            note="eps is that of the layer `norm`, 1e-12, not torch's 1e-5.",
        ),
        make_second_batch_case(case("", 2, 3, 4, 5), case("", 3, 5, 4, 5)),
        *add_training_cases(case("", 2, 3, 4, 5), "the result, behind the norm"),
    ]


BERT_EMBEDDINGS = Exercise(
    name="BertEmbeddings",
    points=3,
    difficulty=1,
    minutes=15,
    signature="(tokens, segments=None)",
    axes={"tokens": "B N", "segments": "B N", "embedded": "B N d"},
    cases=_embedding_cases,
    is_class=True,
)


# mask_tokens: what a right answer returns depends on chance
_MASKED, _RANDOM = 0.8, 0.1  # of the chosen tokens; the others stay as they are
_CHOSEN = 0.15
_HARDLY = 0.03  # a share that may come about by chance alone, where a random token is the true one
_SHORT, _TIMES = 20, 40  # texts of so many tokens, so often


def _probability(call: Call, case: Case) -> float:
    return case.given[str(call.arguments[5])] if len(call.arguments) > 5 else _CHOSEN


def _read(call: Call, case: Case, outcome: Outcome) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return tokens, special, inputs and labels of one call."""
    tokens, special = (case.inputs[str(name)] for name in call.arguments[:2])
    inputs, labels = (outcome.outputs[str(name)].long() for name in call.returns)
    return tokens, special, inputs, labels


def _fits(call: Call, case: Case, outcome: Outcome) -> str:
    """Return what is wrong with inputs and labels of one call, whatever was drawn."""
    tokens, special, inputs, labels = _read(call, case, outcome)
    chosen = labels.ne(-100)
    if (chosen & (labels != tokens)).any():
        if torch.equal(labels[chosen], inputs[chosen]):
            return (
                "labels holds what the model sees; what it has to find are the true ids, those of "
                "tokens."
            )
        if set(labels[chosen & (labels != tokens)].tolist()) == {0}:
            return "labels holds 0 where no token was chosen; it must hold -100 there."
        return (
            "labels holds something else than true ids and -100: where a token was chosen stands "
            "its id, everywhere else -100."
        )
    if (chosen & special).any():
        return "A special token is chosen; those are never hidden and never predicted."
    if (special & (inputs != tokens)).any():
        return "inputs has another id at a special token, which is never hidden or replaced."
    if ((inputs != tokens) & ~chosen).any():
        return (
            "inputs differs from tokens where labels is -100: only chosen tokens are hidden or "
            "replaced, and each chosen one has a label."
        )
    if ((inputs < 0) | (inputs >= case.given["vocabulary_size"])).any():
        return "inputs holds an id that is not in the vocabulary."
    return ""


def _masked(case: Case, outcome: Outcome) -> str:
    """Every call fits together; a token that must be chosen or must not be is treated so."""
    for call in case.calls:
        if said := _fits(call, case, outcome):
            return said
        _, special, _, labels = _read(call, case, outcome)
        if _probability(call, case) == 1 and ((labels == -100) & ~special).any():
            return "With a probability of 1 every token that is not special is chosen."
        if _probability(call, case) == 0 and (labels != -100).any():
            return "With a probability of 0 no token is chosen."
    return ""


def _masked_by_the_generator(case: Case, outcome: Outcome) -> str:
    """The generator decides, and nothing else."""
    if said := _masked(case, outcome):
        return said
    drawn = {
        which: torch.stack([outcome.outputs[f"{which}{name}"].long() for name in _RESULTS])
        for which in _TURNS
    }
    if not torch.equal(drawn[""], drawn["twin_"]):
        return (
            "Two generators of the same seed give different results: all that is drawn must be "
            "drawn with the generator that is passed."
        )
    if torch.equal(drawn[""], drawn["other_"]):
        return (
            "Generators of different seeds give the same result: the tokens must be drawn, with "
            "the generator that is passed."
        )
    if torch.equal(drawn[""], drawn["later_"]):
        return (
            "A second call with the same generator gives the same result again: leave its seed "
            "alone, so that each call goes on where the one before has stopped."
        )
    return ""


def _masked_without_a_generator(case: Case, outcome: Outcome) -> str:
    """Two calls do not give the same."""
    if said := _masked(case, outcome):
        return said
    if torch.equal(outcome.outputs["labels"].long(), outcome.outputs["again_labels"].long()):
        return (
            "Two calls without a generator choose the same tokens: torch's own generator has to "
            "draw them, and a new torch.Generator() always begins at the same seed."
        )
    return ""


def _binomial(k: int, n: int, p: float) -> float:
    return math.comb(n, k) * p**k * (1 - p) ** (n - k)


def _chosen_as_often_as_they_should(case: Case, outcome: Outcome) -> str:
    """In a text of equal rows without special tokens, each token is chosen by itself."""
    if said := _masked(case, outcome):
        return said
    for call in case.calls:
        p = _probability(call, case)
        _, _, _, labels = _read(call, case, outcome)
        chosen = labels.ne(-100)
        if chosen.all():
            return (
                "Every token has a label, although only some are to be predicted: labels is -100 "
                "where a token was not chosen."
            )
        rows, columns = chosen.sum(1).tolist(), chosen.sum(0).tolist()
        b, n = chosen.shape
        if set(columns) <= {0, b}:
            return (
                "The same places are chosen in all rows: each token of each row is chosen or not "
                "by itself."
            )
        if set(rows) <= {0, n}:
            return (
                "Whole rows are chosen, or nothing of them: each token is chosen or not by itself."
            )
        share = sum(rows) / (b * n)
        if not is_plausible(sum(rows), b * n, p):
            how = "often" if share > p else "seldom"
            return f"Tokens are chosen too {how}: each with the given probability, 0.15 if none is."
        counts = Counter(rows)
        if not all(is_plausible(counts[k], b, _binomial(k, n, p)) for k in range(n + 1)):
            return _NOT_BY_ITSELF
        if not all(is_plausible(count, b, p) for count in columns):
            return "Some places are chosen more often than others; no place in a text counts more."
    return ""


_NOT_BY_ITSELF = (
    "The number of chosen tokens does not vary as it should: no number of them is fixed. Each "
    "token is chosen or not by itself, so that some texts get more and some fewer."
)
_ALL_HIDDEN = "All chosen tokens become [MASK]; it should be 80 % of them."


def _number_not_fixed(case: Case, outcome: Outcome) -> str:
    """Over many calls, the number of chosen tokens varies as a binomial number does."""
    if said := _masked(case, outcome):
        return said
    counts: Counter[int] = Counter()
    hidden = 0
    for call in case.calls:
        _, _, inputs, labels = _read(call, case, outcome)
        chosen = labels.ne(-100)
        counts[int(chosen.sum())] += 1
        hidden += int((chosen & (inputs == case.given["mask_id"])).sum())
    total = sum(k * times for k, times in counts.items())
    if total == _SHORT * _TIMES:
        return "Every token has a label, although only some are to be predicted."
    if hidden == total > 2 * _TIMES:
        return _ALL_HIDDEN
    for k in range(_SHORT + 1):
        if not is_plausible(counts[k], _TIMES, _binomial(k, _SHORT, _CHOSEN)):
            return _NOT_BY_ITSELF
    return ""


def _fates_as_they_should(case: Case, outcome: Outcome) -> str:
    """All tokens are chosen here: 80 % become [MASK], 10 % any token, 10 % stay."""
    if said := _masked(case, outcome):
        return said
    (call,) = case.calls
    tokens, _, inputs, _ = _read(call, case, outcome)
    v, mask_id = case.given["vocabulary_size"], case.given["mask_id"]
    hidden, same = inputs == mask_id, inputs == tokens
    replaced = ~hidden & ~same
    total = tokens.numel()
    if hidden.all():
        return _ALL_HIDDEN
    for where in (hidden, replaced, same):
        share = float(where.sum()) / total
        for axis in (0, 1):
            size = tokens.shape[axis]
            if not all(is_plausible(n, size, share) for n in where.sum(axis).tolist()):
                return (
                    "What happens to chosen tokens is decided for several at once; it is drawn for "
                    "each one."
                )
    # A random token may happen to be [MASK], or the true one.
    shares = {
        "become [MASK]": (hidden, _MASKED + _RANDOM / v, "80 %"),
        "become another token": (replaced, _RANDOM * (v - 2) / v, "10 %"),
        "stay as they are": (same, 1 - _MASKED - _RANDOM + _RANDOM / v, "10 %"),
    }
    for what, (where, _, meant) in shares.items():
        if where.sum() < _HARDLY * total:
            some = "None" if not where.any() else "Hardly any"
            return f"{some} of the chosen tokens {what}; it should be {meant} of them."
    for what, (where, p, meant) in shares.items():
        count = int(where.sum())
        if not is_plausible(count, total, p):
            how = "many" if count > total * p else "few"
            return f"Too {how} of the chosen tokens {what}; it should be {meant} of them."
    for row, where in zip(inputs, replaced, strict=True):
        if where.sum() > 12 and len(row[where].unique()) == 1:
            return "All tokens that are replaced get the same one; draw one for each."
    for token in range(v):
        if token == mask_id:
            continue
        count = int((replaced & (inputs == token)).sum())
        if not is_plausible(count, int((tokens != token).sum()), _RANDOM / v):
            return (
                "The random tokens are not uniform: each id from 0 to vocabulary_size - 1 is as "
                "probable as any other, special ones and those that are not in the text too."
            )
    return ""


def _few_ids(case: Case, outcome: Outcome) -> str:
    """All tokens are 0 and chosen here: where there are few ids, a random one often is the true."""
    if said := _masked(case, outcome):
        return said
    (call,) = case.calls
    _, _, inputs, _ = _read(call, case, outcome)
    v, mask_id = case.given["vocabulary_size"], case.given["mask_id"]
    stay = 1 - _MASKED - _RANDOM
    for token in range(v):
        p = _RANDOM / v + _MASKED * (token == mask_id) + stay * (token == 0)
        if not is_plausible(int((inputs == token).sum()), inputs.numel(), p):
            return (
                "The shares are not right: of the chosen tokens 80 % become [MASK], 10 % any id "
                "from 0 to vocabulary_size - 1, the true one and [MASK] among them, 10 % stay. "
                "Draw one number for each token and cut its range: two draws are independent."
            )
    return ""


_RESULTS = ("inputs", "labels")
_TURNS = ("", "twin_", "other_", "later_")


def _masking_cases(draw: SeededInputs) -> list[Case]:
    def call(*more: str, prefix: str = "") -> Call:
        arguments = ("tokens", "special", "vocabulary_size", "mask_id", *more)
        return Call("", arguments, tuple(prefix + name for name in _RESULTS))

    def seeds(*names: str) -> dict[str, Fake]:
        # Far from each other, and never twice the same.
        return {
            name: Fake("Generator", (number * 10**6 + draw.integer(1, 10**6),))
            for number, name in enumerate(names)
        }

    def case(
        name: str,
        tokens: Tensor,
        v: int,
        mask_id: int,
        special: Tensor | None = None,
        probability: float | None = None,
        relation: Any = _masked,
        note: str = "",
    ) -> Case:
        given: dict[str, Any] = {"vocabulary_size": v, "mask_id": mask_id, **seeds("generator")}
        arguments = ["generator"]
        if probability is not None:
            given["probability"] = probability
            arguments.append("probability")
        if special is None:
            special = torch.zeros_like(tokens, dtype=torch.bool)
        return Case(
            name,
            {"tokens": tokens, "special": special},
            (call(*arguments),),
            given=given,
            random=_RESULTS,
            relation=relation,
            note=note,
        )

    def framed(b: int, n: int, v: int) -> tuple[Tensor, Tensor]:
        """Texts [CLS] ... [SEP] with padding behind, ids 0, 2 and 3; and which tokens those are."""
        tokens = _ids(draw, b, n, below=v - 5) + 5
        lengths = torch.tensor([draw.integer(n // 2, n - 1) for _ in range(b)]).unsqueeze(1)
        places = torch.arange(n)
        tokens = tokens.masked_fill(places == 0, 2)
        tokens = tokens.masked_fill(places == lengths - 1, 3).masked_fill(places >= lengths, 0)
        return tokens, tokens < 5

    b, n = draw.integer(6, 9), draw.integer(300, 340)
    v = draw.integer(30, 60)
    texts_, marks = framed(b, n, v)
    # What is special is said by the mask, not by the id.
    anything = _ids(draw, b, n, below=v)
    anywhere = draw.holes(b, n)
    short = [_ids(draw, 1, _SHORT, below=v) for _ in range(_TIMES)]
    # So many that not even whole texts, or the same places in all, are chosen alike twice.
    some, some_marks = framed(64, draw.integer(60, 70), v)
    several = {"tokens": some, "special": some_marks}
    sizes = {"vocabulary_size": v, "mask_id": 4}
    nought = torch.zeros(80, 100, dtype=torch.long)
    twins = seeds("generator", "other")
    return [
        case("everything is special", texts_, v, 4, torch.ones_like(marks), 0.9),
        case("a probability of 0", texts_, v, 4, marks, 0.0),
        case("one text, a probability of 1", _ids(draw, 1, 450, below=v), v, 4, None, 1.0),
        case("ids in one row", _ids(draw, 460, below=v), v, 4, None, 1.0),
        case("ids with three axes", _ids(draw, 5, 3, 31, below=v), v, 4, None, 1.0),
        case("texts with marks and padding", texts_, v, 4, marks),
        case("texts with marks and padding, a probability of 1", texts_, v, 4, marks, 1.0),
        case(
            "any token may be special, whatever its id",
            anything,
            v,
            v - 1,
            anywhere,
            1.0,
            note="What is special is said by the mask, not by the id.",
        ),
        Case(
            "generators of the same seed and of others",
            several,
            tuple(
                call(which, prefix=prefix)
                for which, prefix in zip(
                    ("generator", "twin", "other", "generator"), _TURNS, strict=True
                )
            ),
            given={**sizes, **twins, "twin": twins["generator"]},
            random=tuple(turn + name for turn in _TURNS for name in _RESULTS),
            relation=_masked_by_the_generator,
        ),
        Case(
            "no generator",
            several,
            (call(), call("nothing", prefix="again_")),
            given={**sizes, "nothing": None},
            random=tuple(turn + name for turn in ("", "again_") for name in _RESULTS),
            relation=_masked_without_a_generator,
        ),
        case(
            "many texts of equal length",
            _ids(draw, 340, 25, below=v),
            v,
            4,
            relation=_chosen_as_often_as_they_should,
        ),
        case(
            "another probability",
            _ids(draw, 75, 24, below=v),
            v,
            4,
            None,
            0.4,
            _chosen_as_often_as_they_should,
        ),
        Case(
            "many short texts, one after the other",
            {f"tokens_{i}": tokens for i, tokens in enumerate(short)}
            | {"special": torch.zeros(1, _SHORT, dtype=torch.bool)},
            tuple(
                Call(
                    "",
                    (f"tokens_{i}", "special", "vocabulary_size", "mask_id", "generator"),
                    (f"inputs_{i}", f"labels_{i}"),
                )
                for i in range(_TIMES)
            ),
            given={**sizes, **seeds("generator")},
            random=tuple(f"{name}_{i}" for i in range(_TIMES) for name in _RESULTS),
            relation=_number_not_fixed,
        ),
        case(
            "what becomes of many chosen tokens",
            _ids(draw, 40, 250, below=6) + 2,  # ids 0, 1 and 8 to 10 are in no text
            11,
            9,
            None,
            1.0,
            _fates_as_they_should,
        ),
        *(case(f"a vocabulary of {v} ids", nought, v, v - 1, None, 1.0, _few_ids) for v in (2, 3)),
    ]


_MASKING_NAMES = [
    "tokens",
    "special",
    *(turn + name for turn in (*_TURNS, "again_") for name in _RESULTS),
    *(f"{name}_{i}" for i in range(_TIMES) for name in ("tokens", *_RESULTS)),
]


MASK_TOKENS = Exercise(
    name="mask_tokens",
    points=4,
    difficulty=2,
    minutes=25,
    signature=("(tokens, special, vocabulary_size, mask_id, generator=None, probability=0.15)"),
    axes=dict.fromkeys(_MASKING_NAMES, "..."),
    cases=_masking_cases,
)


# next_sentence_pairs: what a right answer returns depends on chance
_PAIRS = {"pairs": "a list of (first, second, is_next)"}
_MANY = 60  # so many coins never show the same side
Documents = list[list[Any]]


def _key(sentence: Any) -> str:
    return json.dumps(sentence)


def _pairs(documents: Documents, text: Tensor) -> tuple[str, list[tuple[str, bool, int]]]:
    """Look at the pairs of one call.

    Returns:
        what is wrong with them whatever was drawn, or "", and for each pair the second sentence,
        whether it is the next one, and the number of the document.
    """
    try:
        pairs = plain_codec.decode_plain(text)
    except ValueError:
        pairs = None
    shape = "pairs must be a list of (first, second, is_next), and is_next True or False."
    if not isinstance(pairs, list) or not all(
        isinstance(pair, list) and len(pair) == 3 and isinstance(pair[2], bool) for pair in pairs
    ):
        return shape, []
    neighbours = [
        (_key(one), _key(two), number)
        for number, document in enumerate(documents)
        for one, two in pairwise(document)
    ]
    if len(pairs) < len(neighbours):
        return (
            "There are too few pairs: each two neighbours of a document give one, so that a "
            "document of n sentences gives n - 1.",
            [],
        )
    firsts, ends = {_key(pair[0]) for pair in pairs}, [d[-1] for d in documents[:-1] if d]
    if ends and firsts.issuperset(map(_key, ends)):
        return (
            "There are pairs that begin with the last sentence of a document, which no sentence of "
            "that document follows.",
            [],
        )
    if len(pairs) > len(neighbours):
        return "There are too many pairs: each two neighbours of a document give one.", []
    if [_key(first) for first, _, _ in pairs] != [one for one, _, _ in neighbours]:
        return (
            "The first sentences are not those of the documents in their order: all but the last "
            "of the first document, then those of the second, and so on.",
            [],
        )
    drawn = []
    wrong_next, own, foreign, invented = False, False, False, False
    everything = [{_key(sentence) for sentence in document} for document in documents]
    for (_, second, is_next), (_, following, number) in zip(pairs, neighbours, strict=True):
        key = _key(second)
        elsewhere = any(key in d for i, d in enumerate(everything) if i != number)
        if is_next:
            wrong_next |= key != following
        else:
            foreign |= elsewhere
            own |= key in everything[number] and not elsewhere
            invented |= key not in everything[number] and not elsewhere
        drawn.append((key, bool(is_next), number))
    if wrong_next:
        return "is_next is True where the second sentence is not the one that follows.", []
    if own and foreign:
        return "Where is_next is False, some second sentences are from the same document.", []
    if own:
        return "Where is_next is False, the second sentence is from the same document.", []
    if invented:
        return "A second sentence is no sentence of any document.", []
    coins = {is_next for _, is_next, _ in drawn}
    if len(drawn) >= _MANY and coins == {True}:
        return (
            "Every pair is a true one; for about half of them the second sentence is another.",
            [],
        )
    if len(drawn) >= _MANY and coins == {False}:
        return "No pair is a true one; about half of them should be.", []
    return "", drawn


def _paired(case: Case, outcome: Outcome) -> str:
    """Every call gives the pairs of its documents."""
    for call in case.calls:
        if call.returns:
            documents = case.given[str(call.arguments[0])]
            if said := _pairs(documents, outcome.outputs[str(call.returns[0])])[0]:
                return said
    return ""


def _paired_by_the_generator(case: Case, outcome: Outcome) -> str:
    """The generator decides, and nothing else."""
    if said := _paired(case, outcome):
        return said
    first, twin, other, later = (
        outcome.outputs[name].tolist() for name in ("pairs", "twin", "other", "later")
    )
    if first != twin:
        return (
            "Two generators of the same seed give different pairs: coins and sentences must be "
            "drawn with the generator that is passed."
        )
    if first == other:
        return (
            "Generators of different seeds give the same pairs: coins and sentences must be drawn, "
            "with the generator that is passed."
        )
    if first == later:
        return (
            "A second call with the same generator gives the same pairs again: leave its seed "
            "alone, so that each call goes on where the one before has stopped."
        )
    return ""


def _paired_without_a_generator(case: Case, outcome: Outcome) -> str:
    """Two calls do not give the same."""
    if said := _paired(case, outcome):
        return said
    if outcome.outputs["pairs"].tolist() == outcome.outputs["again"].tolist():
        return (
            "Two calls without a generator give the same pairs: torch's own generator has to draw "
            "them, and a new torch.Generator() always begins at the same seed."
        )
    return ""


_ALWAYS_TRUE = "Every pair is a true one; for about half of them the second sentence is another."
_SAME = "All wrong second sentences of a document are the same one; draw one for each pair."


def _fair(case: Case, outcome: Outcome) -> str:
    """Coins are fair and independent, and every sentence of another document has its chance.

    All documents are of one length and no sentence comes twice, so that it makes no difference
    whether a document is drawn first or a sentence at once.
    """
    documents = case.given["documents"]
    said, drawn = _pairs(documents, outcome.outputs["pairs"])
    if said:
        return said
    coins = [is_next for _, is_next, _ in drawn]
    if all(coins):
        return _ALWAYS_TRUE
    if not any(coins):
        return "No pair is a true one; about half of them should be."
    if not is_plausible(sum(coins), len(coins), 0.5):
        how = "many" if sum(coins) > len(coins) / 2 else "few"
        return f"Too {how} of the pairs are true ones: the coin is not fair."
    turns = sum(one != two for one, two in pairwise(coins))
    if not is_plausible(turns, len(coins) - 1, 0.5):
        return "The coins depend on each other: each pair needs one of its own."
    places = {
        _key(sentence): (number, place)
        for number, document in enumerate(documents)
        for place, sentence in enumerate(document)
    }
    size, count = len(documents[0]), len(documents)
    for number in range(count):
        negatives = [places[key] for key, is_next, own in drawn if not is_next and own == number]
        if len(set(negatives)) == 1:
            return _SAME
        for other_number in range(count):
            times = sum(where == other_number for where, _ in negatives)
            if other_number != number and not is_plausible(times, len(negatives), 1 / (count - 1)):
                return "Not every other document is as often chosen as it should be."
    negatives = [places[key] for key, is_next, _ in drawn if not is_next]
    if len({place for _, place in negatives}) == 1:
        return "The wrong second sentences all stand at the same place of their documents."
    turned = [i % (size - 1) for i, (_, is_next, _) in enumerate(drawn) if not is_next]
    for step in (0, 1):
        times = sum(i + step == place for i, (_, place) in zip(turned, negatives, strict=True))
        if not is_plausible(times, len(negatives), 1 / size):
            return (
                "Which sentence of another document comes depends on the place of the first "
                "sentence; any of them may come with any other."
            )
    tenth = size // 10
    for part in range(10):
        times = sum(place // tenth == part for _, place in negatives)
        if not is_plausible(times, len(negatives), 1 / 10):
            return (
                "Not every sentence of the other documents is as often chosen as it should be: any "
                "of them may come, from the first to the last."
            )
    return ""


def _single_ones_too(case: Case, outcome: Outcome) -> str:
    """Documents of one sentence give no pair, but their sentence may be chosen."""
    documents = case.given["documents"]
    said, drawn = _pairs(documents, outcome.outputs["pairs"])
    if said:
        return said
    if all(is_next for _, is_next, _ in drawn):
        return _ALWAYS_TRUE
    # They are at least half of the sentences that may be chosen, and most of the documents.
    singles = {_key(document[0]) for document in documents if len(document) == 1}
    for number in range(len(documents)):
        chosen = [key for key, is_next, own in drawn if not is_next and own == number]
        if len(chosen) > 10 and len(set(chosen)) == 1:
            return _SAME
    if not any(key in singles for key, is_next, _ in drawn if not is_next):
        return "The sentence of a document of one sentence may be chosen like any other."
    return ""


def _first_and_last(case: Case, outcome: Outcome) -> str:
    """Of documents of two sentences, either may be chosen."""
    documents = case.given["documents"]
    said, drawn = _pairs(documents, outcome.outputs["pairs"])
    if said:
        return said
    chosen = {key for key, is_next, _ in drawn if not is_next}
    if not chosen:
        return _ALWAYS_TRUE
    if not is_plausible(len(drawn) - sum(is_next for _, is_next, _ in drawn), len(drawn), 0.5):
        return "About half of the pairs should be true ones, each by a coin of its own."
    for place, name in enumerate(("first", "last")):
        if chosen.isdisjoint(_key(document[place]) for document in documents):
            return f"The {name} sentence of another document may be chosen like any other."
    return ""


def _pair_cases(draw: SeededInputs) -> list[Case]:
    def call(generator: str = "", returns: str = "pairs", documents: str = "documents") -> Call:
        arguments = (documents, generator) if generator else (documents,)
        return Call("", arguments, (returns,), plain={returns: _PAIRS["pairs"]})

    def seeds(*names: str) -> dict[str, Any]:
        return {
            name: Fake("Generator", (number * 10**6 + draw.integer(1, 10**6),))
            for number, name in enumerate(names)
        }

    def numbered(*lengths: int, first: int = 0) -> Documents:
        """Return documents whose sentences are numbers, all different, in no order."""
        numbers = list(range(first, first + sum(lengths)))
        left = [[numbers.pop(draw.integer(0, len(numbers) - 1)) for _ in range(n)] for n in lengths]
        return left

    def spoken(*lengths: int) -> Documents:
        """Return documents whose sentences are strings."""
        return [
            [f"{' '.join(_syllables(draw, 3))} {number}.{place}" for place in range(n)]
            for number, n in enumerate(lengths)
        ]

    def case(name: str, documents: Documents, relation: Any = _paired, note: str = "") -> Case:
        return Case(
            name,
            {},
            (call("generator"),),
            given={"documents": documents, **seeds("generator")},
            random=("pairs",),
            relation=relation,
            note=note,
        )

    def length() -> int:
        return draw.integer(35, 50)

    words = [[sentence.split() for sentence in document] for document in spoken(40, 1, 41)]
    again = numbered(length(), length())
    again[0][1:-1:2] = [again[0][1]] * len(again[0][1:-1:2])
    same = numbered(length())
    twins = seeds("generator", "other")
    refused = "With fewer than two documents that have a sentence there is nothing to draw from."
    return [
        case("two documents", numbered(length(), length())),
        case("three documents of different length", numbered(length(), 3, length())),
        case("sentences that are strings", spoken(length(), length(), 2)),
        case("sentences that are lists of words", words, note="A sentence may be anything."),
        case(
            "documents of one sentence, and of none",
            [[], *numbered(length(), 1, 0, length()), []],
            note="A document of one sentence gives no pair; an empty one gives no sentence at all.",
        ),
        case(
            "a sentence that comes again and again in its document",
            again,
            note="Go by the place of a sentence: index() finds the first one that is equal.",
        ),
        case(
            "two documents with the same sentences",
            [same[0], list(same[0])],
            note="Documents with the same sentences are two documents all the same.",
        ),
        Case(
            "fewer than two documents with a sentence",
            {},
            (
                Call("", ("no_documents",), (), raises="ValueError"),
                Call("", ("single", "generator"), (), raises="ValueError"),
                Call("", ("one_empty", "generator"), (), raises="ValueError"),
                call("generator"),
            ),
            given={
                "no_documents": [],
                "single": numbered(4),
                "one_empty": [*numbered(3), []],
                "documents": numbered(length(), length()),
                **seeds("generator"),
            },
            random=("pairs",),
            relation=_paired,
            note=refused,
        ),
        Case(
            "generators of the same seed and of others",
            {},
            (
                call("generator", "pairs"),
                call("twin", "twin"),
                call("other", "other"),
                call("generator", "later"),
            ),
            given={
                "documents": numbered(length(), length(), length()),
                **twins,
                "twin": twins["generator"],
            },
            random=("pairs", "twin", "other", "later"),
            relation=_paired_by_the_generator,
        ),
        Case(
            "no generator",
            {},
            (call(), call("nothing", "again")),
            given={"documents": numbered(length(), length()), "nothing": None},
            random=("pairs", "again"),
            relation=_paired_without_a_generator,
        ),
        case("many pairs", numbered(200, 200, 200), _fair),
        case(
            "a long document, and five of two sentences",
            numbered(length(), *[2] * 5),
            _first_and_last,
        ),
        case("many documents of one sentence", numbered(60, 60, *[1] * 60), _single_ones_too),
    ]


NEXT_SENTENCE_PAIRS = Exercise(
    name="next_sentence_pairs",
    points=3,
    difficulty=2,
    minutes=20,
    signature="(documents, generator=None)",
    axes={},
    cases=_pair_cases,
)
