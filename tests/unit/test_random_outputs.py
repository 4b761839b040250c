"""Tests of exercises with random results, judged by a relation for any way of drawing."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import pytest
import torch

from autograder import expected_values
from autograder.checking.card import format_card_text
from autograder.diagnose.compare import (
    Expected,
    FailureSignature,
    find_difference,
    make_failure_signature,
)
from autograder.diagnose.fingerprints import compute_fingerprint, compute_gradient_fingerprint
from autograder.diagnose.known_faults import KnownMistake
from autograder.diagnose.trial import Trial
from autograder.diagnose.verdict import judge
from autograder.exercises import EXERCISES
from autograder.instructor.authoring.mistake_loader import load_mistakes
from autograder.instructor.authoring.reference_solution import compute_expected
from autograder.instructor.grading.hidden_tests import judge_answer
from autograder.instructor.grading.secret_cases import hash_tests
from autograder.run.runner import run_case
from autograder.sandbox.serialization import serialize_cases
from autograder.spec import binomial_bounds
from autograder.spec.exercise import Call, Case, Exercise, Fake, Part
from autograder.spec.outcome import Outcome
from tests.answers.sandboxed_verdicts import crossed, graded, graded_outcomes

# An exercise for this file: noisy(x, generator) returns x with a random sign for each entry, and
# its square, which does not depend on the draw.

X = torch.tensor([1.0, -2.0, 0.5]).double()
SIGNS = "signed is neither x nor -x."
SLOPE = "The values are right, but the gradient of signed is not."


def signs_only(case, outcome):
    signed = outcome.outputs["signed"].double()
    if not torch.equal(signed.abs(), case.inputs["x"].abs()):
        return f"{SIGNS}\nMeasured: the first number is {signed.flatten()[0]}."
    if outcome.gradients:
        found = outcome.gradients["x"]
        if found is None or not torch.equal(found.double(), signed / case.inputs["x"]):
            return SLOPE
    return ""


CASE = Case(
    "one",
    {"x": X},
    (Call("", ("x", "generator"), ("signed", "square")),),
    extra_arguments={"generator": Fake("Generator", (5,))},
    upstream={"signed": torch.ones(3).double()},
    random_outputs=("signed",),
    check_random_outputs=signs_only,
)
RIGHT = Expected({"signed": X, "square": X * X}, {"x": torch.ones(3).double()})
NOISY = Exercise(
    name="noisy",
    points=1,
    difficulty=1,
    minutes=5,
    signature="(x, generator)",
    axes={"signed": "N", "square": "N"},
    cases=lambda draw: [CASE],
)


def coins(x, generator):
    return torch.randint(0, 2, x.shape, generator=generator).to(x.dtype) * 2 - 1


def noisy(x, generator):
    return coins(x, generator) * x, x * x


def by_uniform_numbers(x, generator):
    return torch.where(torch.rand(x.shape, generator=generator) < 0.5, -x, x), x**2


def misconception(slug, found):
    return KnownMistake(
        slug,
        f"{slug}.",
        "A hint.",
        lambda case: compute_fingerprint(case, Outcome(), found),
        lambda case: compute_gradient_fingerprint(Outcome(), found),
    )


def verdict(code, *mistakes, dtype=torch.float64):
    outcome = run_case(code, NOISY, CASE, dtype)
    return judge(NOISY, [Trial(CASE, dtype, RIGHT, outcome)], mistakes)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("code", [noisy, by_uniform_numbers])
def test_every_way_of_drawing_passes(code, dtype):
    assert verdict(code, dtype=dtype).passed


def test_a_generator_is_new_in_every_run_of_a_case():
    drawn = [run_case(noisy, NOISY, CASE).outputs["signed"] for _ in range(3)]
    assert torch.equal(drawn[0], drawn[1]) and torch.equal(drawn[0], drawn[2])


def test_the_relations_sentence_is_the_headline_and_no_expected_value_is_shown():
    found = verdict(lambda x, g: (2 * coins(x, g) * x, x * x))
    assert not found.passed
    assert found.headline == SIGNS
    text = format_card_text(found)
    assert "yours signed (N=3):" in text
    assert "Measured: the first number is " in text
    assert "expected" not in text


def test_what_does_not_depend_on_chance_is_compared_as_ever():
    found = verdict(lambda x, g: (coins(x, g) * x, x * x + 1))
    assert found.headline == "square has wrong values."
    assert any(line.startswith("expected square") for line in found.details)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda s: s.unsqueeze(0), "signed has shape (1, N=3); it must be (N=3)."),
        (lambda s: s.float(), "signed is float32 for inputs in float64"),
        (lambda s: s.long(), "signed is int64 for inputs in float64"),
        (lambda s: s * torch.nan, SIGNS),
    ],
)
def test_shape_and_kind_are_compared_as_ever(change, sentence):
    found = verdict(lambda x, g: (change(coins(x, g) * x), x * x))
    assert sentence in found.headline
    assert not any(line.startswith("expected") for line in found.details)


def test_an_entry_that_is_not_finite_is_refused_if_the_relation_says_nothing():
    case = replace(CASE, check_random_outputs=lambda case, outcome: "", upstream={})
    outcome = run_case(lambda x, g: (coins(x, g) * x / 0, x * x), NOISY, case)
    found = judge(NOISY, [Trial(case, torch.float64, RIGHT, outcome)], [])
    assert found.headline.startswith("signed has infinite entries")


def test_the_relation_judges_gradients_after_the_values():
    assert verdict(lambda x, g: (coins(x, g) * x.detach(), x * x)).headline == SLOPE
    wrong_both = verdict(lambda x, g: (2 * x.detach(), x * x))
    assert wrong_both.headline == SIGNS
    in_place = verdict(lambda x, g: (coins(x, g) * x, x.mul_(1.5).mul_(x / 2.25)))
    assert "writes into its input x" in in_place.headline


def test_gradients_that_nobody_could_compare_do_not_reach_the_relation():
    outputs = {"signed": X, "square": X * X}
    for gradient in (torch.ones(4).double(), torch.full((3,), torch.nan)):
        found = find_difference(CASE, Outcome(outputs, {"x": gradient}), RIGHT, torch.float64)
        assert (found.kind, found.name, found.sentence) == ("gradient", "x", "")
        trial = Trial(CASE, torch.float64, RIGHT, Outcome(outputs, {"x": gradient}))
        assert "the gradient with respect to x" in judge(NOISY, [trial], []).headline


def test_random_outputs_and_a_relation_go_together():
    for change in ({"check_random_outputs": None}, {"random_outputs": ()}):
        with pytest.raises(ValueError, match="go together"):
            replace(CASE, **change)
    with pytest.raises(ValueError, match="no call returns 'missing'"):
        replace(CASE, random_outputs=("missing",))


def test_a_part_keeps_the_relation_only_with_all_it_is_about():
    first = Call("first", ("x",), ("signed",))
    second = Call("second", ("x",), ("other",))
    both = Case(
        "two",
        {"x": X},
        (first, second),
        random_outputs=("signed", "other"),
        check_random_outputs=signs_only,
    )
    assert (
        Part("both", ("first", "second"), 1).restrict_case(both).check_random_outputs is signs_only
    )
    assert Part("first", ("first",), 1).restrict_case(both) is None
    one = replace(both, random_outputs=("signed",))
    assert Part("first", ("first",), 1).restrict_case(one).random_outputs == ("signed",)
    assert Part("second", ("second",), 1).restrict_case(one).check_random_outputs is None


# Recognising mistakes: two draws of one mistake violate the same relation


def doubled(x, generator):
    return 2 * coins(x, generator) * x, x * x


def test_a_mistake_is_named_by_what_the_relation_says():
    mistake = misconception("doubled", FailureSignature("random", "", SIGNS))
    other = misconception("other", FailureSignature("random", "", "Something else."))
    found = verdict(doubled, mistake, other)
    assert (found.misconception, found.headline) == ("doubled", "doubled.")
    assert any(line.startswith("Measured: ") for line in found.details)
    assert verdict(doubled, other).misconception == ""
    assert verdict(doubled, mistake, replace(mistake, slug="twin")).misconception == ""
    assert verdict(noisy, mistake).passed


def test_a_wrong_shape_is_another_complaint_than_a_wrong_draw():
    mistake = misconception("doubled", FailureSignature("random", "", SIGNS))
    assert verdict(lambda x, g: (doubled(x, g)[0][:2], x * x), mistake).misconception == ""


def test_a_mistake_in_gradients_alone_is_named_too():
    complaint = make_failure_signature(find_difference(*cut_outcome()))
    assert complaint == FailureSignature("gradient", "", SLOPE)
    mistake = misconception("cut", complaint)
    found = verdict(lambda x, g: (coins(x, g) * x.detach(), x * x), mistake)
    assert found.misconception == "cut"
    assert verdict(doubled, mistake).misconception == ""


def cut_outcome():
    outputs = {"signed": X, "square": X * X}
    return CASE, Outcome(outputs, {"x": None}), RIGHT, torch.float64


# Transfer to the sandbox and back


def test_the_relation_stays_where_answers_are_judged():
    text = json.dumps(serialize_cases({"noisy": [CASE]})[0])
    assert "random" not in text and "signs_only" not in text
    (case,) = crossed({"noisy": [CASE]})["noisy"]
    assert case.extra_arguments == CASE.extra_arguments
    assert (case.random_outputs, case.check_random_outputs) == ((), None)
    assert torch.equal(
        run_case(noisy, NOISY, case).outputs["signed"],
        run_case(noisy, NOISY, CASE).outputs["signed"],
    )


HARD = EXERCISES["hard_attention"]


def look(weights, values, generator=None):
    place = torch.multinomial(weights.detach(), 1, generator=generator)[:, 0]
    sample = torch.nn.functional.one_hot(place, weights.shape[1]).to(weights.dtype)
    rows = torch.arange(len(place))
    return values[rows, place], sample, weights[rows, place].log()


def look_with_noise(weights, values, generator=None):
    noise = -torch.rand(weights.shape, generator=generator, dtype=torch.float64).log().neg().log()
    place = (weights.detach().log() + noise).argmax(1)
    sample = torch.nn.functional.one_hot(place, weights.shape[1]).to(weights.dtype)
    return torch.einsum("bn,bnd->bd", sample, values), sample, (sample * weights).sum(1).log()


def best_look(weights, values, generator=None):
    one = torch.nn.functional.one_hot(weights.argmax(1), weights.shape[1]).to(weights.dtype)
    return torch.einsum("bn,bnd->bd", one, values), one, weights.amax(1).log()


@pytest.mark.parametrize("code", [look, look_with_noise])
def test_a_right_answer_passes_behind_the_wall(code):
    verdict = graded(code, HARD.name)
    assert verdict.passed, format_card_text(verdict)


def test_a_wrong_answer_is_named_behind_the_wall():
    assert graded(best_look, HARD.name).misconception == "hard_takes_the_largest"


def test_what_was_sent_to_break_a_relation_is_refused():
    """Shapes are compared before a relation sees anything; numbers may be any."""
    for value in (torch.nan, torch.inf, -1.0, 0.0, 1e30):

        def filled(case, dtype, value=value):
            outcome = run_case(look, HARD, case, dtype)
            made_up = {n: torch.full_like(t, value) for n, t in outcome.outputs.items()}
            return Outcome(made_up, outcome.gradients)

        assert not graded_outcomes(HARD.name, filled).passed


def test_expected_values_keep_only_the_shape_of_what_depends_on_chance():
    for case in HARD.draw(1):
        kept = expected_values.read_expected(HARD, 1, case)
        for name in case.random_outputs:
            assert not kept.outputs[name].any()
        if case.check_random_outputs:
            assert not kept.gradients


def test_a_corrected_relation_is_another_test():
    def cases(draw):
        drawn = HARD.cases(draw)
        return [
            replace(case, check_random_outputs=signs_only) if case.check_random_outputs else case
            for case in drawn
        ]

    assert hash_tests(HARD) == hash_tests(HARD)
    assert hash_tests(HARD) != hash_tests(replace(HARD, cases=cases))


# Right answers are rejected with a probability below 1e-12, wrong ones surely


@pytest.mark.parametrize(("draws", "p"), [(1, 0.3), (40, 1 / 64), (500, 0.5), (2500, 44 / 64)])
def test_what_is_not_plausible_hardly_ever_happens(draws, p):
    total = 0.0
    for count in range(draws + 1):
        if not binomial_bounds.is_plausible(count, draws, p):
            ways = math.lgamma(draws + 1) - math.lgamma(count + 1) - math.lgamma(draws - count + 1)
            total += math.exp(ways + count * math.log(p) + (draws - count) * math.log(1 - p))
    assert total <= 2 * math.exp(-binomial_bounds.BOUND)


def test_what_is_certain_or_impossible():
    assert binomial_bounds.is_plausible(0, 100, 0.0) and not binomial_bounds.is_plausible(
        1, 100, 0.0
    )
    assert binomial_bounds.is_plausible(100, 100, 1.0) and not binomial_bounds.is_plausible(
        99, 100, 1.0
    )
    assert binomial_bounds.is_plausible(0, 0, 0.5)


@pytest.mark.parametrize("code", [look, look_with_noise])
def test_right_draws_pass_with_every_seed(code):
    for seed in range(300, 312):
        for case in HARD.draw(seed):
            for dtype in (torch.float64, torch.float32):
                if case.check_random_outputs:
                    outcome = run_case(code, HARD, case, dtype)
                    assert case.check_random_outputs(case, outcome) == "", (seed, case.name)


@pytest.mark.parametrize("power", [0.0, 0.5, 0.7, 1.4, 2.0])
def test_other_frequencies_are_refused_with_every_seed(power):
    def bent(weights, values, generator=None):
        shares = torch.where(weights > 0, weights**power, 0.0)
        place = torch.multinomial(shares.detach(), 1, generator=generator)[:, 0]
        rows = torch.arange(len(place))
        sample = torch.nn.functional.one_hot(place, weights.shape[1]).to(weights.dtype)
        return values[rows, place], sample, weights[rows, place].log()

    case_of = {case.name: case for case in HARD.draw(1)}
    for seed in range(1, 9):
        case = replace(
            case_of["many pictures with the same weights"],
            extra_arguments={"generator": Fake("Generator", (seed,))},
        )
        said = case.check_random_outputs(case, run_case(bent, HARD, case))
        assert f"too {'seldom' if power < 1 else 'often'}" in said, seed


def test_the_globally_seeded_generator_does_not_decide():
    """A generator that is passed gives the same draw whatever torch's own has done before."""

    def own_ignored(weights, values, generator=None):
        return look(weights, values, None)

    assert judge_answer(own_ignored, HARD, [1]).misconception == "hard_ignores_generator"

    def seeded(weights, values, generator=None):
        if generator is not None:
            torch.manual_seed(generator.initial_seed())
        return look(weights, values, None)

    assert "A second call with the same generator" in judge_answer(seeded, HARD, [1]).headline


def test_a_draw_without_the_generator_is_not_called_a_wrong_gradient():
    """Gradients are taken in a second run, in which such an answer draws other places."""

    def another_way(weights, values, generator=None):
        context, sample, log_prob = look_with_noise(weights, values)
        return context, sample, log_prob - (generator is None) * 1.0

    for seed in range(6):
        headline = judge_answer(another_way, HARD, [seed]).headline
        assert headline.startswith(("Two generators of the same seed", "log_prob is not")), headline


def test_gradients_of_torchs_distribution_are_right_too():
    """They differ by one number along each row, of which a softmax takes no notice."""

    def with_distribution(weights, values, generator=None):
        context, sample, _ = look(weights, values, generator)
        place = sample.argmax(1)
        return context, sample, torch.distributions.Categorical(probs=weights).log_prob(place)

    assert judge_answer(with_distribution, HARD, [1, 2]).passed


# The exercises of the course

DEPEND_ON_CHANCE = [
    name
    for name, exercise in EXERCISES.items()
    if any(case.check_random_outputs for case in exercise.draw(1))
]


def with_other_seeds(case: Case, turn: int) -> Case:
    """Return a case with differently seeded generators; equal ones stay equal."""
    given = {
        name: replace(value, arguments=(value.arguments[0] + 7919 * turn,))
        if isinstance(value, Fake) and value.name == "Generator"
        else value
        for name, value in case.extra_arguments.items()
    }
    return replace(case, extra_arguments=given)


@pytest.mark.parametrize("name", DEPEND_ON_CHANCE)
def test_what_is_wrong_with_a_known_mistake_does_not_depend_on_chance(name):
    """Else a student's mistake would be named in one class and not in the next."""
    exercise = EXERCISES[name]
    for case in exercise.draw(1):
        if not case.check_random_outputs:
            continue
        right = compute_expected(exercise, case)
        for mistake in load_mistakes(exercise):
            said = set()
            for turn in range(8):
                torch.manual_seed(turn)
                drawn = with_other_seeds(case, turn)
                outcome = run_case(mistake.code, exercise, drawn)
                found = make_failure_signature(
                    find_difference(drawn, outcome, right, torch.float64)
                )
                # gradients are not compared if values are wrong in any case, as they are here
                said.add(FailureSignature() if found.about_gradients else found)
            assert len(said) == 1, (case.name, mistake.slug, said)
