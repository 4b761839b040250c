"""Mistakes that people really make in the notebook `seq2seq/encoder_decoder`.

Each function or class is one wrong implementation; the first line of its docstring is the title of
the card, the rest the hint. Hints teach; they never show the code.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from solutions.seq2seq import encoder_decoder as right
from solutions.seq2seq.encoder_decoder import ContextDecoder, Encoder, Seq2Seq

BOS = 2


# %% Encoder


class EncoderReadsPadding(Encoder):
    """Your final state has read the padding.

    A sentence that is shorter than the batch is wide ends before the last column. An RNN that runs
    on over the padding changes its state there, and c depends on how long the neighbours in the
    batch are. The final state is the one after each sentence's own last word.
    """

    def forward(self, tokens, lengths):
        states, final = self.rnn(self.embedding(tokens))
        return states, final[0]


class EncoderLastColumn(Encoder):
    """Your final state is taken from the last column, where short sentences have none.

    Packing kept padding out, and unpacking filled its places with zeros: states[:, -1] is 0 for
    every sentence that is shorter than the batch is wide. Take the state at each sentence's own
    last word; packed, the RNN's second result holds just that.
    """

    def forward(self, tokens, lengths):
        states, _ = super().forward(tokens, lengths)
        real = torch.arange(tokens.shape[1]) < lengths.unsqueeze(1)
        return states, (states * real.unsqueeze(-1))[:, -1]


class EncoderFirstState(Encoder):
    """Your final state is the one after the first word.

    A state knows the words up to its own. After the first word it knows that word alone; the whole
    sentence is known only after the last.
    """

    def forward(self, tokens, lengths):
        states, _ = super().forward(tokens, lengths)
        return states, states[:, 0]


class EncoderMeanOfStates(Encoder):
    """Your final state is the mean of all states.

    A mean over the words is a summary too, but another one: in this model c is the state after the
    last word alone.
    """

    def forward(self, tokens, lengths):
        states, _ = super().forward(tokens, lengths)
        real = torch.arange(tokens.shape[1]) < lengths.unsqueeze(1)
        return states, (states * real.unsqueeze(-1)).sum(1) / lengths.unsqueeze(1)


class EncoderForgetsOrder(Encoder):
    """Your sentences come back in another order than they went in.

    If you sort the sentences by length for packing, put the results back into the order of the
    batch; enforce_sorted=False does both.
    """

    def forward(self, tokens, lengths):
        order = lengths.argsort(descending=True, stable=True)
        return super().forward(tokens[order], lengths[order])


class EncoderCarriesState(Encoder):
    """Your encoder begins a batch with the state of the one before.

    h_0 is 0 for every sentence: the sentences of a batch have nothing to do with those of the batch
    before. Do not keep the state between two calls.
    """

    kept: Tensor | None = None

    def forward(self, tokens, lengths):
        packed = nn.utils.rnn.pack_padded_sequence(
            self.embedding(tokens), lengths, batch_first=True, enforce_sorted=False
        )
        states, final = self.rnn(packed, self.kept)
        self.kept = final
        padded, _ = nn.utils.rnn.pad_packed_sequence(
            states, batch_first=True, total_length=tokens.shape[1]
        )
        return padded, final[0]


class EncoderFinalCut(Encoder):
    """The final state is detached from the graph, so the encoder cannot learn.

    The numbers are right, but c is all that the decoder gets, and no gradient comes back through
    it: detach(), .data, no_grad() or a new tensor made from numbers ends the graph.
    """

    def forward(self, tokens, lengths):
        states, final = super().forward(tokens, lengths)
        return states, final.detach()


# %% ContextDecoder


class DecoderStartsWithoutTanh(ContextDecoder):
    """The first state lacks its tanh.

    h_0 = tanh(W_0 c + b_0): like all states of a GRU it lies between -1 and 1.
    """

    def start(self, context):
        return self.first_state(context)


class DecoderStartsFromContext(ContextDecoder):
    """Your first state is the context itself.

    c passes through the layer first_state and a tanh first: h_0 = tanh(W_0 c + b_0). The encoder
    and the decoder may then use their states differently.
    """

    def start(self, context):
        return context


class DecoderStartsFromZero(ContextDecoder):
    """Your forward begins with a state of zeros.

    start is right, but forward does not use it: h_0 = tanh(W_0 c + b_0) is where the first word's
    step begins.
    """

    def forward(self, tokens, context):
        return _run(self, tokens, context, torch.zeros_like(context))


def _run(decoder, tokens, context, state):
    """The right loop, from any state."""
    logits = []
    for word in decoder.embedding(tokens).unbind(1):
        state = decoder.step(word, state, context)
        logits.append(decoder.readout(word, state, context))
    return torch.stack(logits, 1)


class DecoderContextOnce(ContextDecoder):
    """Your context is given to the first step only.

    Starting from the source and then going on alone is the model of Sutskever et al. In Cho's, c
    is an input of every step and of every read-out, so that nothing has to be remembered just
    because it is needed later.
    """

    def forward(self, tokens, context):
        state, logits = self.start(context), []
        for word in self.embedding(tokens).unbind(1):
            state = self.step(word, state, context)
            logits.append(self.readout(word, state, context))
            context = torch.zeros_like(context)
        return torch.stack(logits, 1)


class DecoderStepWithoutContext(ContextDecoder):
    """Your cell does not see the context.

    The input of each step is [E y_{t-1}; c]. A decoder that knows the source only through its first
    state has to carry everything along until it is said.
    """

    def step(self, embedded, state, context):
        return super().step(embedded, state, torch.zeros_like(context))


class DecoderSwapsCellInput(ContextDecoder):
    """The input of the cell is in the wrong order.

    The GRU cell reads [E y_{t-1}; c]: first the embedded word, then the context.
    """

    def step(self, embedded, state, context):
        return self.cell(torch.cat([context, embedded], -1), state)


class DecoderSwapsStateAndContext(ContextDecoder):
    """In the step, state and context have changed places.

    The context belongs to the input, [E y_{t-1}; c]; the state that the cell carries on is h_{t-1}.
    Both have d numbers, so no error tells you.
    """

    def step(self, embedded, state, context):
        return super().step(embedded, context, state)


class DecoderReadoutWithoutContext(ContextDecoder):
    """The context is missing in the read-out.

    A word is read out of three things: [E y_{t-1}; h_t; c]. What c says need not pass through the
    state.
    """

    def readout(self, embedded, states, contexts):
        return super().readout(embedded, states, torch.zeros_like(contexts))


class DecoderReadoutTwiceState(ContextDecoder):
    """Your read-out gets the state twice, and no context.

    It reads [E y_{t-1}; h_t; c]. State and context have the same size, so no error tells you.
    """

    def readout(self, embedded, states, contexts):
        return super().readout(embedded, states, states)


class DecoderSwapsReadoutEnd(ContextDecoder):
    """The read-out joins state and context in the wrong order.

    It reads [E y_{t-1}; h_t; c]: the word, the state, the context.
    """

    def readout(self, embedded, states, contexts):
        return super().readout(embedded, contexts, states)


class DecoderSwapsReadout(ContextDecoder):
    """The read-out joins its inputs in the wrong order: the word does not come first.

    It reads [E y_{t-1}; h_t; c]: the word, the state, the context.
    """

    def readout(self, embedded, states, contexts):
        together = torch.cat([states, embedded, contexts], -1)
        return self.output(torch.tanh(self.hidden(together)))


class DecoderReadoutWithoutTanh(ContextDecoder):
    """The tanh of the read-out is missing.

    u_t = tanh(W_u [...] + b_u). Two linear layers without anything between them are one linear
    layer.
    """

    def readout(self, embedded, states, contexts):
        return self.output(self.hidden(torch.cat([embedded, states, contexts], -1)))


class DecoderReturnsProbabilities(ContextDecoder):
    """You return probabilities, not logits.

    readout returns the scores before the softmax; the loss takes the softmax itself, and a softmax
    of a softmax is almost flat.
    """

    def readout(self, embedded, states, contexts):
        return super().readout(embedded, states, contexts).softmax(-1)


class DecoderReturnsLogProbabilities(ContextDecoder):
    """You return log-probabilities, not logits.

    readout returns the scores as the last layer gives them. The loss takes the logarithm of the
    softmax itself.
    """

    def readout(self, embedded, states, contexts):
        return super().readout(embedded, states, contexts).log_softmax(-1)


class DecoderReadsOldState(ContextDecoder):
    """You read the words out of the state before the step.

    g(h_t, y_{t-1}, c): a word is predicted from the new state h_t, which has read the word before
    it. Here forward passes h_{t-1} to readout.
    """

    def forward(self, tokens, context):
        state, logits = self.start(context), []
        for word in self.embedding(tokens).unbind(1):
            logits.append(self.readout(word, state, context))
            state = self.step(word, state, context)
        return torch.stack(logits, 1)


class DecoderForgetsState(ContextDecoder):
    """Every step of your forward begins from the first state.

    The state that step returns has to go into the next step; otherwise the decoder knows nothing of
    what it has written but the last word.
    """

    def forward(self, tokens, context):
        first, logits = self.start(context), []
        for word in self.embedding(tokens).unbind(1):
            logits.append(self.readout(word, self.step(word, first, context), context))
        return torch.stack(logits, 1)


class DecoderReadsItsOwnWords(ContextDecoder):
    """Your forward reads its own predictions, not the words it is given.

    In training each step gets the true previous word, tokens[:, t] (teacher forcing), whatever the
    step before predicted. Feeding predictions back is what decoding does.
    """

    def forward(self, tokens, context):
        state, logits = self.start(context), []
        word = self.embedding(tokens[:, 0])
        for _ in range(tokens.shape[1]):
            state = self.step(word, state, context)
            logits.append(self.readout(word, state, context))
            word = self.embedding(logits[-1].argmax(-1))
        return torch.stack(logits, 1)


class DecoderShiftsTheWords(ContextDecoder):
    """You shift the words once more.

    tokens begins with the mark of the beginning already: logits[:, t] is what follows tokens[:, t].
    With another <bos> in front, everything comes one step late.
    """

    def forward(self, tokens, context):
        return super().forward(_shifted(tokens), context)


def _shifted(tokens):
    return torch.cat([torch.full_like(tokens[:, :1], BOS), tokens[:, :-1]], 1)


class DecoderContextCut(ContextDecoder):
    """The context is detached from the graph, so the encoder cannot learn.

    The values are right, but no gradient flows back into c: detach(), .data or no_grad() ends the
    graph.
    """

    def start(self, context):
        return super().start(context.detach())

    def step(self, embedded, state, context):
        return super().step(embedded, state, context.detach())

    def readout(self, embedded, states, contexts):
        return super().readout(embedded, states, contexts.detach())


# %% reverse_source


def whole_row_flipped(tokens, lengths):
    """You reverse the whole row, so the padding comes first.

    Only the words of a sentence change places; padding stays after them. The encoder stops after
    as many tokens as the sentence has words: it would read padding and miss words.
    """
    return tokens.flip(1)


def batch_flipped(tokens, lengths):
    """You reverse the order of the sentences, not that of the words.

    Axis 0 is the batch; the words of a sentence lie along axis 1.
    """
    return tokens.flip(0)


def longest_length_for_all(tokens, lengths):
    """You reverse all sentences as if they were as long as the longest.

    Each row has a length of its own: a shorter sentence's padding must stay after its words.
    """
    longest = int(lengths.max())
    return torch.cat([tokens[:, :longest].flip(1), tokens[:, longest:]], 1)


def last_word_stays(tokens, lengths):
    """Your function leaves the last word of each sentence where it is.

    All words up to the sentence's length change places, the last one too, also if it is the mark of
    the end. The slice of a sentence of n words ends at n, not at n - 1.
    """
    return right.reverse_source(tokens, (lengths - 1).clamp(min=0))


def one_place_too_far(tokens, lengths):
    """A padding comes first: the sentence was taken one place too long.

    A sentence of n words has its last word at position n - 1, since positions count from 0.
    """
    return right.reverse_source(tokens, (lengths + 1).clamp(max=tokens.shape[1]))


def padding_becomes_words(tokens, lengths):
    """You repeat the first word where padding should be.

    After the sentence the position to take from falls below 0; cut off at 0 it points to the first
    word. What comes after the sentence should stay as it is.
    """
    positions = torch.arange(tokens.shape[1])
    mirrored = (lengths.unsqueeze(1) - 1 - positions).clamp(min=0)
    return tokens.gather(1, mirrored)


def padding_becomes_zero(tokens, lengths):
    """You replace the padding by 0.

    Padding stays what it was: its id is 0 in this course, but not in every vocabulary.
    """
    real = torch.arange(tokens.shape[1]) < lengths.unsqueeze(1)
    return right.reverse_source(tokens, lengths) * real


def nothing_reversed(tokens, lengths):
    """Your words are still in their old order.

    The result is what went in. flip and index return new tensors; unless they are used, nothing
    has changed.
    """
    return tokens.clone()


def tokens_overwritten(tokens, lengths):
    """The tokens are overwritten.

    The result is right, but an assignment to a slice writes into the tensor that the caller still
    needs: called again on the same batch, it turns the sentences back. Write into a copy.
    """
    tokens.copy_(right.reverse_source(tokens, lengths))
    return tokens


# %% Seq2Seq


class SequenceReadsPadding(Seq2Seq):
    """Your encoder reads the padding.

    A sentence that is shorter than the batch is wide ends before the last column. An LSTM that runs
    on over the padding changes h and c there. pack_padded_sequence keeps padding out.
    """

    def encode(self, source, lengths):
        _, (h, c) = self.encoder(self.source_embedding(source))
        return h[0], c[0]


class SequenceCellReadsPadding(Seq2Seq):
    """You take h at each sentence's last word, but c has read the padding.

    The outputs of nn.LSTM are the states h of all positions; of c it returns the last alone, the
    one after the last column. If the batch is packed, both are those after each sentence's own last
    word.
    """

    def encode(self, source, lengths):
        states, (_, c) = self.encoder(self.source_embedding(source))
        return states[torch.arange(len(lengths)), lengths - 1], c[0]


class SequenceForgetsOrder(Seq2Seq):
    """Your sentences come back from encode in another order than they went in.

    If you sort the sentences by length for packing, put h and c back into the order of the batch;
    enforce_sorted=False does both.
    """

    def encode(self, source, lengths):
        order = lengths.argsort(descending=True, stable=True)
        return super().encode(source[order], lengths[order])


class SequenceSwapsEncoded(Seq2Seq):
    """Your encode returns c before h.

    The state of an LSTM is (h, c), in this order, here as everywhere in torch.
    """

    def encode(self, source, lengths):
        h, c = super().encode(source, lengths)
        return c, h


class SequenceReverses(Seq2Seq):
    """Your model reverses the source itself.

    Reversing is left to the caller, who may want to compare; a model that does it too turns the
    sentence back. encode reads the words as they stand.
    """

    def encode(self, source, lengths):
        return super().encode(right.reverse_source(source, lengths), lengths)


def _decode(model, previous, state):
    """Logits (B, T, V_t), from any state."""
    started = None if state is None else (state[0].unsqueeze(0), state[1].unsqueeze(0))
    states, _ = model.decoder(model.target_embedding(previous), started)
    return model.output(states)


class SequenceWithoutState(Seq2Seq):
    """Your decoder starts from zeros: the source is never used.

    nn.LSTM begins with zeros unless it is given a state. (h, c) of the encoder is all that the
    decoder learns about the source; without it, it is a language model.
    """

    def forward(self, source, lengths, previous):
        return _decode(self, previous, None)


class SequenceWithoutCell(Seq2Seq):
    """You hand over h alone; the decoder's cell state starts from zeros.

    The memory of an LSTM is c; h is what it shows of it. The state that is handed over is the pair.
    """

    def forward(self, source, lengths, previous):
        h, c = self.encode(source, lengths)
        return _decode(self, previous, (h, torch.zeros_like(c)))


class SequenceSwapsState(Seq2Seq):
    """The decoder gets h and c in the wrong order.

    nn.LSTM takes its state as (h, c). Both have the same shape, so no error tells you.
    """

    def forward(self, source, lengths, previous):
        h, c = self.encode(source, lengths)
        return _decode(self, previous, (c, h))


class SequenceReturnsLogProbabilities(Seq2Seq):
    """Your forward returns log-probabilities, not logits.

    forward returns what the last layer gives; the loss takes the logarithm of the softmax itself.
    Only step, which is there for decoding, returns log-probabilities.
    """

    def forward(self, source, lengths, previous):
        return super().forward(source, lengths, previous).log_softmax(-1)


class SequenceReturnsProbabilities(Seq2Seq):
    """Your forward returns probabilities, not logits.

    The loss takes the softmax itself, and a softmax of a softmax is almost flat: such a model
    hardly learns.
    """

    def forward(self, source, lengths, previous):
        return super().forward(source, lengths, previous).softmax(-1)


class SequenceReadsItsOwnWords(Seq2Seq):
    """Your forward reads its own predictions, not the words it is given.

    In training each step gets the true previous word, previous[:, t] (teacher forcing), whatever
    the step before predicted. Feeding predictions back is what decoding does.
    """

    def forward(self, source, lengths, previous):
        h, c = (part.unsqueeze(0) for part in self.encode(source, lengths))
        word, logits = previous[:, :1], []
        for _ in range(previous.shape[1]):
            states, (h, c) = self.decoder(self.target_embedding(word), (h, c))
            logits.append(self.output(states[:, 0]))
            word = logits[-1].argmax(-1, keepdim=True)
        return torch.stack(logits, 1)


class SequenceShiftsTheWords(Seq2Seq):
    """You shift the words once more.

    previous begins with the mark of the beginning already: logits[:, t] is what follows
    previous[:, t]. With another <bos> in front, everything comes one step late.
    """

    def forward(self, source, lengths, previous):
        return super().forward(source, lengths, _shifted(previous))


class SequenceStepReturnsLogits(Seq2Seq):
    """Your step returns logits, not log-probabilities.

    A search adds what step returns from word to word: the sum of log-probabilities is that of the
    sentence, while logits of different steps cannot be compared.
    """

    def step(self, tokens, state):
        return _step(self, tokens, state)


class SequenceStepReturnsProbabilities(Seq2Seq):
    """Your step returns probabilities, not their logarithms.

    A search adds what step returns; probabilities would have to be multiplied, and the product of
    many is soon too small for floating-point numbers. Return the logarithm of the softmax.
    """

    def step(self, tokens, state):
        logits, new = _step(self, tokens, state)
        return logits.softmax(-1), new


def _step(model, tokens, state):
    """Logits (B, V_t) and the new state."""
    given = (state[0].unsqueeze(0), state[1].unsqueeze(0))
    states, (h, c) = model.decoder(model.target_embedding(tokens).unsqueeze(1), given)
    return model.output(states[:, 0]), (h[0], c[0])


class SequenceStepKeepsState(Seq2Seq):
    """Your step returns the state that it was given.

    The new state has to come back, or every step begins where the sentence began.
    """

    def step(self, tokens, state):
        log_probs, _ = super().step(tokens, state)
        return log_probs, (state[0].clone(), state[1].clone())


class SequenceStepSwapsState(Seq2Seq):
    """Your step returns the new state as (c, h).

    The state goes in as (h, c) and comes back as (h, c); both have the same shape, so no error
    tells you.
    """

    def step(self, tokens, state):
        log_probs, (h, c) = super().step(tokens, state)
        return log_probs, (c, h)


class SequenceStepReadsOldState(Seq2Seq):
    """Your step scores the words with the state that it was given, not with the new one.

    The next word is predicted from the state that has read the word before it.
    """

    def step(self, tokens, state):
        _, new = _step(self, tokens, state)
        return self.output(state[0]).log_softmax(-1), new


class SequenceStateCut(Seq2Seq):
    """h and c are detached from the graph, so the encoder cannot learn.

    The values are right, but the state is the only way from the loss to the encoder, and no
    gradient comes back through it: detach(), .data or no_grad() ends the graph.
    """

    def encode(self, source, lengths):
        h, c = super().encode(source, lengths)
        return h.detach(), c.detach()


# %% sequence_loss


def _losses(logits, targets):
    """-log p of each label, (B, T), padding included."""
    return -logits.log_softmax(-1).gather(-1, targets.unsqueeze(-1)).squeeze(-1)


def padding_counts(logits, targets, pad_id=0):
    """You treat padding as a label like any other.

    Nobody wants the model to learn that padding follows padding; and since that is easy to learn, a
    loss that counts it looks better than it is. Only real tokens count.
    """
    return _losses(logits, targets).mean()


def divided_by_all(logits, targets, pad_id=0):
    """Your sum is over real tokens, but it is divided by all positions.

    Padding must not be in the denominator either: else the loss of a sentence depends on how long
    its neighbours in the batch are.
    """
    return (_losses(logits, targets) * (targets != pad_id)).mean()


def mean_of_sentences(logits, targets, pad_id=0):
    """You take a mean for each sentence first, then over the sentences.

    So a word of a short sentence weighs more than one of a long sentence. Here all real tokens of
    the batch count the same: one sum, divided by their number.
    """
    real = targets != pad_id
    each = (_losses(logits, targets) * real).sum(1) / real.sum(1).clamp(min=1)
    return each.mean()


def sum_of_sentences(logits, targets, pad_id=0):
    """Your sum is divided by the number of sentences, not of tokens.

    That is -log p of a whole sentence, the objective in the paper of Sutskever et al.; it grows with
    the length, so that batches of long sentences make larger steps. Wanted is the mean per real
    token.
    """
    real = targets != pad_id
    return (_losses(logits, targets) * real).sum() / targets.shape[0]


def plain_sum(logits, targets, pad_id=0):
    """Your losses are summed, not averaged.

    Divide by the number of real tokens, so that the learning rate need not change with the size of
    the batch.
    """
    return (_losses(logits, targets) * (targets != pad_id)).sum()


def pad_id_ignored(logits, targets, pad_id=0):
    """You take the id of padding to be 0, whatever `pad_id` says.

    Which id is padding is said by pad_id. If it is another one, 0 is a word and counts.
    """
    return right.sequence_loss(logits, targets)


def softmax_before(logits, targets, pad_id=0):
    """You take the softmax twice.

    torch's cross entropy takes logits and applies the log-softmax itself. Given probabilities,
    numbers between 0 and 1, it sees an almost flat distribution and hardly teaches anything.
    """
    return right.sequence_loss(logits.softmax(-1), targets, pad_id)


def sign_forgotten(logits, targets, pad_id=0):
    """The sign is wrong.

    Logarithms of probabilities are negative, and the loss is minus their mean: training makes it
    smaller, and so the probabilities larger.
    """
    return -right.sequence_loss(logits, targets, pad_id)


def targets_shifted_again(logits, targets, pad_id=0):
    """You shift the labels once more.

    logits[:, t] predicts targets[:, t] already; the words that the model reads are a row of their
    own, shifted by one. Comparing logits[:, t] with targets[:, t + 1] asks for the word after the
    next.
    """
    return right.sequence_loss(logits[:, :-1], targets[:, 1:], pad_id)


def softmax_over_positions(logits, targets, pad_id=0):
    """Your softmax runs over the positions, not over the words.

    The words of the vocabulary compete, on the last axis of logits (B, T, V). Axis 1 is the target
    position.
    """
    real = targets != pad_id
    losses = -logits.log_softmax(1).gather(-1, targets.unsqueeze(-1)).squeeze(-1)
    return (losses * real).sum() / real.sum().clamp(min=1)


def reshaped_for_transposed(logits, targets, pad_id=0):
    """Your logits are reshaped where they should be transposed.

    torch's cross entropy wants the classes on axis 1, (B, V, T). view and reshape keep the numbers
    in their order and only cut them differently, so that the scores of different words and positions get
    mixed. Transpose, or flatten B and T into one axis.
    """
    b, t, v = logits.shape
    real = targets != pad_id
    losses = F.cross_entropy(logits.reshape(b, v, t), targets, reduction="none")
    return (losses * real).sum() / real.sum().clamp(min=1)


def exponent_overflows(logits, targets, pad_id=0):
    """You take the logarithm of a probability that has become 0.

    The softmax of a logit far below the others rounds to 0, whose logarithm is minus infinity; the
    logarithm itself is an ordinary number. log_softmax computes it in one step.
    """
    real = targets != pad_id
    picked = logits.softmax(-1).gather(-1, targets.unsqueeze(-1)).squeeze(-1)  # (B, T)
    losses = -torch.where(real, picked, torch.ones_like(picked)).log()
    return losses.sum() / real.sum().clamp(min=1)
