"""Tests of the Flickr8k loader on a folder of drawn pictures, with a message for each fault."""

import shutil

import matplotlib.image
import numpy as np
import pytest

from coursekit.corpora.scenes import CANVAS, scenes
from coursekit.datasets import DatasetError, load_flickr8k

NAMES = {
    "train": ["1_a.jpg", "2_b.jpg", "3_c.jpg"],
    "dev": ["4_d.jpg"],
    "test": ["5_e.jpg", "6_f.jpg"],
}


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    """Return six drawn scenes in the layout of Flickr8k's archives."""
    root = tmp_path_factory.mktemp("flickr8k")
    pictures = root / "Flicker8k_Dataset"
    pictures.mkdir()
    lines = []
    names = [name for part in NAMES.values() for name in part]
    for name, scene in zip(names, scenes(6, seed=4), strict=True):
        matplotlib.image.imsave(pictures / name, scene.picture)
        text = " ".join(scene.words)
        lines += [f"{name}#0\t{text.capitalize()} .", f"{name}#1\tThere is {text} , isn't there ?"]
    # The real file has captions of a picture that does not exist.
    lines.append("2258277193_586949ec62.jpg.1#0\tSome people wait .")
    (root / "Flickr8k.token.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    for part, members in NAMES.items():
        (root / f"Flickr_8k.{part}Images.txt").write_text("\n".join(members) + "\n")
    return root


@pytest.fixture
def folder(drawn, tmp_path):
    return shutil.copytree(drawn, tmp_path / "mine")


def test_pictures_captions_and_splits_are_read(drawn):
    corpus = load_flickr8k(drawn)
    assert repr(corpus) == "CaptionedCorpus(flickr8k; train: 3, validation: 1, test: 2)"
    items = [item for part in corpus.splits.values() for item in part]
    for item, scene in zip(items, scenes(6, seed=4), strict=True):
        assert item.captions[0] == scene.words
        assert item.captions[1] == ("there", "is", *scene.words, "isn't", "there")
        pixels = item.pixels(CANVAS)
        assert pixels.dtype == np.uint8
        assert pixels.shape == (CANVAS, CANVAS, 3)
        assert np.abs(pixels.astype(float) - scene.picture).mean() < 12  # JPEG loses a little
    assert len(corpus.data_sha256) == 64
    assert corpus.licence and "Hodosh" in corpus.citation


def test_the_texts_may_have_a_folder_of_their_own(folder):
    (folder / "Flickr8k_text").mkdir()
    for path in list(folder.glob("*.txt")):
        path.rename(folder / "Flickr8k_text" / path.name)
    (folder / "Flicker8k_Dataset").rename(folder / "Images")
    assert len(load_flickr8k(str(folder)).train) == 3


def test_windows_line_ends_and_a_byte_order_mark_are_no_fault(folder):
    for path in folder.glob("*.txt"):
        path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    corpus = load_flickr8k(folder)
    assert [item.path.name for item in corpus.test] == NAMES["test"]
    assert corpus.test[0].captions[0][-1].isalpha()


def test_a_picture_that_is_not_square_is_cut_in_the_middle(folder):
    wide = np.zeros((20, 60, 3), dtype=np.uint8)
    wide[:, 20:40] = 250
    matplotlib.image.imsave(folder / "Flicker8k_Dataset" / "1_a.jpg", wide)
    assert load_flickr8k(folder).train[0].pixels(16)[:, 2:14].mean() > 230


def test_the_folder_in_the_data_folder_is_found(folder, monkeypatch):
    monkeypatch.setenv("COURSEKIT_DATA", str(folder.parent))
    folder.rename(folder.parent / "flickr8k")
    assert len(load_flickr8k().test) == 2


def rewrite(path, old, new):
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


FAULTS = {
    "no pictures": (
        lambda root: shutil.rmtree(root / "Flicker8k_Dataset"), "has no folder of pictures"),
    "a picture is missing": (
        lambda root: (root / "Flicker8k_Dataset" / "2_b.jpg").unlink(),
        "1 of the 3 pictures listed in Flickr_8k.trainImages.txt are missing from"),
    "no captions": (
        lambda root: (root / "Flickr8k.token.txt").unlink(), "Flickr8k.token.txt is missing"),
    "no list": (
        lambda root: (root / "Flickr_8k.devImages.txt").unlink(), "devImages.txt is missing"),
    "no tab": (
        lambda root: rewrite(root / "Flickr8k.token.txt", "2_b.jpg#0\t", "2_b.jpg#0 "),
        "Line 3 of .* is not of the form"),
    "no number": (
        lambda root: rewrite(root / "Flickr8k.token.txt", "1_a.jpg#1\t", "1_a.jpg\t"),
        "Line 2 of .* is not of the form"),
    "an empty caption": (
        lambda root: rewrite(root / "Flickr8k.token.txt", "Some people wait .", " ."),
        "Line 13 of .* is not of the form"),
    "a picture without a caption": (
        lambda root: rewrite(root / "Flickr_8k.testImages.txt", "5_e.jpg", "9_x.jpg"),
        "has no caption of 9_x.jpg, which Flickr_8k.testImages.txt lists"),
    "a picture in two lists": (
        lambda root: rewrite(root / "Flickr_8k.testImages.txt", "5_e.jpg", "1_a.jpg"),
        "1_a.jpg is in the lists of train and test"),
    "another encoding": (
        lambda root: (root / "Flickr8k.token.txt").write_bytes(b"1_a.jpg#0\tcaf\xe9\n"),
        "cannot be read as UTF-8"),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_told_in_one_sentence(folder, fault):
    spoil, message = FAULTS[fault]
    spoil(folder)
    with pytest.raises(DatasetError, match=message) as caught:
        load_flickr8k(folder)
    expect_one_sentence(caught)


def expect_one_sentence(caught):
    text = str(caught.value)
    assert "\n" not in text
    assert text.endswith(".")
    assert ": " in text  # what is wrong: what to do


def test_a_missing_folder_is_told_in_one_sentence(tmp_path, monkeypatch):
    with pytest.raises(DatasetError, match="There is no folder") as caught:
        load_flickr8k(tmp_path / "none")
    expect_one_sentence(caught)
    monkeypatch.delenv("COURSEKIT_DATA", raising=False)
    with pytest.raises(DatasetError, match="pass the path of your copy") as caught:
        load_flickr8k()
    expect_one_sentence(caught)


def test_a_damaged_picture_is_told_when_it_is_read(folder):
    (folder / "Flicker8k_Dataset" / "1_a.jpg").write_bytes(b"no picture at all")
    item = load_flickr8k(folder).train[0]
    with pytest.raises(DatasetError, match="cannot be read as a picture") as caught:
        item.pixels(48)
    expect_one_sentence(caught)
