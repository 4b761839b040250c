"""The exercises of the notebook `seq2seq/encoder_decoder`: what is called with which inputs."""

from __future__ import annotations

import torch
from torch import Tensor

from autograder.drawing import Draw, below
from autograder.exercise import Call, Case, Exercise, Part
from autograder.exercises.reading import (
    KEPT,
    SECOND,
    also_others,
    other,
    others,
    padded_tokens,
    recurrent,
)


def _encoder_cases(draw: Draw) -> list[Case]:
    call = Call("forward", ("tokens", "lengths"), ("states", "final"))
    again = Call("forward", other("tokens", "lengths"), other("states", "final"))

    def case(
        name: str,
        lengths: Tensor,
        longest: int,
        v: int,
        e: int,
        d: int,
        other_lengths: Tensor | None = None,
    ) -> Case:
        inputs = {"tokens": padded_tokens(draw, lengths, longest, v), "lengths": lengths}
        real = {"states": below(lengths, longest)}
        if other_lengths is not None:
            tokens = padded_tokens(draw, other_lengths, longest, v)
            inputs |= others({"tokens": tokens, "lengths": other_lengths})
            real["other_states"] = below(other_lengths, longest)
        return Case(
            name,
            inputs,
            (call,) if other_lengths is None else (call, again),
            construct={"vocabulary_size": v, "embedding_size": e, "hidden_size": d},
            weights={
                "embedding.weight": draw.tensor(v, e),  # the row of padding is not 0 either
                **recurrent(draw, "rnn.", 3, e, d, "_l0"),
            },
            real=real,
            upstream={
                "states": draw.tensor(len(lengths), longest, d),
                "final": draw.tensor(len(lengths), d),
            },
            note=KEPT if other_lengths is not None else "",
        )

    b, s, e, d = draw.sizes(4, 3, 7)
    return [
        case("one sentence of one word", torch.tensor([1]), 1, 6, 3, 2),
        case("one sentence of three words", torch.tensor([3]), 3, 7, 2, 4),
        case("two sentences, the first one shorter", torch.tensor([2, 3]), 3, 7, 4, 5),
        case("sentences of different length", draw.lengths(b, s), s, 11, e, d),
        case("all sentences shorter than the batch is wide", draw.lengths(b, s), s + 2, 11, e, d),
        case("all sizes equal", draw.lengths(4, 4), 4, 7, 4, 4),
        case(SECOND, torch.tensor([2, 3]), 3, 7, 3, 2, other_lengths=torch.tensor([3, 1])),
    ]


def _decoder_cases(draw: Draw) -> list[Case]:
    calls = (
        Call("start", ("context",), ("first_state",)),
        Call("step", ("embedded", "state", "context"), ("next_state",)),
        Call("readout", ("embedded", "state", "context"), ("step_logits",)),
        Call("readout", ("words", "states", "contexts"), ("all_logits",)),
        Call("forward", ("tokens", "context"), ("logits",)),
    )
    # What a module keeps from one sentence's context must not get into the next.
    other_calls = (
        Call("start", ("other_context",), ("other_first_state",)),
        Call("step", ("embedded", "state", "other_context"), ("other_next_state",)),
        Call("forward", ("other_tokens", "other_context"), ("other_logits",)),
    )

    def case(name: str, b: int, t: int, v: int, e: int, d: int, second: bool = False) -> Case:
        inputs = {
            "tokens": draw.tokens(b, t, vocabulary_size=v),
            "context": draw.tensor(b, d),
            "embedded": draw.tensor(b, e),
            "state": draw.tensor(b, d, scale=0.6),
            "words": draw.tensor(b, t, e),
            "states": draw.tensor(b, t, d, scale=0.6),
            "contexts": draw.tensor(b, t, d),
        }
        if second:
            tokens = draw.tokens(b, t, vocabulary_size=v)
            inputs |= others({"tokens": tokens, "context": draw.tensor(b, d)})
        return Case(
            name,
            inputs,
            (*calls, *other_calls) if second else calls,
            construct={"vocabulary_size": v, "embedding_size": e, "hidden_size": d},
            weights={
                "embedding.weight": draw.tensor(v, e),
                "first_state.weight": draw.tensor(d, d, scale=0.7),
                "first_state.bias": draw.tensor(d, scale=0.3),
                **recurrent(draw, "cell.", 3, e + d, d),
                "hidden.weight": draw.tensor(e, e + 2 * d, scale=0.6),
                "hidden.bias": draw.tensor(e, scale=0.3),
                "output.weight": draw.tensor(v, e),
                "output.bias": draw.tensor(v, scale=0.3),
            },
            upstream={
                "first_state": draw.tensor(b, d),
                "next_state": draw.tensor(b, d),
                "step_logits": draw.tensor(b, v),
                "all_logits": draw.tensor(b, t, v),
                "logits": draw.tensor(b, t, v),
            },
            note=KEPT if second else "",
        )

    b, t, e, d = draw.sizes(4, 2, 6)
    return [
        case("one sentence, one target word", 1, 1, 5, 2, 3),
        case("one sentence, two target words", 1, 2, 5, 3, 2),
        case("two sentences, three target words", 2, 3, 6, 4, 5),
        case("all sizes different", b, t, 9, e, d),
        case("state and embedding of one size", b, t, 9, e, e),
        case("all sizes equal", 4, 4, 4, 4, 4),
        case(SECOND, 2, 3, 5, 2, 4, second=True),
    ]


def _reverse_cases(draw: Draw) -> list[Case]:
    call = (Call("", ("tokens", "lengths"), ("turned",)),)

    def case(name: str, lengths: Tensor, longest: int, pad: int = 0, note: str = "") -> Case:
        b = len(lengths)
        # No word comes twice in a sentence, so that each place of a word tells.
        tokens = torch.stack(
            [torch.tensor(draw.sizes(longest, 10, 40)) for _ in range(b)]
        ).masked_fill(~below(lengths, longest), pad)
        return Case(name, {"tokens": tokens, "lengths": lengths}, call, note=note)

    b, s = draw.sizes(2, 3, 8)
    empty = draw.lengths(b, s)
    empty[0] = 0
    return [
        case("one sentence of one word", torch.tensor([1]), 1),
        case("one sentence of three words", torch.tensor([3]), 3),
        case("one sentence of two words and padding", torch.tensor([2]), 4),
        case("two sentences, one of them shorter", torch.tensor([2, 4]), 4),
        case("sentences of different length", draw.lengths(b, s), s),
        case("as many sentences as words", draw.lengths(s, s), s),
        case("all sentences as long as the batch is wide", torch.full((b,), s), s),
        case("all sentences shorter than the batch is wide", draw.lengths(b, s), s + 3),
        case(
            "a sentence without any word",
            empty,
            s,
            note="A length may be 0; such a row is all padding and stays as it is.",
        ),
        case("two sentences without any word", torch.tensor([0, 0]), 2),
        case(
            "padding with another id than 0",
            draw.lengths(b, s),
            s + 2,
            pad=draw.integer(1, 9),
            note="Padding is what stands behind a sentence's length, whatever its id, and it "
            "keeps its id.",
        ),
    ]


def _seq2seq_cases(draw: Draw) -> list[Case]:
    calls = (
        Call("encode", ("source", "lengths"), ("h", "c")),
        Call("step", ("tokens", ("state_h", "state_c")), ("log_probs", ("next_h", "next_c"))),
        # The state that comes back goes in again.
        Call(
            "step", ("more_tokens", ("next_h", "next_c")), ("more_log_probs", ("last_h", "last_c"))
        ),
        Call("forward", ("source", "lengths", "previous"), ("logits",)),
    )
    other_calls = (
        Call("encode", other("source", "lengths"), other("h", "c")),
        Call(
            "step",
            ("other_tokens", ("state_h", "state_c")),
            ("other_log_probs", ("other_next_h", "other_next_c")),
        ),
        Call("forward", other("source", "lengths", "previous"), ("other_logits",)),
    )

    def given(lengths: Tensor, s: int, t: int, v_s: int, v_t: int) -> dict[str, Tensor]:
        b = len(lengths)
        return {
            "source": padded_tokens(draw, lengths, s, v_s),
            "lengths": lengths,
            "previous": draw.tokens(b, t, vocabulary_size=v_t),
            "tokens": draw.tokens(b, vocabulary_size=v_t),
        }

    def case(
        name: str,
        lengths: Tensor,
        s: int,
        t: int,
        v_s: int,
        v_t: int,
        e: int,
        d: int,
        other_lengths: Tensor | None = None,
    ) -> Case:
        b = len(lengths)
        inputs = given(lengths, s, t, v_s, v_t)
        inputs |= {
            "more_tokens": draw.tokens(b, vocabulary_size=v_t),
            "state_h": draw.tensor(b, d, scale=0.5),
            "state_c": draw.tensor(b, d),
        }
        if other_lengths is not None:
            inputs |= others(given(other_lengths, s, t, v_s, v_t))
        return Case(
            name,
            inputs,
            calls if other_lengths is None else (*calls, *other_calls),
            construct={
                "source_size": v_s,
                "target_size": v_t,
                "embedding_size": e,
                "hidden_size": d,
            },
            weights={
                "source_embedding.weight": draw.tensor(v_s, e),
                "target_embedding.weight": draw.tensor(v_t, e),
                **recurrent(draw, "encoder.", 4, e, d, "_l0"),
                **recurrent(draw, "decoder.", 4, e, d, "_l0"),
                "output.weight": draw.tensor(v_t, d),
                "output.bias": draw.tensor(v_t, scale=0.3),
            },
            upstream={
                "h": draw.tensor(b, d),
                "c": draw.tensor(b, d),
                "log_probs": draw.tensor(b, v_t),
                "next_h": draw.tensor(b, d),
                "next_c": draw.tensor(b, d),
                "more_log_probs": draw.tensor(b, v_t),
                "logits": draw.tensor(b, t, v_t),
            },
            note=KEPT if other_lengths is not None else "",
        )

    b, s, t, e, d = draw.sizes(5, 2, 7)
    return [
        case("one source word, one target word", torch.tensor([1]), 1, 1, 6, 5, 2, 3),
        case("one sentence, two target words", torch.tensor([3]), 3, 2, 7, 5, 4, 3),
        case("two sentences, the first one shorter", torch.tensor([2, 4]), 4, 3, 5, 6, 2, 3),
        case("sentences of different length", draw.lengths(b, s), s, t, 11, 9, e, d),
        case(
            "all sentences shorter than the batch is wide",
            draw.lengths(b, s),
            s + 2,
            t,
            9,
            11,
            e,
            d,
        ),
        case("all sizes equal", draw.lengths(4, 4), 4, 4, 4, 4, 4, 4),
        case(
            SECOND,
            torch.tensor([2, 3]),
            3,
            2,
            7,
            6,
            4,
            5,
            other_lengths=torch.tensor([3, 1]),
        ),
    ]


def _loss_cases(draw: Draw) -> list[Case]:
    def case(
        name: str, logits: Tensor, targets: Tensor, pad_id: int | None = None, note: str = ""
    ) -> Case:
        names = ("logits", "targets") if pad_id is None else ("logits", "targets", "pad_id")
        return Case(
            name,
            {"logits": logits, "targets": targets},
            (Call("", names, ("loss",)),),
            given={} if pad_id is None else {"pad_id": pad_id},
            upstream={"loss": draw.tensor(shift=3.0)},
            note=note,
        )

    def ids(lengths: Tensor, t: int, v: int) -> Tensor:
        return padded_tokens(draw, lengths, t, v)

    def other_padding(lengths: Tensor, t: int, v: int, pad_id: int) -> Tensor:
        """Return ids padded with pad_id, among whose words is the id 0."""
        real = below(lengths, t)
        words = draw.tokens(len(lengths), t, vocabulary_size=v) - 1  # 0 ... v - 2
        words = torch.where(words >= pad_id, words + 1, words)  # all but pad_id
        words[:, 0] = 0
        return words.masked_fill(~real, pad_id)

    b, t, v = draw.sizes(3, 3, 7)
    lengths = draw.lengths(b, t)
    middle = ids(torch.full((b,), t), t, v).masked_fill(~draw.holes(b, t), 0)
    middle[0, 0] = 0
    empty = ids(lengths, t, v)
    empty[0] = 0
    targets = ids(lengths, t, v)
    # exp(1000) is too large for float64, exp(-1000) too small.
    large = draw.tensor(b, t, v, scale=300.0)
    large[0, 0], large[0, 0, targets[0, 0]] = 0.0, -1000.0
    return [
        case("one word", draw.tensor(1, 1, 4), torch.tensor([[2]])),
        case("one sentence of two words", draw.tensor(1, 2, 5), ids(torch.tensor([2]), 2, 5)),
        case(
            "two sentences, one of them shorter",
            draw.tensor(2, 3, 4),
            ids(torch.tensor([1, 3]), 3, 4),
        ),
        case("sentences of different length", draw.tensor(b, t, v), ids(lengths, t, v)),
        case("no padding", draw.tensor(b, t, v), ids(torch.full((b,), t), t, v)),
        case("all sizes equal", draw.tensor(5, 5, 5), ids(draw.lengths(5, 5), 5, 5)),
        case(
            "as many target words as words in the vocabulary",
            draw.tensor(3, 4, 4),
            ids(torch.tensor([2, 4, 1]), 4, 4),
        ),
        case(
            "padding in the middle of a sentence",
            draw.tensor(b, t, v),
            middle,
            note="Padding may stand anywhere: it is told by its id alone.",
        ),
        case(
            "padding with another id than 0",
            draw.tensor(b, t, v),
            other_padding(lengths, t, v, 2),
            pad_id=2,
            note="What counts as padding is said by pad_id; 0 is then a word like any other.",
        ),
        case(
            "padding with the last id",
            draw.tensor(b, t, v),
            other_padding(lengths, t, v, v - 1),
            pad_id=v - 1,
            note="What counts as padding is said by pad_id; 0 is then a word like any other.",
        ),
        case("a sentence without any real word", draw.tensor(b, t, v), empty),
        case("large logits", large, targets),
        case("logits far from 0", draw.tensor(b, t, v, shift=1000.0), ids(lengths, t, v)),
        case("logits far below 0", draw.tensor(b, t, v, shift=-1000.0), ids(lengths, t, v)),
    ]


EXERCISES: list[Exercise] = [
    Exercise(
        name="Encoder",
        assignment="seq2seq",
        notebook="encoder_decoder",
        points=3,
        signature="(tokens, lengths)",
        axes=also_others({"tokens": "B S", "lengths": "B", "states": "B S d", "final": "B d"}),
        cases=_encoder_cases,
        is_class=True,
    ),
    Exercise(
        name="ContextDecoder",
        assignment="seq2seq",
        notebook="encoder_decoder",
        points=5,
        signature="(tokens, context)",
        axes=also_others(
            {
                "tokens": "B T",
                "context": "B d",
                "embedded": "B e",
                "state": "B d",
                "words": "B T e",
                "states": "B T d",
                "contexts": "B T d",
                "first_state": "B d",
                "next_state": "B d",
                "step_logits": "B V",
                "all_logits": "B T V",
                "logits": "B T V",
            }
        ),
        cases=_decoder_cases,
        is_class=True,
        parts=(
            Part("start and step", ("start", "step"), 2),
            Part("readout", ("readout",), 1),
            Part("forward", ("forward",), 2),
        ),
    ),
    Exercise(
        name="reverse_source",
        assignment="seq2seq",
        notebook="encoder_decoder",
        points=2,
        signature="(tokens, lengths)",
        axes={"tokens": "B S", "lengths": "B", "turned": "B S"},
        cases=_reverse_cases,
    ),
    Exercise(
        name="Seq2Seq",
        assignment="seq2seq",
        notebook="encoder_decoder",
        points=6,
        signature="(source, lengths, previous)",
        axes=also_others(
            {
                "source": "B S",
                "lengths": "B",
                "previous": "B T",
                "tokens": "B",
                "more_tokens": "B",
                "state_h": "B d",
                "state_c": "B d",
                "h": "B d",
                "c": "B d",
                "log_probs": "B V_t",
                "more_log_probs": "B V_t",
                "next_h": "B d",
                "next_c": "B d",
                "last_h": "B d",
                "last_c": "B d",
                "logits": "B T V_t",
            }
        ),
        cases=_seq2seq_cases,
        is_class=True,
        parts=(
            Part("encode", ("encode",), 2),
            Part("step", ("step",), 2),
            Part("forward", ("forward",), 2),
        ),
    ),
    Exercise(
        name="sequence_loss",
        assignment="seq2seq",
        notebook="encoder_decoder",
        points=2,
        signature="(logits, targets, pad_id=0)",
        axes={"logits": "B T V", "targets": "B T", "loss": ""},
        cases=_loss_cases,
    ),
]
