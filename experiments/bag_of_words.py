"""Train n-gram classifiers, the baselines of the networks, and record their accuracy.

    python -m experiments bag_of_words                      # logistic regression, IMDB
    python -m experiments bag_of_words --model naive-bayes --data nsmc

Writes book/results/<model>.<data>.json. The regularisation is chosen on the validation data; the
test set is read once, after that.
"""

from __future__ import annotations

import argparse
import time

from coursekit import datasets
from coursekit.data.documents import words
from coursekit.models.bag_of_words import BagClassifier
from coursekit.text.vocabulary import SubwordVocabulary
from coursekit.training import results

from .run_registry import command

MODELS = ("logistic-regression", "naive-bayes")
TRIED = {"logistic-regression": (0.03, 0.1, 0.3, 1.0), "naive-bayes": (0.1, 0.3, 1.0, 3.0)}
KOREAN = ("nsmc", "naver-shopping", "steam")


def parser() -> argparse.ArgumentParser:
    """Return the parser of the options."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--model", choices=MODELS, default=MODELS[0])
    arguments.add_argument("--data", default="imdb")
    arguments.add_argument("--ngrams", type=int, default=2, help="longest n-gram")
    arguments.add_argument("--minimum-documents", type=int, default=2)
    arguments.add_argument("--subwords", type=int, default=16_000, help="for Korean")
    return arguments


def main(options: argparse.Namespace) -> None:
    """Choose the regularisation, evaluate, record."""
    corpus = datasets.load(options.data)
    cut = words
    if options.data in KOREAN:
        vocabulary = SubwordVocabulary([text for text, _ in corpus.train], options.subwords)

        def cut(text: str) -> list[str]:
            return vocabulary.tokens(vocabulary.encode(text, eos=False))

    parts = {}
    for part in ("train", "validation", "test"):
        items = corpus.split(part)
        parts[part] = [cut(text) for text, _ in items], [label for _, label in items]
    started = time.perf_counter()
    tried = []
    for strength in TRIED[options.model]:
        model = BagClassifier(
            options.model.replace("-", " "), options.ngrams, options.minimum_documents, strength
        ).fit(*parts["train"])
        tried.append((model.accuracy(*parts["validation"]), strength, model))
        print(tried[-1][:2], flush=True)
    best, strength, model = max(tried, key=lambda row: row[0])
    seconds = time.perf_counter() - started
    results.write_result(
        options.model,
        options.data,
        runs=[
            {
                "seed": 0,  # nothing is random
                "metrics": {
                    "accuracy": model.accuracy(*parts["test"]),  # the only use of the test set
                    "validation_accuracy": best,
                },
                "seconds": seconds,
                "regularisation": strength,
                "tried": [{"regularisation": s, "validation_accuracy": a} for a, s, _ in tried],
                "training_texts": len(parts["train"][0]),
            }
        ],
        parameters=model.parameters,
        data_sha256=corpus.data_sha256,
        command=command("bag_of_words", options),
        scorer="share of texts that get their class",
        settings={k: v for k, v in vars(options).items() if k not in ("data", "model")},
    )
