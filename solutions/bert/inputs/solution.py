"""Reference solutions of the exercises in bert/inputs."""

# %% setup
from collections.abc import Container, Sequence
from itertools import pairwise
from typing import TypeVar

import torch
from torch import Tensor, nn

Sentence = TypeVar("Sentence")


# %% exercise
def wordpiece(word: str, vocabulary: Container[str], unknown: str = "[UNK]") -> list[str]:
    """Spell a word in the longest pieces that the vocabulary has, from left to right.

    Args:
        word: without spaces; already lower-cased, if the vocabulary is.
        vocabulary: the pieces; those that continue a word begin with "##". Anything that can say
            whether a piece is `in` it.
        unknown: what stands for a word that cannot be spelt, and for one of more than 100 characters.

    Returns:
        the pieces; [] for an empty word.

    Source: Devlin et al. (2019), section 3; Wu et al. (2016), section 4.1; the limit of 100
    characters is that of the library `tokenizers`.
    """
    ### BEGIN SOLUTION
    if len(word) > 100:
        return [unknown]
    pieces: list[str] = []
    start = 0
    while start < len(word):
        for end in range(len(word), start, -1):
            piece = ("##" if start > 0 else "") + word[start:end]
            if piece in vocabulary:
                break
        else:
            return [unknown]
        pieces.append(piece)
        start = end
    return pieces
    ### END SOLUTION


# %% exercise
class BertEmbeddings(nn.Module):
    """What the token is, which sentence it is in, and where it stands: three vectors, added.

    x_i = LayerNorm(E_token[w_i] + E_segment[s_i] + E_position[i])

    Parameters, d = hidden_size: `token.weight` (V, d), `segment.weight` (segments, d),
    `position.weight` (max_length, d), `norm.weight` and `norm.bias` (d,). In training, `dropout`
    acts on the result.

    Source: Devlin et al. (2019), section 3 and figure 2; the LayerNorm is in the paper's code.
    """

    def __init__(
        self,
        vocabulary_size: int,
        hidden_size: int,
        max_length: int = 512,
        segments: int = 2,
        dropout: float = 0.0,
        eps: float = 1e-12,
    ):
        super().__init__()
        self.token = nn.Embedding(vocabulary_size, hidden_size)
        self.segment = nn.Embedding(segments, hidden_size)
        self.position = nn.Embedding(max_length, hidden_size)
        self.norm = nn.LayerNorm(hidden_size, eps=eps)
        self.dropout = nn.Dropout(dropout)

    def forward(self, tokens: Tensor, segments: Tensor | None = None) -> Tensor:
        """Return the vectors of a batch of token sequences.

        Args:
            tokens: ids (B, N), N at most max_length.
            segments: ids (B, N), 0 = first sentence, 1 = second; None: 0 everywhere.

        Returns:
            x, (B, N, d).
        """
        ### BEGIN SOLUTION
        if segments is None:
            segments = torch.zeros_like(tokens)
        places = torch.arange(tokens.shape[1], device=tokens.device)  # (N,)
        total = self.token(tokens) + self.segment(segments) + self.position(places)  # (B, N, d)
        return self.dropout(self.norm(total))
        ### END SOLUTION


# %% exercise
def mask_tokens(
    tokens: Tensor,
    special: Tensor,
    vocabulary_size: int,
    mask_id: int,
    generator: torch.Generator | None = None,
    probability: float = 0.15,
) -> tuple[Tensor, Tensor]:
    """Choose tokens to be predicted, and hide most of them.

    Each token that is not special is chosen with the given probability, independently. Of the
    chosen ones 80 % become [MASK], 10 % a random token, 10 % stay as they are.

    Args:
        tokens: ids, any shape. They are not changed.
        special: bool, like tokens: True for [CLS], [SEP] and padding, which are never chosen.
        vocabulary_size: V; random tokens are uniform on 0 to V - 1.
        mask_id: the id of [MASK].
        generator: all random numbers are drawn from it (None: torch's own); it is on the device of
            the tokens.
        probability: of being chosen.

    Returns:
        inputs, what the model sees, and labels: the true id where a token was chosen, -100
        elsewhere; both like tokens.

    Source: Devlin et al. (2019), section 3.1, task 1, and appendix A.1.
    """
    ### BEGIN SOLUTION
    shape, device = tokens.shape, tokens.device
    chosen = (torch.rand(shape, generator=generator, device=device) < probability) & ~special
    share = torch.rand(shape, generator=generator, device=device)  # below 0.8: [MASK]
    random_ids = torch.randint(vocabulary_size, shape, generator=generator, device=device)
    inputs = tokens.masked_fill(chosen & (share < 0.8), mask_id)
    inputs = torch.where(chosen & (share >= 0.9), random_ids, inputs)
    labels = tokens.masked_fill(~chosen, -100)
    return inputs, labels
    ### END SOLUTION


# %% exercise
def next_sentence_pairs(
    documents: Sequence[Sequence[Sentence]], generator: torch.Generator | None = None
) -> list[tuple[Sentence, Sentence, bool]]:
    """Make pairs of sentences, of which about half follow each other.

    There is one pair for each two neighbours of a document, in order. For each a fair coin decides:
    either the second sentence is the true next one, or it is a sentence of another document, chosen
    at random.

    Args:
        documents: at least 2, each a list of sentences; a sentence may be anything.
        generator: all random numbers are drawn from it (None: torch's own).

    Returns:
        (first, second, is_next), one for each pair of neighbours; is_next is True or False.

    Raises:
        ValueError: there are fewer than 2 documents with a sentence.

    Source: Devlin et al. (2019), section 3.1, task 2, where the random sentence may be any of the
    corpus.
    """
    ### BEGIN SOLUTION
    filled = [i for i, document in enumerate(documents) if document]
    if len(filled) < 2:
        raise ValueError("Next sentences need at least two documents that have a sentence.")

    def draw(n: int) -> int:
        return int(torch.randint(n, (), generator=generator))

    pairs = []
    for i, document in enumerate(documents):
        for first, following in pairwise(document):
            if draw(2):
                pairs.append((first, following, True))
                continue
            others = [j for j in filled if j != i]
            other = documents[others[draw(len(others))]]
            pairs.append((first, other[draw(len(other))], False))
    return pairs
    ### END SOLUTION
