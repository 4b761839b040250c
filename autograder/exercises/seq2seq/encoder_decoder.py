"""Test cases of the exercises of the notebook `seq2seq/encoder_decoder`."""

from __future__ import annotations

import torch
from torch import Tensor

from autograder.exercises._dropout_cases import add_training_cases
from autograder.exercises._padded_sequences import (
    make_second_batch_case,
    padded_tokens,
    put_words_on_padding,
    recurrent,
)
from autograder.spec.exercise import Call, Case, Exercise, Part
from autograder.spec.seeded_inputs import SeededInputs, length_mask


def _encoder_cases(draw: SeededInputs) -> list[Case]:
    call = Call("forward", ("tokens", "lengths"), ("states", "final"))

    def case(name: str, lengths: Tensor, longest: int, v: int, e: int, d: int) -> Case:
        return Case(
            name,
            {"tokens": padded_tokens(draw, lengths, longest, v), "lengths": lengths},
            (call,),
            init_arguments={"vocabulary_size": v, "embedding_size": e, "hidden_size": d},
            weights={
                "embedding.weight": draw.tensor(v, e),  # the row of padding is not 0 either
                **recurrent(draw, "rnn.", 3, e, d, "_l0"),
            },
            valid_masks={"states": length_mask(lengths, longest)},
            upstream={
                "states": draw.tensor(len(lengths), longest, d),
                "final": draw.tensor(len(lengths), d),
            },
        )

    b, s, e, d = draw.sizes(4, 3, 7)
    return [
        case("one sentence of one word", torch.tensor([1]), 1, 6, 3, 2),
        case("one sentence of three words", torch.tensor([3]), 3, 7, 2, 4),
        case("two sentences, the first one shorter", torch.tensor([2, 3]), 3, 7, 4, 5),
        case("sentences of different length", draw.lengths(b, s), s, 11, e, d),
        case("all sentences shorter than the batch is wide", draw.lengths(b, s), s + 2, 11, e, d),
        case("all sizes equal", draw.lengths(4, 4), 4, 7, 4, 4),
        put_words_on_padding(draw, case("", torch.tensor([2, 3]), 3, 7, 4, 5), "tokens", 7),
        make_second_batch_case(
            case("", torch.tensor([2, 3]), 3, 7, 3, 2), case("", torch.tensor([3, 1]), 3, 7, 3, 2)
        ),
        *add_training_cases(case("", torch.tensor([1, 3]), 3, 6, 3, 2), "the embedded words"),
    ]


ENCODER = Exercise(
    name="Encoder",
    points=3,
    difficulty=2,
    minutes=20,
    signature="(tokens, lengths)",
    axes={"tokens": "B S", "lengths": "B", "states": "B S d", "final": "B d"},
    cases=_encoder_cases,
    is_class=True,
)


def _decoder_cases(draw: SeededInputs) -> list[Case]:
    calls = (
        Call("start", ("context",), ("first_state",)),
        Call("step", ("embedded", "state", "context"), ("next_state",)),
        Call("readout", ("embedded", "state", "context"), ("step_logits",)),
        Call("readout", ("words", "states", "contexts"), ("all_logits",)),
        Call("forward", ("tokens", "context"), ("logits",)),
    )

    def case(name: str, b: int, t: int, v: int, e: int, d: int) -> Case:
        inputs = {
            "tokens": draw.tokens(b, t, vocabulary_size=v),
            "context": draw.tensor(b, d),
            "embedded": draw.tensor(b, e),
            "state": draw.tensor(b, d, scale=0.6),
            "words": draw.tensor(b, t, e),
            "states": draw.tensor(b, t, d, scale=0.6),
            "contexts": draw.tensor(b, t, d),
        }
        return Case(
            name,
            inputs,
            calls,
            init_arguments={"vocabulary_size": v, "embedding_size": e, "hidden_size": d},
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
        )

    b, t, e, d = draw.sizes(4, 2, 6)
    return [
        case("one sentence, one target word", 1, 1, 5, 2, 3),
        case("one sentence, two target words", 1, 2, 5, 3, 2),
        case("two sentences, three target words", 2, 3, 6, 4, 5),
        case("all sizes different", b, t, 9, e, d),
        case("state and embedding of one size", b, t, 9, e, e),
        case("all sizes equal", 4, 4, 4, 4, 4),
        make_second_batch_case(case("", 2, 3, 5, 2, 4), case("", 2, 3, 5, 2, 4)),
        *add_training_cases(case("", 2, 2, 5, 3, 2), "the embedded words and on u"),
    ]


CONTEXT_DECODER = Exercise(
    name="ContextDecoder",
    points=5,
    difficulty=3,
    minutes=35,
    signature="(tokens, context)",
    axes={
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
    },
    cases=_decoder_cases,
    is_class=True,
    parts=(
        Part("start and step", ("start", "step"), 2),
        Part("readout", ("readout",), 1),
        Part("forward", ("forward",), 2),
    ),
)


def _reverse_cases(draw: SeededInputs) -> list[Case]:
    call = (Call("", ("tokens", "lengths"), ("turned",)),)

    def case(name: str, lengths: Tensor, longest: int, pad: int = 0, note: str = "") -> Case:
        b = len(lengths)
        # No word comes twice in a sentence, so that each place of a word tells.
        tokens = torch.stack(
            [torch.tensor(draw.sizes(longest, 10, 40)) for _ in range(b)]
        ).masked_fill(~length_mask(lengths, longest), pad)
        return Case(name, {"tokens": tokens, "lengths": lengths}, call, note=note)

    b, s = draw.sizes(2, 3, 8)
    empty = draw.lengths(b, s)
    empty[0] = 0
    marked = case(
        "sentences that begin and end with the ids of marks",
        torch.tensor([4, 2, 5]),
        6,
        note="Every id within the length is turned round, also 0, 1, 2 and 3.",
    )
    for row, (first, last) in enumerate([(0, 3), (2, 0), (3, 1)]):
        marked.inputs["tokens"][row, 0] = first
        marked.inputs["tokens"][row, marked.inputs["lengths"][row] - 1] = last
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
        marked,
    ]


REVERSE_SOURCE = Exercise(
    name="reverse_source",
    points=2,
    difficulty=1,
    minutes=10,
    signature="(tokens, lengths)",
    axes={"tokens": "B S", "lengths": "B", "turned": "B S"},
    cases=_reverse_cases,
)


def _seq2seq_cases(draw: SeededInputs) -> list[Case]:
    calls = (
        Call("encode", ("source", "lengths"), ("h", "c")),
        Call("step", ("tokens", ("state_h", "state_c")), ("log_probs", ("next_h", "next_c"))),
        # The state that comes back goes in again.
        Call(
            "step", ("more_tokens", ("next_h", "next_c")), ("more_log_probs", ("last_h", "last_c"))
        ),
        Call("forward", ("source", "lengths", "previous"), ("logits",)),
    )

    def case(
        name: str, lengths: Tensor, s: int, t: int, v_s: int, v_t: int, e: int, d: int
    ) -> Case:
        b = len(lengths)
        inputs = {
            "source": padded_tokens(draw, lengths, s, v_s),
            "lengths": lengths,
            "previous": draw.tokens(b, t, vocabulary_size=v_t),
            "tokens": draw.tokens(b, vocabulary_size=v_t),
            "more_tokens": draw.tokens(b, vocabulary_size=v_t),
            "state_h": draw.tensor(b, d, scale=0.5),
            "state_c": draw.tensor(b, d),
        }
        return Case(
            name,
            inputs,
            calls,
            init_arguments={
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
        put_words_on_padding(draw, case("", torch.tensor([2, 4]), 4, 3, 5, 6, 2, 3), "source", 5),
        make_second_batch_case(
            case("", torch.tensor([2, 3]), 3, 2, 7, 6, 4, 5),
            case("", torch.tensor([3, 1]), 3, 2, 7, 6, 4, 5),
        ),
        *add_training_cases(
            case("", torch.tensor([1, 2]), 2, 2, 5, 6, 4, 3),
            "the embedded words and on the decoder's states before the output",
        ),
    ]


SEQ2SEQ = Exercise(
    name="Seq2Seq",
    points=6,
    difficulty=3,
    minutes=35,
    signature="(source, lengths, previous)",
    axes={
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
    },
    cases=_seq2seq_cases,
    is_class=True,
    parts=(
        Part("encode", ("encode",), 2),
        Part("step", ("step",), 2),
        Part("forward", ("forward",), 2),
    ),
)


def _loss_cases(draw: SeededInputs) -> list[Case]:
    def case(
        name: str, logits: Tensor, targets: Tensor, pad_id: int | None = None, note: str = ""
    ) -> Case:
        names = ("logits", "targets") if pad_id is None else ("logits", "targets", "pad_id")
        return Case(
            name,
            {"logits": logits, "targets": targets},
            (Call("", names, ("loss",)),),
            extra_arguments={} if pad_id is None else {"pad_id": pad_id},
            upstream={"loss": draw.tensor(shift=3.0)},
            note=note,
        )

    def ids(lengths: Tensor, t: int, v: int) -> Tensor:
        return padded_tokens(draw, lengths, t, v)

    def other_padding(lengths: Tensor, t: int, v: int, pad_id: int) -> Tensor:
        """Return ids padded with pad_id, among whose words is the id 0."""
        real = length_mask(lengths, t)
        words = draw.tokens(len(lengths), t, vocabulary_size=v) - 1  # 0 ... v - 2
        words = torch.where(words >= pad_id, words + 1, words)  # all but pad_id
        words[:, 0] = 0
        return words.masked_fill(~real, pad_id)

    b, t, v = draw.sizes(3, 3, 7)
    lengths = draw.lengths(b, t)
    middle = ids(torch.full((b,), t), t, v).masked_fill(~draw.random_mask(b, t), 0)
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
        case(
            "nothing but padding",
            draw.tensor(2, t, v),
            torch.zeros(2, t, dtype=torch.int64),
            note="Nothing counts here: the loss is 0, and so are its gradients.",
        ),
    ]


SEQUENCE_LOSS = Exercise(
    name="sequence_loss",
    points=2,
    difficulty=2,
    minutes=15,
    signature="(logits, targets, pad_id=0)",
    axes={"logits": "B T V", "targets": "B T", "loss": ""},
    cases=_loss_cases,
)
