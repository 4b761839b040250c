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
    """Split a story, from sentence `begin`, into texts of equal length; the last may be shorter."""
    groups = range(begin, len(story.sentences), sentences)
    return [sum(story.sentences[i : i + sentences], ()) for i in groups]


def label_every_word(tokens: Tensor, special: Tensor) -> tuple[Tensor, Tensor]:
    """Hide nothing and label every word, to train a model that reads one side only."""
    return tokens, torch.where(special, IGNORED, tokens)


def one_sided_mask(tokens: Tensor, sees: str, pad_id: int = 0) -> Tensor:
    """Return the mask (B, N, N) of a model that reads one side only, True where a row may attend.

    Each token sees itself, and the real tokens on its "left" or its "right".
    """
    n = tokens.shape[1]
    seen = torch.ones(n, n, dtype=torch.bool, device=tokens.device).tril()  # (N, N)
    if sees == "right":
        seen = seen.T
    own = torch.eye(n, dtype=torch.bool, device=tokens.device)  # no row may be empty
    return ((tokens != pad_id).unsqueeze(1) & seen) | own


class Filler(nn.Module):
    """An encoder and a head that predict the word at each position.

    A model that sees only the left predicts from the state one position earlier, and no state sees
    later positions; for a model that sees only the right, the reverse holds. A model that sees both
    predicts from the state of the position itself, where the word must be hidden.

    Parameters: `encoder.*`, `head.*`.

    Args:
        encoder: `encoder(tokens (B, N), segments (B, N), mask) -> states (B, N, d)`; mask bool,
            (B, N, N), or None for all tokens except padding.
        head: `head(states (..., d)) -> logits (..., V)`.
        sees: "left", "right" or "both".
        pad_id: id of padding.

    Raises:
        ValueError: `sees` is not one of the three.
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
        """Return the state from which the word at each position is predicted, (B, N, d)."""
        if self.sees == "both":
            return self.encoder(tokens, segments, None)
        mask = one_sided_mask(tokens, self.sees, self.pad_id)  # (B, N, N)
        states = self.encoder(tokens, segments, mask)  # (B, N, d)
        if self.sees == "left":
            return F.pad(states[:, :-1], (0, 0, 1, 0))
        return F.pad(states[:, 1:], (0, 0, 0, 1))

    def forward(self, tokens: Tensor, segments: Tensor) -> Tensor:
        """Return logits (B, N, V) for ids and segments (B, N)."""
        return self.head(self.states(tokens, segments))


class BidirectionalClozeModel(nn.Module):
    """Two frozen models, one for each side, with a trained layer on top of both.

    This is the shallow bidirectionality of ELMo (Peters et al. 2018): the two meet only at the top.

    Parameters: `combine.weight` (d, 2d), `combine.bias` (d,); `head.*`; those of the two models are
    not trained.

    Args:
        left: a model that sees the left.
        right: a model that sees the right.
        hidden_size: d, the state size of each model.
        head: `head(states (..., d)) -> logits (..., V)`.
    """

    def __init__(self, left: Filler, right: Filler, hidden_size: int, head: nn.Module):
        super().__init__()
        self.left = left.requires_grad_(False)
        self.right = right.requires_grad_(False)
        self.combine = nn.Linear(2 * hidden_size, hidden_size)
        self.head = head

    def states(self, tokens: Tensor, segments: Tensor) -> Tensor:
        """Return the combined states of both models at each position, (B, N, d)."""
        sides = [side.states(tokens, segments) for side in (self.left, self.right)]
        return self.combine(torch.cat(sides, dim=-1))

    def forward(self, tokens: Tensor, segments: Tensor) -> Tensor:
        """Return logits (B, N, V) for ids and segments (B, N)."""
        return self.head(self.states(tokens, segments))


def cloze_loss(model: Filler | BidirectionalClozeModel, batch: BertBatch) -> Tensor:
    """Return the mean loss over the labelled words."""
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
    """Hide each word of a text in turn and return a model's predictions for it.

    Args:
        model: a model in eval mode.
        ids: ids of the text, with the special tokens around it.
        segments: segment of each id.
        vocabulary: has `special_ids` and `mask_id`.

    Returns:
        the positions of the M words, and the probabilities of all words there, (M, V).
    """
    where = next(model.parameters()).device
    places = [i for i, token in enumerate(ids) if token not in vocabulary.special_ids]
    rows = range(len(places))
    tokens = torch.tensor(ids, device=where).repeat(len(places), 1)  # (M, N)
    tokens[rows, places] = vocabulary.mask_id
    given = torch.tensor(segments, device=where).repeat(len(places), 1)  # (M, N)
    states = model.states(tokens, given)[rows, places]  # (M, d)
    return places, model.head(states).softmax(dim=-1).cpu()
