"""Word and BPE subword vocabularies with shared special tokens (ids 0 to 3)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

PAD, UNK, BOS, EOS = 0, 1, 2, 3
SPECIAL = ("<pad>", "<unk>", "<bos>", "<eos>")


class WordVocabulary:
    """Vocabulary with one id per word, for corpora whose sentences are already lists of words.

    Args:
        sentences: the training sentences, each a sequence of words.
        minimum_count: words with a lower count become <unk>.
        size: maximum number of ids, special ones included; the most frequent words are kept.

    Raises:
        TypeError: a sentence is a string, here or in `encode`.
    """

    def __init__(
        self, sentences: Iterable[Sequence[str]], minimum_count: int = 1, size: int | None = None
    ):
        counts = Counter(word for sentence in sentences for word in _words(sentence))
        # Most frequent first; ties in alphabetical order, so that ids are deterministic.
        kept = sorted(
            (word for word, n in counts.items() if n >= minimum_count),
            key=lambda word: (-counts[word], word),
        )
        self.words = [*SPECIAL, *kept][:size]
        self.ids = {word: i for i, word in enumerate(self.words)}

    @classmethod
    def from_words(cls, words: Sequence[str]) -> WordVocabulary:
        """Return the vocabulary whose `words`, special ones included, are these, in this order."""
        vocabulary = cls([])
        vocabulary.words = [*words]
        vocabulary.ids = {word: i for i, word in enumerate(words)}
        return vocabulary

    def __len__(self) -> int:
        return len(self.words)

    def encode(self, sentence: Sequence[str], eos: bool = True) -> list[int]:
        """Return the ids of a sentence's words, with <eos> at the end unless `eos` is False."""
        ids = [self.ids.get(word, UNK) for word in _words(sentence)]
        return [*ids, EOS] if eos else ids

    def tokens(self, ids: Iterable[int]) -> list[str]:
        """Return the word of every id, including special tokens."""
        return [self.words[i] for i in ids]

    def decode(self, ids: Iterable[int]) -> str:
        """Return the sentence up to the first <eos>, words joined by spaces."""
        return " ".join(self.words[i] for i in until_eos(ids))


def _words(sentence: Sequence[str]) -> Sequence[str]:
    if isinstance(sentence, str):
        raise TypeError("A WordVocabulary takes lists of words; split the sentence first.")
    return sentence


class SubwordVocabulary:
    """Byte-pair encoding (Sennrich et al. 2016) learned from the training sentences.

    Frequent words are single tokens and rare ones are split into pieces, so that a word is unknown
    only if it has a character that never occurred. Text is lower-cased by default.

    Args:
        sentences: the training sentences as strings.
        size: number of ids, special ones included.
        lowercase: fold case; the scorers of this course compare lower-cased text.
    """

    _WORD_START = "▁"

    def __init__(self, sentences: Iterable[str], size: int, lowercase: bool = True):
        from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

        tokenizer = Tokenizer(models.BPE(unk_token=SPECIAL[UNK]))
        steps: list[normalizers.Normalizer] = [normalizers.NFC()]
        if lowercase:
            steps.append(normalizers.Lowercase())
        tokenizer.normalizer = normalizers.Sequence(steps)
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
            [pre_tokenizers.Metaspace(), pre_tokenizers.Punctuation()]
        )
        tokenizer.decoder = decoders.Metaspace()
        trainer = trainers.BpeTrainer(
            vocab_size=size, special_tokens=list(SPECIAL), show_progress=False, min_frequency=2
        )
        tokenizer.train_from_iterator(sentences, trainer)
        self._tokenizer = tokenizer

    def __len__(self) -> int:
        return self._tokenizer.get_vocab_size()

    def encode(self, sentence: str, eos: bool = True) -> list[int]:
        """Return the ids of a sentence's subwords, with <eos> at the end unless `eos` is False."""
        ids = self._tokenizer.encode(sentence).ids
        return [*ids, EOS] if eos else ids

    def tokens(self, ids: Iterable[int]) -> list[str]:
        """Return the subword of every id; ▁ marks the beginning of a word."""
        return [self._tokenizer.id_to_token(int(i)) or SPECIAL[UNK] for i in ids]

    def decode(self, ids: Iterable[int]) -> str:
        """Return the sentence up to the first <eos> as text."""
        return self._tokenizer.decode(until_eos(ids), skip_special_tokens=True)


def until_eos(ids: Iterable[int]) -> list[int]:
    """Return the ids before the first <eos>, without <pad> and <bos>."""
    kept = []
    for i in ids:
        if int(i) == EOS:
            break
        if int(i) not in (PAD, BOS):
            kept.append(int(i))
    return kept
