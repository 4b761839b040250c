"""Tests of the search for arguments that a wrong answer ignores."""

import functools
import inspect

import pytest
import torch

from autograder.checking.checker import verify
from autograder.diagnose.ignored_arguments import find_unused_arguments
from autograder.diagnose.trial import Trial
from autograder.exercises import EXERCISES
from autograder.expected_values import SEEDS, read_dependence, read_expected
from autograder.instructor.authoring.reference_solution import load_solution
from autograder.instructor.expected_values import find_dependence
from autograder.run.runner import run_case
from autograder.spec.outcome import Outcome


def list_numbers():
    """Return pairs of a function's exercise and a number or text that its result depends on."""
    pairs = set()
    for name, exercise in EXERCISES.items():
        if not exercise.is_class:
            for case in exercise.draw(SEEDS[0]):
                known = read_dependence(exercise).get(case.name, {})
                pairs |= {
                    (name, argument) for argument in case.extra_arguments if argument in known
                }
    return sorted(pairs)


def fix_argument(exercise, argument):
    """Return the solution, with one argument replaced by its value in the middle case."""
    solution = load_solution(exercise)
    cases = exercise.draw(SEEDS[0])
    values = [c.extra_arguments[argument] for c in cases if argument in c.extra_arguments]
    value = values[len(values) // 2]

    @functools.wraps(solution)
    def answer(*arguments):
        bound = inspect.signature(solution).bind(*arguments)
        bound.arguments[argument] = value
        return solution(*bound.args)

    return answer


@pytest.mark.parametrize(("name", "argument"), list_numbers())
def test_a_number_that_is_ignored_is_named(name, argument):
    verdict = verify(fix_argument(EXERCISES[name], argument), EXERCISES[name])
    assert not verdict.passed
    # Some fixed values give exactly what another mistake gives, which says as much.
    named = verdict.misconception or "gives exactly what a right answer gives" in verdict.headline
    assert named or argument in verdict.headline


def test_a_list_that_is_ignored_is_named_in_words():
    def corpus_bleu(hypotheses, references, max_order=4):
        return float(sum((i + 1) * len(words) for i, words in enumerate(hypotheses)) + max_order)

    assert verify(corpus_bleu, EXERCISES["corpus_bleu"]).headline == (
        "The result does not depend on references, as it must: yours stays the same when "
        "references is in reverse order."
    )


def test_a_run_that_takes_too_long_ends_the_search():
    exercise = EXERCISES["gaussian_weights"]
    cases = exercise.draw(SEEDS[0])
    answer = fix_argument(exercise, "D")
    trials = [
        Trial(c, torch.float64, read_expected(exercise, SEEDS[0], c), run_case(answer, exercise, c))
        for c in cases
    ]
    fault = next(trial.difference for trial in trials if trial.difference)
    runs = []

    def take_too_long(case):
        runs.append(case)
        return Outcome(problem=("time", "too long"))

    dependence = read_dependence(exercise)
    assert find_unused_arguments(trials, fault, cases, dependence, take_too_long) == ""
    assert len(runs) == 1
    act = functools.partial(run_case, answer, exercise)
    assert "does not depend on D" in find_unused_arguments(trials, fault, cases, dependence, act)


def test_an_argument_is_only_named_if_it_is_never_used():
    """The beam size has no influence where every hypothesis is cut off too early, but elsewhere."""

    def beam_search(step, state, beam_size, bos_id, eos_id, max_length, length_penalty=0.0):
        right = load_solution(EXERCISES["beam_search"])
        return right(step, state, beam_size, bos_id, eos_id, 3, length_penalty)

    headline = verify(beam_search, EXERCISES["beam_search"]).headline
    assert "does not depend on max_length, as it must" in headline


def test_ignored_lengths_are_named():
    def reverse_source(tokens, lengths):
        kept = [row[row != 0] for row in tokens]
        turned = torch.zeros_like(tokens)
        for row, words in zip(turned, kept, strict=True):
            row[: len(words)] = words.flip(0)
        return turned

    headline = verify(reverse_source, EXERCISES["reverse_source"]).headline
    assert headline.startswith("The result does not depend on lengths, as it must")


@pytest.mark.parametrize("name", ["lora_linear", "split_heads", "last_state", "reverse_source"])
def test_the_recorded_dependence_is_that_of_the_solution(name):
    expected = find_dependence(EXERCISES[name])
    assert read_dependence(EXERCISES[name]) == expected
    assert expected
