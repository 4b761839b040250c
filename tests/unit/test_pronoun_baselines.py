"""Tests of the guesses that chapter 8 sets beside its models."""

from coursekit.corpora.winograd_pairs import twins
from experiments import pronoun_data


def test_the_last_noun_is_right_for_one_of_two_twins():
    pairs = [one for pair in twins(40, seed=3) for one in (pair.first, pair.second)]
    shares = pronoun_data.score_guesses(pairs, {"own": pairs, "twins": pairs})
    assert shares["twins"]["last noun"] == 0.5


def test_who_has_met_all_nouns_with_their_last_words_is_right():
    pairs = [one for pair in twins(40, seed=3) for one in (pair.first, pair.second)]
    shares = pronoun_data.score_guesses(pairs, {"own": pairs, "twins": pairs})
    without = pronoun_data.score_guesses([], {"own": pairs, "twins": pairs})
    assert without["twins"]["noun and last word"] < shares["twins"]["noun and last word"] <= 1
