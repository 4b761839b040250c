"""Tests that everything generated from the colours and fonts of style.py is up to date."""

import math
import re
from pathlib import Path

import matplotlib
import numpy as np
import pytest
from matplotlib.colors import to_rgb

from coursekit.data.papers import LATER_PAPERS, PAPERS
from coursekit.plots import style
from tools import vendor

ROOT = Path(__file__).resolve().parents[2]


def luminance(colour):
    channels = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
    return 0.2126 * channels[0] + 0.7152 * channels[1] + 0.0722 * channels[2]


def contrast(one, other):
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def test_the_sites_colours_are_those_of_the_module(tmp_path):
    written = tmp_path / "colours.css"
    assert style.main([str(written)]) == 0
    in_site = ROOT / "book" / "_static" / "colours.css"
    assert written.read_text("utf-8") == in_site.read_text("utf-8"), (
        "run: python -m coursekit.plots.style book/_static/colours.css"
    )


@pytest.mark.parametrize("arguments", [[], ["--help"]])
def test_the_command_tells_its_use_and_writes_nothing(arguments, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit):
        style.main(arguments)
    assert "usage" in "".join(capsys.readouterr())
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("colours", [style.LIGHT, style.DARK], ids=["light", "dark"])
@pytest.mark.parametrize("name", ["ink", "muted", "accent", "gold", "good", "bad"])
def test_text_colours_can_be_read_on_page_and_panel(colours, name):
    assert contrast(colours[name], colours["paper"]) >= 4.5
    assert contrast(colours[name], colours["panel"]) >= 4.5
    assert contrast(colours["accent-ink"], colours["accent"]) >= 4.5


def test_lightness_of_the_attention_map_falls_steadily():
    lightness = np.array([luminance(style.ATTENTION(x)) for x in np.linspace(0, 1, 65)])
    assert (np.diff(lightness) < 0).all()
    assert contrast(style.ATTENTION(0.0), style.ATTENTION(1.0)) > 10


def test_light_and_dark_name_the_same_colours():
    assert style.LIGHT.keys() == style.DARK.keys()


def test_use_sets_an_opaque_panel_and_the_colour_map():
    with matplotlib.rc_context():
        style.use()
        assert matplotlib.rcParams["figure.facecolor"] == style.LIGHT["paper"]
        assert matplotlib.rcParams["image.cmap"] == "attention"
        assert matplotlib.colormaps["attention"] == style.ATTENTION
        assert matplotlib.rcParams["font.family"][0] == "DejaVu Sans"


@pytest.mark.parametrize(
    ("hangul", "latin"),
    [
        ("책", "chaek"),
        ("한국", "han-guk"),
        ("없다", "eop-da"),
        ("여덟", "yeo-deol"),
        ("꽃", "kkot"),
        ("값", "gap"),
        ("앉", "an"),
        ("삶", "sam"),
        ("의자", "ui-ja"),
        ("뭐 해?", "mwo hae?"),
        ("BERT는", "BERTneun"),
        ("힣", "hit"),
        ("가", "ga"),
    ],
)
def test_romanise_writes_each_syllable_as_it_sounds_alone(hangul, latin):
    assert style.romanise(hangul) == latin


def test_every_syllable_has_a_romanisation():
    assert all(style.romanise(chr(code)).isalpha() for code in range(0xAC00, 0xD7A4))


def test_labels_are_romanised_only_without_a_font_and_say_so_once(monkeypatch, capsys):
    monkeypatch.setattr(style, "hangul_font", lambda: "Noto Sans CJK KR")
    assert style.labels(["책", "book"]) == ["책", "book"]
    monkeypatch.setattr(style, "hangul_font", lambda: None)
    monkeypatch.setattr(style, "_said", set())
    assert style.labels(["book"]) == ["book"]
    assert capsys.readouterr().out == ""
    assert style.labels(["책", "book"]) == ["chaek", "book"]
    style.labels(["말"])
    assert capsys.readouterr().out.count("No font with Hangul") == 1


def test_vendored_files_are_those_that_were_fetched():
    assert (vendor.VENDOR / "SHA256SUMS").read_text("utf-8") == vendor.compute_sums(vendor.VENDOR)
    assert (vendor.VENDOR / "README.md").read_text("utf-8") == vendor.write_table()
    for package in vendor.PACKAGES:
        folder = vendor.VENDOR / package.folder
        assert (folder / "LICENSE").stat().st_size > 500, package.name
        assert all((folder / name).is_file() for name in package.files.values()), package.name


def test_every_paper_of_the_timeline_is_in_the_bibliography():
    keys = re.findall(r"^@\w+\{(\w+),", (ROOT / "book/references.bib").read_text("utf-8"), re.M)
    assert len(keys) == len(set(keys))
    assert {entry.key for entry in (*PAPERS, *LATER_PAPERS)} <= set(keys)


def test_series_colours_differ_in_lightness_or_hue():
    colours = [np.array(to_rgb(c)) for c in style.SERIES]
    for i, one in enumerate(colours):
        for other in colours[:i]:
            assert math.dist(one, other) > 0.2


@pytest.mark.parametrize(
    ("variable", "photographs", "shown"),
    [(None, False, True), (None, True, False), ("COURSEKIT_PAGE_BUILD", False, False)],
)
def test_figures_follow_the_theme_of_an_open_notebook_only(
    monkeypatch, variable, photographs, shown
):
    for name in ("COURSEKIT_PAGE_BUILD", "NBGRADER_EXECUTION"):
        monkeypatch.delenv(name, raising=False)
    if variable:
        monkeypatch.setenv(variable, "1")
    outputs = []
    monkeypatch.setattr(style, "_display_in_notebook", outputs.append)
    style.use(photographs=photographs)
    assert bool(outputs) == shown
    assert all("data-jp-theme-light" in page for page in outputs)
