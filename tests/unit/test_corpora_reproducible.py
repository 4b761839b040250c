"""Tests that the synthetic corpora are reproducible, also with a larger training set."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from coursekit import corpora
from coursekit.corpora import reviews, scenes, stories

# Digests of the first items of seed 0. They change only with deliberate changes of the generators.
DIGESTS = {
    "korean": "e03e328611794ce64b142c3e6f60577745e5a3bdb1561014a419f3a4ce4b8958",
    "french": "47534304b04cd444dba658e7eed05e6a3fe16b9df294425482a0a65b899d9a07",
    "stories": "247c5d95130f905cc14b587bc73074e762f69a257d18e2fc84ff4b0c2d0c46a4",
    "reviews": "c68fdece930e4641581d965107e46444ef42616abe98d987abd55573453b1d85",
    "scenes": "73beb15b0ec03bb2a88f3ee0e8341c203e539dacf2e1c52e3e4278fe6eefbc6f",
}
FIRST = """
from hashlib import sha256

from coursekit.corpora import english_french, english_korean
from coursekit.corpora.reviews import reviews
from coursekit.corpora.scenes import scenes
from coursekit.corpora.stories import stories

made = {
    "korean": [(p.source, p.target, sorted(p.links)) for p in english_korean(50, 0)],
    "french": [(p.source, p.target, sorted(p.links)) for p in english_french(50, 0)],
    "stories": [(s.sentences, s.tags, s.questions, s.plot) for s in stories(50, 0)],
    "reviews": [(r.sentences, r.rating, sorted(r.deciding_words), r.topic) for r in reviews(50, 0)],
    "scenes": [(s.words, s.about, sha256(s.picture.tobytes()).hexdigest()) for s in scenes(20, 0)],
}
digests = {name: sha256(repr(items).encode()).hexdigest() for name, items in made.items()}
"""


@pytest.mark.parametrize("hash_seed", ["0", "1"])
def test_the_first_never_change_whatever_the_hashes_are(hash_seed):
    run = subprocess.run(
        [sys.executable, "-c", f"{FIRST}\nimport json; print(json.dumps(digests))"],
        env=os.environ | {"PYTHONHASHSEED": hash_seed, "PYTHONUTF8": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(run.stdout) == DIGESTS


@pytest.mark.parametrize("module", [stories, reviews, scenes], ids=lambda m: m.__name__[18:])
def test_a_larger_training_set_keeps_the_test_set(module):
    small, large = (repr(module.splits(n, 50, 50, seed=4)[1:]) for n in (100, 300))
    assert small == large


@pytest.mark.parametrize("language", ["korean", "french"])
def test_a_larger_training_set_of_pairs_keeps_the_test_set(language):
    small, large = (corpora.splits(language, n, 50, 50, seed=4)[1:] for n in (100, 300))
    assert small == large
