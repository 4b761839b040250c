"""Mistakes that people really make in the notebook `bert/pretraining`.

Each function or class is one wrong implementation; the first line of its docstring is the title of
the card, the rest the hint.
"""

import torch
import torch.nn.functional as F

from solutions.bert import pretraining as right

# %% BertEncoder


class _Encoder(right.BertEncoder):
    """The right encoder in pieces, so that a mistake changes one of them."""

    def embedded(self, tokens, segments):
        """(B, N, d)."""
        return self.embeddings(tokens, segments)

    def real(self, tokens):
        """Where no padding is, (B, N)."""
        return tokens != self.pad_id

    def seen(self, tokens, mask):
        """What may be attended, (B, 1, N) or (B, N, N)."""
        return self.real(tokens)[:, None] if mask is None else mask

    def stacked(self, states, mask):
        """(B, N, d)."""
        for layer in self.layers:
            states = layer(states, mask)
        return states

    def forward(self, tokens, segments=None, mask=None):
        return self.stacked(self.embedded(tokens, segments), self.seen(tokens, mask))


class EncoderWithoutSegments(_Encoder):
    """The segments do not reach the embeddings.

    Without them the model cannot tell the first sentence from the second: hand them on, whether
    they are ids or None. The embeddings know what None means.
    """

    def embedded(self, tokens, segments):
        return self.embeddings(tokens, None)


class EncoderAttendsToPadding(_Encoder):
    """Without a mask, your encoder attends to padding.

    Then a sentence's states depend on how wide its batch is. If no mask is given, make one of the
    ids: True where the token is not padding, with an axis of 1 for the tokens that look.
    """

    def seen(self, tokens, mask):
        return torch.ones_like(tokens, dtype=torch.bool)[:, None] if mask is None else mask


class EncoderPaddingIsZero(_Encoder):
    """You look for padding with the id 0.

    That is right only where pad_id is 0. Compare with the pad_id that the constructor was given.
    """

    def real(self, tokens):
        return tokens != 0


class EncoderMaskInverted(_Encoder):
    """Your mask says the opposite.

    In this course True means "may be attended". Here padding is looked at and the words are not.
    (torch's nn.MultiheadAttention reads boolean masks the other way round.)
    """

    def real(self, tokens):
        return tokens == self.pad_id


class EncoderMasksTheWrongAxis(_Encoder):
    """Your mask has its axis of 1 in the last place.

    (B, N, 1) hides what padding looks at, and lets everybody look at padding. The last axis is that
    of the tokens that are looked at: (B, 1, N).
    """

    def seen(self, tokens, mask):
        return self.real(tokens)[:, :, None] if mask is None else mask


class EncoderForgetsTheMask(_Encoder):
    """The mask that was given is not used.

    It is made of the ids only if mask is None. Whoever passes a mask decides by it what may be
    attended: with a causal mask, for example, the same stack becomes a left-to-right model.
    """

    def seen(self, tokens, mask):
        return self.real(tokens)[:, None]


class EncoderAddsToTheMask(_Encoder):
    """You take padding out of a mask that was given.

    A mask that is given says everything. Look for padding only if there is none.
    """

    def seen(self, tokens, mask):
        own = self.real(tokens)[:, None]
        return own if mask is None else own & mask


class EncoderIsCausal(_Encoder):
    """In your encoder, each token sees only itself and the ones before it.

    That is a decoder, as in GPT. BERT's encoder looks in both directions, and that is why its
    words have to be masked for training.
    """

    def seen(self, tokens, mask):
        N = tokens.shape[1]
        return super().seen(tokens, mask) & torch.ones(N, N, dtype=torch.bool).tril()


class EncoderOneLayer(_Encoder):
    """Each of your layers reads the embeddings, and the last one wins.

    Layer l reads what layer l - 1 has returned: H_l = layer_l(H_{l-1}, mask).
    """

    def stacked(self, states, mask):
        found = states
        for layer in self.layers:
            found = layer(states, mask)
        return found


class EncoderBackwards(_Encoder):
    """The layers come in the wrong order.

    layers[0] reads the embeddings, and the last one of the list gives the result.
    """

    def stacked(self, states, mask):
        for layer in reversed(self.layers):
            states = layer(states, mask)
        return states


class EncoderAddsResiduals(_Encoder):
    """You add the input of each layer to its result.

    The layers have residual connections inside, around the attention and around the feed-forward
    network. Nothing is added around a whole layer.
    """

    def stacked(self, states, mask):
        for layer in self.layers:
            states = states + layer(states, mask)
        return states


class EncoderNormalisesTheEnd(_Encoder):
    """You add a LayerNorm after the last layer.

    That belongs to models that normalise before each part. BERT normalises after it, so that the
    last layer's result is normalised already.
    """

    def stacked(self, states, mask):
        return F.layer_norm(super().stacked(states, mask), states.shape[-1:])


class EncoderSkipsTheFirstLayer(_Encoder):
    """The first layer is left out.

    layers[0] is a layer of the stack like the others; the embeddings stand apart from the list.
    """

    def stacked(self, states, mask):
        for layer in self.layers[1:]:
            states = layer(states, mask)
        return states


class EncoderMasksFuture(_Encoder):
    """Without a mask, a token sees only itself and the tokens before it.

    That is a decoder's mask. BERT reads in both directions: if no mask is given, only padding is
    hidden.
    """

    def seen(self, tokens, mask):
        before = torch.ones(tokens.shape[1], tokens.shape[1], dtype=torch.bool).tril()
        return super().seen(tokens, None) & before if mask is None else mask


class EncoderKeepsSentencesApart(_Encoder):
    """You let a token see only the tokens of its own segment.

    The two sentences are read together, so that each can tell about the other; only padding is
    hidden. Segments are added to the embeddings, they mask nothing.
    """

    def forward(self, tokens, segments=None, mask=None):
        if mask is None and segments is not None:
            mask = self.seen(tokens, None) & (segments[:, :, None] == segments[:, None])
        return super().forward(tokens, segments, mask)


class EncoderRepeatsTheFirstLayer(_Encoder):
    """You run the first layer again and again; the others are not used.

    Each layer of the list has weights of its own, and reads what the one before returned.
    """

    def stacked(self, states, mask):
        for _ in self.layers:
            states = self.layers[0](states, mask)
        return states


# %% pool_first


def pool_without_tanh(states, W, b):
    """The tanh is missing.

    c = tanh(W h_0 + b). Without it this layer and the classifier after it would be one linear map.
    """
    return states[:, 0] @ W.T + b


def pool_the_mean(states, W, b):
    """You take the mean of all states, not the first one.

    BERT puts [CLS] before every input, and its state stands for the whole. The mean would also take
    in padding.
    """
    return torch.tanh(states.mean(1) @ W.T + b)


def pool_the_last(states, W, b):
    """You take the last state, not the first one.

    The last position is [SEP] or padding. [CLS] is the first token, and self-attention has let it
    see all others: no state is the last to be computed here.
    """
    return torch.tanh(states[:, -1] @ W.T + b)


def pool_the_largest(states, W, b):
    """You take the largest of all states, component by component.

    That is max-pooling. BERT takes the state of the first token, [CLS].
    """
    return torch.tanh(states.amax(1) @ W.T + b)


def pool_the_first_sentence(states, W, b):
    """You take the first sentence of the batch, not the first token of each.

    Axis 0 is the batch. states[:, 0] is the first token of every sentence.
    """
    return torch.tanh(states[0] @ W.T + b)


def pool_without_bias(states, W, b):
    """The bias is missing.

    c = tanh(W h_0 + b), with b inside the tanh.
    """
    return torch.tanh(states[:, 0] @ W.T)


def pool_bias_outside(states, W, b):
    """You add the bias outside the tanh.

    c = tanh(W h_0 + b): first the whole linear map, then the tanh.
    """
    return torch.tanh(states[:, 0] @ W.T) + b


def pool_not_transposed(states, W, b):
    """You do not transpose W.

    W is (d_out, d), as in nn.Linear, and a row of the batch stands on its left: h W^T.
    """
    return torch.tanh(states[:, 0] @ W + b)


def pool_all_tokens(states, W, b):
    """You project all tokens, not the first one alone.

    The result has one vector for each sentence, (B, d_out): take states[:, 0] first.
    """
    return torch.tanh(states @ W.T + b)


def pool_the_second(states, W, b):
    """You take the state of the second token, not that of the first.

    Positions are counted from 0, and [CLS] stands at position 0.
    """
    return torch.tanh(states[:, min(1, states.shape[1] - 1)] @ W.T + b)


def pool_tanh_first(states, W, b):
    """Your tanh acts on the state, before the linear layer.

    c = tanh(W h_0 + b): first the linear map, then the tanh.
    """
    return torch.tanh(states[:, 0]) @ W.T + b


# %% MaskedLanguageModelHead


class _Head(right.MaskedLanguageModelHead):
    """The right head in pieces, so that a mistake changes one of them."""

    def curved(self, x):
        """GELU."""
        return F.gelu(x)

    def transformed(self, states):
        """(..., d)."""
        return self.norm(self.curved(self.transform(states)))

    def scored(self, transformed):
        """(..., V)."""
        return transformed @ self.embedding.weight.T + self.bias

    def forward(self, states):
        return self.scored(self.transformed(states))


class HeadWithTanhGelu(_Head):
    """Your GELU is an approximation.

    Here GELU is x times the normal distribution function of x, which F.gelu computes exactly, with
    erf; the library `transformers` does the same with BERT's weights. The formula with tanh,
    approximate="tanh", which is in the authors' released code, differs in the fourth digit.
    """

    def curved(self, x):
        return F.gelu(x, approximate="tanh")


class HeadWithRelu(_Head):
    """A ReLU stands where BERT has GELU.

    t = LayerNorm(GELU(W h + b)).
    """

    def curved(self, x):
        return x.relu()


class HeadWithTanh(_Head):
    """A tanh stands where BERT has GELU.

    The tanh is that of pool_first. Here t = LayerNorm(GELU(W h + b)).
    """

    def curved(self, x):
        return x.tanh()


class HeadLinear(_Head):
    """The GELU is missing.

    t = LayerNorm(GELU(W h + b)).
    """

    def curved(self, x):
        return x


class HeadWithoutNorm(_Head):
    """The LayerNorm is missing.

    t = LayerNorm(GELU(W h + b)): it is self.norm.
    """

    def transformed(self, states):
        return self.curved(self.transform(states))


class HeadNormFirst(_Head):
    """Your LayerNorm comes before the GELU.

    t = LayerNorm(GELU(W h + b)): from the inside to the outside, projection, GELU, LayerNorm.
    """

    def transformed(self, states):
        return self.curved(self.norm(self.transform(states)))


class HeadNormBeforeAll(_Head):
    """Your LayerNorm comes before the projection.

    t = LayerNorm(GELU(W h + b)): it is the last of the three.
    """

    def transformed(self, states):
        return self.curved(self.transform(self.norm(states)))


class HeadWithoutTransform(_Head):
    """Your states go to the embeddings as they are.

    Between them stand a projection, a GELU and a LayerNorm: t = LayerNorm(GELU(W h + b)).
    """

    def transformed(self, states):
        return states


class HeadUsualEps(_Head):
    """Your LayerNorm has another eps.

    It is computed with torch's 1e-5 in place of the eps that the constructor was given. Where the
    components of a state vary little, the difference shows; use self.norm.
    """

    def transformed(self, states):
        x = self.curved(self.transform(states))
        return F.layer_norm(x, x.shape[-1:], self.norm.weight, self.norm.bias)


class HeadWithoutBias(_Head):
    """The bias of the output is missing.

    logits = E t + b_out. The embeddings are shared with the input, the bias is the head's own.
    """

    def scored(self, transformed):
        return transformed @ self.embedding.weight.T


class HeadDetached(_Head):
    """Your embeddings are used, but they do not learn from the output.

    With .detach() or .data the gradient ends here. Tied weights learn from both sides: as what is
    looked up and as what is compared with.
    """

    def scored(self, transformed):
        return transformed @ self.embedding.weight.detach().T + self.bias


class HeadReturnsProbabilities(_Head):
    """You return probabilities, not logits.

    forward returns the scores before the softmax; the loss takes it itself.
    """

    def scored(self, transformed):
        return super().scored(transformed).softmax(-1)


class HeadScaled(_Head):
    """Your logits are divided by the square root of d.

    That belongs to attention. Here logits = E t + b_out.
    """

    def scored(self, transformed):
        return transformed @ self.embedding.weight.T / transformed.shape[-1] ** 0.5 + self.bias


class HeadWithResidual(_Head):
    """You add the states to the transformed ones before the norm.

    The layers of the encoder have residual connections. The head has none: t = LayerNorm(GELU(W h +
    b)).
    """

    def transformed(self, states):
        return self.norm(states + self.curved(self.transform(states)))


class HeadWithCosines(_Head):
    """You divide the rows of E by their lengths.

    logits = E t + b_out is a plain product. How long a token's embedding is counts as well.
    """

    def scored(self, transformed):
        return transformed @ F.normalize(self.embedding.weight, dim=-1).T + self.bias


# %% pretraining_loss


def _mean(losses, chosen):
    return (losses * chosen).sum() / chosen.sum().clamp(min=1)


def _of_tokens(token_logits, labels):
    """-log p of every token, 0 where there is no label."""
    return F.cross_entropy(token_logits.mT, labels, reduction="none")


def _of_pairs(next_logits, is_next):
    return F.cross_entropy(next_logits, (~is_next).long())


def _of_chosen(token_logits, labels):
    return _mean(_of_tokens(token_logits, labels), labels != -100)


def loss_with_classes_swapped(token_logits, next_logits, labels, is_next):
    """The two classes of the pairs are swapped.

    Class 0 means that the second sentence is the next one, as in the released checkpoints. So the
    class is 0 where is_next is True: is_next.long() has it the other way round.
    """
    return _of_chosen(token_logits, labels) + F.cross_entropy(next_logits, is_next.long())


def loss_of_nothing(token_logits, next_logits, labels, is_next):
    """Where no token was chosen the loss is NaN.

    The mean of nothing is 0 / 0. In short batches that happens: the first part is then 0, with
    gradients of 0. Divide the sum by the number of chosen tokens, but at least by 1.
    """
    tokens = F.cross_entropy(token_logits.flatten(0, 1), labels.flatten())
    return tokens + _of_pairs(next_logits, is_next)


def loss_over_all_positions(token_logits, next_logits, labels, is_next):
    """Your loss of the tokens is divided by the number of all positions.

    The mean is over the chosen tokens alone, those whose label is not -100. Else the loss depends
    on how many were chosen and on how much padding there is.
    """
    return _of_tokens(token_logits, labels).mean() + _of_pairs(next_logits, is_next)


def loss_of_sentences(token_logits, next_logits, labels, is_next):
    """You take the mean in each sentence first, then over the sentences.

    Then a chosen token counts more where few were chosen. The mean is over all chosen tokens of the
    batch, each with the same weight.
    """
    chosen = labels != -100
    each = (_of_tokens(token_logits, labels) * chosen).sum(1) / chosen.sum(1).clamp(min=1)
    return each.mean() + _of_pairs(next_logits, is_next)


def loss_of_sums(token_logits, next_logits, labels, is_next):
    """Your losses of the tokens are added up, not averaged.

    Both parts are means: over the chosen tokens and over the pairs.
    """
    return _of_tokens(token_logits, labels).sum() + _of_pairs(next_logits, is_next)


def loss_halved(token_logits, next_logits, labels, is_next):
    """You average the two parts instead of adding them.

    The training loss is the sum of the two means.
    """
    return (_of_chosen(token_logits, labels) + _of_pairs(next_logits, is_next)) / 2


def loss_of_tokens_alone(token_logits, next_logits, labels, is_next):
    """The loss of the pairs is missing.

    BERT is trained on two tasks at once: the masked tokens, and whether the second sentence
    follows the first.
    """
    return _of_chosen(token_logits, labels) + 0 * next_logits.sum()


def loss_of_pairs_alone(token_logits, next_logits, labels, is_next):
    """The loss of the tokens is missing.

    BERT is trained on two tasks at once: the masked tokens, and whether the second sentence
    follows the first.
    """
    return 0 * token_logits.sum() + _of_pairs(next_logits, is_next)


def loss_without_id_zero(token_logits, next_logits, labels, is_next):
    """You take the label 0 for "nothing to predict".

    Here -100 says that, so that every id of the vocabulary can be a label.
    """
    return _mean(_of_tokens(token_logits, labels), labels > 0) + _of_pairs(next_logits, is_next)


def loss_softmax_twice(token_logits, next_logits, labels, is_next):
    """You take the softmax twice.

    F.cross_entropy takes logits and applies the softmax itself: give it the logits as they are.
    """
    return _of_chosen(token_logits.softmax(-1), labels) + _of_pairs(
        next_logits.softmax(-1), is_next
    )


def loss_of_shifted_labels(token_logits, next_logits, labels, is_next):
    """You predict each token from the position before it.

    That is how a left-to-right model is trained. In BERT the state of a masked token predicts that
    token itself: logits and labels have the same positions.
    """
    ahead = _of_chosen(token_logits[:, :-1], labels[:, 1:])
    return ahead + _of_pairs(next_logits, is_next)


def loss_divided_by_rows(token_logits, next_logits, labels, is_next):
    """You divide the losses of the tokens by the number of inputs.

    The first part is the mean over the *chosen tokens*. Divided by the rows of the batch it grows
    with the length of the inputs.
    """
    tokens = (_of_tokens(token_logits, labels) * (labels != -100)).sum() / len(labels)
    return tokens + _of_pairs(next_logits, is_next)


def loss_softmax_over_positions(token_logits, next_logits, labels, is_next):
    """Your softmax runs over the positions, not over the vocabulary.

    token_logits is (B, N, V): for each position, the tokens of the vocabulary compete, so the
    softmax is over the last axis.
    """
    log_p = token_logits.log_softmax(1)
    true = log_p.gather(2, labels.clamp(min=0).unsqueeze(2)).squeeze(2)
    return _mean(-true, labels != -100) + _of_pairs(next_logits, is_next)


def loss_of_probable_tokens(token_logits, next_logits, labels, is_next):
    """You take the softmax of the tokens' logits twice.

    F.cross_entropy takes logits and applies the softmax itself: give it token_logits as they are.
    """
    return _of_chosen(token_logits.softmax(-1), labels) + _of_pairs(next_logits, is_next)


def loss_with_one_token_more(token_logits, next_logits, labels, is_next):
    """Your number of chosen tokens is one too large.

    Adding 1 avoids 0 / 0, but makes the mean too small in every batch that has chosen tokens.
    Divide by the number, and by 1 only where it is 0.
    """
    chosen = labels != -100
    tokens = (_of_tokens(token_logits, labels) * chosen).sum() / (chosen.sum() + 1)
    return tokens + _of_pairs(next_logits, is_next)
