"""Tests of the translators side by side: state, wording, links, rejected input."""

import json

import pytest
import torch

from coursekit.corpora import SentencePair
from coursekit.text.vocabulary import WordVocabulary
from coursekit.widgets import HistoryExplorer, pack
from experiments import five_translators
from experiments.everyday_data import Languages
from tests.helpers.javascript import javascript
from tests.helpers.one_line_errors import refused

SOURCE = WordVocabulary([["the", "cat", "sleeps"]])
TARGET = WordVocabulary([["le", "chat", "dort"]])
JOINT = WordVocabulary([SOURCE.words[4:], TARGET.words[4:]])
PAIRS = [
    SentencePair(("the", "cat"), ("le", "chat"), frozenset()),
    SentencePair(("the", "cat", "sleeps"), ("le", "chat", "dort"), frozenset()),
]


class Data:
    apart, joint = Languages(SOURCE, TARGET), Languages(JOINT, JOINT)


def packed(kind):
    torch.manual_seed(0)
    model = five_translators.build(kind, Data)
    return pack(model.model if kind == "transformer" else model, 61)


def made(**changed):
    given = {
        "models": {kind: (kind.title(), packed(kind)) for kind in ("cho", "transformer")},
        "words": (SOURCE, TARGET, JOINT),
        "stories": {"Sleep": PAIRS},
        "longest": 20,
    }
    return HistoryExplorer(**(given | changed))


def test_the_browser_gets_models_words_and_stories():
    state = json.loads(json.dumps(made().get_state()))
    assert [(m["name"], m["label"], m["joint"]) for m in state["models"]] == [
        ("cho", "Cho", False),
        ("transformer", "Transformer", True),
    ]
    assert state["source_words"][state["special"] :] == ["cat", "sleeps", "the"]
    assert state["joint_words"] == JOINT.words
    (story,) = state["stories"]
    assert story["label"] == "Sleep"
    assert story["sentences"][1] == {"source": [*PAIRS[1].source], "target": [*PAIRS[1].target]}


@pytest.mark.parametrize("kind", ["cho", "sutskever", "bahdanau", "luong", "transformer"])
def test_every_translator_is_taken_and_no_other_in_its_place(kind):
    assert made(models={kind: ("this", packed(kind))}).models[0]["kind"] == kind
    other = "luong" if kind != "luong" else "bahdanau"
    with refused(f"{kind} must be a packed translator"):
        made(models={kind: ("that", packed(other))})


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"stories": {}}, "at least one model and one story"),
        ({"models": {}}, "at least one model and one story"),
        ({"models": {"gpt": ("GPT", {})}}, "gpt must be a packed translator"),
        (
            {"stories": {"s": [SentencePair(("the", "dog"), ("le", "chat"), frozenset())]}},
            "'dog' is not in the vocabulary",
        ),
    ],
)
def test_what_does_not_fit_is_refused_in_one_sentence(changed, message):
    with refused(message):
        made(**changed)


def test_a_probe_is_for_a_translator_with_one_vector():
    probe = pack(torch.nn.Linear(2, 3))
    explorer = made(probes={"cho": probe}, content=["sleeps", "cat"])
    assert [model["probe"] for model in explorer.models] == [probe, None]
    assert [SOURCE.words[i] for i in explorer.content] == ["sleeps", "cat"]
    with refused("'unicorn' is not in the vocabulary"):
        made(content=["unicorn"])
    for kind in ("transformer", "sutskever"):  # which attends, and which is not there
        with refused("probes are for cho and sutskever, if these are among the models"):
            made(probes={kind: probe})


def test_what_is_read_back_is_as_many_words_as_were_there():
    call = "readBack([0.7, 0.5, 0.9, 0.2], [1, 2, 4, 2], [3, 0, 1, 2])"
    found = javascript(HistoryExplorer, call)
    assert found == {"found": [1], "missed": [2], "instead": [3], "places": [0.9, 0.2, 0, 0.2]}


@pytest.mark.parametrize(
    ("back", "said"),
    [
        (([1], [2, 0], [3, 4]), "It finds 1: “b”. It misses “c”, “a”, and takes “d”, “e” to be "),
        (([1, 2], [], []), "looks in the vector for the 2 nouns, adjectives and verbs of the sent"),
        (([1, 2], [], []), "It finds all of them: “b”, “c”."),
        (([1], [], []), "the one noun, adjective or verb of the sentence. It finds it: “b”."),
        (([], [1], [2]), "It finds none. It misses “b”, and takes “c” to be there."),
    ],
)
def test_what_is_read_back_is_said(back, said):
    given = dict(zip(("found", "missed", "instead"), back, strict=True))
    words = list("abcde")
    assert said in javascript(HistoryExplorer, f"readBackInWords({given}, {words})")


def test_nothing_is_said_of_a_sentence_without_such_words():
    nothing = "{ found: [], missed: [], instead: [] }"
    assert javascript(HistoryExplorer, f"readBackInWords({nothing}, ['a'])") == ""


def test_what_a_word_reads_is_said():
    step = "{ weights: [0.1, 0.86, 0.04], probabilities: [0.25, 0.75], token: 1 }"
    call = f"inWords('chat', ['the', 'cat', 'the end'], {step})"
    said = "“chat” reads “cat” (0.86), “the” (0.10). The model gives it 75 %."
    assert javascript(HistoryExplorer, call) == said
    step = "{ weights: null, probabilities: [0.25, 0.75], token: 0, forced: true }"
    told = javascript(HistoryExplorer, f"inWords('chat', [], {step}, 112)")
    assert "the vector of 112 numbers" in told and "no source word" in told
    assert told.endswith("You forced it; the model gives it 25 %.")


def test_a_link_holds_what_is_seen():
    shown = {
        "words": ["the", "cat"], "model": "luong", "step": 2, "barred": [1],
        "forced": {"0": "elle"}, "off": [0, 2], "hand": {"luong": {"2": [10, 0, 90]}},
    }  # fmt: skip
    link = javascript(HistoryExplorer, f"toLink({json.dumps(shown)})")
    assert link == {
        "s": "the cat", "by": "luong", "at": "3", "bar": "2", "force": "1:elle", "off": "1 3",
        "hand": "luong:3:10,0,90",
    }  # fmt: skip
    names = "['cho', 'luong', 'transformer']"
    assert javascript(HistoryExplorer, f"fromLink({json.dumps(link)}, {names})") == shown
    given = "{ s: 'The Cat.', by: 'x', at: '-4', hand: 'gpt:1:3 luong:x' }"
    odd = javascript(HistoryExplorer, f"fromLink({given}, {names})")
    assert odd["words"] == ["the", "cat"] and (odd["model"], odd["step"]) == ("transformer", 0)
    assert odd["barred"] == odd["off"] == [] and odd["forced"] == {} and "gpt" not in odd["hand"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("I don't love you.", "i do not love you"),
        ("I’m tired, it's wide!", "i am tired it is wide"),
        ("She isn't sad", "she is not sad"),
        ("the king's dog", "the king's dog"),
    ],
)
def test_short_forms_are_written_out(text, words):
    assert javascript(HistoryExplorer, f"read({json.dumps(text)})") == words.split()


def test_unknown_words_become_known_ones():
    known = "new Map([['the', 1], ['child', 2], ['sleeps', 3]])"

    def near(text):
        call = f"withKnownWords(nearWords({text.split()}, {known}, {{ kid: 'child' }}))"
        return javascript(HistoryExplorer, call)

    assert near("the kid sleps") == "the child sleeps"
    assert near("the zebra sleeps") == ""


@pytest.mark.parametrize(
    ("text", "near"),
    [
        ("the cat is sleeping", "the cat sleeps"),
        ("cats are sleeping", ""),
        ("the kid is runing", "the child runs"),
        ("the kid is running", "the child runs"),
        ("the cat is driving", "the cat drives"),
        ("the cat was walking", "the cat walked"),
        ("the cat is drinking", "the cat eats"),
        ("the cat is interesting", ""),
        ("oh the cat really sleeps", "the cat sleeps"),
        ("sleeping is the cat", ""),
        ("the ing is ing", ""),
        ("a lamb sleeps", "an animal sleeps"),
        ("an ox sleeps", "a cow sleeps"),
        ("for the cat", ""),
    ],
)
def test_other_forms_and_left_out_words_become_known_ones(text, near):
    known = ["the", "cat", "child", "sleeps", "runs", "drives", "walked", "eats", "is", "was"]
    known += ["four", "animal", "cow", "a", "an"]
    synonyms = {
        "lamb": "animal",
        "ox": "cow",
        "kid": "child",
        "drinks": "eats",
        "oh": "",
        "really": "",
    }
    words = f"nearWords({text.split()}, new Map({[[w, w] for w in known]}), {synonyms})"
    call = f"withKnownWords({words})"
    assert javascript(HistoryExplorer, call) == near


NOUNS = ["cat", "dog", "king", "queen", "horse", "baby", "singer", "farmer"]
VERBS = ["runs", "sleeps", "waits", "falls", "reads", "sings", "cries", "walks", "swims"]
SHORT = [f"the {noun} {verb}" for noun in NOUNS for verb in VERBS] + ["we love the cat"]


@pytest.mark.parametrize(
    ("near", "offered"),
    [
        (["the", None, "cat", "sleeps", None], "the cat sleeps"),
        (["love", None, "we"], "we love the cat"),
        (["we", "love", None], "we love the cat"),
        (["the", None], ""),
        ([None], ""),
    ],
)
def test_the_nearest_sentence_shares_rare_words_and_their_order(near, offered):
    call = f"nearestSentence({json.dumps(near)}, {SHORT})"
    assert javascript(HistoryExplorer, call) == offered


@pytest.mark.parametrize(
    ("said", "apart"),
    [
        ("le chat dort", []),
        ("le chien dort", [1]),
        ("chat dort", []),
        ("le petit chat dort dort", [1, 4]),
        ("", []),
    ],
)
def test_the_words_that_differ_are_found_by_alignment(said, apart):
    call = f"[...differing({said.split()}, ['le', 'chat', 'dort'])]"
    assert javascript(HistoryExplorer, call) == apart
