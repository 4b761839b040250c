"""Models that predict a hidden word from its left context, right context or both."""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from coursekit.corpora.stories import Story
from coursekit.models.bert import IGNORED, BertBatch
from coursekit.text.wordpiece import SPECIAL, WordPieceVocabulary

SIDES = ("left", "right", "both")


def story_vocabulary(stories: Sequence[Story]) -> WordPieceVocabulary:
    """Return a vocabulary in which every word of the stories and their questions is one piece."""
    words = {word for story in stories for word in story.words}
    words |= {word for s in stories for question in s.questions for word in question.words}
    return WordPieceVocabulary.from_pieces([*SPECIAL, *sorted(words)])


def texts_of(story: Story, sentences: int = 2, begin: int = 0) -> list[tuple[str, ...]]:
    """Cut a story into texts of so many sentences, from one on; the last one may be shorter."""
    groups = range(begin, len(story.sentences), sentences)
    return [sum(story.sentences[i : i + sentences], ()) for i in groups]


def label_every_word(tokens: Tensor, special: Tensor) -> tuple[Tensor, Tensor]:
    """Hide nothing and ask for every word: what a model that reads one side learns from."""
    return tokens, torch.where(special, IGNORED, tokens)


class Filler(nn.Module):
    """An encoder and a head that say for each place which word stands there.

    A model that sees the left only says it from the state one place before, and no state sees what
    comes later; a model that sees the right only, the other way round. One that sees both says it
    from the state of the place itself, where there must be something else than the word.

    Parameters: `encoder.*`, `head.*`.

    Args:
        encoder: `encoder(tokens (B, N), segments (B, N), mask) -> states (B, N, d)`; mask bool,
            (B, N, N), or None for all tokens that are no padding.
        head: `head(states (..., d)) -> logits (..., V)`.
        sees: "left", "right" or "both".
        pad_id: id of padding.

    Raises:
        ValueError: `sees` is none of the three.
    """

    def __init__(self, encoder: nn.Module, head: nn.Module, sees: str = "both", pad_id: int = 0):
        super().__init__()
        if sees not in SIDES:
            raise ValueError(f"sees must be one of {', '.join(SIDES)}, not {sees!r}.")
        self.encoder = encoder
        self.head = head
        self.sees = sees
        self.pad_id = pad_id

    def states(self, tokens: Tensor, segments: Tensor) -> Tensor:
        """Return for each place the state that its word is told from, (B, N, d)."""
        if self.sees == "both":
            return self.encoder(tokens, segments, None)
        n = tokens.shape[1]
        seen = torch.ones(n, n, dtype=torch.bool, device=tokens.device).tril()  # (N, N)
        if self.sees == "right":
            seen = seen.T
        own = torch.eye(n, dtype=torch.bool, device=tokens.device)  # no row without a place
        real = (tokens != self.pad_id).unsqueeze(1)  # (B, 1, N)
        states = self.encoder(tokens, segments, (real & seen) | own)  # (B, N, d)
        if self.sees == "left":
            return F.pad(states[:, :-1], (0, 0, 1, 0))
        return F.pad(states[:, 1:], (0, 0, 0, 1))

    def forward(self, tokens: Tensor, segments: Tensor) -> Tensor:
        """Return logits (B, N, V) for ids and segments (B, N)."""
        return self.head(self.states(tokens, segments))


class BidirectionalClozeModel(nn.Module):
    """Two finished models side by side, one from each side, and a trained layer on top of both.

    This is what is shallow in ELMo (Peters et al. 2018): the two meet only at the top.

    Parameters: `combine.weight` (d, 2d), `combine.bias` (d,); `head.*`; those of the two models are
    not trained.

    Args:
        left: a model that sees the left.
        right: a model that sees the right.
        hidden_size: d, the size of a state of either.
        head: `head(states (..., d)) -> logits (..., V)`.
    """

    def __init__(self, left: Filler, right: Filler, hidden_size: int, head: nn.Module):
        super().__init__()
        self.left = left.requires_grad_(False)
        self.right = right.requires_grad_(False)
        self.combine = nn.Linear(2 * hidden_size, hidden_size)
        self.head = head

    def states(self, tokens: Tensor, segments: Tensor) -> Tensor:
        """Return for each place both models' states, combined, (B, N, d)."""
        sides = [side.states(tokens, segments) for side in (self.left, self.right)]
        return self.combine(torch.cat(sides, dim=-1))

    def forward(self, tokens: Tensor, segments: Tensor) -> Tensor:
        """Return logits (B, N, V) for ids and segments (B, N)."""
        return self.head(self.states(tokens, segments))


def cloze_loss(model: Filler | BidirectionalClozeModel, batch: BertBatch) -> Tensor:
    """Return the mean loss over the words that are asked for."""
    asked = batch.labels != IGNORED  # (B, N)
    states = model.states(batch.tokens, batch.segments)[asked]  # (M, d)
    return F.cross_entropy(model.head(states), batch.labels[asked])


@torch.no_grad()
def predict_hidden_words(
    model: Filler | BidirectionalClozeModel,
    ids: Sequence[int],
    segments: Sequence[int],
    vocabulary: WordPieceVocabulary,
) -> tuple[list[int], Tensor]:
    """Hide each word of a text by itself and return what a model would fill in.

    Args:
        model: in eval mode.
        ids: of the text, with the special tokens around it.
        segments: as many.
        vocabulary: has `special_ids` and `mask_id`.

    Returns:
        the places of the M words, and the probabilities of all words there, (M, V).
    """
    where = next(model.parameters()).device
    places = [i for i, token in enumerate(ids) if token not in vocabulary.special_ids]
    rows = range(len(places))
    tokens = torch.tensor(ids, device=where).repeat(len(places), 1)  # (M, N)
    tokens[rows, places] = vocabulary.mask_id
    given = torch.tensor(segments, device=where).repeat(len(places), 1)  # (M, N)
    states = model.states(tokens, given)[rows, places]  # (M, d)
    return places, model.head(states).softmax(dim=-1).cpu()
