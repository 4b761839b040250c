"""Mistakes that people really make in the notebook `bert/finetuning`, without `load_pretrained`.

Each class is one wrong implementation; the first line of its docstring is the title of the card,
the rest the hint.
"""

import torch
from torch import Tensor, nn

from solutions.bert import finetuning as right

# %% load_pretrained


def _tidy(name):
    """An entry's name without the prefix and without old words."""
    name = name.removeprefix("bert.").replace("LayerNorm.gamma", "LayerNorm.weight")
    return name.replace("LayerNorm.beta", "LayerNorm.bias")


def _entry(name):
    """The tidy name of the entry for a parameter of the model."""
    for ours, theirs in (
        ("encoder.embeddings.token", "embeddings.word_embeddings"),
        ("encoder.embeddings.segment", "embeddings.token_type_embeddings"),
        ("encoder.embeddings.position", "embeddings.position_embeddings"),
        ("encoder.embeddings.norm", "embeddings.LayerNorm"),
        ("encoder.layers", "encoder.layer"),
        ("attention.output", "attention.output.dense"),
        ("attention_norm", "attention.output.LayerNorm"),
        ("output_norm", "output.LayerNorm"),
        ("inner", "intermediate.dense"),
        ("outer", "output.dense"),
        ("pooler", "pooler.dense"),
        ("head.transform", "cls.predictions.transform.dense"),
        ("head.norm", "cls.predictions.transform.LayerNorm"),
        ("head.bias", "cls.predictions.bias"),
        ("next", "cls.seq_relationship"),
    ):
        name = name.replace(ours, theirs)
    for part in ("query", "key", "value"):
        name = name.replace(f"attention.{part}", f"attention.self.{part}")
    return name


def _pairs(model, known):
    """Each parameter of the model with its entry, or None."""
    for name, parameter in model.named_parameters():
        yield name, parameter, known.get(_entry(name))


def _with_others(model, known, ours, theirs):
    """Load, with the entries of a part taken for those of another."""
    found = {_tidy(name): tensor for name, tensor in known.items()}
    for kind in ("weight", "bias"):
        found.pop(f"{ours}.{kind}", None)
        if f"{theirs}.{kind}" in found:
            found[f"{ours}.{kind}"] = found[f"{theirs}.{kind}"]
    return right.load_pretrained(model, found)


def loads_without_prefix(model, state_dict):
    """You do not find names that begin with "bert.".

    A checkpoint that was saved with heads has its encoder inside a part called bert, one that was
    saved without them has not. Take the prefix off before you look for a name.
    """
    kept = {n: t for n, t in state_dict.items() if not n.startswith("bert.")}
    return right.load_pretrained(model, kept)


def loads_with_prefix_only(model, state_dict):
    """You find only names that begin with "bert.".

    A checkpoint that was saved with heads has its encoder inside a part called bert, one that was
    saved without them has not. Both have to be found.
    """
    kept = {n: t for n, t in state_dict.items() if n.startswith(("bert.", "cls."))}
    return right.load_pretrained(model, kept)


def loads_new_names_only(model, state_dict):
    """You do not find the old names LayerNorm.gamma and LayerNorm.beta.

    The first checkpoints were made from TensorFlow's, whose layer norm has a gamma and a beta. They
    are what torch calls weight and bias.
    """
    kept = {n: t for n, t in state_dict.items() if not n.endswith(("gamma", "beta"))}
    return right.load_pretrained(model, kept)


def loads_gamma_as_bias(model, state_dict):
    """You mix up gamma and beta.

    The layer norm multiplies by gamma, so that it is the weight, and adds beta, which is the bias.
    """
    renamed = {
        n.replace(".gamma", ".bias") if n.endswith("gamma") else n.replace(".beta", ".weight"): t
        for n, t in state_dict.items()
    }
    return right.load_pretrained(model, renamed)


def loads_layer_one_twice(model, state_dict):
    """Your layer 10 gets the weights of layer 1.

    "encoder.layer.1" is also the beginning of "encoder.layer.10". Look for the number with the dot
    after it, or for the whole name.
    """
    firsts: dict[str, Tensor] = {}
    for name, tensor in state_dict.items():
        prefix, found, rest = name.partition("encoder.layer.")
        number, _, part = rest.partition(".")
        if found and len(number) > 1:
            tensor = state_dict[f"{prefix}{found}{number[0]}.{part}"]
        firsts[name] = tensor
    return right.load_pretrained(model, firsts)


def loads_norms_swapped(model, state_dict):
    """The two layer norms of a layer are swapped.

    attention.output.LayerNorm comes after the attention: it is attention_norm. output.LayerNorm, at
    the end of the layer, is output_norm.
    """
    turned = {}
    for name, tensor in state_dict.items():
        if ".attention.output.LayerNorm" in name:
            name = name.replace(".attention.output.LayerNorm", ".output.LayerNorm")
        elif ".output.LayerNorm" in name:
            name = name.replace(".output.LayerNorm", ".attention.output.LayerNorm")
        turned[name] = tensor
    return right.load_pretrained(model, turned)


def loads_turned_matrices(model, state_dict):
    """You transpose the matrices of the linear layers.

    A checkpoint of torch holds them as nn.Linear does, (out, in), and so does your model. Only
    TensorFlow keeps them the other way round.
    """
    renamed = {_tidy(name): tensor for name, tensor in state_dict.items()}
    missing = right.load_pretrained(model, state_dict)
    with torch.no_grad():
        for name, parameter, tensor in _pairs(model, renamed):
            square = parameter.dim() == 2 and parameter.shape[0] == parameter.shape[1]
            if square and tensor is not None and "embeddings" not in name:
                parameter.copy_(tensor.T)
    return missing


def loads_what_it_finds(model, state_dict):
    """You only report a missing part of the encoder.

    A BERT with one layer that was never trained computes nonsense, and nobody reads a list of names.
    Heads may be missing; for a parameter of the encoder raise a ValueError.
    """
    found = {_tidy(name): tensor for name, tensor in state_dict.items()}
    missing = [name for name, _, tensor in _pairs(model, found) if tensor is None]
    for name in missing:
        if name.startswith("encoder."):
            found[_entry(name)] = model.get_parameter(name).detach().clone()
    right.load_pretrained(model, found)
    return missing


def loads_with_key_error(model, state_dict):
    """Your code raises a KeyError for what is missing.

    That is Python's word for a dict without the key. Whoever calls load_pretrained is told what is
    wrong with the checkpoint: with a ValueError, in a sentence.
    """
    found = {_tidy(name) for name in state_dict}
    for name, _ in model.named_parameters():
        if name.startswith("encoder.") and _entry(name) not in found:
            raise KeyError(_entry(name))
    return right.load_pretrained(model, state_dict)


def loads_with_torchs_error(model, state_dict):
    """For a tensor of another shape, you let torch's own RuntimeError through.

    copy_ and load_state_dict notice that the shapes do not fit, but when they do, parts of the model
    may be filled already. Compare the shapes first, and raise a ValueError.
    """
    found = {_tidy(name): tensor for name, tensor in state_dict.items()}
    for name, parameter, tensor in _pairs(model, found):
        if tensor is not None and tensor.shape != parameter.shape:
            raise RuntimeError(f"{name}: shapes differ")
    return right.load_pretrained(model, state_dict)


def loads_before_it_looks(model, state_dict):
    """You copy weights before you have looked at all of them.

    When the error comes, part of the model is already another one. First look whether everything is
    there and has the right shape, then copy.
    """
    found = {_tidy(name): tensor for name, tensor in state_dict.items()}
    missing = []
    with torch.no_grad():
        for name, parameter, tensor in _pairs(model, found):
            if tensor is None and name.startswith("encoder."):
                raise ValueError(f"{name} is missing")
            if tensor is None:
                missing.append(name)
            elif tensor.shape != parameter.shape:
                raise ValueError(f"{name} has another shape")
            else:
                parameter.copy_(tensor)
    return missing


def loads_shapes_that_repeat(model, state_dict):
    """You repeat a tensor of another shape until it fits.

    copy_ fills a whole row with a single number, and says nothing. Compare the shapes before you
    copy.
    """
    found = {_tidy(name): tensor for name, tensor in state_dict.items()}
    for name, parameter, tensor in _pairs(model, found):
        if tensor is not None and tensor.numel() == 1:
            found[_entry(name)] = tensor.expand(parameter.shape)
    return right.load_pretrained(model, found)


def loads_shapes_left_out(model, state_dict):
    """You leave out a head of another shape like a missing one.

    A head that is not there is no mistake. One that is there with another shape is: the model was
    not built for this checkpoint. Raise a ValueError for it too.
    """
    found = {_tidy(name): tensor for name, tensor in state_dict.items()}
    for name, parameter, tensor in list(_pairs(model, found)):
        odd = tensor is not None and tensor.shape != parameter.shape
        if odd and not name.startswith("encoder."):
            del found[_entry(name)]
    return right.load_pretrained(model, found)


def loads_returns_their_names(model, state_dict):
    """You list the checkpoint's names for what is missing.

    The list says which parameters of the model keep their values, in the model's own names, such as
    head.norm.weight.
    """
    return [_entry(name) for name in right.load_pretrained(model, state_dict)]


def loads_returns_what_is_left(model, state_dict):
    """Your list holds what the model does not need.

    What the checkpoint has on top is left out without a word. The list says what the checkpoint does
    not have: parameters of the model that keep their values.
    """
    right.load_pretrained(model, state_dict)
    needed = {_entry(name) for name, _ in model.named_parameters()}
    return [name for name in state_dict if _tidy(name) not in needed]


def loads_returns_what_was_found(model, state_dict):
    """Your list holds the parameters that were loaded.

    It says which ones were not: they keep their values, and somebody has to train them.
    """
    missing = right.load_pretrained(model, state_dict)
    return [name for name, _ in model.named_parameters() if name not in missing]


def loads_returns_sorted(model, state_dict):
    """Your names are in the order of the alphabet, not in the model's.

    The list has the order of model.named_parameters().
    """
    return sorted(right.load_pretrained(model, state_dict))


def loads_returns_nothing_missing(model, state_dict):
    """Your list is always empty.

    A checkpoint may lack the pooler or the heads. Their names are returned, so that whoever calls
    knows what still has to be trained.
    """
    right.load_pretrained(model, state_dict)
    return []


def loads_tied_weight_as_missing(model, state_dict):
    """You call head.embedding.weight missing.

    It is the token embedding of the encoder, under a second name: model.named_parameters() names it
    once. (model.state_dict() names it twice.)
    """
    missing = set(right.load_pretrained(model, state_dict)) | {"head.embedding.weight"}
    members = model.named_parameters(remove_duplicate=False)
    return [name for name, _ in members if name in missing]


def loads_decoder_weight(model, state_dict):
    """You load the decoder's weights into the head.

    The head has no matrix of its own: its embedding is the encoder's. What a checkpoint calls
    decoder.weight is a copy of it at best, and is left out.
    """
    missing = right.load_pretrained(model, state_dict)
    weight = state_dict.get("cls.predictions.decoder.weight")
    tied = dict(model.named_parameters(remove_duplicate=False)).get("head.embedding.weight")
    if tied is not None and weight is not None and weight.shape == tied.shape:
        with torch.no_grad():
            tied.copy_(weight)
    return missing


def loads_without_copying(model, state_dict):
    """Your model and the checkpoint share their tensors.

    parameter.data = tensor copies nothing: the first step of training changes the checkpoint too.
    parameter.copy_(tensor) copies the numbers.
    """
    missing = right.load_pretrained(model, state_dict)
    found = {_tidy(name): tensor for name, tensor in state_dict.items()}
    for _, parameter, tensor in _pairs(model, found):
        if tensor is not None:
            parameter.data = tensor
    return missing


def loads_and_empties_the_dict(model, state_dict):
    """You take the entries out of the dict that was passed.

    pop and del change the checkpoint of whoever called: a second model could not be filled from it.
    Make a dict of your own.
    """
    missing = right.load_pretrained(model, state_dict)
    for name in list(state_dict):
        state_dict[name.removeprefix("bert.") + " "] = state_dict.pop(name)
    return missing


def loads_an_embedding_for_the_head(model, state_dict):
    """Your head gets an embedding of its own.

    The head scores tokens with the encoder's token embedding itself. With a copy the two go different
    ways as soon as they are trained. Fill the parameters that are there.
    """
    missing = right.load_pretrained(model, state_dict)
    head = dict(model.named_children()).get("head")
    if head is not None:
        weight = model.get_parameter("encoder.embeddings.token.weight").detach().clone()
        head.add_module("embedding", nn.Embedding.from_pretrained(weight, freeze=False))
    return missing


def loads_and_freezes(model, state_dict):
    """Your loaded parameters are frozen.

    Fine-tuning changes all of them: after loading, each parameter still requires a gradient.
    """
    missing = right.load_pretrained(model, state_dict)
    for name, parameter in model.named_parameters():
        parameter.requires_grad_(name in missing)
    return missing


def loads_the_first_layer_alone(model, state_dict):
    """Only the first layer is loaded; the others keep their values.

    The table shows layer 0 as an example. A model may have any number of layers, and each of them
    has its entries.
    """
    kept = {name: parameter.detach().clone() for name, parameter in model.named_parameters()}
    missing = right.load_pretrained(model, state_dict)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name.startswith("encoder.layers.") and not name.startswith("encoder.layers.0."):
                parameter.copy_(kept[name])
    return missing


def loads_pooler_into_the_head(model, state_dict):
    """Your head's linear layer gets the pooler's weights.

    Both are d x d, so nothing complains. The pooler's are pooler.dense, the head's
    cls.predictions.transform.dense.
    """
    return _with_others(model, state_dict, _entry("head.transform"), _entry("pooler"))


def loads_norm_of_embeddings_into_the_head(model, state_dict):
    """Your head's norm gets the weights of the embeddings' norm.

    Both have d gains and d biases, so nothing complains. The head's norm is
    cls.predictions.transform.LayerNorm.
    """
    return _with_others(model, state_dict, _entry("head.norm"), _entry("encoder.embeddings.norm"))


def loads_what_can_be_reshaped(model, state_dict):
    """A tensor of another shape is reshaped until it fits.

    The same number of elements is not enough: reshaped, the numbers of a matrix land in other rows
    and columns. Compare the shapes, and raise a ValueError.
    """
    found = {_tidy(name): tensor for name, tensor in state_dict.items()}
    for name, parameter, tensor in _pairs(model, found):
        if tensor is not None and tensor.numel() == parameter.numel():
            found[_entry(name)] = tensor.reshape(parameter.shape)
    return right.load_pretrained(model, found)


# %% SequenceClassifier


class _Sequence(right.SequenceClassifier):
    """The right classifier in pieces, so that a mistake changes one of them."""

    def read(self, tokens, segments):
        """(B, N, d)."""
        return self.encoder(tokens, segments)

    def chosen(self, states):
        """(B, d)."""
        return states[:, 0]

    def pooled(self, state):
        """(B, d)."""
        return torch.tanh(self.pooler(state))

    def said(self, c):
        """(B, C)."""
        return self.output(c)

    def forward(self, tokens, segments=None):
        return self.said(self.pooled(self.chosen(self.read(tokens, segments))))


class SequenceWithoutSegments(_Sequence):
    """The segments do not reach the encoder.

    Pairs of sentences are told apart by them. Hand them on, whether they are ids or None.
    """

    def read(self, tokens, segments):
        return self.encoder(tokens, None)


class SequenceOfTheMean(_Sequence):
    """You classify the mean of all states, not the first one.

    The paper takes the state of [CLS], the first token. The mean would also take in padding.
    """

    def chosen(self, states):
        return states.mean(dim=1)


class SequenceOfTheLast(_Sequence):
    """You classify the last state, not the first one.

    The last position is [SEP] or padding. The paper takes the state of [CLS], the first token.
    """

    def chosen(self, states):
        return states[:, -1]


class SequenceOfTheLargest(_Sequence):
    """You classify the largest of all states, component by component.

    That is max-pooling. The paper takes the state of [CLS], the first token.
    """

    def chosen(self, states):
        return states.max(dim=1).values


class SequenceWithoutPooler(_Sequence):
    """The pooler is left out.

    c = tanh(W_p h_0 + b_p) stands between the state of [CLS] and the classifier. Its weights come
    from pre-training, where they served the next-sentence task.
    """

    def pooled(self, state):
        return state


class SequenceWithoutTanh(_Sequence):
    """The tanh is missing.

    c = tanh(W_p h_0 + b_p). Without it the pooler and the classifier after it would be one linear
    map.
    """

    def pooled(self, state):
        return self.pooler(state)


class SequenceTanhFirst(_Sequence):
    """Your tanh comes before the pooler's projection.

    c = tanh(W_p h_0 + b_p): first the projection, then the tanh.
    """

    def pooled(self, state):
        return self.pooler(torch.tanh(state))


class SequenceWithRelu(_Sequence):
    """A ReLU stands where BERT has tanh.

    c = tanh(W_p h_0 + b_p).
    """

    def pooled(self, state):
        return self.pooler(state).relu()


class SequenceReturnsProbabilities(_Sequence):
    """You return probabilities, not logits.

    forward returns the scores before the softmax; the loss takes it itself.
    """

    def said(self, c):
        return self.output(c).softmax(dim=-1)


class SequenceOfAllTokens(_Sequence):
    """You return logits for every token.

    That is the token classifier. Here one class is found for the whole input, from the state of
    [CLS] alone: (B, C).
    """

    def chosen(self, states):
        return states


class SequenceOfTheSecond(_Sequence):
    """You classify the state of the second token.

    [CLS] is the first token, at position 0.
    """

    def chosen(self, states):
        return states[:, min(1, states.shape[1] - 1)]


class SequencePooledTwice(_Sequence):
    """You use the pooler twice.

    c = tanh(W_p h_0 + b_p), once. The encoder returns the states of its last layer; nothing was
    pooled before.
    """

    def pooled(self, state):
        return super().pooled(super().pooled(state))


class SequenceWithResidual(_Sequence):
    """You add the state of [CLS] to what the pooler returns.

    Residual connections belong to the encoder's layers. The pooler has none: c = tanh(W_p h_0 +
    b_p).
    """

    def pooled(self, state):
        return state + super().pooled(state)


# %% TokenClassifier


class _Token(right.TokenClassifier):
    """The right classifier in pieces, so that a mistake changes one of them."""

    def read(self, tokens, segments):
        """(B, N, d)."""
        return self.encoder(tokens, segments)

    def chosen(self, states):
        """(B, N, d)."""
        return states

    def said(self, states):
        """(B, N, C)."""
        return self.output(states)

    def forward(self, tokens, segments=None):
        return self.said(self.chosen(self.read(tokens, segments)))


class TokensWithoutSegments(_Token):
    """The segments do not reach the encoder.

    Hand them on, whether they are ids or None; the encoder knows what None means.
    """

    def read(self, tokens, segments):
        return self.encoder(tokens, None)


class TokensFirstAlone(_Token):
    """You classify only the first token.

    That is the sequence classifier. Here every token gets a class of its own, from its own state:
    (B, N, C).
    """

    def chosen(self, states):
        return states[:, 0]


class TokensWithoutFirst(_Token):
    """The first token is left out.

    [CLS] gets logits like every other token, (B, N, C), so that logits and ids have the same
    positions; the loss leaves out what has no label.
    """

    def chosen(self, states):
        return states[:, 1:]


class TokensWithTanh(_Token):
    """You add a tanh between the states and the classifier.

    The pooler's tanh belongs to the state of [CLS]. Here logits_i = W h_i + b.
    """

    def chosen(self, states):
        return torch.tanh(states)


class TokensReturnProbabilities(_Token):
    """You return probabilities, not logits.

    forward returns the scores before the softmax; the loss takes it itself.
    """

    def said(self, states):
        return self.output(states).softmax(dim=-1)


class TokensClassesFirst(_Token):
    """Your classes stand on axis 1, not on the last one.

    (B, C, N) is what F.cross_entropy wants to be given; the module returns (B, N, C), and the loss
    transposes.
    """

    def said(self, states):
        return self.output(states).transpose(1, 2)


class TokensWithoutBias(_Token):
    """The bias is missing.

    logits_i = W h_i + b.
    """

    def said(self, states):
        return states @ self.output.weight.T


class TokensAllLikeTheFirst(_Token):
    """You give all tokens the logits of [CLS].

    The state of [CLS] stands for the whole input. Here each token is classified by its own state,
    h_i.
    """

    def chosen(self, states):
        return states[:, :1].expand_as(states)


class TokensSoftmaxOverTokens(_Token):
    """Your softmax runs over the tokens.

    forward returns logits. And classes compete at each token, not the tokens for a class.
    """

    def said(self, states):
        return self.output(states).softmax(dim=1)


class TokensWithFirst(_Token):
    """You add the state of [CLS] to the state of each token.

    Self-attention has mixed the tokens already. Here logits_i = W h_i + b, with the token's own
    state alone.
    """

    def chosen(self, states):
        return states + states[:, :1]


# %% SpanPredictor


class _Span(right.SpanPredictor):
    """The right predictor in pieces, so that a mistake changes one of them."""

    def read(self, tokens, segments):
        """(B, N, d)."""
        return self.encoder(tokens, segments)

    def scored(self, states):
        """(B, N) each."""
        return states @ self.start, states @ self.end

    def forward(self, tokens, segments=None):
        return self.scored(self.read(tokens, segments))

    def orderly(self, first, last, longest):
        """Which pairs of places may be an answer, (N, N)."""
        return (last >= first) & (last - first < longest)

    def within(self, passage):
        """(B, N, N)."""
        return passage[:, :, None] & passage[:, None]

    def sums(self, starts, ends):
        """(B, N, N)."""
        return starts[:, :, None] + ends[:, None]

    def hidden(self, sums, allowed):
        """(B, N, N)."""
        return sums.masked_fill(~allowed, -torch.inf)

    def best(self, start_scores, end_scores, passage, longest=30):
        N = start_scores.shape[1]
        places = torch.arange(N)
        allowed = self.within(passage) & self.orderly(places[:, None], places, longest)
        chosen = self.hidden(self.sums(start_scores, end_scores), allowed).flatten(1).argmax(1)
        return chosen // N, chosen % N


class SpanWithoutSegments(_Span):
    """The segments do not reach the encoder.

    They tell the question from the passage. Hand them on, whether they are ids or None.
    """

    def read(self, tokens, segments):
        return self.encoder(tokens, None)


class SpanSwapped(_Span):
    """Beginnings and ends are swapped.

    forward returns the scores of the beginnings first, S . h_i, then those of the ends, E . h_j.
    """

    def scored(self, states):
        return states @ self.end, states @ self.start


class SpanReturnsProbabilities(_Span):
    """You return probabilities, not scores.

    forward returns the products before the softmax over the places; the loss takes it itself, and
    best compares sums of scores.
    """

    def scored(self, states):
        return (states @ self.start).softmax(dim=1), (states @ self.end).softmax(dim=1)


class SpanLogProbabilities(_Span):
    """You return log-probabilities, not scores.

    forward returns the products as they are. The loss takes the log-softmax itself.
    """

    def scored(self, states):
        return (states @ self.start).log_softmax(dim=1), (states @ self.end).log_softmax(dim=1)


class SpanAnyOrder(_Span):
    """Your answers may end before they begin.

    Beginning and end are looked for each by itself. The best pair i <= j counts: form all sums,
    and set those of pairs in the wrong order to minus infinity.
    """

    def orderly(self, first, last, longest):
        return torch.ones_like(last >= first)


class SpanOutsideThePassage(_Span):
    """Your answers may lie outside of the passage.

    Question, [CLS], [SEP] and padding have scores too. Both ends must stand where passage is True.
    """

    def within(self, passage):
        return torch.ones_like(super().within(passage))


class SpanBeginsInThePassage(_Span):
    """You ask only for the beginning to be in the passage.

    The end must stand where passage is True, too.
    """

    def within(self, passage):
        return passage[:, :, None].expand(-1, -1, passage.shape[1])


class SpanEndsInThePassage(_Span):
    """You ask only for the end to be in the passage.

    The beginning must stand where passage is True, too.
    """

    def within(self, passage):
        return passage[:, None].expand(-1, passage.shape[1], -1)


class SpanOfAnyLength(_Span):
    """Your answers may have any length.

    It has at most longest tokens: last - first + 1 <= longest.
    """

    def orderly(self, first, last, longest):
        return last >= first


class SpanOneTooLong(_Span):
    """Your answers may be one token too long.

    An answer from first to last has last - first + 1 tokens, and may have longest:
    last < first + longest.
    """

    def orderly(self, first, last, longest):
        return (last >= first) & (last - first <= longest)


class SpanOneTooShort(_Span):
    """Your answers may not be as long as allowed.

    An answer from first to last has last - first + 1 tokens, and may have longest of them.
    """

    def orderly(self, first, last, longest):
        return (last >= first) & ((last - first < longest - 1) | (last == first))


class SpanOfTwoAtLeast(_Span):
    """You do not allow an answer of a single token.

    An answer may begin and end with the same token: i <= j.
    """

    def orderly(self, first, last, longest):
        later = (last > first) & (last - first < longest)
        return later if later.any() else last == first


class SpanGreedy(_Span):
    """You choose the best beginning first, and then the best end after it.

    The best beginning need not belong to the best pair: one that is a little worse may have a much
    better end. All pairs have to be compared.
    """

    def sums(self, starts, ends):
        return 1e6 * starts[:, :, None] + ends[:, None]


class SpanWithoutHoles(_Span):
    """You ask for all tokens of an answer to be in the passage.

    Only its first and its last have to be: what stands between them may be anything.
    """

    def within(self, passage):
        holes = (~passage).cumsum(dim=1)
        return super().within(passage) & (holes[:, :, None] == holes[:, None])


class SpanHiddenByZero(_Span):
    """You give pairs that are not allowed the score 0.

    If all scores are negative, 0 is the largest. Set them to minus infinity.
    """

    def hidden(self, sums, allowed):
        return sums * allowed


class SpanEndsBehind(_Span):
    """Your end is the place after the last token.

    best returns the first and the last token of the answer, both of which belong to it.
    """

    def best(self, start_scores, end_scores, passage, longest=30):
        first, last = super().best(start_scores, end_scores, passage, longest)
        return first, last + 1


class SpanProductOfScores(_Span):
    """Your scores are multiplied, not added.

    Probabilities would be multiplied. These are scores before the softmax, whose exponentials are
    the probabilities' shares: they are added.
    """

    def sums(self, starts, ends):
        return starts[:, :, None] * ends[:, None]


class SpanScaled(_Span):
    """You divide the scores by the square root of d.

    That belongs to attention. Here the scores are plain products, S . h_i and E . h_j.
    """

    def scored(self, states):
        starts, ends = super().scored(states)
        return starts / states.shape[-1] ** 0.5, ends / states.shape[-1] ** 0.5


class SpanLongestIsThirty(_Span):
    """Your answer may have 30 tokens, whatever `longest` says.

    30 is only the default of the argument.
    """

    def orderly(self, first, last, longest):
        return super().orderly(first, last, 30)


class SpanSumOfProbabilities(_Span):
    """You add the probabilities of beginning and end.

    The best pair has the largest *product* of probabilities, which is the largest sum of scores.
    """

    def sums(self, starts, ends):
        return super().sums(starts.softmax(1), ends.softmax(1))


class SpanReturnsLength(_Span):
    """Your `best` returns the first token and the number of tokens.

    It returns the first and the last token of the answer, both as positions in the row.
    """

    def best(self, start_scores, end_scores, passage, longest=30):
        first, last = super().best(start_scores, end_scores, passage, longest)
        return first, last - first + 1
