"""Mistakes that people really make in the notebook `bert/inputs`.

Each function or class is one wrong implementation; the first line of its docstring is the title of
the card, the rest the hint.
"""

import random
from itertools import pairwise

import torch

from solutions.bert import inputs as right

# %% wordpiece


def _spelt(word, vocabulary, unknown="[UNK]", mark="##", later_only=True, longest=100):
    """The longest pieces from left to right, with one thing changed."""
    if longest is not None and len(word) > longest:
        return [unknown]
    pieces, start = [], 0
    while start < len(word):
        sign = mark if start or not later_only else ""
        ends = range(len(word), start, -1)
        end = next((end for end in ends if sign + word[start:end] in vocabulary), None)
        if end is None:
            return [unknown]
        pieces.append(sign + word[start:end])
        start = end
    return pieces


def pieces_without_marks(word, vocabulary, unknown="[UNK]"):
    """The marks ## are missing.

    "able" begins a word, "##able" continues one: they are two pieces with two ids. From the second
    piece on, look for "##" and the letters together.
    """
    return _spelt(word, vocabulary, unknown, mark="")


def pieces_marked_from_the_first(word, vocabulary, unknown="[UNK]"):
    """Your first piece has the marks ##, too.

    ## says that a piece continues a word. The first one begins it, and stands in the vocabulary as
    it is.
    """
    return _spelt(word, vocabulary, unknown, later_only=False)


def pieces_returned_without_marks(word, vocabulary, unknown="[UNK]"):
    """You look the marks ## up, but do not return them.

    The list holds the pieces as they stand in the vocabulary: their ids are looked up next, and
    "##able" has another one than "able".
    """
    return [piece.removeprefix("##") for piece in _spelt(word, vocabulary, unknown)]


def pieces_shortest_first(word, vocabulary, unknown="[UNK]"):
    """You take the shortest piece, not the longest.

    Begin with all that is left of the word and make it shorter until it is a piece. Beginning with
    one letter, a word falls into crumbs.
    """
    if len(word) > 100:
        return [unknown]
    pieces, start = [], 0
    while start < len(word):
        sign = "##" if start else ""
        ends = range(start + 1, len(word) + 1)
        end = next((end for end in ends if sign + word[start:end] in vocabulary), None)
        if end is None:
            return [unknown]
        pieces.append(sign + word[start:end])
        start = end
    return pieces


def pieces_with_unknown_among_them(word, vocabulary, unknown="[UNK]"):
    """You keep the pieces found so far in front of [UNK].

    If some part of a word has no piece, the whole word is unknown: the list holds the sign for
    unknown and nothing else.
    """
    if len(word) > 100:
        return [unknown]
    pieces: list[str] = []
    start = 0
    while start < len(word):
        sign = "##" if start else ""
        ends = range(len(word), start, -1)
        end = next((end for end in ends if sign + word[start:end] in vocabulary), None)
        if end is None:
            return [*pieces, unknown]
        pieces.append(sign + word[start:end])
        start = end
    return pieces


def pieces_with_unknown_letters(word, vocabulary, unknown="[UNK]"):
    """You make one letter [UNK] and go on spelling after it.

    If some part of a word has no piece, the whole word is unknown: the list holds the sign for
    unknown and nothing else.
    """
    if len(word) > 100:
        return [unknown]
    pieces, start = [], 0
    while start < len(word):
        sign = "##" if start else ""
        ends = range(len(word), start, -1)
        end = next((end for end in ends if sign + word[start:end] in vocabulary), None)
        pieces.append(unknown if end is None else sign + word[start:end])
        start = start + 1 if end is None else end
    return pieces


def pieces_with_another_try(word, vocabulary, unknown="[UNK]"):
    """Where the longest piece leads nowhere, you try a shorter one.

    WordPiece is greedy: a piece that was taken is not given back. Trying all spellings finds more
    words, but takes much longer, and gives other pieces than the model was trained with.
    """

    def rest(start):
        if start == len(word):
            return []
        sign = "##" if start else ""
        for end in range(len(word), start, -1):
            piece = sign + word[start:end]
            if piece in vocabulary and (found := rest(end)) is not None:
                return [piece, *found]
        return None

    if len(word) > 100:
        return [unknown]
    found = rest(0)
    return [unknown] if found is None else found


def pieces_of_long_words(word, vocabulary, unknown="[UNK]"):
    """You spell words of more than 100 characters.

    They are seldom words: an address, a line of code. Looking for their pieces takes time that grows
    with the square of the length, so BERT calls them unknown at once.
    """
    return _spelt(word, vocabulary, unknown, longest=None)


def pieces_up_to_99(word, vocabulary, unknown="[UNK]"):
    """You call a word of exactly 100 characters unknown.

    More than 100 are too many; 100 are not.
    """
    return _spelt(word, vocabulary, unknown, longest=99)


def pieces_unknown_written_in(word, vocabulary, unknown="[UNK]"):
    """You write [UNK] into the code.

    What stands for an unknown word is the third argument; "[UNK]" is only its default.
    """
    return _spelt(word, vocabulary)


def pieces_of_an_empty_word(word, vocabulary, unknown="[UNK]"):
    """You call an empty word unknown.

    It has no letter that could not be spelt: its list of pieces is empty.
    """
    return _spelt(word, vocabulary, unknown) or [unknown]


def pieces_in_lower_case(word, vocabulary, unknown="[UNK]"):
    """You lower-case the word.

    That happens before, if the vocabulary is lower-cased; some are not. Take the letters as they
    come.
    """
    return _spelt(word.lower(), vocabulary, unknown)


def pieces_of_the_beginning(word, vocabulary, unknown="[UNK]"):
    """Where no piece is found, you return the pieces so far.

    If some part of a word has no piece, the whole word is unknown: the list holds the sign for
    unknown and nothing else.
    """
    spelt = pieces_with_unknown_among_them(word, vocabulary, unknown)
    return spelt[:-1] if spelt[-1:] == [unknown] and len(word) <= 100 else spelt


def pieces_none_if_unknown(word, vocabulary, unknown="[UNK]"):
    """You return an empty list for a word that cannot be spelt.

    Something has to stand for it, or the sentence would lose a word: the list holds the sign for
    unknown.
    """
    spelt = _spelt(word, vocabulary, unknown)
    return [] if spelt == [unknown] and len(word) <= 100 else spelt


def pieces_fewest(word, vocabulary, unknown="[UNK]"):
    """You look for the spelling with the fewest pieces.

    WordPiece is greedy: from left to right, the longest piece that fits, even if another choice
    would need fewer pieces. The model was trained with those.
    """
    if len(word) > 100:
        return [unknown]
    best: dict[int, list[str]] = {len(word): []}
    for start in reversed(range(len(word))):
        for end in range(start + 1, len(word) + 1):
            piece = "##" * bool(start) + word[start:end]
            known = end in best and piece in vocabulary
            if known and (start not in best or len(best[end]) + 1 < len(best[start])):
                best[start] = [piece, *best[end]]
    return best.get(0, [unknown])


def pieces_from_the_end(word, vocabulary, unknown="[UNK]"):
    """You cut the word from its end.

    The longest piece is taken at the *beginning* of what is left of the word, so that the pieces
    are found from left to right.
    """
    pieces: list[str] = []
    end = len(word)
    if end > 100:
        return [unknown]
    while end:
        starts = range(end)
        start = next((s for s in starts if "##" * bool(s) + word[s:end] in vocabulary), None)
        if start is None:
            return [unknown]
        pieces.insert(0, "##" * bool(start) + word[start:end])
        end = start
    return pieces


# %% BertEmbeddings


class EmbeddingsWithoutPosition(right.BertEmbeddings):
    """The positions are missing.

    Attention does not know where a token stands: without E_position, "dog bites man" and "man bites
    dog" are the same to BERT.
    """

    def forward(self, tokens, segments=None):
        kinds = torch.zeros_like(tokens) if segments is None else segments
        return self.norm(self.token(tokens) + self.segment(kinds))


class EmbeddingsWithoutSegment(right.BertEmbeddings):
    """The segments are missing.

    E_segment says whether a token belongs to the first sentence or to the second. It is added to
    every token.
    """

    def forward(self, tokens, segments=None):
        places = torch.arange(tokens.shape[1])
        return self.norm(self.token(tokens) + self.position(places))


class EmbeddingsWithoutDefaultSegment(right.BertEmbeddings):
    """Without segments, you add no segment vector.

    None means that all tokens are in segment 0, not that they are in none: the vector of segment 0
    is added to every token.
    """

    def forward(self, tokens, segments=None):
        total = self.token(tokens) + self.position(torch.arange(tokens.shape[1]))
        if segments is not None:
            total = total + self.segment(segments)
        return self.norm(total)


class EmbeddingsWithoutNorm(right.BertEmbeddings):
    """The layer norm is missing.

    BERT normalises the sum of the three vectors before its first layer: the output is norm(sum).
    """

    def forward(self, tokens, segments=None):
        kinds = torch.zeros_like(tokens) if segments is None else segments
        places = torch.arange(tokens.shape[1])
        return self.token(tokens) + self.segment(kinds) + self.position(places)


class EmbeddingsNormEach(right.BertEmbeddings):
    """You normalise each of the three vectors by itself.

    The sum is normalised, once. Otherwise every kind of embedding would count the same, whatever
    size training has given it.
    """

    def forward(self, tokens, segments=None):
        kinds = torch.zeros_like(tokens) if segments is None else segments
        places = self.norm(self.position(torch.arange(tokens.shape[1])))
        return self.norm(self.token(tokens)) + self.norm(self.segment(kinds)) + places


class EmbeddingsNormTokens(right.BertEmbeddings):
    """You normalise only the token's vector.

    First the three vectors are added, then the sum is normalised.
    """

    def forward(self, tokens, segments=None):
        kinds = torch.zeros_like(tokens) if segments is None else segments
        places = self.position(torch.arange(tokens.shape[1]))
        return self.norm(self.token(tokens)) + self.segment(kinds) + places


class EmbeddingsScaled(right.BertEmbeddings):
    """You multiply the token's vector by the root of d.

    That is what the Transformer does, whose positions are sines of size 1. BERT learns its
    positions and scales nothing.
    """

    def forward(self, tokens, segments=None):
        kinds = torch.zeros_like(tokens) if segments is None else segments
        words = self.token(tokens) * self.token.embedding_dim**0.5
        return self.norm(words + self.segment(kinds) + self.position(torch.arange(words.shape[1])))


class EmbeddingsBackwards(right.BertEmbeddings):
    """You count the positions from the end.

    The first token of a row, [CLS], is at position 0.
    """

    def forward(self, tokens, segments=None):
        kinds = torch.zeros_like(tokens) if segments is None else segments
        places = torch.arange(tokens.shape[1]).flip(0)
        return self.norm(self.token(tokens) + self.segment(kinds) + self.position(places))


class EmbeddingsCountRows(right.BertEmbeddings):
    """You count the positions over the texts, not over the tokens.

    tokens is (B, N): the position of a token is its place in its row, from 0 to N - 1, the same for
    all rows.
    """

    def forward(self, tokens, segments=None):
        kinds = torch.zeros_like(tokens) if segments is None else segments
        places = self.position(torch.arange(len(tokens)) % self.position.num_embeddings)
        return self.norm(self.token(tokens) + self.segment(kinds) + places.unsqueeze(1))


class _Embeddings(right.BertEmbeddings):
    """The right embeddings in pieces, so that a mistake changes one of them."""

    def words(self, tokens):
        """(B, N, d)."""
        return self.token(tokens)

    def kinds(self, tokens, segments):
        """Which segment, (B, N)."""
        return torch.zeros_like(tokens) if segments is None else segments

    def places(self, tokens, kinds):
        """Which position, (N,) or (B, N)."""
        return torch.arange(tokens.shape[1])

    def forward(self, tokens, segments=None):
        kinds = self.kinds(tokens, segments)
        places = self.position(self.places(tokens, kinds))
        return self.norm(self.words(tokens) + self.segment(kinds) + places)


class EmbeddingsOneSegment(_Embeddings):
    """You put all tokens in segment 0, whatever `segments` says.

    0 everywhere is only the default, for None. Otherwise `segments` says for each token whether it
    belongs to the first sentence or to the second.
    """

    def kinds(self, tokens, segments):
        return torch.zeros_like(tokens)


class EmbeddingsPositionsAgain(_Embeddings):
    """Your positions begin again with the second sentence.

    Positions run through the whole row, both sentences; which of the two it is, the segments say.
    """

    def places(self, tokens, kinds):
        places = super().places(tokens, kinds) - kinds * (kinds == 0).sum(1, keepdim=True)
        return places.clamp(min=0)


class EmbeddingsPaddingNotCounted(_Embeddings):
    """You give padding no position of its own.

    BERT counts all positions of a row, padding as well, from 0 to N - 1; what is padding is hidden
    by the mask. (RoBERTa's positions know about padding.)
    """

    def places(self, tokens, kinds):
        real = (tokens != 0).long()
        return (real.cumsum(1) - 1).clamp(min=0) * real


class EmbeddingsPaddingZero(_Embeddings):
    """You give padding a token vector of 0.

    [PAD] is a token like the others and has a vector in the table; the mask keeps it out of the
    attention.
    """

    def words(self, tokens):
        return self.token(tokens) * (tokens != 0).unsqueeze(-1)


# %% mask_tokens


def _masked(tokens, chosen, vocabulary_size, mask_id, generator, shares=(0.8, 0.1)):
    """What becomes of the chosen tokens: [MASK] and a random one with these probabilities."""
    fate = torch.rand(tokens.shape, generator=generator)
    other = torch.randint(vocabulary_size, tokens.shape, generator=generator)
    inputs = torch.where(chosen & (fate < shares[0]), mask_id, tokens)
    replaced = chosen & (fate >= shares[0]) & (fate < shares[0] + shares[1])
    return torch.where(replaced, other, inputs), torch.where(chosen, tokens, -100)


def _chosen(tokens, special, generator, probability):
    return (torch.rand(tokens.shape, generator=generator) < probability) & ~special


def mask_always(tokens, special, vocabulary_size, mask_id, generator=None, probability=0.15):
    """You make every chosen token [MASK].

    [MASK] never comes in fine-tuning. If it stood at every place that is asked about, no loss would
    ask for the state of a token that the model sees: so 10 % become a random token and 10 % stay.
    """
    chosen = _chosen(tokens, special, generator, probability)
    return _masked(tokens, chosen, vocabulary_size, mask_id, generator, (1.0, 0.0))


def mask_or_stay(tokens, special, vocabulary_size, mask_id, generator=None, probability=0.15):
    """You make no chosen token a random one.

    Of the chosen tokens 80 % become [MASK] and 10 % a random token; the last 10 % stay. Because a
    token may be a wrong one, the model cannot simply believe what it sees.
    """
    chosen = _chosen(tokens, special, generator, probability)
    return _masked(tokens, chosen, vocabulary_size, mask_id, generator, (0.8, 0.0))


def mask_or_replace(tokens, special, vocabulary_size, mask_id, generator=None, probability=0.15):
    """You leave no chosen token as it is.

    Of the chosen tokens 10 % stay, and are predicted all the same: so the state of a token that is
    seen has to keep what the token is, as fine-tuning needs it.
    """
    chosen = _chosen(tokens, special, generator, probability)
    return _masked(tokens, chosen, vocabulary_size, mask_id, generator, (0.8, 0.2))


def mask_tenth_of_the_rest(
    tokens, special, vocabulary_size, mask_id, generator=None, probability=0.15
):
    """You make a tenth of what is not masked random, not a tenth of all chosen tokens.

    After 80 % have become [MASK], one half of the remaining 20 % is 10 % of all. A second draw with
    the probability 0.1 leaves only 2 % random tokens.
    """
    chosen = _chosen(tokens, special, generator, probability)
    return _masked(tokens, chosen, vocabulary_size, mask_id, generator, (0.8, 0.02))


def mask_special_too(tokens, special, vocabulary_size, mask_id, generator=None, probability=0.15):
    """You choose special tokens like any other.

    [CLS], [SEP] and padding are no words: there is nothing to learn from guessing them. Where special
    is True, nothing is chosen.
    """
    chosen = _chosen(tokens, torch.zeros_like(special), generator, probability)
    return _masked(tokens, chosen, vocabulary_size, mask_id, generator)


def mask_only_special(tokens, special, vocabulary_size, mask_id, generator=None, probability=0.15):
    """The mask of special tokens is read the wrong way round.

    special is True for the tokens that are *not* to be chosen: the choice needs ~special.
    """
    chosen = _chosen(tokens, ~special, generator, probability)
    return _masked(tokens, chosen, vocabulary_size, mask_id, generator)


def mask_labels_everywhere(
    tokens, special, vocabulary_size, mask_id, generator=None, probability=0.15
):
    """Your labels hold the true id of every token.

    The loss counts all labels but -100. With a label everywhere the model would mostly learn to copy
    what it sees: where a token was not chosen, the label is -100.
    """
    chosen = _chosen(tokens, special, generator, probability)
    inputs, _ = _masked(tokens, chosen, vocabulary_size, mask_id, generator)
    return inputs, tokens.clone()


def mask_labels_of_padding(
    tokens, special, vocabulary_size, mask_id, generator=None, probability=0.15
):
    """Your labels are 0 where nothing is to be predicted, not -100.

    0 is the id of a token: the loss would ask for it at all those places. -100 is what
    cross_entropy leaves out if nothing else is said.
    """
    chosen = _chosen(tokens, special, generator, probability)
    inputs, labels = _masked(tokens, chosen, vocabulary_size, mask_id, generator)
    return inputs, labels.masked_fill(~chosen, 0)


def mask_labels_after(tokens, special, vocabulary_size, mask_id, generator=None, probability=0.15):
    """You take the labels from what the model sees.

    It would have to answer [MASK] to [MASK]. The labels are the ids of tokens, before anything was
    hidden.
    """
    chosen = _chosen(tokens, special, generator, probability)
    inputs, _ = _masked(tokens, chosen, vocabulary_size, mask_id, generator)
    return inputs, torch.where(chosen, inputs, -100)


def mask_labels_where_changed(
    tokens, special, vocabulary_size, mask_id, generator=None, probability=0.15
):
    """You give no label to chosen tokens that stay as they are.

    The 10 % that stay are predicted too: that is what they were chosen for. Only where a token was
    not chosen, labels is -100.
    """
    chosen = _chosen(tokens, special, generator, probability)
    inputs, _ = _masked(tokens, chosen, vocabulary_size, mask_id, generator)
    return inputs, torch.where(inputs != tokens, tokens, -100)


def mask_fixed_number(tokens, special, vocabulary_size, mask_id, generator=None, probability=0.15):
    """You choose a fixed number of tokens in each text.

    The original program does about that. Here each token is chosen independently, as the check can
    tell: the number differs from text to text. torch.rand(...) < probability is all it takes.
    """
    levels = torch.rand(tokens.shape, generator=generator).masked_fill(special, 2.0)
    rank = levels.argsort(dim=-1).argsort(dim=-1)
    count = (probability * (~special).sum(dim=-1, keepdim=True)).round()
    return _masked(tokens, rank < count, vocabulary_size, mask_id, generator)


def mask_whole_texts(tokens, special, vocabulary_size, mask_id, generator=None, probability=0.15):
    """You let one number decide for a whole text.

    Then nearly all texts are left as they are, and of the others every token is hidden, with nothing
    to guess it from. Each token needs a number of its own: torch.rand(tokens.shape).
    """
    levels = torch.rand((*tokens.shape[:-1], 1), generator=generator)
    chosen = (levels < probability).expand(tokens.shape) & ~special
    return _masked(tokens, chosen, vocabulary_size, mask_id, generator)


def mask_same_places(tokens, special, vocabulary_size, mask_id, generator=None, probability=0.15):
    """You choose the same places in all texts of the batch.

    torch.rand needs the whole shape of tokens; numbers for one text are repeated for all of them.
    """
    levels = torch.rand(tokens.shape[-1], generator=generator)
    chosen = (levels < probability).expand(tokens.shape) & ~special
    return _masked(tokens, chosen, vocabulary_size, mask_id, generator)


def mask_ignores_generator(
    tokens, special, vocabulary_size, mask_id, generator=None, probability=0.15
):
    """You do not draw everything with the generator.

    With a generator the same seed hides the same tokens and replaces them by the same ones, so that
    a run can be repeated. torch.rand and torch.randint take generator=generator, and None is allowed.
    """
    chosen = _chosen(tokens, special, None, probability)
    return _masked(tokens, chosen, vocabulary_size, mask_id, None)


def mask_with_fixed_seed(
    tokens, special, vocabulary_size, mask_id, generator=None, probability=0.15
):
    """You set a seed inside the function.

    Then every batch hides the tokens at the same places, in every epoch. Whoever calls the function
    decides about the seed, with the generator that is passed.
    """
    own = torch.Generator().manual_seed(0)
    chosen = _chosen(tokens, special, own, probability)
    return _masked(tokens, chosen, vocabulary_size, mask_id, own)


def mask_fifteen_always(
    tokens, special, vocabulary_size, mask_id, generator=None, probability=0.15
):
    """You write 0.15 into the code.

    How many tokens are chosen is the last argument; 0.15 is only its default.
    """
    chosen = _chosen(tokens, special, generator, 0.15)
    return _masked(tokens, chosen, vocabulary_size, mask_id, generator)


def mask_writes_into_tokens(
    tokens, special, vocabulary_size, mask_id, generator=None, probability=0.15
):
    """You write the masks into the tokens that were passed.

    Then the next epoch begins with tokens that are hidden already, and the true ones are lost. Work
    on a copy, tokens.clone(), or make a new tensor with torch.where.
    """
    chosen = _chosen(tokens, special, generator, probability)
    inputs, labels = _masked(tokens, chosen, vocabulary_size, mask_id, generator)
    return tokens.copy_(inputs), labels


# %% next_sentence_pairs


def _number(n, generator):
    return int(torch.randint(n, (), generator=generator))


def _elsewhere(documents, own, generator):
    """A sentence of another document."""
    others = [d for i, d in enumerate(documents) if i != own and d]
    document = others[_number(len(others), generator)]
    return document[_number(len(document), generator)]


def _refuse(documents):
    if sum(map(bool, documents)) < 2:
        raise ValueError("There must be two documents with a sentence.")


def pairs_negative_from_own_document(documents, generator=None):
    """Your wrong second sentences come from the same document.

    Sentences of one document are about one thing, and one of them may even be the next. The negative
    comes from another document.
    """
    _refuse(documents)
    pairs = []
    for document in documents:
        for first, following in pairwise(document):
            is_next = bool(_number(2, generator))
            any_one = document[_number(len(document), generator)]
            pairs.append((first, following if is_next else any_one, is_next))
    return pairs


def pairs_negative_from_anywhere(documents, generator=None):
    """Your wrong second sentences may come from the same document.

    They are drawn from all sentences, and so from time to time from the document itself. Leave its
    own sentences out.
    """
    _refuse(documents)
    everything = [sentence for document in documents for sentence in document]
    pairs = []
    for document in documents:
        for first, following in pairwise(document):
            is_next = bool(_number(2, generator))
            any_one = everything[_number(len(everything), generator)]
            pairs.append((first, following if is_next else any_one, is_next))
    return pairs


def pairs_without_negatives(documents, generator=None):
    """All your pairs are true ones.

    If every answer is yes, there is nothing to learn: for about half of the pairs, a fair coin says
    which, the second sentence is replaced.
    """
    _refuse(documents)
    return [(*pair, True) for document in documents for pair in pairwise(document)]


def pairs_of_both_kinds(documents, generator=None):
    """You make two pairs of each sentence, a true one and a wrong one.

    There is one pair for each two neighbours, and a coin decides which kind it is.
    """
    _refuse(documents)
    pairs = []
    for i, document in enumerate(documents):
        for first, following in pairwise(document):
            pairs.append((first, following, True))
            pairs.append((first, _elsewhere(documents, i, generator), False))
    return pairs


def pairs_that_do_not_overlap(documents, generator=None):
    """You leave out every second sentence as a first one.

    A document of sentences 1, 2, 3, 4 gives the neighbours (1, 2), (2, 3) and (3, 4), not only (1, 2)
    and (3, 4).
    """
    _refuse(documents)
    return [
        (first, following if coin else _elsewhere(documents, i, generator), coin)
        for i, document in enumerate(documents)
        for first, following in list(pairwise(document))[::2]
        for coin in [bool(_number(2, generator))]
    ]


def pairs_across_documents(documents, generator=None):
    """You pair the last sentence of a document with the first of the next document.

    They do not follow each other. Neighbours are looked for in each document by itself.
    """
    _refuse(documents)
    everything = [(i, sentence) for i, document in enumerate(documents) for sentence in document]
    return [
        (first, following if coin else _elsewhere(documents, i, generator), coin)
        for (i, first), (_, following) in pairwise(everything)
        for coin in [bool(_number(2, generator))]
    ]


def pairs_shuffled(documents, generator=None):
    """Your pairs are in another order.

    They come in the order of the documents, and in a document in the order of its sentences. What is
    trained on them shuffles when it makes batches.
    """
    pairs = right.next_sentence_pairs(documents, generator)
    return [pairs[i] for i in torch.randperm(len(pairs), generator=generator).tolist()]


def pairs_with_class_zero(documents, generator=None):
    """is_next is the wrong way round.

    It is True for a true pair. That class 0 means "is next" is a matter of the loss, in the next
    notebook.
    """
    pairs = right.next_sentence_pairs(documents, generator)
    return [(first, second, not is_next) for first, second, is_next in pairs]


def pairs_first_of_the_next_document(documents, generator=None):
    """Your negative is always the same sentence of a document.

    If only first sentences are wrong ones, the model learns to know first sentences. Any sentence of
    the other document may come.
    """
    _refuse(documents)
    pairs = []
    for i, document in enumerate(documents):
        for first, following in pairwise(document):
            is_next = bool(_number(2, generator))
            others = [d for j, d in enumerate(documents) if j != i and d]
            other = others[_number(len(others), generator)][0]
            pairs.append((first, following if is_next else other, is_next))
    return pairs


def pairs_ignore_generator(documents, generator=None):
    """You do not draw everything with the generator.

    Python's random and torch's own generator know nothing of the seed that the caller has chosen.
    With torch.randint(n, (), generator=generator) the same seed gives the same coins and sentences,
    and None is allowed.
    """
    _refuse(documents)
    pairs = []
    for i, document in enumerate(documents):
        for first, following in pairwise(document):
            others = [d for j, d in enumerate(documents) if j != i and d]
            is_next = random.random() < 0.5
            other = random.choice(random.choice(others))
            pairs.append((first, following if is_next else other, is_next))
    return pairs


def pairs_with_fixed_seed(documents, generator=None):
    """You set a seed inside the function.

    Then every call draws the same pairs, in every epoch. Whoever calls the function decides about
    the seed, with the generator that is passed.
    """
    return right.next_sentence_pairs(documents, torch.Generator().manual_seed(0))


def pairs_found_by_index(documents, generator=None):
    """You look the place of a sentence up with index().

    A sentence that stands twice has two places, and index() always finds the first one. Count the
    places instead, or walk over neighbours.
    """
    _refuse(documents)
    pairs = []
    for i, document in enumerate(documents):
        for first in document[:-1]:
            is_next = bool(_number(2, generator))
            following = document[document.index(first) + 1]
            second = following if is_next else _elsewhere(documents, i, generator)
            pairs.append((first, second, is_next))
    return pairs


def pairs_without_error(documents, generator=None):
    """You make pairs of a single document.

    There is no other document that a negative could come from. Say so with a ValueError, instead of
    making only true pairs.
    """
    if sum(map(bool, documents)) < 2:
        return [(*pair, True) for document in documents for pair in pairwise(document)]
    return right.next_sentence_pairs(documents, generator)
