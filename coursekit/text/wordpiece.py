"""BERT's WordPiece vocabulary, trained on sentences or read from a file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tokenizers import Tokenizer

CLS, SEP, MASK = "[CLS]", "[SEP]", "[MASK]"
SPECIAL = ("[PAD]", "[UNK]", CLS, SEP, MASK)


class WordPieceVocabulary:
    """WordPiece vocabulary, with BERT's special tokens around sentences and sentence pairs.

    Text is lower-cased and stripped of accents; punctuation marks are separate words; each word is
    split into the longest pieces in the vocabulary. The pieces are learned from the sentences
    (Schuster and Nakajima 2012), with the ids [PAD] 0, [UNK] 1, [CLS] 2, [SEP] 3, [MASK] 4.

    Args:
        sentences: the training sentences as strings.
        size: maximum number of ids, special ones included.
    """

    def __init__(self, sentences: Iterable[str], size: int):
        from tokenizers import Tokenizer, models, trainers

        tokenizer = _without_case(Tokenizer(models.WordPiece(unk_token="[UNK]")))
        trainer = trainers.WordPieceTrainer(
            vocab_size=size, special_tokens=list(SPECIAL), show_progress=False, min_frequency=2
        )
        tokenizer.train_from_iterator(sentences, trainer)
        self._use(tokenizer)

    @classmethod
    def from_file(cls, path: Path | str) -> WordPieceVocabulary:
        """Read a `vocab.txt` with one piece per line; the line number, from 0, is the id.

        Raises:
            ValueError: the file lacks one of [PAD], [UNK], [CLS], [SEP], [MASK].
        """
        return cls.from_pieces(Path(path).read_text(encoding="utf-8").splitlines())

    @classmethod
    def from_pieces(cls, pieces: Sequence[str]) -> WordPieceVocabulary:
        """Create a vocabulary from pieces in the order of their ids.

        Raises:
            ValueError: one of [PAD], [UNK], [CLS], [SEP], [MASK] is missing.
        """
        from tokenizers import Tokenizer, models

        ids = {piece: i for i, piece in enumerate(pieces)}
        missing = [piece for piece in SPECIAL if piece not in ids]
        if missing:
            raise ValueError(f"This is not a BERT vocabulary: {missing[0]} is missing.")
        vocabulary = cls.__new__(cls)
        vocabulary._use(_without_case(Tokenizer(models.WordPiece(ids, unk_token="[UNK]"))))
        return vocabulary

    def _use(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._ids = tokenizer.get_vocab()
        self.pad_id, self.unk_id, self.cls_id, self.sep_id, self.mask_id = (
            self._ids[piece] for piece in SPECIAL
        )
        self.special_ids = tuple(self._ids[piece] for piece in SPECIAL)

    def __len__(self) -> int:
        return len(self._ids)

    def __contains__(self, piece: object) -> bool:
        return piece in self._ids

    def id(self, piece: str) -> int:
        """Return the id of a piece, or that of [UNK] if there is no such piece."""
        return self._ids.get(piece, self.unk_id)

    def pieces(self, text: str) -> list[str]:
        """Return the pieces of a text, without [CLS] and [SEP]; [MASK] in it stays one piece."""
        return self._tokenizer.encode(text).tokens

    def ids(self, text: str) -> list[int]:
        """Return the ids of a text's pieces, without [CLS] and [SEP]."""
        return self._tokenizer.encode(text).ids

    def encode(
        self, first: str, second: str | None = None, longest: int = 128
    ) -> tuple[list[int], list[int]]:
        """Return ids and segments of [CLS] first [SEP], or of [CLS] first [SEP] second [SEP].

        Args:
            first: a text.
            second: another text, or None.
            longest: maximum length of the result; the longer text is truncated at its end.

        Returns:
            ids, and the segment of each: 0 for the first text, 1 for the second.
        """
        one = self.ids(first)
        two = [] if second is None else self.ids(second)
        return self.join(one, None if second is None else two, longest)

    def join(
        self, first: Sequence[int], second: Sequence[int] | None = None, longest: int = 128
    ) -> tuple[list[int], list[int]]:
        """Return what `encode` returns, for texts that are already ids."""
        one, two = list(first), list(second or [])
        room = longest - 2 - (second is not None)
        while len(one) + len(two) > room:
            (one if len(one) >= len(two) else two).pop()
        ids = [self.cls_id, *one, self.sep_id]
        segments = [0] * len(ids)
        if second is not None:
            ids += [*two, self.sep_id]
            segments += [1] * (len(two) + 1)
        return ids, segments

    def tokens(self, ids: Iterable[int]) -> list[str]:
        """Return the piece of every id, including special tokens."""
        return [self._tokenizer.id_to_token(int(i)) or "[UNK]" for i in ids]


def _without_case(tokenizer: Tokenizer) -> Tokenizer:
    """Configure a tokenizer to split text into words like uncased BERT."""
    from tokenizers import normalizers, pre_tokenizers

    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.add_special_tokens(list(SPECIAL))
    return tokenizer
