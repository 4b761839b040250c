"""Mistakes that people really make in the notebook `transformer/model`.

Each function or class is one wrong implementation; the first line of its docstring is the title of
the card, the rest the hint. Hints teach; they never show the code.
"""

import math

import torch

from solutions.transformer import model as right

# %% padding_mask


def padding_is_true(tokens, pad_id=0):
    """Your mask is True on padding.

    In this course, and in torch.nn.functional.scaled_dot_product_attention, True means "may be
    attended". The key_padding_mask of nn.MultiheadAttention is the other way round.
    """
    return tokens == pad_id


def padding_is_always_zero(tokens, pad_id=0):
    """Your mask compares with 0 and does not look at pad_id.

    Which id padding has is the vocabulary's choice; 0 is only the default. With another one, 0 may
    be a word like any other.
    """
    return tokens != 0


def padding_has_the_lowest_id(tokens, pad_id=0):
    """You count only ids above pad_id as words.

    Whether an id is larger or smaller says nothing: all ids but pad_id are words.
    """
    return tokens > pad_id


def padding_only_at_the_end(tokens, pad_id=0):
    """Your mask is made from the number of words, as if all words stood first.

    Counting the words of a row and marking so many positions puts the marks in the wrong places
    as soon as padding stands before a word. Compare each token by itself.
    """
    count = (tokens != pad_id).sum(1, keepdim=True)
    return torch.arange(tokens.shape[1]) < count


def padding_mask_with_more_axes(tokens, pad_id=0):
    """Your mask already has axes for heads and queries.

    Here it is one mark for each token, (B, S). Whoever uses it adds the axes that he needs.
    """
    return (tokens != pad_id)[:, None, None]


def padding_from_the_first_on(tokens, pad_id=0):
    """You count everything after the first padding as padding.

    Padding may stand before a word, too. Each token is judged by itself, wherever it stands.
    """
    return (tokens != pad_id).cumprod(1).bool()


def padding_before_a_word_is_real(tokens, pad_id=0):
    """You count padding that stands before a word as real.

    The mask is not only about how long a row is: each token is judged by itself, wherever it
    stands.
    """
    return (tokens != pad_id).flip(1).cumsum(1).flip(1) > 0


def padding_is_also_zero(tokens, pad_id=0):
    """You count both pad_id and 0 as padding.

    0 is padding only if pad_id is 0. With another pad_id, 0 may be a word like any other.
    """
    return (tokens != pad_id) & (tokens != 0)


# %% causal_mask


def sees_what_comes(length):
    """Your mask lets each position see itself and what comes after it.

    This is the upper triangle. Row t belongs to the query at position t, and must be True in the
    columns 0 to t: the lower triangle.
    """
    return torch.ones(length, length, dtype=torch.bool).triu()


def future_is_true(length):
    """Your mask is True where nobody may look.

    It marks the future, as the attn_mask of nn.MultiheadAttention does. In this course True means
    "may be attended".
    """
    return torch.ones(length, length, dtype=torch.bool).triu(1)


def cannot_see_itself(length):
    """The diagonal is missing: a position cannot see itself.

    The decoder's input is moved by one place, so the token at position t is the last one that is
    known when the next is predicted. Without the diagonal the first row is empty.
    """
    return torch.ones(length, length, dtype=torch.bool).tril(-1)


def sees_one_ahead(length):
    """In your mask, each position sees one token too many: the one that it has to predict.

    The input is moved by one place already: what stands at position t + 1 is the answer to
    position t.
    """
    return torch.ones(length, length, dtype=torch.bool).tril(1)


def only_itself(length):
    """In your mask, each position sees itself alone.

    This is the diagonal. What is before a position may be attended, too.
    """
    return torch.eye(length, dtype=torch.bool)


def only_one_row(length):
    """You return one row of True, not a row for each position.

    What may be attended differs from position to position: row t is True in columns 0 to t.
    """
    return torch.ones(length, dtype=torch.bool)


# %% Transformer


class _Model(right.Transformer):
    """The right model in pieces, so that a mistake changes one of them."""

    def scaled(self, embedded):
        """Embeddings, before the positions are added."""
        return math.sqrt(self.embedding.embedding_dim) * embedded

    def placed(self, length, first):
        """The positions that are added."""
        return self.positions(first + length, self.embedding.embedding_dim)[first:]

    def embed(self, tokens, first=0):
        return self.scaled(self.embedding(tokens)) + self.placed(tokens.shape[1], first)

    def unpadded(self, tokens):
        """Which tokens are real, (B, 1, L)."""
        return (tokens != self.pad_id).unsqueeze(1)

    def source_mask(self, source):
        """What the encoder's words may see."""
        return self.unpadded(source)

    def memory_mask(self, source):
        """What the decoder's words may see."""
        return self.unpadded(source)

    def causal(self, length):
        """(T, T)."""
        return torch.ones(length, length, dtype=torch.bool).tril()

    def encode(self, source):
        x = self.embed(source)
        for layer in self.encoder_layers:
            x = layer(x, self.source_mask(source))
        return x, self.memory_mask(source)

    def decoded(self, previous, memory, memory_mask):
        """The last layer's states."""
        mask = self.causal(previous.shape[1]) & self.unpadded(previous)
        y = self.embed(previous)
        for layer in self.decoder_layers:
            y = layer(y, memory, mask, memory_mask)
        return y

    def scored(self, y):
        """Logits."""
        return y @ self.embedding.weight.T

    def forward(self, source, previous):
        return self.scored(self.decoded(previous, *self.encode(source)))

    def at(self, state):
        """The position of the word that step reads."""
        return int(state["position"][0])

    def moved(self, state, caches):
        """The state that step returns."""
        return {**state, "caches": caches, "position": state["position"] + 1}

    def step(self, tokens, state):
        y = self.embed(tokens.unsqueeze(1), self.at(state))
        caches = []
        for layer, cache in zip(self.decoder_layers, state["caches"], strict=True):
            y, cache = layer.step(y, cache, state["memory_mask"])
            caches.append(cache)
        return self.said(self.scored(y)[:, 0]), self.moved(state, caches)

    def said(self, logits):
        """What step says of the next word."""
        return logits.log_softmax(-1)


class EmbeddingsNotScaled(_Model):
    """Your embeddings are not multiplied by sqrt(d).

    Section 3.4 of the paper: in the embedding layers the weights are multiplied by sqrt(d). The
    matrix that is shared with the output layer has small numbers; without the factor the positions
    would be louder than the words.
    """

    def scaled(self, embedded):
        return embedded


class EmbeddingsScaledByD(_Model):
    """Your embeddings are multiplied by d, not by its root.

    Section 3.4 of the paper: the factor is sqrt(d).
    """

    def scaled(self, embedded):
        return self.embedding.embedding_dim * embedded


class EmbeddingsDivided(_Model):
    """Your embeddings are divided by sqrt(d).

    Scores of attention are divided by a root; embeddings are *multiplied* by sqrt(d), because the
    shared matrix has small numbers.
    """

    def scaled(self, embedded):
        return embedded / math.sqrt(self.embedding.embedding_dim)


class PositionsScaledToo(_Model):
    """You multiply the positions by sqrt(d), together with the embeddings.

    First the embeddings are scaled, then the positions are added: sqrt(d) E[x] + PE.
    """

    def embed(self, tokens, first=0):
        return self.scaled(self.embedding(tokens) + self.placed(tokens.shape[1], first))


class PositionsForgotten(_Model):
    """You do not add the positions.

    Attention does not see the order of what it attends to. Without positions, a sentence is a bag
    of words.
    """

    def placed(self, length, first):
        return torch.zeros(length, self.embedding.embedding_dim)


class PositionsAlwaysFromZero(_Model):
    """Your `embed` does not look at `first`.

    The tokens stand at positions first, first + 1, ...: `step` reads one word at a time, and each
    of them would be at position 0.
    """

    def placed(self, length, first):
        return super().placed(length, 0)


class PositionsOfTheFirst(_Model):
    """You give all tokens the position of the first.

    The first of the tokens stands at `first`, the next at first + 1, and so on.
    """

    def placed(self, length, first):
        return super().placed(1, first)


class EncoderSeesPadding(_Model):
    """Your encoder attends to padding.

    Its layers take a mask too: real words are `tokens != pad_id`. Without it a sentence depends on
    how long its neighbours in the batch are.
    """

    def source_mask(self, source):
        return torch.ones_like(source, dtype=torch.bool).unsqueeze(1)


class DecoderSeesPadding(_Model):
    """Your decoder attends to padding of the source.

    The encoder's padding stays padding when the decoder looks at it: hand the mask on, in `forward`
    and in `step`.
    """

    def decoded(self, previous, memory, memory_mask):
        return super().decoded(previous, memory, torch.ones_like(memory_mask))

    def step(self, tokens, state):
        log_probs, new = super().step(
            tokens, {**state, "memory_mask": torch.ones_like(state["memory_mask"])}
        )
        return log_probs, {**new, "memory_mask": state["memory_mask"]}


class PaddingIsZero(_Model):
    """You take padding to be 0, whatever `pad_id` says.

    The id of padding is an argument of the constructor, and 0 may be the id of a word.
    """

    def unpadded(self, tokens):
        return (tokens != 0).unsqueeze(1)


class FutureSeen(_Model):
    """Your decoder sees later words.

    In training the whole sentence is given at once. A position that sees the words after it has
    only to copy the next one, and learns nothing that helps in translating. Row t of the causal
    mask is True up to column t.
    """

    def causal(self, length):
        return torch.ones(length, length, dtype=torch.bool)


class OnlyFutureSeen(_Model):
    """The causal mask is the wrong way round.

    Row t says what position t may see: itself and what is *before* it. Here it sees itself and what
    is after it.
    """

    def causal(self, length):
        return super().causal(length).T


class OwnWordNotSeen(_Model):
    """In your mask, a position does not see its own word.

    The word at position t is the one *before* the one that is predicted there: `previous` is shifted
    already. The diagonal of the causal mask is True.
    """

    def causal(self, length):
        return super().causal(length).tril(-1)


class EncoderIsCausal(_Model):
    """Your encoder sees only the words before.

    The source sentence is known as a whole: there, only padding is masked.
    """

    def source_mask(self, source):
        return self.causal(source.shape[1]) & super().source_mask(source)


class LayersSideBySide(_Model):
    """Each of your decoder's layers reads the embeddings, and only the last one counts.

    The layers stand in a row: each reads what the one below returned.
    """

    def decoded(self, previous, memory, memory_mask):
        mask = self.causal(previous.shape[1]) & self.unpadded(previous)
        y = x = self.embed(previous)
        for layer in self.decoder_layers:
            y = layer(x, memory, mask, memory_mask)
        return y


class EncoderLayersSkipped(_Model):
    """Your decoder looks at the embeddings of the source, not at the encoder's last states.

    The memory is what the last layer of the encoder returns.
    """

    def encode(self, source):
        return self.embed(source), self.memory_mask(source)


class LogitsOfLogSoftmax(_Model):
    """Your `forward` returns logarithms of probabilities, not logits.

    The loss takes the softmax itself. `step` is the one that returns log p.
    """

    def forward(self, source, previous):
        return super().forward(source, previous).log_softmax(-1)


class LogitsScaled(_Model):
    """Your output layer multiplies by sqrt(d) as well.

    The factor belongs to the embedding layers. The output layer is the same matrix as it is:
    logits = y E^T.
    """

    def scored(self, y):
        return self.scaled(super().scored(y))


class ForwardScalesLogits(_Model):
    """Your `forward` multiplies the output layer by sqrt(d) as well.

    The factor belongs to the embedding layers, the way in. The output layer is the same matrix as it
    is: logits = y E^T.
    """

    def forward(self, source, previous):
        return self.scaled(super().forward(source, previous))


class ForwardShiftsAgain(_Model):
    """You shift `previous` once more.

    It is shifted already: it begins with the mark of the beginning, and at place t stands the word
    before the one to be predicted there.
    """

    def forward(self, source, previous):
        return super().forward(source, torch.cat([previous[:, :1], previous[:, :-1]], dim=1))


class StepAlwaysFirst(_Model):
    """Your `step` puts every word at position 0.

    The state says how many words have been read: the next one stands at the position
    state["position"], and `embed` has an argument for it.
    """

    def step(self, tokens, state):
        log_probs, new = super().step(tokens, {**state, "position": 0 * state["position"]})
        return log_probs, {**new, "position": state["position"] + 1}


class StepReturnsLogits(_Model):
    """Your `step` returns logits, not log p.

    A search adds what `step` says over the words of a sentence. Logits are only known up to a
    constant for each step.
    """

    def said(self, logits):
        return logits


class StepReturnsProbabilities(_Model):
    """Your `step` returns probabilities, not their logarithms.

    A search adds the logarithms over the words of a sentence.
    """

    def said(self, logits):
        return logits.softmax(-1)


class StepStandsStill(_Model):
    """Your `step` does not count the position up.

    The state says how many words have been read; the next word stands at that position.
    """

    def moved(self, state, caches):
        return {**state, "caches": caches}


class StepForgetsWords(_Model):
    """Your `step` returns the caches as it got them.

    What the layers return is what they need for the next word; with the old caches, each word is
    the first.
    """

    def moved(self, state, caches):
        return {**state, "position": state["position"] + 1}


class StepWritesIntoState(_Model):
    """Your `step` changes the state that it was given.

    A search goes on from one state in several ways: the state it hands in must stay as it is.
    Return a new dict.
    """

    def moved(self, state, caches):
        state.update(caches=caches, position=state["position"] + 1)
        return state


class StepOnePositionLate(_Model):
    """Your `step` puts each word one position too far.

    The first word that is read stands at position 0: `position` is the number of words read before.
    """

    def at(self, state):
        return super().at(state) + 1


class StepOfTheFirstLayer(_Model):
    """You give all layers of the decoder the cache of the first.

    Each layer has keys and values of its own: the caches are a list in the order of the layers.
    """

    def step(self, tokens, state):
        y = self.embed(tokens.unsqueeze(1), self.at(state))
        caches = []
        for layer in self.decoder_layers:
            y, cache = layer.step(y, state["caches"][0], state["memory_mask"])
            caches.append(cache)
        return self.said(self.scored(y)[:, 0]), self.moved(state, caches)


class PositionsFromOne(_Model):
    """Your first token stands at position 1.

    Positions are counted from 0, and the first of the tokens stands at `first`: that is the first
    row of the table if `first` is 0.
    """

    def placed(self, length, first):
        return super().placed(length, first + 1)


class SourceMaskInverted(_Model):
    """Your mask of the source is inverted: only padding is attended to.

    True means "may be attended", so the mask is True where a token is *not* padding. The
    key_padding_mask of nn.MultiheadAttention is the other way round.
    """

    def source_mask(self, source):
        return ~super().source_mask(source)

    def memory_mask(self, source):
        return ~super().memory_mask(source)


class EncoderLayersSideBySide(_Model):
    """Each layer of the encoder reads the embeddings, and only the last one counts.

    The layers stand in a row: each reads what the one below returned.
    """

    def encode(self, source):
        x = memory = self.embed(source)
        for layer in self.encoder_layers:
            memory = layer(x, self.source_mask(source))
        return memory, self.memory_mask(source)


class ForwardForgetsMemoryMask(_Model):
    """Your `forward` does not hand on the memory's mask.

    `step` is right. In `forward`, too, the source has padding that the decoder may not attend to.
    """

    def decoded(self, previous, memory, memory_mask):
        return super().decoded(previous, memory, torch.ones_like(memory_mask))


class StepForgetsMemoryMask(_Model):
    """Your `step` does not hand on the memory's mask.

    `forward` is right. In `step` no later words have to be hidden, but the source still has its
    padding, and `start` put its mask into the state.
    """

    def step(self, tokens, state):
        mask = state["memory_mask"]
        log_probs, new = super().step(tokens, {**state, "memory_mask": torch.ones_like(mask)})
        return log_probs, {**new, "memory_mask": mask}


# %% label_smoothed_loss


def _log_probs(logits, targets):
    log_p = logits.log_softmax(-1)
    return log_p, log_p.gather(-1, targets.unsqueeze(-1)).squeeze(-1)


def _mean(losses, real):
    return losses.masked_fill(~real, 0.0).sum() / real.sum().clamp(min=1)


def _each(logits, targets, smoothing):
    log_p, true = _log_probs(logits, targets)
    return -(1 - smoothing) * true - smoothing * log_p.mean(-1)


def loss_without_smoothing(logits, targets, smoothing, pad_id=0):
    """You smooth nothing: this is plain cross entropy.

    The true word gets 1 - e + e/V, every other word e/V.
    """
    return right.label_smoothed_loss(logits, targets, 0.0, pad_id)


def loss_shared_by_the_others(logits, targets, smoothing, pad_id=0):
    """Your smoothing is shared by the wrong words alone.

    Here e goes to all V words, the true one too, so that it gets 1 - e + e/V; not e/(V - 1) to each
    of the others.
    """
    log_p, true = _log_probs(logits, targets)
    others = (log_p.sum(-1) - true) / (logits.shape[-1] - 1)
    return _mean(-(1 - smoothing) * true - smoothing * others, targets != pad_id)


def loss_without_the_padding_word(logits, targets, smoothing, pad_id=0):
    """You give padding no share of the smoothing.

    Here e is shared by all V words of the vocabulary, and padding is one of them. Some programs
    leave it out, and share e among V - 2.
    """
    log_p, true = _log_probs(logits, targets)
    others = (log_p.sum(-1) - true - log_p[..., pad_id]) / (logits.shape[-1] - 2)
    return _mean(-(1 - smoothing) * true - smoothing * others, targets != pad_id)


def loss_with_shares_swapped(logits, targets, smoothing, pad_id=0):
    """You give the true word e, and all words share 1 - e.

    It is the other way round: 1 - e for the true word, e for all together. A smoothing of 0 is
    plain cross entropy.
    """
    return right.label_smoothed_loss(logits, targets, 1 - smoothing, pad_id)


def loss_added_on_top(logits, targets, smoothing, pad_id=0):
    """Your smoothing is added without taking anything from the true word.

    The smoothed target is a distribution, it sums to 1: (1 - e) for the true word, and e for all
    words together.
    """
    log_p, true = _log_probs(logits, targets)
    return _mean(-true - smoothing * log_p.mean(-1), targets != pad_id)


def loss_of_sum_over_words(logits, targets, smoothing, pad_id=0):
    """You give each word e, not e/V.

    All V words share e, so that the smoothed target sums to 1.
    """
    log_p, true = _log_probs(logits, targets)
    return _mean(-(1 - smoothing) * true - smoothing * log_p.sum(-1), targets != pad_id)


def loss_as_divergence(logits, targets, smoothing, pad_id=0):
    """You compute the divergence from the smoothed target, not the cross entropy.

    The two differ by the target's own entropy, a constant: the gradients are the same, the numbers
    are not. `kl_div` gives the divergence.
    """
    words = logits.shape[-1]
    goal = torch.full_like(logits, smoothing / words)
    goal.scatter_(-1, targets.unsqueeze(-1), 1 - smoothing + smoothing / words)
    entropy = -torch.xlogy(goal, goal).sum(-1)
    return _mean(_each(logits, targets, smoothing) - entropy, targets != pad_id)


def loss_counts_padding(logits, targets, smoothing, pad_id=0):
    """You count padding as a word.

    Targets equal to `pad_id` do not count, neither in the sum nor in the number by which it is
    divided.
    """
    return _each(logits, targets, smoothing).mean()


def loss_divided_by_all(logits, targets, smoothing, pad_id=0):
    """Your sum over real targets is divided by the number of all targets.

    The mean is over real targets: a batch with more padding would have a smaller loss.
    """
    return _each(logits, targets, smoothing).masked_fill(targets == pad_id, 0.0).mean()


def loss_counts_smoothing_of_padding(logits, targets, smoothing, pad_id=0):
    """On padding, your smoothing still counts.

    A target that is padding does not count at all: neither the true word's part nor the part of all
    words.
    """
    log_p, true = _log_probs(logits, targets)
    real = targets != pad_id
    total = -(1 - smoothing) * true.masked_fill(~real, 0.0) - smoothing * log_p.mean(-1)
    return total.sum() / real.sum().clamp(min=1)


def loss_with_padding_zero(logits, targets, smoothing, pad_id=0):
    """You take padding to be 0, whatever `pad_id` says.

    The id of padding is an argument, and 0 may be the id of a word.
    """
    return right.label_smoothed_loss(logits, targets, smoothing)


def loss_not_divided(logits, targets, smoothing, pad_id=0):
    """Your losses are added, not averaged.

    Divide by the number of real targets, so that the loss does not grow with the batch.
    """
    return _each(logits, targets, smoothing).masked_fill(targets == pad_id, 0.0).sum()


def loss_of_sentences(logits, targets, smoothing, pad_id=0):
    """You take the mean for each sentence first.

    The mean is over all real targets of the batch together: so each *word* counts the same, not
    each sentence.
    """
    real = targets != pad_id
    losses = _each(logits, targets, smoothing).masked_fill(~real, 0.0)
    return (losses.sum(1) / real.sum(1).clamp(min=1)).mean()


def loss_of_probabilities(logits, targets, smoothing, pad_id=0):
    """You take the softmax twice.

    Logits become log-probabilities by one log_softmax; a softmax before it flattens them.
    """
    return right.label_smoothed_loss(logits.softmax(-1), targets, smoothing, pad_id)


def loss_without_the_true_words_share(logits, targets, smoothing, pad_id=0):
    """The true word has no share of the smoothing, so that the target does not sum to 1.

    e is shared by all V words, and the true one is among them: it gets 1 - e + e/V, each of the
    others e/V.
    """
    log_p, true = _log_probs(logits, targets)
    others = (log_p.sum(-1) - true) / logits.shape[-1]
    return _mean(-(1 - smoothing) * true - smoothing * others, targets != pad_id)


def loss_divided_by_sentences(logits, targets, smoothing, pad_id=0):
    """You divide the sum by the number of sentences.

    The mean is over real targets, that is over words: otherwise the loss grows with the length of
    the sentences.
    """
    losses = _each(logits, targets, smoothing).masked_fill(targets == pad_id, 0.0)
    return losses.sum() / len(targets)


def loss_of_all_words_averaged_over_padding(logits, targets, smoothing, pad_id=0):
    """You average the part of all words over padding as well.

    Both parts belong to a target. One that is padding counts in neither of them.
    """
    log_p, true = _log_probs(logits, targets)
    return (1 - smoothing) * _mean(-true, targets != pad_id) - smoothing * log_p.mean()


def loss_shared_by_all_but_padding(logits, targets, smoothing, pad_id=0):
    """The word of padding has no share of the smoothing.

    Here all V words of the vocabulary share e, and padding is one of them.
    """
    log_p, true = _log_probs(logits, targets)
    shared = (log_p.sum(-1) - log_p[..., pad_id]) / (logits.shape[-1] - 1)
    return _mean(-(1 - smoothing) * true - smoothing * shared, targets != pad_id)


# %% noam_learning_rate


def rate_of_the_larger(step, model_size, warmup):
    """You take the larger of the two.

    The rate rises in a line until step = warmup and falls after that: at each step it is the
    *smaller* of line and root.
    """
    return model_size**-0.5 * max(step**-0.5, step * warmup**-1.5)


def rate_without_size(step, model_size, warmup):
    """The factor of the model's size is missing.

    d^(-1/2) makes the rate smaller for a larger model.
    """
    return min(step**-0.5, step * warmup**-1.5)


def rate_larger_with_size(step, model_size, warmup):
    """Your rate grows with the model's size.

    The exponent of d is -1/2: a larger model learns with smaller steps.
    """
    return model_size**0.5 * min(step**-0.5, step * warmup**-1.5)


def rate_divided_by_size(step, model_size, warmup):
    """Your rate is divided by the model's size, not by its root.

    The factor is d^(-1/2).
    """
    return min(step**-0.5, step * warmup**-1.5) / model_size


def rate_without_warmup(step, model_size, warmup):
    """There is no warmup.

    Until step = warmup the rate rises in a line; from the first step on it would be largest where
    the weights are still random.
    """
    return (model_size * step) ** -0.5


def rate_without_fall(step, model_size, warmup):
    """Your rate does not fall after the warmup.

    From step = warmup on it falls as 1 / sqrt(step).
    """
    return model_size**-0.5 * min(warmup**-0.5, step * warmup**-1.5)


def rate_that_only_rises(step, model_size, warmup):
    """Your rate rises for ever.

    The line step * warmup^(-3/2) holds until step = warmup; after that 1 / sqrt(step) is the smaller
    of the two.
    """
    return model_size**-0.5 * step * warmup**-1.5


def rate_with_another_power(step, model_size, warmup):
    """Your two curves do not meet at the end of the warmup.

    The warmup's exponent is -3/2: at step = warmup the line then has the value warmup^(-1/2), which
    is that of 1 / sqrt(step).
    """
    return model_size**-0.5 * min(step**-0.5, step * warmup**-0.5)


def rate_of_the_step_before(step, model_size, warmup):
    """You count the steps from 0.

    Steps are counted from 1 and given as they are: neither add nor take off one.
    """
    return right.noam_learning_rate(step + 1, model_size, warmup)


def rate_with_warmup_once(step, model_size, warmup):
    """Your line is step / warmup.

    Such a line reaches 1 at the end of the warmup, far above the root. The exponent of the warmup
    is -3/2, so that line and root meet there.
    """
    return model_size**-0.5 * min(step**-0.5, step / warmup)


def rate_that_falls_as_the_step(step, model_size, warmup):
    """Your rate falls as 1/step, not as one over its root.

    The exponent of the step is -1/2: after four times as many steps the rate is half as large.
    """
    return model_size**-0.5 * min(1 / step, step * warmup**-1.5)


def rate_with_size_in_one_term(step, model_size, warmup):
    """Your factor d^(-1/2) is part of the root alone.

    It stands before the minimum and multiplies both, the root and the line.
    """
    return min((model_size * step) ** -0.5, step * warmup**-1.5)


def rate_of_the_sum(step, model_size, warmup):
    """You add the line and the root.

    The rate is the smaller of the two: the line until the end of the warmup, then the root.
    """
    return model_size**-0.5 * (step**-0.5 + step * warmup**-1.5)
