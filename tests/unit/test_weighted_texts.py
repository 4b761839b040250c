"""Tests of texts with recorded weights: the explorer takes them, and they say what was recorded."""

import torch

from coursekit.training import results
from coursekit.widgets import WordsExplorer
from experiments import pooling, weighted_texts


def test_an_imdb_review_has_a_view_for_the_query_and_for_each_hop():
    text = weighted_texts.imdb_review(3)
    recorded = results.read("structured", "imdb")["runs"][0]["examples"][3]
    assert len(text["weights"]) == 2 + len(recorded["weights"])
    assert f"{recorded['probabilities'][1]:.2f}" in text["told"]["all hops together"]
    assert WordsExplorer([text]).views[0] == "the final state as query"


def test_the_mean_of_the_hops_is_the_first_of_their_views():
    views = weighted_texts.hop_views([[1.0, 0.0], [0.5, 0.5]], ", penalty")
    assert list(views) == ["all hops together, penalty", "hop 1, penalty", "hop 2, penalty"]
    assert views["all hops together, penalty"].tolist() == [0.75, 0.25]


def test_a_generated_review_says_what_each_model_predicts():
    data = pooling.load_reviews()
    torch.manual_seed(1)
    model = pooling.build("attention", len(data.vocabulary)).eval()
    words = data.reviews.test[5].words
    recorded = {5: {"weights": torch.eye(len(words))[:4].tolist(), "probability": 0.123}}
    text = weighted_texts.generated_review(5, data, model, {"penalty": recorded})
    assert WordsExplorer([text]).views[1] == "all hops together, penalty"
    assert "0.12; in truth" in text["told"]["hop 3, penalty"]
    assert text["weights"]["the final state as query"].sum().item() > 0.99


def test_a_recorded_document_names_the_class_with_the_highest_probability():
    example = results.read("han", "imdb")["runs"][0]["examples"][0]
    text = weighted_texts.document(example, ["bad", "good"])
    best = ["bad", "good"][example["probabilities"][1] > 0.5]
    assert all(told.startswith(f"The model says {best}") for told in text["told"].values())
    assert WordsExplorer([text]).texts
