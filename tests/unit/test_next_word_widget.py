"""The next-word explorer: its language models give Python's probabilities; rejected input."""

from __future__ import annotations

import ast
import json
import math
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from coursekit.models.ngrams import NgramModel
from coursekit.text.vocabulary import BOS, EOS
from coursekit.widgets import NextWordExplorer, pack_decoder
from coursekit.widgets.live.weight_packing import as_packed, pack_ids
from solutions.embeddings.vectors import NeuralLanguageModel
from solutions.modern.block import rotary_positions, swiglu
from tests.helpers.javascript import javascript
from tests.helpers.one_line_errors import refused

WORDS = ["<pad>", "<unk>", "<bos>", "<eos>", "the", "a", "cat", "dog", "sleeps", "runs"]
THE, A, CAT, DOG, SLEEPS, RUNS = range(4, 10)
SENTENCES = [
    [THE, CAT, SLEEPS, EOS],
    [THE, DOG, SLEEPS, EOS],
    [THE, DOG, RUNS, EOS],
    [A, DOG, RUNS, EOS],
    [A, CAT, EOS],
    [THE, THE, DOG, RUNS, EOS],
]
ASKED = [BOS, THE, DOG, SLEEPS, THE, CAT, A]


def decoder_of_the_page() -> type[nn.Module]:
    """Return the class DecoderToday as chapter 10 defines it."""
    page = Path("book/10_what_changed.md").read_text(encoding="utf-8")
    start = page.index("class BlockToday")
    cell = page[start : page.index("```", start)]
    classes = [node for node in ast.parse(cell).body if isinstance(node, ast.ClassDef)]
    names: dict[str, Any] = {
        "nn": nn, "F": F, "torch": torch, "rotary_positions": rotary_positions, "swiglu": swiglu,
    }  # fmt: skip
    exec("\n\n".join(ast.unparse(node) for node in classes), names)
    return names["DecoderToday"]


def ngrams(order: int) -> NgramModel:
    return NgramModel(order, len(WORDS), [0.2 + 0.1 * k for k in range(order)]).fit(SENTENCES)


def neural(seed: int = 0) -> NeuralLanguageModel:
    torch.manual_seed(seed)
    return NeuralLanguageModel(len(WORDS), 3, 4, 5)


def made(models: dict[str, Any], **changed: Any) -> NextWordExplorer:
    given: dict[str, Any] = {"beginnings": [(["the", "cat"], 2)]} | changed
    return NextWordExplorer(models, WORDS, begin=BOS, end=EOS, special=4, **given)


def read(call: str, ids: list[int]) -> torch.Tensor:
    """Return the probabilities (N, V) that a model of the browser gives after each prefix."""
    rows = javascript(NextWordExplorer, f"{call}.read({ids}).map((row) => [...softmax(row)])")
    return torch.tensor(rows)


@pytest.mark.parametrize("order", range(1, 6))
def test_the_browser_counts_as_python_does(order):
    model = ngrams(order)
    (state,) = made({"counts": model}).models
    given = json.dumps(state | {"size": len(WORDS), "bos": BOS, "eos": EOS})
    found = read(f"ngramModel({given})", ASKED)
    for i in range(len(ASKED)):
        expected = [model.probability(word, ASKED[: i + 1]) for word in range(len(WORDS))]
        assert found[i].tolist() == pytest.approx(expected, rel=1e-5)


def test_what_the_counts_remember_of_a_context():
    (state,) = made({"counts": ngrams(4)}).models
    model = f"ngramModel({json.dumps(state | {'size': len(WORDS), 'bos': BOS, 'eos': EOS})})"
    asked = [[BOS, THE, DOG], [BOS, A, DOG, SLEEPS, A], [BOS, THE, CAT, DOG], [RUNS, RUNS, EOS]]
    found = javascript(NextWordExplorer, f"{json.dumps(asked)}.map({model}.recall)")
    assert found == [
        {"words": 3, "asked": 3, "times": 2, "different": 2, "next": SLEEPS},
        {"words": 1, "asked": 3, "times": 2, "different": 2, "next": CAT},
        {"words": 1, "asked": 3, "times": 4, "different": 2, "next": RUNS},
        {"words": 0, "asked": 3, "times": 0, "different": 0, "next": None},
    ]


@pytest.mark.parametrize("seed", [0, 1])
def test_the_browser_computes_the_neural_language_model(seed):
    model = neural(seed)
    (state,) = made({"network": model}).models
    found = read(
        f"neuralLanguageModel(unpack({json.dumps(state['weights'])}), {{ bos: {BOS} }})", ASKED
    )
    padded = [BOS] * 3 + ASKED
    contexts = torch.tensor([padded[i : i + 4] for i in range(len(ASKED))])
    expected = as_packed(model)(contexts).softmax(-1)
    torch.testing.assert_close(found, expected, atol=1e-6, rtol=1e-4)


def test_the_nearest_words_are_those_of_the_largest_cosine():
    model = neural()
    (state,) = made({"network": model}).models
    others = [THE, A, CAT, DOG, SLEEPS, RUNS]
    call = f"neuralLanguageModel(unpack({json.dumps(state['weights'])}), {{ bos: {BOS} }})"
    found = javascript(NextWordExplorer, f"{call}.nearest({CAT}, {others}, 3)")
    table = F.normalize(model.embedding.weight.detach(), dim=-1)
    cosine = {i: float(table[i] @ table[CAT]) for i in others if i != CAT}
    assert found == sorted(cosine, key=cosine.__getitem__, reverse=True)[:3]


@pytest.mark.parametrize(("heads", "groups"), [(2, 2), (4, 2), (4, 1)])
def test_the_browser_computes_the_decoder_of_chapter_10(heads, groups):
    torch.manual_seed(heads)
    decoder = decoder_of_the_page()(len(WORDS), width=16, heads=heads, groups=groups)
    for norm in (decoder.norm, *decoder.blocks[0].norms):
        nn.init.uniform_(norm.weight, 0.5, 1.5)
    packed = pack_decoder(decoder, heads)
    call = f"decoderModel(unpack({json.dumps(packed['weights'])}), {{ heads: {heads} }})"
    with torch.no_grad():
        expected = as_packed(decoder)(torch.tensor([ASKED]))[0].softmax(-1)
    torch.testing.assert_close(read(call, ASKED), expected, atol=1e-5, rtol=1e-3)


@pytest.mark.parametrize(
    ("options", "kept"),
    [
        ({}, [0.5, 0.3, 0.2]),
        ({"topK": 2}, [0.625, 0.375, 0]),
        ({"topP": 0.49}, [1, 0, 0]),
        ({"topP": 0.51}, [0.625, 0.375, 0]),
        ({"topP": 0.01}, [1, 0, 0]),
        ({"temperature": 0.5}, [25 / 38, 9 / 38, 4 / 38]),
        ({"temperature": 0.5, "topK": 2, "topP": 0.7}, [1, 0, 0]),  # 25 / 34 > 0.7
        ({"topK": 2, "topP": 0.63}, [0.625, 0.375, 0]),
    ],
)
def test_temperature_then_top_k_then_top_p(options, kept):
    logits = [math.log(p) for p in (0.5, 0.3, 0.2)]
    found = javascript(NextWordExplorer, f"[...sampling({logits}, {json.dumps(options)})]")
    assert found == pytest.approx(kept, abs=1e-6)


def test_a_word_is_drawn_as_often_as_its_probability_says():
    draws = (
        "Array.from({ length: 1000 }, (_, i) => drawFrom([0.25, 0, 0.7, 0.05], (i + 0.5) / 1000))"
    )
    found = javascript(NextWordExplorer, draws)
    assert [found.count(i) for i in range(4)] == [250, 0, 700, 50]
    assert javascript(NextWordExplorer, "drawFrom([0.5, 0.499, 0], 0.9999)") == 1


@pytest.mark.parametrize(
    ("p", "written"),
    [(0, "0 %"), (0.00002, "< 0.01 %"), (0.0003, "0.03 %"), (0.002, "0.2 %"), (0.0094, "0.9 %"),
     (0.0096, "1 %"), (0.234, "23 %"), (0.999, "> 99 %"), (1, "100 %")],
)  # fmt: skip
def test_small_probabilities_keep_a_digit(p, written):
    assert javascript(NextWordExplorer, f"chance({p})") == written
    assert not javascript(NextWordExplorer, f"chance({p}).includes(' ')"), "no break"


@pytest.mark.parametrize(
    ("found", "only", "said"),
    [
        ((0, 0, 0, 0), "", ""),
        (
            (2, 2, 14, 9),
            "",
            "“b c” occurs 14 times in the training text, before 9 different words.",
        ),
        ((2, 2, 1, 1), "d", "“b c” occurs once in the training text, before “d”."),
        (
            (1, 2, 1400, 1),
            "d",
            "“b c” does not occur in the training text; “c” occurs 1,400 times, always before “d”.",
        ),
        (
            (0, 2, 0, 0),
            "",
            "“c” does not occur in the training text: the guess is made without context.",
        ),
    ],
)
def test_the_context_is_told_in_words(found, only, said):
    counts = dict(zip(("words", "asked", "times", "different"), found, strict=True))
    call = f'recalled({json.dumps(counts)}, ["a", "b", "c"], "{only}")'
    assert javascript(NextWordExplorer, call) == said


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("a b . c", "a b. c"),
        ("a b c d e f", "a b c d e f"),
        ("a b c d e f g", "… c d e f g"),
        ("a b . c d e f", "… c d e f"),
        ("a . c d e . g", "… c d e. g"),
    ],
)
def test_the_end_of_a_text(text, end):
    assert javascript(NextWordExplorer, f"endOf({json.dumps(text.split())})") == end


def test_a_link_keeps_what_is_shown():
    shown = {
        "text": ["the", "cat", ".", "it", "runs"],
        "at": 4,
        "temperature": 0.8,
        "topK": 5,
        "topP": 0.9,
    }
    there = javascript(NextWordExplorer, f"toLink({json.dumps(shown)}, true)")
    assert there == {"s": "the cat. it runs", "at": "5", "t": "0.8", "k": "5", "p": "0.9"}
    assert javascript(NextWordExplorer, f"fromLink({json.dumps(there)})") == shown
    odd = javascript(
        NextWordExplorer, 'fromLink({ s: "The cat", at: "9", t: "x", k: "-1", p: "7" })'
    )
    assert odd == {"text": ["the", "cat"], "at": 2, "temperature": 1, "topK": 0, "topP": 1}


def test_ids_of_sentences_are_sent_as_characters():
    text = pack_ids([[9, 3], [4, 50_000, 3]])
    assert [ord(character) - 0x100 for character in text] == [4, 50_000, 3, 9, 3]
    assert pack_ids([]) == ""
    for wrong in (-1, 50_001):
        with refused("ids must be from 0 to 50,000"):
            pack_ids([[wrong]])


@pytest.mark.parametrize(
    ("models", "changed", "message"),
    [
        ({"counts": ngrams(2)}, {"beginnings": []}, "at least one model and one beginning"),
        ({"counts": ngrams(2)}, {"beginnings": [(["owl"], 0)]}, "'owl' is not in the vocabulary"),
        ({"counts": ngrams(2)}, {"beginnings": [(["cat"], 2)]}, "its place is from 0"),
        ({"counts": ngrams(2)}, {"beginnings": [(["cat"], 0)], "most": 0}, "at most 0 words"),
        ({"counts": NgramModel(2, len(WORDS))}, {}, "counts must be fitted"),
        ({"counts": NgramModel(2, 9).fit(SENTENCES)}, {}, "to ids of these 10 words"),
        ({"network": nn.Linear(2, 2)}, {}, "network must be a NeuralLanguageModel"),
        ({"network": pack_decoder(nn.Linear(2, 2), 2)}, {}, "what pack_decoder returns"),
        ({"network": NeuralLanguageModel(9, 3, 4, 5)}, {}, "one vector for each of the 10 words"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_sentence(models, changed, message):
    with refused(message):
        made(models, **changed)
