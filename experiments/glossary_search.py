"""Search the course's glossary by meaning, with published weights, and by words.

    python -m experiments glossary_search

Each entry and each question is represented by one vector: the mean of its states in
all-MiniLM-L6-v2, or its tf-idf vector. The entries are ranked by their cosine with the question.
The questions were written before the first run, each for one entry, and avoid its name. Writes
book/results/minilm-search.glossary.json.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
import yaml
from torch import Tensor

from coursekit.training import device, results

from .minilm_encoder import load_published, mean_states
from .run_registry import command

GLOSSARY = Path(__file__).resolve().parent.parent / "book" / "glossary.yml"
QUESTIONS = {
    "Why can't the decoder look at words that come later?": "causal mask",
    "How do I stop my network from memorising the training data?": "dropout",
    "Sentences in a batch are not equally long. What do I fill them up with?": "padding",
    "How good is a translation?": "BLEU",
    "The signal that reaches early time steps gets smaller and smaller.": "vanishing gradient",
    "Keep several unfinished translations and extend the best ones.": "beam search",
    "A word that is not in the dictionary of the model": "unknown word",
    "Feed the true previous word in training, not the model's own": "teacher forcing",
    "The model never sees its own mistakes until it is used.": "exposure bias",
    "Guess the missing word in a sentence": "cloze",
    "Take a trained model and train it a little more for my task": "fine-tuning",
    "How does the model know the order of the words?": "position encoding",
    "Add the input of a layer to its output": "residual connection",
    "Everything about the sentence has to fit into one vector.": "bottleneck",
    "Look at one place only, chosen at random": "hard attention",
    "Is this review positive or negative?": "sentiment analysis",
    "Several looks side by side, each in a subspace of its own": "multi-head attention",
    "Make the output more random or more certain": "temperature",
    "Change only a small number of weights of a huge model": "LoRA",
    "Do not compute again what was computed for earlier words": "key-value cache",
    "Turn scores into probabilities that sum to one": "softmax",
    "Cut rare words into smaller pieces": "subword",
    "What happens to the result if I remove this word?": "leave-one-out",
    "Begin with small steps and make them larger": "warm-up",
}


def read_entries() -> dict[str, str]:
    """Return the text of each entry, without markup and with its name first, by name."""
    found = {}
    for entry in yaml.safe_load(GLOSSARY.read_text("utf-8"))["terms"]:
        text = re.sub(r"\{[\w:]+\}`([^`<]*?)(?:\s*<[^>]*>)?`", r"\1", entry["is"])
        names = ", ".join([entry["term"], *entry.get("also", [])])
        found[entry["term"]] = f"{names}: {text.strip()}"
    return found


def cosines_by_words(texts: Sequence[str], questions: Sequence[str]) -> Tensor:
    """Return cosines (questions, texts) of tf-idf vectors."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    words = TfidfVectorizer().fit(texts)
    both = words.transform(questions) @ words.transform(texts).T  # rows have length 1
    return torch.from_numpy(both.toarray())


def cosines_by_meaning(texts: Sequence[str], questions: Sequence[str]) -> tuple[Tensor, int, str]:
    """Return cosines (questions, texts) of mean states, parameter count and weights' checksum."""
    model, pieces, checksum = load_published()
    encoder = model.encoder.to(device())
    vectors = [
        F.normalize(mean_states(encoder, [(*pieces.encode(text), 0) for text in some]), dim=-1)
        for some in (questions, texts)
    ]  # (Q, d), (M, d)
    return vectors[0] @ vectors[1].T, sum(p.numel() for p in encoder.parameters()), checksum


def compute_ranks(cosines: Tensor, wanted: Sequence[int]) -> list[int]:
    """Return the rank of the wanted text for each question, from 1; ties rank before it."""
    own = cosines.gather(1, torch.tensor(wanted).unsqueeze(1))  # (Q, 1)
    return (cosines >= own).sum(dim=1).tolist()


def parser() -> argparse.ArgumentParser:
    """Return the parser, which has no options."""
    return argparse.ArgumentParser(description=__doc__.splitlines()[0])


def main(options: argparse.Namespace) -> None:
    """Search for all questions in both ways and record the results."""
    started = time.perf_counter()
    known = read_entries()
    names, questions = list(known), list(QUESTIONS)
    wanted = [names.index(term) for term in QUESTIONS.values()]
    by_meaning, parameters, checksum = cosines_by_meaning(list(known.values()), questions)
    ways = {"meaning": by_meaning, "words": cosines_by_words(list(known.values()), questions)}
    metrics: dict[str, float] = {}
    found: dict[str, dict[str, Any]] = {q: {"wanted": term} for q, term in QUESTIONS.items()}
    for way, cosines in ways.items():
        places = compute_ranks(cosines, wanted)
        metrics[f"first_{way}"] = sum(place == 1 for place in places) / len(places)
        metrics[f"top_three_{way}"] = sum(place <= 3 for place in places) / len(places)
        for question, place, row in zip(questions, places, cosines, strict=True):
            best = row.topk(3)
            hits = [names[i] for c, i in zip(*(t.tolist() for t in best), strict=True) if c > 0]
            found[question] |= {way: hits, f"place_{way}": place}
    pages = hashlib.sha256(GLOSSARY.read_bytes()).hexdigest()
    results.write_result(
        "minilm-search",
        "glossary",
        runs=[{"seed": 0, "metrics": metrics, "seconds": time.perf_counter() - started}],
        parameters=parameters,
        data_sha256=hashlib.sha256((checksum + pages).encode()).hexdigest(),
        command=command("glossary_search", options),
        scorer="share of questions whose entry comes first, or among the first three",
        entries=len(names),
        found=[{"question": question, **hits} for question, hits in found.items()],
    )
    print(metrics)
