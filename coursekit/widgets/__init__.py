"""Explorers: interactive figures that run in the static page, with no kernel and no server."""

from coursekit.explorers.beam import BeamExplorer, SearchRecorder
from coursekit.explorers.fill import FillExplorer
from coursekit.explorers.gaze import GazeExplorer, Look
from coursekit.explorers.heads import HeadsExplorer
from coursekit.explorers.live.cloze import ClozeExplorer
from coursekit.explorers.live.pack import as_packed, pack
from coursekit.explorers.live.review import ReviewExplorer
from coursekit.explorers.live.transformer import TransformerExplorer
from coursekit.explorers.live.translator import TranslatorExplorer
from coursekit.explorers.masks import MasksExplorer
from coursekit.explorers.positions import PositionsExplorer
from coursekit.explorers.scores import ScoresExplorer
from coursekit.explorers.state import StateExplorer
from coursekit.explorers.temperature import TemperatureExplorer
from coursekit.explorers.window import WindowExplorer
from coursekit.explorers.words import WordsExplorer

__all__ = [
    "BeamExplorer",
    "ClozeExplorer",
    "FillExplorer",
    "GazeExplorer",
    "HeadsExplorer",
    "Look",
    "MasksExplorer",
    "PositionsExplorer",
    "ReviewExplorer",
    "ScoresExplorer",
    "SearchRecorder",
    "StateExplorer",
    "TemperatureExplorer",
    "TransformerExplorer",
    "TranslatorExplorer",
    "WindowExplorer",
    "WordsExplorer",
    "as_packed",
    "pack",
]
