"""Interactive explorers that run in the static pages, without a kernel or a server."""

from coursekit.widgets.attention_heads import HeadsExplorer
from coursekit.widgets.attention_masks import MasksExplorer
from coursekit.widgets.attention_scores import ScoresExplorer
from coursekit.widgets.beam_search import BeamExplorer, SearchRecorder, record_searches
from coursekit.widgets.caption_attention import GazeExplorer, Look
from coursekit.widgets.cloze_comparison import FillExplorer
from coursekit.widgets.live.alignment import AlignmentExplorer
from coursekit.widgets.live.cloze import ClozeExplorer
from coursekit.widgets.live.export_translator import save_translator
from coursekit.widgets.live.five_translators import HistoryExplorer
from coursekit.widgets.live.next_word import NextWordExplorer, pack_decoder
from coursekit.widgets.live.review_classifier import ReviewExplorer
from coursekit.widgets.live.transformer import TransformerExplorer
from coursekit.widgets.live.translator import TranslatorExplorer
from coursekit.widgets.live.weight_packing import as_packed, pack
from coursekit.widgets.local_attention import WindowExplorer
from coursekit.widgets.positional_encoding import PositionsExplorer
from coursekit.widgets.recurrent_state import StateExplorer
from coursekit.widgets.softmax_scaling import TemperatureExplorer
from coursekit.widgets.training_snapshots import TrainingExplorer
from coursekit.widgets.word_weights import WordsExplorer

__all__ = [
    "AlignmentExplorer",
    "BeamExplorer",
    "ClozeExplorer",
    "FillExplorer",
    "GazeExplorer",
    "HeadsExplorer",
    "HistoryExplorer",
    "Look",
    "MasksExplorer",
    "NextWordExplorer",
    "PositionsExplorer",
    "ReviewExplorer",
    "ScoresExplorer",
    "SearchRecorder",
    "StateExplorer",
    "TemperatureExplorer",
    "TrainingExplorer",
    "TransformerExplorer",
    "TranslatorExplorer",
    "WindowExplorer",
    "WordsExplorer",
    "as_packed",
    "pack",
    "pack_decoder",
    "record_searches",
    "save_translator",
]
