"""Tests of the sentences that are offered in place of one that the five translators cannot read."""

from itertools import combinations

from experiments import everyday_data


def test_suggestions_are_short_and_the_longer_ones_bring_words_together_anew(monkeypatch):
    monkeypatch.setattr(everyday_data, "DRAWN", 150)
    chosen = everyday_data.choose_suggestions()
    assert ("i", "love", "you") in chosen
    assert len(chosen) == len(set(chosen)) > 60
    assert max(map(len, chosen)) <= everyday_data.LONGEST_SUGGESTED
    seen: set[frozenset[str]] = set()
    for source in chosen:
        pairs = {frozenset(pair) for pair in combinations(set(source), 2)}
        assert len(source) <= 4 or len(pairs - seen) >= len(pairs) / 2
        seen |= pairs
