"""Tests of the captioning encoder, batches, greedy captions and attention measures."""

from itertools import pairwise

import matplotlib
import numpy as np
import pytest
import torch
from torch import nn

matplotlib.use("agg")

import matplotlib.pyplot as plt

from coursekit.corpora import scenes as drawn
from coursekit.models import captioning
from coursekit.plots import charts, style
from coursekit.text.vocabulary import BOS, EOS, PAD, WordVocabulary
from solutions.captioning.attention import SoftAttention, annotation_vectors
from solutions.captioning.captioner import CaptionDecoder

SCENES = drawn.scenes(24, seed=9)
WORDS = WordVocabulary([scene.words for scene in SCENES])
CAPTIONS = [WORDS.encode(scene.words) for scene in SCENES]


@pytest.fixture(scope="module")
def annotations():
    torch.manual_seed(1)
    encoder = captioning.PictureEncoder(20)
    maps = captioning.feature_maps(encoder, captioning.pictures_of(SCENES), batch_size=7)
    return annotation_vectors(maps)


def decoder():
    torch.manual_seed(2)
    return CaptionDecoder(len(WORDS), 8, 12, 20, SoftAttention(12, 20, 6))


def test_pictures_become_numbers_from_0_to_1():
    pictures = captioning.pictures_of(SCENES[:3])
    assert pictures.shape == (3, 3, 48, 48)
    assert pictures.dtype == torch.float32
    for picture, scene in zip(pictures, SCENES, strict=False):
        back = (picture.permute(1, 2, 0) * 255).round().numpy().astype(np.uint8)
        assert (back == scene.picture).all()


def test_the_feature_map_keeps_what_is_where(annotations):
    assert annotations.shape == (24, 64, 20)
    encoder = captioning.PictureEncoder(20).eval()
    picture = captioning.pictures_of(SCENES[:1])
    changed = picture.clone()
    changed[:, :, 42:, 42:] = 1.0  # the pixels of the last location
    with torch.no_grad():
        difference = (encoder(picture) - encoder(changed)).abs().sum(dim=1)[0]  # (8, 8)
    assert difference[7, 7] > 0
    assert difference[:5].max() == 0  # outside the receptive field of 25 pixels
    assert difference[:, :5].max() == 0


def test_the_last_two_channels_are_row_and_column():
    features = captioning.PictureEncoder(20)(captioning.pictures_of(SCENES[:2]))
    assert features[1, -2, :, 3].tolist() == pytest.approx(np.linspace(-1, 1, 8).tolist())
    assert features[1, -1, 3].tolist() == pytest.approx(np.linspace(-1, 1, 8).tolist())


def test_class_batches_say_what_one_object_is():
    ones = drawn.scenes(10, seed=1, objects=(1, 1))
    batches = list(captioning.class_batches(ones, 4, seed=3))
    assert [len(batch.pictures) for batch in batches] == [4, 4, 2]
    names = (list(drawn.SIZES), list(drawn.COLOURS), drawn.SHAPES)
    pictures = captioning.pictures_of(ones)
    for batch in batches:
        for picture, label in zip(batch.pictures, batch.labels.tolist(), strict=True):
            (i,) = [i for i, other in enumerate(pictures) if torch.equal(other, picture)]
            item = ones[i].objects[0]
            said = [words[k] for words, k in zip(names, label, strict=True)]
            assert said == [item.size, item.colour, item.shape]
    model = captioning.Classifier(captioning.PictureEncoder(20), 20).eval()
    loss = captioning.classification_loss(model, batches[0])
    chosen = [
        logits.log_softmax(-1).gather(1, batches[0].labels[:, i : i + 1]).mean()
        for i, logits in enumerate(model(batches[0].pictures))
    ]
    assert [logits.shape[1] for logits in model(batches[0].pictures)] == [3, 6, 5]
    torch.testing.assert_close(loss, -sum(chosen))


def test_every_caption_comes_once_with_its_own_picture(annotations):
    seen = []
    for batch in captioning.caption_batches(annotations, CAPTIONS, 5, seed=1):
        assert (batch.previous[:, 0] == BOS).all()
        assert (batch.previous[:, 1:] == batch.target[:, :-1])[batch.mask[:, 1:]].all()
        assert (batch.mask == (batch.target != PAD)).all()
        for row, target in zip(batch.annotations, batch.target.tolist(), strict=True):
            i = next(i for i, a in enumerate(annotations) if torch.equal(a, row))
            assert [t for t in target if t != PAD] == CAPTIONS[i]
            seen.append(i)
    assert sorted(seen) == list(range(24))
    orders = []
    for seed in (1, 2):
        batches = captioning.caption_batches(annotations, CAPTIONS, 5, seed=seed)
        orders.append([batch.target.tolist() for batch in batches])
    assert orders[0] != orders[1]


def test_batches_hold_captions_of_nearly_one_length(annotations):
    for batch in captioning.caption_batches(annotations, CAPTIONS, 4, seed=1):
        lengths = batch.mask.sum(dim=1)
        assert lengths.max() - lengths.min() <= 3


def test_greedy_captions_take_the_best_word_each_time(annotations):
    model = decoder()
    captions = captioning.greedy_captions(model, annotations, max_length=6, batch_size=10)
    assert len(captions) == 24
    for i, caption in enumerate(captions):
        tokens = torch.tensor([[BOS, *caption.ids]])[:, :6]
        logits, weights = model(tokens, annotations[i : i + 1])
        best = logits.argmax(dim=-1)[0].tolist()
        assert best[: len(caption.ids)] == caption.ids
        assert EOS not in caption.ids
        if len(caption.ids) < 6:
            assert best[len(caption.ids)] == EOS
        length = len(caption.ids)
        torch.testing.assert_close(caption.weights, weights[0, :length], atol=1e-5, rtol=1e-4)
        chosen = logits.softmax(-1)[0, range(length), caption.ids]
        torch.testing.assert_close(caption.probabilities, chosen, atol=1e-5, rtol=1e-4)


def test_a_caption_may_be_empty_or_never_end(annotations):
    model = decoder()
    nn.init.zeros_(model.output.weight)
    model.output.bias.data = torch.eye(len(WORDS))[EOS]
    (caption,) = captioning.greedy_captions(model, annotations[:1])
    assert (caption.ids, caption.weights.shape) == ([], (0, 64))
    model.output.bias.data = torch.eye(len(WORDS))[7]
    (caption,) = captioning.greedy_captions(model, annotations[:1], max_length=4)
    assert caption.ids == [7] * 4


def test_looks_are_those_of_the_true_words_whatever_the_batch(annotations):
    model = decoder()
    weights_of = captioning.attention_weights(model, annotations, CAPTIONS, batch_size=7)
    for i, (weights, caption) in enumerate(zip(weights_of, CAPTIONS, strict=True)):
        assert weights.shape == (len(caption), 64)
        alone = model(torch.tensor([[BOS, *caption[:-1]]]), annotations[i : i + 1])[1][0]
        torch.testing.assert_close(weights, alone, atol=1e-5, rtol=1e-4)


def test_places_are_the_cells_that_a_region_touches():
    region = np.zeros((48, 48), dtype=bool)
    region[5, 11] = region[6, 12] = True  # cells (0, 1) and (1, 2)
    assert captioning.overlapped_locations(region).nonzero().flatten().tolist() == [1, 10]
    small = np.zeros((4, 4), dtype=bool)
    small[3, 0] = True
    assert captioning.overlapped_locations(small, grid=2).tolist() == [False, False, True, False]


def perfect(scene, sharp=True):
    """Return attention weights inside each word's region, uniform or all on one location."""
    rows = []
    for t in range(len(scene.words)):
        inside = captioning.overlapped_locations(scene.region(t)).float()
        inside = inside if inside.any() else torch.ones(64)
        rows.append(inside / inside.sum())
    return torch.stack(rows)


def test_gaze_is_1_for_perfect_looks_and_chance_for_even_ones():
    gazes = captioning.measure_region_attention([perfect(scene) for scene in SCENES], SCENES)
    assert list(gazes) == ["size", "colour", "shape", "relation"]
    for one in gazes.values():
        assert (one.share, one.pointing) == (pytest.approx(1.0), 1.0)
        assert 0 < one.chance < 0.4
    even = [torch.full((len(scene.words) + 1, 64), 1 / 64) for scene in SCENES]  # with <eos>
    for kind, one in captioning.measure_region_attention(even, SCENES).items():
        assert one.share == pytest.approx(one.chance)
        assert one.chance == pytest.approx(gazes[kind].chance)
    objects = sum(len(scene.objects) for scene in SCENES)
    assert gazes["colour"].words == gazes["shape"].words == objects
    assert gazes["relation"].words == objects - len(SCENES)
    assert gazes["relation"].chance > 1.5 * gazes["colour"].chance  # two objects


def test_looking_at_another_object_counts_as_wrong():
    scene = next(scene for scene in SCENES if len(scene.objects) == 2)
    weights = perfect(scene)
    first = scene.about.index((0,))
    second = scene.about.index((1,))
    swapped = weights.clone()
    swapped[first], swapped[second] = weights[second], weights[first]
    kind = drawn.kind(scene.words[first])
    assert captioning.measure_region_attention([swapped], [scene])[kind].share < 1
    seen = captioning.attention_per_object(swapped[first], scene)
    assert seen[1] == pytest.approx(1.0)
    assert seen[0] < 0.5


def test_the_picture_is_drawn_once_for_each_word_with_its_region():
    scene = SCENES[0]
    regions = [captioning.overlapped_locations(scene.region(t)) for t in range(len(scene.words))]
    with matplotlib.rc_context():
        style.use()
        figure = charts.image_attention(scene.picture, scene.words, perfect(scene), regions)
        axes = figure.axes
        titles = [ax.get_title(loc="center") for ax in axes]
        assert titles[1 : len(scene.words) + 1] == list(scene.words)
        assert (axes[0].images[0].get_array() == scene.picture).all()
        bright = axes[2].images[0].get_array()
        inside = np.kron(regions[1].numpy().reshape(8, 8), np.ones((6, 6))) > 0
        assert (bright[inside] == scene.picture[inside]).all()
        assert bright[~inside].mean() < 0.3 * scene.picture[~inside].mean()
        assert axes[1].lines == [] or len(axes[1].lines) == 0  # "a" refers to no object
        assert len(axes[2].lines) >= 4
        assert all(len(ax.images) <= 1 for ax in axes)
        label = axes[1].title
        assert label.get_color() != label.get_bbox_patch().get_facecolor()
        assert figure.patch.get_alpha() == 0, "the page shines through"
        plt.close(figure)
        with pytest.raises(ValueError, match=r"weights must have the shape \(2, n \* n\)"):
            charts.image_attention(scene.picture, ["a", "b"], np.ones((2, 63)))
        with pytest.raises(ValueError, match="1 regions"):
            charts.image_attention(scene.picture, ["a", "b"], np.ones((2, 64)), regions=[None])
    plt.close("all")


def test_training_on_few_scenes_learns_them(annotations):
    from coursekit.training import seed_everything, train

    seed_everything(1)
    model = decoder()

    def loss(model, batch):
        logits, _ = model(batch.previous, batch.annotations)
        return nn.functional.cross_entropy(
            logits.flatten(0, 1), batch.target.flatten(), ignore_index=PAD
        )

    history = train(
        model,
        lambda epoch: captioning.caption_batches(annotations, CAPTIONS, 8, seed=epoch),
        loss,
        epochs=15,
        learning_rate=1e-2,
        progress=False,
    )
    losses = history.column("loss")
    assert losses[-1] < 0.65 * losses[0]
    assert sum(b < a for a, b in pairwise(losses)) > 10
