"""Tests of calling, sending and judging exercises with strings, lists or models as results."""

from __future__ import annotations

import importlib
import json
import random

import numpy as np
import pytest
import torch
from torch import nn

from autograder.checking.card import format_card_text
from autograder.diagnose.compare import Expected
from autograder.diagnose.trial import Trial
from autograder.diagnose.verdict import judge
from autograder.exercises import EXERCISES
from autograder.exercises._bert_fakes import BertShell
from autograder.instructor.grading.hidden_tests import judge_answer
from autograder.run.runner import run_case
from autograder.sandbox.serialization import deserialize_outcomes, serialize_outcomes
from autograder.spec import byte_codec
from autograder.spec.exercise import Call, Case, Exercise, Fake
from autograder.spec.fakes import build_argument, format_argument
from autograder.spec.outcome import Outcome
from tests.answers.sandboxed_verdicts import crossed, graded, graded_outcomes

# Encoding of non-tensors as tensors


@pytest.mark.parametrize(
    "thing",
    [[], "", "a", "é한\ud83d", None, True, 0, -2.5, ["a", ["b", [1, False, None]]], "x" * 10_000],
)
def test_plain_data_come_back_as_they_went(thing):
    tensor = byte_codec.encode_plain(thing)
    assert tensor.dtype == torch.uint8 and tensor.dim() == 1
    assert byte_codec.decode_plain(tensor) == thing


def test_tuples_are_lists_and_numbers_of_libraries_are_numbers():
    given = ("a", (torch.tensor(3), np.float64(0.5), torch.tensor(True), np.bool_(False)))
    assert byte_codec.decode_plain(byte_codec.encode_plain(given)) == ["a", [3, 0.5, True, False]]


@pytest.mark.parametrize(
    ("thing", "said"),
    [({"a"}, "set"), ([b"x"], "bytes"), (torch.ones(2), "torch.Tensor"), (iter([1]), "iterator")],
)
def test_what_is_not_plain_is_refused_by_name(thing, said):
    with pytest.raises(TypeError, match=said):
        byte_codec.encode_plain(thing)


def test_a_list_inside_itself_is_refused():
    inside: list = []
    inside.append(inside)
    with pytest.raises(TypeError, match="inside itself"):
        byte_codec.encode_plain(inside)


@pytest.mark.parametrize(
    "tensor",
    [
        torch.zeros(3, dtype=torch.uint8),
        torch.tensor([255], dtype=torch.uint8),
        torch.zeros(0, dtype=torch.uint8),
        torch.ones(3),
        torch.ones((), dtype=torch.uint8),
        torch.tensor([91] * 100_000, dtype=torch.uint8),  # brackets that are never closed
    ],
    ids=["zeros", "no letter", "empty", "floating", "a number", "deep"],
)
def test_what_was_made_up_is_no_text(tensor):
    with pytest.raises(ValueError):
        byte_codec.decode_plain(tensor)
    assert byte_codec.show(tensor) == "(unreadable)"


# An exercise for this file: cut(words, sign, table, model, x)


WORDS = ["a", "bc"]
CALL = Call(
    "",
    ("words", "sign", {"one": "x", "two": "y"}),
    ("pieces", "doubled"),
    non_tensors={"pieces": "a list of strings"},
    intact=True,
)
REFUSED = Call("", ("nothing", "sign", {"one": "x"}), (), raises="ValueError")
INPUTS = {"x": torch.tensor([1.0, 2.0]).double(), "y": torch.tensor([3.0]).double()}
CASE = Case(
    "two words",
    INPUTS,
    (REFUSED, CALL),
    extra_arguments={"words": WORDS, "nothing": [], "sign": "-"},
)
RIGHT = Expected(
    {
        "pieces": byte_codec.encode_plain(["a-", "bc-"]),
        "doubled": torch.tensor([2.0, 4.0]).double(),
    },
    {},
)
CUT = Exercise("cut", 1, 1, 5, "(words, sign, table)", {}, lambda draw: [CASE])


def cut(words, sign, table):
    if not words:
        raise ValueError("no words")
    return [word + sign for word in words], 2 * table["one"]


def verdict(code, case=CASE, right=RIGHT):
    outcome = run_case(code, CUT, case)
    return judge(CUT, [Trial(case, torch.float64, right, outcome)], [])


def test_a_right_answer_passes():
    assert verdict(cut).passed
    assert verdict(lambda *given: tuple(cut(*given))).passed
    assert verdict(lambda w, s, t: (tuple(cut(w, s, t)[0]), 2 * t["one"])).passed


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda pieces: pieces[::-1], "pieces has wrong values."),
        (lambda pieces: "".join(pieces), "pieces has wrong values."),
        (lambda pieces: set(pieces), "must return pieces as a list of strings; it returned a set."),
        (lambda pieces: iter(pieces), "it returned a list_iterator."),
        (lambda pieces: [b"a-"], "it returned a list that holds a bytes."),
        (lambda pieces: torch.ones(2), "it returned a torch.Tensor."),
    ],
)
def test_a_wrong_result_is_named(change, said):
    def changed(words, sign, table):
        pieces, doubled = cut(words, sign, table)
        return change(pieces), doubled

    assert said in verdict(changed).headline


def test_both_lists_stand_on_the_card_as_code_shows_them():
    text = format_card_text(verdict(lambda w, s, t: (cut(w, s, t)[0][:1], 2 * t["one"])))
    assert "expected pieces:\n  ['a-', 'bc-']\nyours pieces:\n  ['a-']" in text
    assert "  words=['a', 'bc']\n  nothing=[]\n  sign='-'\n" in text
    assert "largest difference" not in text


def test_a_case_that_must_be_refused():
    silent = verdict(lambda w, s, t: cut(w or ["a", "bc"], s, t))
    assert "cut must raise ValueError here, but it raised nothing." in silent.headline

    def other(words, sign, table):
        assert words
        return cut(words, sign, table)

    assert "cut raised AssertionError" in verdict(other).headline
    assert "It must raise ValueError here." in verdict(other).headline

    class Own(ValueError):
        pass

    def own(words, sign, table):
        if not words:
            raise Own
        return cut(words, sign, table)

    assert verdict(own).passed

    def stub(words, sign, table):
        raise NotImplementedError()

    assert "not written yet" in verdict(stub).headline


def test_a_call_returns_something_or_raises():
    for more in ({"returns": ()}, {"returns": ("y",), "raises": "ValueError"}):
        with pytest.raises(ValueError, match="either returns something or raises"):
            Call("", ("x",), **more)


def test_a_list_that_was_written_into_is_told():
    def emptied(words, sign, table):
        found = cut(words, sign, table)
        words.clear()
        return found

    assert "writes into its input words; make a new list instead" in verdict(emptied).headline

    def spoilt(words, sign, table):
        found = cut(words, sign, table)
        words[0] = torch.ones(2)  # whose comparison is not a bool
        return found

    assert "writes into its input words" in verdict(spoilt).headline
    assert WORDS == ["a", "bc"]


@pytest.mark.parametrize(
    "spoil",
    [
        lambda table: table.pop("two"),
        lambda table: table.update(three=1),
        lambda table: table.update(one=table["one"] + 0),
        lambda table: table.update(two=table.pop("two"), one=table.pop("one")),
        lambda table: table["two"].add_(1),
    ],
    ids=["taken out", "put in", "exchanged", "another order", "in place"],
)
def test_a_dict_that_was_changed_is_told(spoil):
    def changed(words, sign, table):
        found = cut(words, sign, table)
        spoil(table)
        return found

    assert "cut changes the dict that it is given" in verdict(changed).headline


def test_where_a_dict_may_be_changed_it_may():
    loose = Call("", CALL.arguments, CALL.returns, non_tensors=CALL.non_tensors)
    case = Case("one", INPUTS, (loose,), extra_arguments=CASE.extra_arguments)

    def changed(words, sign, table):
        found = cut(words, sign, table)
        table.clear()
        return found

    assert verdict(changed, case).passed


def test_more_to_read_is_a_larger_case():
    longer = Case("longer", INPUTS, (CALL,), extra_arguments={"words": [*WORDS, "d"], "sign": "-"})
    shorter = Case("shorter", INPUTS, (CALL,), extra_arguments={"words": WORDS, "sign": "-"})
    assert shorter.elements < longer.elements


# A model that is passed in, filled, and inspected

SHELL = (1, 5, 4, 3, 6, 2, "encoder", "head")
NAMES = tuple(n for n, _ in BertShell(*SHELL).named_parameters(remove_duplicate=False))
FILLING = Case(
    "a model",
    {"x": torch.full((4,), 0.5).double()},
    (
        Call("", ("model", "x"), ("filled",), non_tensors={"filled": "a list of names"}),
        Call("model.copy_parameters", (), NAMES),
        Call("model.take_step", (), ("still_trainable", "still_tied")),
    ),
    extra_arguments={"model": Fake("BertShell", SHELL)},
)
FILL = Exercise("fill", 1, 1, 5, "(model, x)", {}, lambda draw: [FILLING])


def fill(model, x):
    with torch.no_grad():
        model.encoder.embeddings.norm.bias.copy_(x)
    return ["encoder.embeddings.norm.bias"]


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_a_given_model_has_the_inputs_type_and_is_new_each_time(dtype):
    for _ in range(2):
        found = run_case(fill, FILL, FILLING, dtype)
        assert found.problem is None and found.mutated == ()
        assert found.outputs["encoder.embeddings.token.weight"].dtype == dtype
        assert found.outputs["encoder.embeddings.norm.bias"].tolist() == [0.5] * 4
        assert byte_codec.decode_plain(found.outputs["filled"]) == ["encoder.embeddings.norm.bias"]
        assert found.outputs["still_trainable"].all() and found.outputs["still_tied"]


def test_parameters_hold_different_numbers_until_they_are_filled():
    shell = build_argument(Fake("BertShell", SHELL), torch.float64)
    numbers = torch.cat([parameter.flatten() for parameter in shell.parameters()])
    assert numbers.dtype == torch.float64
    assert len(numbers.unique()) > 0.6 * len(numbers)
    assert torch.equal(numbers.float().double(), numbers)


def test_a_tensor_that_the_model_took_over_is_told_when_it_is_trained():
    def shares(model, x):
        model.encoder.embeddings.norm.bias.data = x
        return ["encoder.embeddings.norm.bias"]

    assert run_case(shares, FILL, FILLING).mutated == ("x",)


def test_a_head_that_is_no_longer_tied_is_told():
    def unties(model, x):
        model.head.embedding = nn.Embedding(5, 4, dtype=x.dtype)
        return fill(model, x)

    assert not run_case(unties, FILL, FILLING).outputs["still_tied"]


def test_whoever_takes_the_stand_in_for_more_is_told_what_it_is():
    outcome = run_case(lambda model, x: model.encoder.embeddings.words, FILL, FILLING)
    assert outcome.problem[0] == "raised"
    case = Case(
        "one", {}, (Call("", ("v",), ("y",)),), extra_arguments={"v": Fake("PieceSet", ("a",))}
    )
    for wrong in (lambda v: list(v), lambda v: len(v), lambda v: v["a"], lambda v: v.index("a")):
        said = run_case(wrong, CUT, case).problem[1]
        assert "a vocabulary of its own: ask whether a piece is `in` it; use nothing" in said


def test_what_a_card_says_of_given_things():
    assert format_argument(Fake("PieceSet", ("a", "##b"))) == "{'a', '##b'}"
    assert format_argument(Fake("Generator", (3,))) == ""
    assert (format_argument("a"), format_argument(2), format_argument(None)) == ("'a'", "2", "None")
    assert format_argument(["word"] * 1000).endswith(" ...")


# Transfer to the sandbox and back


def test_cases_cross_the_wire_as_they_are():
    back = crossed({"cut": [CASE], "fill": [FILLING]})
    assert back["cut"][0].calls == CASE.calls
    assert back["cut"][0].extra_arguments == CASE.extra_arguments
    assert back["fill"][0].calls == FILLING.calls
    assert run_case(cut, CUT, back["cut"][0]).problem is None
    assert run_case(fill, FILL, back["fill"][0]).problem is None


def test_what_comes_back_is_data_and_what_is_changed_is_told():
    def emptied(words, sign, table):
        found = cut(words, sign, table)
        words.clear()
        return found

    header, tensors = serialize_outcomes([(0, "float64", run_case(emptied, CUT, CASE))])
    json.dumps(header)
    (outcome,) = deserialize_outcomes(header, tensors, [CASE]).values()
    assert outcome.mutated == ("words",)
    assert byte_codec.decode_plain(outcome.outputs["pieces"]) == ["a-", "bc-"]


BANK = {
    name: importlib.import_module(f"tests.answers.bert.{notebook}.{name}")
    for name, notebook in (
        ("wordpiece", "inputs"),
        ("mask_tokens", "inputs"),
        ("next_sentence_pairs", "inputs"),
        ("load_pretrained", "finetuning"),
    )
}


@pytest.mark.parametrize("name", BANK)
def test_right_answers_pass_behind_the_wall_and_wrong_ones_do_not(name):
    right = graded(BANK[name].RIGHT[0], name)
    assert right.passed, format_card_text(right)
    for wrong in (BANK[name].WRONG[0], BANK[name].WRONG[-1]):
        assert not graded(wrong, name).passed


@pytest.mark.parametrize("name", BANK)
def test_what_was_sent_to_break_the_judge_is_refused(name):
    deep = torch.tensor([91] * 50_000, dtype=torch.uint8)
    for made_up in (torch.zeros(3), torch.zeros(0, dtype=torch.uint8), deep, torch.ones(2, 2) / 0):

        def filled(case, dtype, made_up=made_up):
            names = [name for call in case.calls for name in call.returned]
            return Outcome(dict.fromkeys(names, made_up))

        assert not graded_outcomes(name, filled).passed


# All random numbers must come from the generator


def hides(choice, fate, other):
    """Return an answer to mask_tokens that draws each of three choices in one of two ways."""

    def answer(tokens, special, vocabulary_size, mask_id, generator=None, probability=0.15):
        first, second, third = (generator if own else None for own in (choice, fate, other))
        chosen = (torch.rand(tokens.shape, generator=first) < probability) & ~special
        u = torch.rand(tokens.shape, generator=second)
        words = torch.randint(vocabulary_size, tokens.shape, generator=third)
        inputs = torch.where(chosen & (u < 0.8), mask_id, tokens)
        inputs = torch.where(chosen & (u > 0.9), words, inputs)
        return inputs, torch.where(chosen, tokens, -100)

    return answer


@pytest.mark.parametrize("drawn", [(0, 1, 1), (1, 0, 1), (1, 1, 0), (0, 0, 0)], ids=str)
def test_hidden_tokens_that_the_generator_does_not_decide(drawn):
    assert judge_answer(hides(1, 1, 1), EXERCISES["mask_tokens"], [3]).passed
    found = judge_answer(hides(*drawn), EXERCISES["mask_tokens"], [3])
    assert found.misconception == "mask_ignores_generator"


@pytest.mark.parametrize("which", ["coin", "sentence"])
def test_pairs_that_the_generator_does_not_decide(which):
    def answer(documents, generator=None):
        if sum(bool(document) for document in documents) < 2:
            raise ValueError("two documents are needed")
        pairs = []
        for i, document in enumerate(documents):
            others = [s for k, other in enumerate(documents) if k != i for s in other]
            for j, first in enumerate(document[:-1]):
                u = torch.rand(2, generator=generator).tolist()
                u[which == "sentence"] = random.random()
                second = document[j + 1] if u[0] < 0.5 else others[int(u[1] * len(others))]
                pairs.append((first, second, u[0] < 0.5))
        return pairs

    found = judge_answer(answer, EXERCISES["next_sentence_pairs"], [3])
    assert found.misconception == "pairs_ignore_generator"


@pytest.mark.parametrize("name", ["mask_tokens", "next_sentence_pairs"])
def test_right_draws_pass_with_every_seed(name):
    exercise = EXERCISES[name]
    for seed in range(400, 406):
        for case in exercise.draw(seed):
            for answer in BANK[name].RIGHT[:3]:
                found = run_case(answer, exercise, case)
                assert case.check_random_outputs(case, found) == "", (
                    seed,
                    case.name,
                    answer.__name__,
                )
