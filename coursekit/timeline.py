"""The papers that the course follows, in order of their first appearance: the one list of them.

The landing page's picture and list and ``plots.timeline`` are made from it. What came after is a
list of its own, for the last chapter.
"""

from __future__ import annotations

from dataclasses import dataclass

_MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]


@dataclass(frozen=True)
class Entry:
    """One paper: when it first appeared, where it was published, what it added, who reads it when.

    ``year``, ``month`` and ``day`` tell the first appearance, on arXiv or in print (day 1 where
    only the month is known); ``key`` is the paper's key in references.bib; ``chapter`` is the file
    name of its chapter, without the ending.
    """

    key: str
    year: int
    month: int
    day: int
    idea: str
    authors: str
    venue: str
    chapter: str
    arxiv: str | None = None

    @property
    def date(self) -> str:
        """The month of the first appearance, such as "Sep 2014"."""
        return f"{_MONTHS[self.month - 1]} {self.year}"

    @property
    def reference(self) -> str:
        """Authors and venue, such as "Bahdanau et al., ICLR 2015"."""
        return f"{self.authors}, {self.venue}"

    @property
    def first_appearance(self) -> str:
        """Where the date comes from, such as "on arXiv Sep 2014"."""
        return f"{'on arXiv' if self.arxiv else 'published'} {self.date}"


ENTRIES = (
    Entry(
        "bengio2003", 2003, 2, 1, "Neural language model", "Bengio et al.", "JMLR 3 (2003)",
        "01_why_attention",
    ),
    Entry(
        "mikolov2013b", 2013, 10, 16, "Negative sampling", "Mikolov et al.", "NIPS 2013",
        "01_why_attention", "1310.4546",
    ),
    Entry(
        "cho2014", 2014, 6, 3, "RNN encoder-decoder", "Cho et al.", "EMNLP 2014",
        "02_seq2seq", "1406.1078",
    ),
    Entry(
        "bahdanau2015", 2014, 9, 1, "Attention", "Bahdanau et al.", "ICLR 2015",
        "03_bahdanau", "1409.0473",
    ),
    Entry(
        "sutskever2014", 2014, 9, 10, "Sequence to sequence", "Sutskever et al.", "NIPS 2014",
        "02_seq2seq", "1409.3215",
    ),
    Entry(
        "xu2015", 2015, 2, 10, "Attention on images", "Xu et al.", "ICML 2015",
        "05_captioning", "1502.03044",
    ),
    Entry(
        "luong2015", 2015, 8, 17, "Global and local", "Luong et al.", "EMNLP 2015",
        "04_luong", "1508.04025",
    ),
    Entry(
        "yang2016", 2016, 6, 1, "Hierarchical attention", "Yang et al.", "NAACL 2016",
        "07_han",
    ),
    Entry(
        "lin2017", 2017, 3, 9, "Self-attentive vectors", "Lin et al.", "ICLR 2017",
        "06_sentences", "1703.03130",
    ),
    Entry(
        "vaswani2017", 2017, 6, 12, "Transformer", "Vaswani et al.", "NIPS 2017",
        "08_transformer", "1706.03762",
    ),
    Entry(
        "devlin2019", 2018, 10, 11, "BERT", "Devlin et al.", "NAACL 2019",
        "09_bert", "1810.04805",
    ),
)  # fmt: skip

AFTERWARDS = (
    Entry(
        "radford2019", 2019, 2, 14, "Norm before the sub-layer", "Radford et al.", "GPT-2 (2019)",
        "10_what_changed",
    ),
    Entry(
        "child2019", 2019, 4, 23, "Sparse attention", "Child et al.", "preprint 2019",
        "10_what_changed", "1904.10509",
    ),
    Entry(
        "shazeer2019", 2019, 11, 6, "Keys and values shared by all heads", "Shazeer",
        "preprint 2019", "10_what_changed", "1911.02150",
    ),
    Entry(
        "brown2020", 2020, 5, 28, "GPT-3", "Brown et al.", "NeurIPS 2020",
        "10_what_changed", "2005.14165",
    ),
    Entry(
        "katharopoulos2020", 2020, 6, 29, "Linear attention", "Katharopoulos et al.", "ICML 2020",
        "10_what_changed", "2006.16236",
    ),
    Entry(
        "dosovitskiy2021", 2020, 10, 22, "Vision Transformer", "Dosovitskiy et al.", "ICLR 2021",
        "10_what_changed", "2010.11929",
    ),
    Entry(
        "su2024", 2021, 4, 20, "Rotary positions", "Su et al.", "Neurocomputing 568 (2024)",
        "10_what_changed", "2104.09864",
    ),
    Entry(
        "hu2022", 2021, 6, 17, "LoRA", "Hu et al.", "ICLR 2022",
        "10_what_changed", "2106.09685",
    ),
    Entry(
        "ouyang2022", 2022, 3, 4, "Following instructions", "Ouyang et al.", "NeurIPS 2022",
        "10_what_changed", "2203.02155",
    ),
    Entry(
        "dao2022", 2022, 5, 27, "FlashAttention", "Dao et al.", "NeurIPS 2022",
        "10_what_changed", "2205.14135",
    ),
    Entry(
        "ainslie2023", 2023, 5, 22, "Grouped queries", "Ainslie et al.", "EMNLP 2023",
        "10_what_changed", "2305.13245",
    ),
    Entry(
        "gu2024", 2023, 12, 1, "Mamba", "Gu and Dao", "COLM 2024",
        "10_what_changed", "2312.00752",
    ),
    Entry(
        "deepseek2024", 2024, 5, 7, "Compressed keys and values", "DeepSeek-AI", "preprint 2024",
        "10_what_changed", "2405.04434",
    ),
    Entry(
        "warner2024", 2024, 12, 18, "ModernBERT", "Warner et al.", "preprint 2024",
        "10_what_changed", "2412.13663",
    ),
    Entry(
        "deepseek2025", 2025, 1, 22, "Learned reasoning", "DeepSeek-AI", "preprint 2025",
        "10_what_changed", "2501.12948",
    ),
    Entry(
        "kimi2025", 2025, 10, 30, "Linear and full attention mixed", "Kimi Team", "preprint 2025",
        "10_what_changed", "2510.26692",
    ),
    Entry(
        "arcee2026", 2026, 2, 19, "Windows and full attention mixed", "Singh et al.",
        "preprint 2026", "10_what_changed", "2602.17004",
    ),
)  # fmt: skip
