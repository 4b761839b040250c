"""Mistakes that people really make in the notebook `han/network`.

Each class is one wrong implementation; the first line of its docstring is the title of the card,
the rest the hint.
"""

import torch

from solutions.han import network as right

# %% HierarchicalAttentionNetwork


class _Network(right.HierarchicalAttentionNetwork):
    """The right network in pieces, so that a mistake changes one of them."""

    def words(self, embedded, real):
        """(B L, T, 2d)."""
        return right.read(self.word_rnn, embedded, real.sum(dim=1))

    def extent(self, some):
        """How many sentences of each document are read, (B,)."""
        numbers = torch.arange(some.shape[1]) + 1
        return numbers.where(some, torch.zeros_like(numbers)).max(dim=1).values

    def sentences(self, vectors, some):
        """(B, L, 2d)."""
        return right.read(self.sentence_rnn, vectors, self.extent(some))

    def attendable(self, some):
        """The mask of the sentence attention, (B, L)."""
        return some

    def said(self, document):
        """(B, C)."""
        return self.output(document)

    def looks(self):
        """The two attentions."""
        return self.word_attention, self.sentence_attention

    def forward(self, documents):
        B, L, T = documents.shape
        over_words, over_sentences = self.looks()
        flat = documents.reshape(B * L, T)
        states = self.words(self.embedding(flat), flat != 0)
        vectors, alpha = over_words(states, flat != 0)
        some = (documents != 0).any(dim=2)
        states = self.sentences(vectors.reshape(B, L, -1), some)
        document, beta = over_sentences(states, self.attendable(some))
        return self.said(document), alpha.reshape(B, L, T), beta


class NetworkReadsPaddedWords(_Network):
    """Your word GRU reads the padding after the words.

    Its backward direction begins there, so that every state of a short sentence depends on the
    longest sentence of the batch. Read each sentence with its own number of words: that is what the
    given function read is for.
    """

    def words(self, embedded, real):
        return self.word_rnn(embedded)[0]


class NetworkReadsPaddedSentences(_Network):
    """Your sentence GRU reads the padding after the sentences.

    Its backward direction begins there, so that every state of a short document depends on the
    longest document of the batch. Read each document up to its last sentence that has words.
    """

    def sentences(self, vectors, some):
        return self.sentence_rnn(vectors)[0]


class NetworkCountsSentences(_Network):
    """You cut documents with an empty sentence in the middle too early.

    The number of sentences with words is not the place of the last one: in [2 words, 0 words,
    3 words] there are two, and the last is the third. Read up to the last sentence that has words.
    """

    def extent(self, some):
        return some.sum(dim=1)


class NetworkDropsEmptySentences(_Network):
    """You drop empty sentences between others.

    Then the sentence GRU takes one step less than the document has sentences. In this exercise an
    empty sentence between others is read as a vector of zeros.
    """

    def sentences(self, vectors, some):
        order = (~some).long().argsort(dim=1, stable=True)
        rows = torch.arange(len(some)).unsqueeze(1)
        states = right.read(self.sentence_rnn, vectors[rows, order], some.sum(dim=1))
        return states[rows, order.argsort(dim=1)]


class NetworkAttendsToEmptySentences(_Network):
    """You give empty sentences in the middle attention.

    A sentence without words has nothing to say, and gets no weight. The mask of the sentence
    attention is True where a sentence has a word, not where it stands before the document's end.
    """

    def attendable(self, some):
        return torch.arange(some.shape[1]) < self.extent(some)[:, None]


class NetworkAttendsToPadding(_Network):
    """Your sentence attention looks at padding.

    Documents have different numbers of sentences. Tell the sentence attention which are real: those
    that have a word.
    """

    def attendable(self, some):
        return torch.ones_like(some)


class NetworkWithoutSentenceGru(_Network):
    """The sentence GRU is left out.

    The sentence attention gets the states of a GRU that has read the sentence vectors, so that what
    a sentence is worth can depend on those around it. Here it gets the vectors themselves.
    """

    def sentences(self, vectors, some):
        return vectors


class NetworkOneAttention(_Network):
    """Your word attention is used on both levels.

    What makes a word informative is not what makes a sentence so: the paper has two context
    vectors, u_w and u_s. On the sentences use sentence_attention.
    """

    def looks(self):
        return self.word_attention, self.word_attention


class NetworkSwapsAttentions(_Network):
    """The two attentions are swapped.

    word_attention belongs to the words of a sentence, sentence_attention to the sentences of a
    document.
    """

    def looks(self):
        return self.sentence_attention, self.word_attention


class NetworkRefusesEmpty(_Network):
    """An empty document stops the module.

    pack_padded_sequence refuses a length of 0. The given function read takes empty sequences as
    they are.
    """

    def extent(self, some):
        if not some.any(dim=1).all():
            raise RuntimeError("Length of all samples has to be greater than 0")
        return super().extent(some)


class NetworkReadsOn(_Network):
    """Your word GRU reads on from one sentence to the next.

    Each sentence is read by itself, from a state of zeros, in both directions: (B, L, T) is read as
    B L short sequences of T words. What comes before a sentence is read by the sentence GRU.
    """

    def words(self, embedded, real):
        batch = self._batch
        joined = real.reshape(batch, -1)
        order = (~joined).long().argsort(dim=1, stable=True)  # real words first
        rows = torch.arange(batch).unsqueeze(1)
        words = embedded.reshape(batch, joined.shape[1], -1)[rows, order]
        states = right.read(self.word_rnn, words, joined.sum(dim=1))
        return states[rows, order.argsort(dim=1)].reshape(*real.shape, -1)

    def forward(self, documents):
        self._batch = len(documents)
        return super().forward(documents)


class NetworkReturnsProbabilities(_Network):
    """You return probabilities, not logits.

    Equation 11 of the paper takes the softmax; in this course forward returns the scores before it,
    and the loss takes the softmax itself.
    """

    def said(self, document):
        return self.output(document).softmax(1)
