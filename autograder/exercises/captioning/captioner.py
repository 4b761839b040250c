"""Test cases of the exercises of the notebook `captioning/captioner`."""

from __future__ import annotations

from autograder.exercises._dropout_cases import add_training_cases
from autograder.exercises._padded_sequences import make_second_batch_case, recurrent
from autograder.spec.exercise import Call, Case, Exercise, Fake, Part
from autograder.spec.seeded_inputs import SeededInputs


def _decoder_cases(draw: SeededInputs) -> list[Case]:
    calls = (
        Call("start", ("annotations",), ("first_state", "first_memory")),
        Call(
            "step",
            ("embedded", ("state", "memory"), "annotations"),
            (("next_state", "next_memory"), "context", "step_weights"),
        ),
        Call("readout", ("embedded", "state", "contexts"), ("step_logits",)),
        Call("readout", ("all_embedded", "all_states", "all_contexts"), ("all_logits",)),
        Call("forward", ("tokens", "annotations"), ("logits", "weights")),
    )

    def case(name: str, b: int, n: int, t: int, v: int, e: int, d: int, a: int) -> Case:
        inputs = {
            "tokens": draw.tokens(b, t, vocabulary_size=v),
            "annotations": draw.tensor(b, n, a),
            "embedded": draw.tensor(b, e),
            "state": draw.tensor(b, d, scale=0.6),
            "memory": draw.tensor(b, d),
            "contexts": draw.tensor(b, a),
            "all_embedded": draw.tensor(b, t, e),
            "all_states": draw.tensor(b, t, d),
            "all_contexts": draw.tensor(b, t, a),
        }
        return Case(
            name,
            inputs,
            calls,
            init_arguments={
                "vocabulary_size": v,
                "embedding_size": e,
                "hidden_size": d,
                "key_size": a,
                "attention": Fake("GlanceAttention", (d, a, 3)),
            },
            weights={
                "attention.P": draw.tensor(3, d, scale=0.7),
                "attention.R": draw.tensor(3, a),
                "embedding.weight": draw.tensor(v, e),
                "first_state.weight": draw.tensor(d, a),
                "first_state.bias": draw.tensor(d, scale=0.3),
                "first_memory.weight": draw.tensor(d, a),
                "first_memory.bias": draw.tensor(d, scale=0.3),
                **recurrent(draw, "cell.", 4, e + a, d),
                "state_output.weight": draw.tensor(e, d, scale=0.7),
                "context_output.weight": draw.tensor(e, a, scale=0.7),
                "output.weight": draw.tensor(v, e),
                "output.bias": draw.tensor(v, scale=0.3),
            },
            upstream={
                "first_state": draw.tensor(b, d),
                "first_memory": draw.tensor(b, d),
                "next_state": draw.tensor(b, d),
                "next_memory": draw.tensor(b, d),
                "context": draw.tensor(b, a),
                "step_weights": draw.tensor(b, n),
                "step_logits": draw.tensor(b, v),
                "all_logits": draw.tensor(b, t, v),
                "logits": draw.tensor(b, t, v),
                "weights": draw.tensor(b, t, n),
            },
        )

    b, n, t, d, e, a = draw.sizes(6, 2, 7)
    return [
        case("one picture of one place, one word", 1, 1, 1, 5, 2, 3, 4),
        case("one picture of two places, one word", 1, 2, 1, 6, 3, 4, 5),
        case("one picture, two words", 1, 3, 2, 7, 5, 4, 6),
        case("all sizes different", b, n, t, 8, e, d, a),
        case("as many words as pictures, as many places", 3, 3, 3, 8, 2, 5, 4),
        case("state, embedding and annotation of one size", 2, 5, 3, 8, 4, 4, 4),
        make_second_batch_case(case("", 2, 3, 2, 5, 2, 3, 4), case("", 2, 3, 2, 5, 2, 3, 4)),
        *add_training_cases(case("", 2, 3, 2, 5, 3, 2, 4), "what L_o reads"),
    ]


CAPTION_DECODER = Exercise(
    name="CaptionDecoder",
    points=6,
    difficulty=3,
    minutes=45,
    signature="(tokens, annotations)",
    axes={
        "tokens": "B T",
        "annotations": "B N d_k",
        "embedded": "B e",
        "state": "B d",
        "memory": "B d",
        "contexts": "B d_k",
        "all_embedded": "B T e",
        "all_states": "B T d",
        "all_contexts": "B T d_k",
        "first_state": "B d",
        "first_memory": "B d",
        "next_state": "B d",
        "next_memory": "B d",
        "context": "B d_k",
        "step_weights": "B N",
        "step_logits": "B V",
        "all_logits": "B T V",
        "logits": "B T V",
        "weights": "B T N",
    },
    cases=_decoder_cases,
    normalized_outputs={"weights": "", "step_weights": ""},
    is_class=True,
    parts=(
        Part("start", ("start",), 1),
        Part("step", ("step",), 2),
        Part("readout", ("readout",), 1),
        Part("forward", ("forward",), 2),
    ),
)
