"""Tests of the caption explorer's Python side: its state, and the input it rejects."""

import base64
import io
import json

import matplotlib.image
import numpy as np
import pytest
import torch

from coursekit.corpora.scenes import scenes
from coursekit.models.captioning import attention_per_object, overlapped_locations
from coursekit.plots import style
from coursekit.widgets import GazeExplorer, Look
from tests.helpers.javascript import javascript
from tests.helpers.one_line_errors import refused

(SCENE,) = scenes(1, seed=6)
T = len(SCENE.words)
WEIGHTS = torch.softmax(3 * torch.randn(T, 64, generator=torch.Generator().manual_seed(1)), 1)
REGIONS = [overlapped_locations(SCENE.region(t)) if SCENE.about[t] else None for t in range(T)]


def look(**changed):
    given = {
        "picture": SCENE.picture,
        "words": SCENE.words,
        "weights": WEIGHTS,
        "regions": REGIONS,
        "truth": " ".join(SCENE.words),
    }
    return Look(**(given | changed))


def test_the_browser_gets_picture_words_weights_and_regions():
    (state,) = GazeExplorer([look()]).get_state()["scenes"]
    assert json.loads(json.dumps(state)) == state
    kind, _, packed = state["picture"].partition(",")
    assert kind == "data:image/png;base64"
    pixels = matplotlib.image.imread(io.BytesIO(base64.b64decode(packed)))
    assert (np.rint(pixels[..., :3] * 255) == SCENE.picture).all()
    assert state["words"] == list(SCENE.words)
    np.testing.assert_allclose(state["weights"], WEIGHTS, atol=6e-5)
    for t, region in enumerate(state["regions"]):
        assert region == ([] if REGIONS[t] is None else REGIONS[t].nonzero().flatten().tolist())
    assert len(json.dumps(state)) < 20_000  # bytes of one scene: several fit on a page


def test_what_it_says_in_numbers_is_what_the_measures_say():
    explorer = GazeExplorer([look()])
    for t in range(T):
        weights, region = explorer.scenes[0]["weights"][t], explorer.scenes[0]["regions"][t]
        measured = javascript(explorer, f"measure({weights}, {region})")
        assert measured["best"] == int(WEIGHTS[t].argmax())
        if REGIONS[t] is None:
            assert (measured["share"], measured["inside"]) == (0, False)
            continue
        assert measured["share"] == pytest.approx(WEIGHTS[t][REGIONS[t]].sum().item(), abs=1e-3)
        assert measured["size"] == pytest.approx(REGIONS[t].float().mean().item())
        assert measured["inside"] == bool(REGIONS[t][WEIGHTS[t].argmax()])
        if len(SCENE.about[t]) == 1:
            of_item = attention_per_object(WEIGHTS[t], SCENE)[SCENE.about[t][0]]
            assert measured["share"] == pytest.approx(of_item, abs=1e-3)


def test_the_sentence_for_a_word_tells_share_and_place():
    explorer = GazeExplorer([look()])
    scene = json.dumps(
        {"words": ["red", "a"], "weights": [[0.1, 0.7, 0.1, 0.1]] * 2, "regions": [[1, 3], []]}
    )
    assert javascript(explorer, f"inWords({scene}, 0)") == (
        "“red”: 80 % of the weight lies in the true region, which has 50 % of the places. "
        "Largest weight: 0.70, at row 1, column 2 of 2, inside."
    )
    assert "is about no place" in javascript(explorer, f"inWords({scene}, 1)")


def test_the_outline_goes_around_a_region_and_not_through_it():
    explorer = GazeExplorer([look()])
    path = javascript(explorer, "outline([0, 1], 3)")
    edges = sorted("M" + edge for edge in path.split("M")[1:])
    assert edges == sorted(["M0 0h1", "M1 0h1", "M0 1h1", "M1 1h1", "M0 0v1", "M2 0v1"])
    assert javascript(explorer, "outline([], 3)") == ""


@pytest.mark.parametrize("convert", [np.asarray, torch.as_tensor, lambda w: w.tolist()])
def test_numbers_may_be_any_kind_of_array(convert):
    explorer = GazeExplorer([look(weights=convert(WEIGHTS)), look(words=tuple(SCENE.words))])
    assert len(explorer.scenes) == 2
    assert explorer.scenes[0] == explorer.scenes[1]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"picture": SCENE.picture.astype(float)}, "picture of look 0 must be uint8"),
        ({"picture": SCENE.picture[..., 0]}, "picture of look 0 must be uint8"),
        ({"words": "a red circle"}, "words of look 0 must be a list"),
        ({"words": []}, "words of look 0 must be a list"),
        ({"weights": WEIGHTS[:, :63]}, r"weights of look 0 must have the shape"),
        ({"weights": WEIGHTS[1:]}, r"weights of look 0 must have the shape"),
        ({"weights": WEIGHTS * float("nan")}, "must be numbers between 0 and 1"),
        ({"weights": WEIGHTS - 1}, "must be numbers between 0 and 1"),
        ({"regions": REGIONS[1:]}, "regions of look 0 must be"),
        ({"regions": [np.ones(5)] * T}, "a region of look 0 must have 64 places"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_sentence(changed, message):
    with refused(message):
        GazeExplorer([look(**changed)])


def test_at_least_one_look_is_needed():
    with pytest.raises(ValueError, match="at least one picture"):
        GazeExplorer([])


def test_the_shade_has_the_colour_of_the_one_master():
    assert f"var(--course-series-5, {style.SERIES[4]})" in GazeExplorer._css


def test_it_opens_on_a_word_that_is_about_a_place():
    assert GazeExplorer([look()]).word == next(t for t in range(T) if REGIONS[t] is not None)
    assert GazeExplorer([look(regions=[None] * T)]).word == 0
    assert GazeExplorer([look()], word=2).word == 2
