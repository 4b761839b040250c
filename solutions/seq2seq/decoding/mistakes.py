"""Mistakes that people really make in the notebook `seq2seq/decoding`.

Each function or class is one wrong implementation; the first line of its docstring is the title of
the card, the rest the hint.
"""

from typing import Any

import torch
from torch import Tensor

from coursekit.models.greedy_decoding import choose, device_of

# %% beam_search


class _Search:
    """The right search in pieces, so that a mistake changes one of them."""

    def __init__(self, step, beam_size, bos_id, eos_id, length_penalty):
        self.step = step
        self.beam_size = beam_size
        self.bos_id = bos_id
        self.eos_id = eos_id
        self.length_penalty = length_penalty
        self.finished = []

    def room(self):
        """How many extensions a step keeps."""
        return self.beam_size - len(self.finished)

    def running(self, totals, log_probs, length):
        """What the extensions are ranked by, (K, V)."""
        return totals.unsqueeze(1) + log_probs

    def rearranged(self, state, rows):
        """The state of the live hypotheses."""
        return choose(state, rows)

    def score(self, total, length, ended):
        """The score of a finished hypothesis."""
        return total / length**self.length_penalty

    def wording(self, tokens):
        """What is returned of a finished hypothesis that begins with bos."""
        return tokens[1:]

    def finish(self, total, tokens, length):
        """Put a hypothesis among the finished ones."""
        ended = int(tokens[-1]) == self.eos_id
        self.finished.append((self.wording(tokens), self.score(total, length, ended)))

    def cut(self, total, tokens, length):
        """What becomes of a live hypothesis when max_length is reached."""
        self.finish(total, tokens, length)

    def enough(self):
        """Whether the search is over though hypotheses are live."""
        return False

    def result(self):
        """The best of the finished ones."""
        return max(self.finished, key=lambda found: float(found[1]))

    def run(self, state, max_length):
        """Search."""
        tokens = torch.full((1, 1), self.bos_id, device=device_of(state))  # (K, 1 + t)
        totals = torch.zeros(1, device=tokens.device)  # (K,)
        for length in range(1, max_length + 1):
            log_probs, state = self.step(tokens[:, -1], state)  # (K, V)
            running = self.running(totals, log_probs, length)
            totals, best = running.flatten().topk(min(self.room(), running.numel()))
            rows, words = best // running.shape[1], best % running.shape[1]
            tokens = torch.cat([tokens[rows], words.unsqueeze(1)], dim=1)
            ends = words == self.eos_id
            for total, sentence in zip(totals[ends], tokens[ends], strict=True):
                self.finish(total, sentence, length)
            if ends.all() or self.enough():
                break
            totals, tokens, rows = totals[~ends], tokens[~ends], rows[~ends]
            if length == max_length:
                for total, sentence in zip(totals, tokens, strict=True):
                    self.cut(total, sentence, length)
            state = self.rearranged(state, rows)
        return self.result()


@torch.no_grad()
def _searched(kind, step, state, beam_size, bos_id, eos_id, max_length, length_penalty):
    return kind(step, beam_size, bos_id, eos_id, length_penalty).run(state, max_length)


def state_left_behind(step, state, beam_size, bos_id, eos_id, max_length, length_penalty=0.0):
    """The state is not put into the order of the hypotheses.

    After a step, hypothesis k may be an extension of what was hypothesis j. Its state is then in
    row j of what the step returned, and has to be moved to row k together with the words.
    """

    class Search(_Search):
        def rearranged(self, state, rows):
            return choose(state, torch.arange(len(rows)) % _rows_of(state))

    given = (beam_size, bos_id, eos_id, max_length, length_penalty)
    return _searched(Search, step, state, *given)


def _rows_of(state):
    while not isinstance(state, Tensor):
        state = next(iter(state.values() if isinstance(state, dict) else state))
    return len(state)


def last_word_only(step, state, beam_size, bos_id, eos_id, max_length, length_penalty=0.0):
    """You do not sum the log probabilities.

    Each extension is ranked by the log p of its last word alone. What counts is the whole
    hypothesis: the sum over all its words, the running total plus the new log p.
    """

    class Search(_Search):
        def running(self, totals, log_probs, length):
            return log_probs

    given = (beam_size, bos_id, eos_id, max_length, length_penalty)
    return _searched(Search, step, state, *given)


def greedy(step, state, beam_size, bos_id, eos_id, max_length, length_penalty=0.0):
    """The beam never widens: this is greedy decoding.

    Either only one hypothesis is kept, or the first step starts from beam_size copies of the empty
    hypothesis: then each of its extensions is there beam_size times, and the copies fill the beam.
    Start from one hypothesis, and take beam_size different extensions of it.
    """

    class Search(_Search):
        def room(self):
            return 1

    given = (beam_size, bos_id, eos_id, max_length, length_penalty)
    return _searched(Search, step, state, *given)


def beam_stays_wide(step, state, beam_size, bos_id, eos_id, max_length, length_penalty=0.0):
    """Your beam stays at beam_size when hypotheses have finished.

    A finished hypothesis keeps its place: each step keeps the best (beam_size - finished)
    extensions, and the search is over when beam_size hypotheses are finished.
    """

    class Search(_Search):
        def room(self):
            return self.beam_size

        def enough(self):
            return len(self.finished) >= self.beam_size

    given = (beam_size, bos_id, eos_id, max_length, length_penalty)
    return _searched(Search, step, state, *given)


@torch.no_grad()
def finished_compete(step, state, beam_size, bos_id, eos_id, max_length, length_penalty=0.0):
    """You let live hypotheses push finished ones out of the beam.

    Here finished hypotheses are ranked together with the extensions and may be dropped. A finished
    hypothesis is set aside for good; only the choice at the very end compares it with the others.
    """
    live: list[tuple[Tensor, list[int], Any]] = [(torch.zeros(()), [], state)]
    finished: list[tuple[Tensor, list[int], Any]] = []
    for _ in range(max_length):
        all_of_them = list(finished)
        for total, words, before in live:
            last = torch.tensor([words[-1] if words else bos_id], device=device_of(before))
            log_probs, after = step(last, before)
            all_of_them += [(total + p, [*words, w], after) for w, p in enumerate(log_probs[0])]
        kept = sorted(all_of_them, key=lambda one: -float(one[0]))[:beam_size]
        finished = [one for one in kept if one[1][-1] == eos_id]
        live = [one for one in kept if one[1][-1] != eos_id]
    found = [(w, total / len(w) ** length_penalty) for total, w, _ in (*finished, *live)]
    words, score = max(found, key=lambda one: float(one[1]))
    return torch.tensor(words), score


def runs_past_the_end(step, state, beam_size, bos_id, eos_id, max_length, length_penalty=0.0):
    """Your hypotheses go on after eos.

    eos_id ends a sentence. A hypothesis that has just got it is complete: it is set aside and never
    extended.
    """
    given = (beam_size, bos_id, -1, max_length, length_penalty)
    return _searched(_Search, step, state, *given)


def first_to_finish(step, state, beam_size, bos_id, eos_id, max_length, length_penalty=0.0):
    """You return the hypothesis that finishes first, not the best one.

    The first to finish is the shortest. Go on until beam_size hypotheses are finished or
    max_length is reached, and compare all of them at the end.
    """

    class Search(_Search):
        def enough(self):
            return bool(self.finished)

    given = (beam_size, bos_id, eos_id, max_length, length_penalty)
    return _searched(Search, step, state, *given)


def last_to_finish(step, state, beam_size, bos_id, eos_id, max_length, length_penalty=0.0):
    """You compare only what the last step kept.

    A hypothesis that finished earlier may have the best score of all: keep the finished ones, and
    compare all of them at the end.
    """

    class Search(_Search):
        def result(self):
            longest = max(len(words) for words, _ in self.finished)
            last = [found for found in self.finished if len(found[0]) == longest]
            return max(last, key=lambda found: float(found[1]))

    given = (beam_size, bos_id, eos_id, max_length, length_penalty)
    return _searched(Search, step, state, *given)


def live_ones_dropped(step, state, beam_size, bos_id, eos_id, max_length, length_penalty=0.0):
    """You drop hypotheses without eos when max_length is reached.

    They count as finished then, and may win against those that have an eos.
    """

    class Search(_Search):
        def __init__(self, *given):
            super().__init__(*given)
            self.rest = []

        def cut(self, total, tokens, length):
            self.rest.append((tokens[1:], self.score(total, length, False)))

        def result(self):
            return max(self.finished or self.rest, key=lambda found: float(found[1]))

    given = (beam_size, bos_id, eos_id, max_length, length_penalty)
    return _searched(Search, step, state, *given)


def penalty_unused(step, state, beam_size, bos_id, eos_id, max_length, length_penalty=0.0):
    """length_penalty is not used.

    A long sentence has a low total because it has many words. The score divides the total by
    L^length_penalty, and the finished hypothesis with the best score wins.
    """
    return _searched(_Search, step, state, beam_size, bos_id, eos_id, max_length, 0.0)


def penalty_after_the_choice(
    step, state, beam_size, bos_id, eos_id, max_length, length_penalty=0.0
):
    """Your length penalty comes after the choice, when it can no longer change it.

    The finished hypotheses are compared by their totals and only the winner's is divided by
    L^length_penalty. They have to be compared by their scores, length penalty included.
    """
    words, total = _searched(_Search, step, state, beam_size, bos_id, eos_id, max_length, 0.0)
    return words, total / len(words) ** length_penalty


def penalty_in_every_step(step, state, beam_size, bos_id, eos_id, max_length, length_penalty=0.0):
    """Your running total is divided by the length penalty in every step.

    The total that is carried on is the plain sum of log p. The division belongs to the score of a
    finished hypothesis, once.
    """

    class Search(_Search):
        def running(self, totals, log_probs, length):
            return (totals.unsqueeze(1) + log_probs) / length**self.length_penalty

        def score(self, total, length, ended):
            return total

    given = (beam_size, bos_id, eos_id, max_length, length_penalty)
    return _searched(Search, step, state, *given)


def total_returned(step, state, beam_size, bos_id, eos_id, max_length, length_penalty=0.0):
    """The sentence is right, but its score lacks the length penalty.

    The score that is returned is the one the sentence won by: the total divided by
    L^length_penalty.
    """

    class Search(_Search):
        def result(self):
            words, score = super().result()
            return words, score * len(words) ** self.length_penalty

    given = (beam_size, bos_id, eos_id, max_length, length_penalty)
    return _searched(Search, step, state, *given)


def eos_not_counted(step, state, beam_size, bos_id, eos_id, max_length, length_penalty=0.0):
    """eos is not counted in the length of a sentence.

    Its log p is part of the total, so it is one of the L words that the total is divided for.
    """

    class Search(_Search):
        def score(self, total, length, ended):
            return total / max(length - ended, 1) ** self.length_penalty

    given = (beam_size, bos_id, eos_id, max_length, length_penalty)
    return _searched(Search, step, state, *given)


def bos_counted(step, state, beam_size, bos_id, eos_id, max_length, length_penalty=0.0):
    """You count bos in the length of a sentence.

    The beginning is given, not predicted: it has no log p in the total and is not one of the L
    words.
    """

    class Search(_Search):
        def score(self, total, length, ended):
            return total / (length + 1) ** self.length_penalty

    given = (beam_size, bos_id, eos_id, max_length, length_penalty)
    return _searched(Search, step, state, *given)


def bos_returned(step, state, beam_size, bos_id, eos_id, max_length, length_penalty=0.0):
    """The sentence that you return begins with bos.

    bos_id only starts the search. What is returned is what the model said: without bos, with eos if
    there is one.
    """

    class Search(_Search):
        def wording(self, tokens):
            return tokens

    given = (beam_size, bos_id, eos_id, max_length, length_penalty)
    return _searched(Search, step, state, *given)


def eos_removed(step, state, beam_size, bos_id, eos_id, max_length, length_penalty=0.0):
    """eos is missing at the end of the sentence.

    The tokens include eos if the model said it: that is how a complete sentence is told from one
    that was cut off.
    """

    class Search(_Search):
        def wording(self, tokens):
            return tokens[1:-1] if int(tokens[-1]) == self.eos_id else tokens[1:]

    given = (beam_size, bos_id, eos_id, max_length, length_penalty)
    return _searched(Search, step, state, *given)


def one_word_too_many(step, state, beam_size, bos_id, eos_id, max_length, length_penalty=0.0):
    """Your search takes one step more than max_length.

    max_length counts eos, and does not count bos: max_length calls of step are enough.
    """
    given = (beam_size, bos_id, eos_id, max_length + 1, length_penalty)
    return _searched(_Search, step, state, *given)


def one_word_too_few(step, state, beam_size, bos_id, eos_id, max_length, length_penalty=0.0):
    """Your search takes one step less than max_length.

    max_length counts eos, and does not count bos: a sentence may have max_length tokens in all.
    """
    given = (beam_size, bos_id, eos_id, max(max_length - 1, 1), length_penalty)
    return _searched(_Search, step, state, *given)


def penalty_of_wu(step, state, beam_size, bos_id, eos_id, max_length, length_penalty=0.0):
    """Your length penalty is that of Wu et al. (2016).

    Theirs is ((5 + L) / 6) ** alpha, which punishes short sentences less. Here the sum is divided by
    L ** length_penalty.
    """

    class Search(_Search):
        def score(self, total, length, ended):
            return total / ((5 + length) / 6) ** self.length_penalty

    given = (beam_size, bos_id, eos_id, max_length, length_penalty)
    return _searched(Search, step, state, *given)


def probabilities_added(step, state, beam_size, bos_id, eos_id, max_length, length_penalty=0.0):
    """You add probabilities, not their logarithms.

    The probability of a sentence is the *product* of those of its words, so its logarithm is the
    sum of theirs. `step` returns logarithms: add them as they are.
    """

    class Search(_Search):
        def running(self, totals, log_probs, length):
            return super().running(totals, log_probs.exp(), length)

    given = (beam_size, bos_id, eos_id, max_length, length_penalty)
    return _searched(Search, step, state, *given)


def greedy_after_the_first_step(
    step, state, beam_size, bos_id, eos_id, max_length, length_penalty=0.0
):
    """After the first step, each of your hypotheses goes on with its own best word.

    The extensions of all hypotheses compete with each other: one hypothesis may give several of the
    best, another none.
    """

    class Search(_Search):
        live = 0

        def room(self):
            return min(super().room(), self.live) if self.live else super().room()

        def running(self, totals, log_probs, length):
            all_of_them = super().running(totals, log_probs, length)
            if length == 1:
                return all_of_them
            self.live = len(totals)
            own = all_of_them == all_of_them.amax(dim=1, keepdim=True)
            return all_of_them.masked_fill(~own, -torch.inf)

    given = (beam_size, bos_id, eos_id, max_length, length_penalty)
    return _searched(Search, step, state, *given)
