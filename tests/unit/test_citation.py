"""Tests that CITATION.cff agrees with pyproject.toml."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
PROJECT = (ROOT / "pyproject.toml").read_text(encoding="utf-8")


def declared(name: str) -> str:
    found = re.search(rf'^{name} = "([^"]+)"', PROJECT, re.M)
    assert found is not None
    return found[1]


def test_version_and_licences_are_the_projects():
    assert CITATION["version"] == CITATION["preferred-citation"]["edition"] == declared("version")
    licences = declared("license").split(" AND ")
    assert CITATION["license"] == CITATION["preferred-citation"]["license"] == licences
    text = (ROOT / "LICENSE").read_text(encoding="utf-8")
    assert "MIT License" in text and "CC BY 4.0" in text


def test_title_is_the_same_everywhere():
    title = CITATION["title"]
    assert title == CITATION["preferred-citation"]["title"]
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    assert readme.startswith(f"# {title}\n") and config["title"] == title


def test_it_can_be_found_and_cited():
    assert CITATION["cff-version"] == "1.2.0"
    assert CITATION["message"] and len(CITATION["abstract"]) > 100
    assert len(set(CITATION["keywords"])) == len(CITATION["keywords"]) >= 5
    year = CITATION["date-released"].year
    assert CITATION["preferred-citation"]["year"] == year
