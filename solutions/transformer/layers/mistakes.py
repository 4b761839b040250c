"""Mistakes that people really make in the notebook `transformer/layers`.

Each function or class is one wrong implementation; the first line of its docstring is the title of
the card, the rest the hint. Hints teach; they never show the code.
"""

import torch
import torch.nn.functional as F

from solutions.transformer import layers as right

# %% sinusoidal_positions


def _angles(length, exponents, first=0):
    return torch.arange(first, first + length).unsqueeze(1) / 10_000**exponents


def _woven(angle):
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1).to(torch.get_default_dtype())


def _exponents(size):
    return torch.arange(0, size, 2).double() / size


def sines_then_cosines(length, size):
    """You put all sines first and all cosines after them.

    Sine and cosine of one wave are neighbours: PE(pos, 2i) is the sine, PE(pos, 2i + 1) the cosine.
    A model could be trained with either order, but not with weights of the other.
    """
    angle = _angles(length, _exponents(size))
    return torch.cat([angle.sin(), angle.cos()], dim=1).to(torch.get_default_dtype())


def cosine_before_sine(length, size):
    """Sine and cosine have changed places.

    The even components, 0, 2, 4, ..., are sines, the odd ones cosines: at position 0 the vector
    begins 0, 1, 0, 1.
    """
    angle = _angles(length, _exponents(size))
    return torch.stack([angle.cos(), angle.sin()], dim=-1).flatten(1).to(torch.get_default_dtype())


def wave_for_each_component(length, size):
    """You give each component a wave of its own.

    Components 2i and 2i + 1 are the sine and cosine of the *same* angle: the exponent is 2i / size
    in both. Only so is the step from pos to pos + k a rotation of each pair.
    """
    angle = _angles(length, torch.arange(size).double() / size)
    waves = torch.where(torch.arange(size) % 2 == 0, angle.sin(), angle.cos())
    return waves.to(torch.get_default_dtype())


def exponent_without_two(length, size):
    """Your waves slow down half as fast as they should.

    The exponent of the i-th pair is 2i / size, so that it runs from 0 to almost 1 over the vector.
    With i counting the pairs and without the 2 it stops at a half: the slowest wave is 100 times
    faster than it should be.
    """
    return _woven(_angles(length, _exponents(size) / 2))


def exponent_with_four(length, size):
    """Your waves slow down twice as fast as they should.

    The exponent of the i-th pair is 2i / size. A range that goes 0, 2, 4, ... holds 2i already:
    another 2 in front of it is one too many.
    """
    return _woven(_angles(length, 2 * _exponents(size)))


def exponent_to_one(length, size):
    """Your exponent reaches 1 at the last wave.

    The paper divides 2i by size, so the last exponent is 1 - 2 / size. Dividing i by the number of
    waves less one is the spacing of some libraries, and gives other waves.
    """
    waves = size // 2
    return _woven(_angles(length, torch.arange(waves).double() / max(1, waves - 1)))


def faster_not_slower(length, size):
    """Your waves become faster along the vector, not slower.

    The position is divided by 10000^(2i / size): the first pair turns by 1 radian with each
    position, the last one hardly at all.
    """
    return _woven(_angles(length, -_exponents(size)))


def positions_from_one(length, size):
    """You count positions from 1.

    The first position is 0: its sines are 0 and its cosines 1.
    """
    return _woven(_angles(length, _exponents(size), first=1))


def positions_along_columns(length, size):
    """Positions and components have changed places.

    The result is (length, size): a row for each position.
    """
    return right.sinusoidal_positions(length, size).T.contiguous()


def base_thousand(length, size):
    """Your base is not 10000.

    Wavelengths run from 2 pi to almost 10000 times that.
    """
    return _woven(torch.arange(length).unsqueeze(1) / 1_000 ** _exponents(size))


def clocks_from_one(length, size):
    """You count the pairs from 1.

    The first pair is i = 0, and 10000^0 is 1: it turns by one radian from each position to the
    next. Counted from 1, all waves are too slow and the fastest is missing.
    """
    return _woven(_angles(length, _exponents(size) + 2 / size))


# %% layer_norm


def _scaled(x, weight, bias, divisor):
    return weight * (x - x.mean(-1, keepdim=True)) / divisor + bias


def _spread(x, unbiased=False):
    return x.var(-1, keepdim=True, unbiased=unbiased)


def norm_divides_by_one_less(x, weight, bias, eps=1e-5):
    """Your variance divides by d - 1.

    That is the estimate of statistics, and torch's `var` and `std` give it unless told otherwise.
    LayerNorm does not estimate anything: it divides by d.
    """
    return _scaled(x, weight, bias, (_spread(x, unbiased=True) + eps).sqrt())


def norm_eps_outside(x, weight, bias, eps=1e-5):
    """You add eps to the deviation, not to the variance.

    It belongs under the root: sqrt(var + eps). There it also keeps the gradient finite for a vector
    of equal numbers.
    """
    return _scaled(x, weight, bias, _spread(x).sqrt() + eps)


def norm_of_deviation(x, weight, bias, eps=1e-5):
    """Your deviation is that of torch's `std`, with eps added afterwards.

    Two things differ from LayerNorm: `std` divides by d - 1, and eps belongs under the root, added
    to the variance.
    """
    return _scaled(x, weight, bias, _spread(x, unbiased=True).sqrt() + eps)


def norm_without_root(x, weight, bias, eps=1e-5):
    """The root is missing: the vector is divided by its variance.

    Dividing by the deviation, the root of the variance, gives a variance of 1.
    """
    return _scaled(x, weight, bias, _spread(x) + eps)


def norm_without_eps(x, weight, bias, eps=1e-5):
    """eps is not added.

    A vector of equal numbers has variance 0. With eps it becomes the bias; without, 0 / 0.
    """
    return _scaled(x, weight, bias, _spread(x).sqrt())


def norm_with_fixed_eps(x, weight, bias, eps=1e-5):
    """The eps that is given is not used.

    1e-5 is its default. BERT, for one, calls with another.
    """
    return right.layer_norm(x, weight, bias)


def norm_over_batch(x, weight, bias, eps=1e-5):
    """You take mean and variance over the first axis: that is BatchNorm.

    LayerNorm looks at one vector at a time, over its last axis, so that a sentence does not depend
    on its neighbours in the batch.
    """
    centred = x - x.mean(0, keepdim=True)
    return weight * centred / (x.var(0, keepdim=True, unbiased=False) + eps).sqrt() + bias


def norm_over_axis_one(x, weight, bias, eps=1e-5):
    """You take mean and variance over axis 1, which is not always the last.

    For (B, d) it is; for (B, T, d) it runs over the words. Count axes from the end.
    """
    axis = min(1, x.dim() - 1)
    centred = x - x.mean(axis, keepdim=True)
    return weight * centred / (x.var(axis, keepdim=True, unbiased=False) + eps).sqrt() + bias


def norm_over_everything(x, weight, bias, eps=1e-5):
    """You take one mean and one variance for all vectors together.

    Each vector has its own: take them over the last axis, and keep that axis with size 1.
    """
    return weight * (x - x.mean()) / (x.var(unbiased=False) + eps).sqrt() + bias


def norm_without_mean(x, weight, bias, eps=1e-5):
    """You do not subtract the mean.

    Dividing by the root of the mean square alone is RMSNorm, which some later models use; LayerNorm
    centres the vector first.
    """
    return weight * x / (x.square().mean(-1, keepdim=True) + eps).sqrt() + bias


def norm_only_centred(x, weight, bias, eps=1e-5):
    """You centre the vector but do not scale it.

    After the mean is taken off, divide by the root of the variance.
    """
    return _scaled(x, weight, bias, torch.ones_like(x))


def norm_bias_before_gain(x, weight, bias, eps=1e-5):
    """You add the bias before the gain multiplies.

    First the gain, then the bias: weight * normalised + bias.
    """
    return weight * (right.layer_norm(x, torch.ones_like(weight), bias, eps))


def norm_without_gain_and_bias(x, weight, bias, eps=1e-5):
    """Gain and bias are not used.

    They let the model undo the normalisation where it does not help: weight * normalised + bias.
    """
    return right.layer_norm(x, torch.ones_like(weight), torch.zeros_like(bias), eps)


def norm_statistics_cut(x, weight, bias, eps=1e-5):
    """Your values are right, but no gradient goes through mean and variance.

    They depend on x, and the gradient has to know: without that part it does not see that making
    all numbers larger changes nothing.
    """
    spread = _spread(x).detach()
    return weight * (x - x.mean(-1, keepdim=True).detach()) / (spread + eps).sqrt() + bias


def norm_over_sentences(x, weight, bias, eps=1e-5):
    """You take mean and variance over all vectors of a sentence.

    Each vector has a mean and a variance of its own, over its last axis. Otherwise a word depends
    on the other words of its sentence, and on the padding.
    """
    axes = tuple(range(min(1, x.dim() - 1), x.dim()))
    centred = x - x.mean(axes, keepdim=True)
    return weight * centred / (x.var(axes, keepdim=True, unbiased=False) + eps).sqrt() + bias


def norm_not_centred(x, weight, bias, eps=1e-5):
    """You divide the vector by its deviation, but leave its mean in it.

    The variance knows the mean already, and the vector above the fraction line has to lose it as
    well: x - mean(x).
    """
    return weight * x / (_spread(x) + eps).sqrt() + bias


def norm_of_squares(x, weight, bias, eps=1e-5):
    """The centred vector is divided by the root mean square of the vector that is not centred.

    The root mean square belongs to RMSNorm. A variance is the mean of the squares *after* the mean
    is taken off.
    """
    return _scaled(x, weight, bias, (x.square().mean(-1, keepdim=True) + eps).sqrt())


def norm_of_absolutes(x, weight, bias, eps=1e-5):
    """You divide the vector by its mean absolute deviation.

    A standard deviation is the root of the mean of *squares*; only with that is the variance of
    the result 1.
    """
    centred = x - x.mean(-1, keepdim=True)
    return _scaled(x, weight, bias, centred.abs().mean(-1, keepdim=True) + eps)


# %% PositionwiseFeedForward


class FeedForwardWithoutRelu(right.PositionwiseFeedForward):
    """There is nothing between the two linear layers.

    Two linear layers in a row are one linear layer. The ReLU between them, max(0, .), is what the
    network is there for.
    """

    def forward(self, x):
        return self.outer(self.inner(x))


class FeedForwardReluLast(right.PositionwiseFeedForward):
    """Your ReLU comes after the second layer.

    It belongs between the two: W_2 max(0, W_1 x + b_1) + b_2. What is added to the residual may be
    negative.
    """

    def forward(self, x):
        return self.outer(self.inner(x)).relu()


class FeedForwardReluTwice(right.PositionwiseFeedForward):
    """You add a second ReLU, after the second layer.

    Only the inner layer has one. What is added to the residual may be negative.
    """

    def forward(self, x):
        return super().forward(x).relu()


class FeedForwardReluFirst(right.PositionwiseFeedForward):
    """You take the ReLU of the input.

    First W_1 x + b_1, then max(0, .), then W_2.
    """

    def forward(self, x):
        return self.outer(self.inner(x.relu()))


class FeedForwardGelu(right.PositionwiseFeedForward):
    """A GELU stands where the paper has a ReLU.

    BERT has a GELU; the Transformer of 2017 has max(0, .).
    """

    def forward(self, x):
        return self.outer(F.gelu(self.inner(x)))


class FeedForwardTanh(right.PositionwiseFeedForward):
    """A tanh stands where the paper has a ReLU.

    The recurrent chapters had tanh everywhere; here it is max(0, .).
    """

    def forward(self, x):
        return self.outer(self.inner(x).tanh())


class FeedForwardWithResidual(right.PositionwiseFeedForward):
    """You add the input to the result.

    The residual connection belongs to the layer around the network, not to the network: added in
    both it would count twice.
    """

    def forward(self, x):
        return x + super().forward(x)


class FeedForwardWithoutOuterBias(right.PositionwiseFeedForward):
    """The bias of the second layer is missing.

    FFN(x) = W_2 max(0, W_1 x + b_1) + b_2.
    """

    def forward(self, x):
        return F.linear(self.inner(x).relu(), self.outer.weight)


class FeedForwardWithoutInnerBias(right.PositionwiseFeedForward):
    """The bias of the first layer is missing.

    FFN(x) = W_2 max(0, W_1 x + b_1) + b_2.
    """

    def forward(self, x):
        return self.outer(F.linear(x, self.inner.weight).relu())


class FeedForwardLeaky(right.PositionwiseFeedForward):
    """Your ReLU is a leaky one where the paper has a ReLU.

    max(0, .) lets nothing through that is negative, not even a hundredth of it.
    """

    def forward(self, x):
        return self.outer(F.leaky_relu(self.inner(x)))


class FeedForwardNormalised(right.PositionwiseFeedForward):
    """You normalise the result.

    The norm belongs to the layer around the network, after the residual is added; the network
    itself has none.
    """

    def forward(self, x):
        return F.layer_norm(super().forward(x), x.shape[-1:])


class FeedForwardBiasAfterRelu(right.PositionwiseFeedForward):
    """You add the first bias after the ReLU.

    It belongs inside: max(0, W_1 x + b_1). There it decides from where on a unit lets something
    through.
    """

    def forward(self, x):
        return self.outer(F.linear(x, self.inner.weight).relu() + self.inner.bias)


# %% EncoderLayer


class _Encoder(right.EncoderLayer):
    """The right layer in pieces, so that a mistake changes one of them."""

    def look(self, x, mask):
        """What the words find in each other."""
        return self.attention(x, x, x, mask)[0]

    def attended(self, x, mask):
        """a."""
        return self.attention_norm(x + self.look(x, mask))

    def fed(self, x, a):
        """y."""
        return self.feed_forward_norm(a + self.feed_forward(a))

    def forward(self, x, mask=None):
        return self.fed(x, self.attended(x, mask))


class EncoderPreNorm(_Encoder):
    """Your norms stand before attention and network, not after the sums.

    That is the pre-norm layer that many later models use. The paper's layer is post-norm:
    LayerNorm(x + Sublayer(x)).
    """

    def forward(self, x, mask=None):
        x = x + self.look(self.attention_norm(x), mask)
        return x + self.feed_forward(self.feed_forward_norm(x))


class EncoderNormInside(_Encoder):
    """You normalise only what attention and network return, not the sum.

    LayerNorm(x + Sublayer(x)): the input is added first, then the sum is normalised.
    """

    def attended(self, x, mask):
        return x + self.attention_norm(self.look(x, mask))

    def fed(self, x, a):
        return a + self.feed_forward_norm(self.feed_forward(a))


class EncoderWithoutFirstResidual(_Encoder):
    """You do not add the input to what the attention returns.

    Without the residual connection each word would be replaced by what it found in the others, and
    the gradient would lose its short way back.
    """

    def attended(self, x, mask):
        return self.attention_norm(self.look(x, mask))


class EncoderWithoutSecondResidual(_Encoder):
    """You do not add the network's input to its output.

    y = LayerNorm(a + FFN(a)): the second sub-layer has a residual connection as well.
    """

    def fed(self, x, a):
        return self.feed_forward_norm(self.feed_forward(a))


class EncoderWithoutResiduals(_Encoder):
    """Both residual connections are missing.

    Each of the two sub-layers adds its input to its result before the norm: LayerNorm(x +
    Sublayer(x)).
    """

    def forward(self, x, mask=None):
        a = self.attention_norm(self.look(x, mask))
        return self.feed_forward_norm(self.feed_forward(a))


class EncoderResidualFromInput(_Encoder):
    """Your second residual adds the layer's input.

    The network's own input is a, the result of the first sub-layer, and that is what is added: y =
    LayerNorm(a + FFN(a)).
    """

    def fed(self, x, a):
        return self.feed_forward_norm(x + self.feed_forward(a))


class EncoderNetworkOfInput(_Encoder):
    """Your network reads the layer's input, not what the attention made of it.

    The two sub-layers stand in a row: the network gets a, the normalised sum of the first.
    """

    def fed(self, x, a):
        return self.feed_forward_norm(a + self.feed_forward(x))


class EncoderNormsSwapped(_Encoder):
    """The two norms have changed places.

    `attention_norm` comes after the attention, `feed_forward_norm` after the network: each has
    its own gain and bias.
    """

    def forward(self, x, mask=None):
        a = self.feed_forward_norm(x + self.look(x, mask))
        return self.attention_norm(a + self.feed_forward(a))


class EncoderOneNorm(_Encoder):
    """You use the same norm twice.

    Each sub-layer has a norm of its own, with its own gain and bias: `attention_norm` and
    `feed_forward_norm`.
    """

    def fed(self, x, a):
        return self.attention_norm(a + self.feed_forward(a))


class EncoderWithoutFirstNorm(_Encoder):
    """The norm after the attention is missing.

    Each of the two sub-layers ends in a norm of its own.
    """

    def attended(self, x, mask):
        return x + self.look(x, mask)


class EncoderWithoutSecondNorm(_Encoder):
    """The norm after the network is missing.

    Each of the two sub-layers ends in a norm of its own; in the paper's layer, the result is
    normalised.
    """

    def fed(self, x, a):
        return a + self.feed_forward(a)


class EncoderForgetsMask(_Encoder):
    """The mask does not reach the attention.

    Hand the mask on; otherwise padding is attended to.
    """

    def look(self, x, mask):
        return self.attention(x, x, x)[0]


class EncoderWithoutNetwork(_Encoder):
    """The feed-forward network is not used.

    Attention mixes the words; the network is what computes with each word after that.
    """

    def forward(self, x, mask=None):
        return self.feed_forward_norm(self.attended(x, mask))


class EncoderNetworkFirst(_Encoder):
    """Your network comes before the attention.

    First the words look at each other, then the network works on each.
    """

    def forward(self, x, mask=None):
        return self.attended(self.fed(x, x), mask)


class EncoderInvertsMask(_Encoder):
    """Your mask is inverted before it reaches the attention.

    True means "may be attended" here and in the attention, so the mask is handed on as it is. Only
    nn.MultiheadAttention wants to be told what to leave out.
    """

    def look(self, x, mask):
        return super().look(x, None if mask is None else ~mask)


# %% DecoderLayer


class _Decoder(right.DecoderLayer):
    """The right layer in pieces, so that a mistake changes one of them."""

    def look(self, y, mask):
        """What the words find in each other."""
        return self.attention(y, y, y, mask)[0]

    def consult(self, a, memory, mask):
        """What they find in the memory."""
        return self.memory_attention(a, memory, memory, mask)[0]

    def recall(self, a, cache, mask):
        """What one word finds in the memory that is kept."""
        kept = cache["memory_keys"], cache["memory_values"]
        return self.memory_attention(a, None, None, mask, kept)[0]

    def rest(self, y, found, consult):
        """From what the words found in each other to z."""
        a = self.attention_norm(y + found)
        b = self.memory_attention_norm(a + consult(a))
        return self.feed_forward_norm(b + self.feed_forward(b))

    def forward(self, y, memory, mask=None, memory_mask=None):
        found = self.look(y, mask)
        return self.rest(y, found, lambda a: self.consult(a, memory, memory_mask))

    def joined(self, cache, new):
        """Keys and values for this step."""
        key, value = new
        return torch.cat([cache["keys"], key], 2), torch.cat([cache["values"], value], 2)

    def renewed(self, cache, kept, z):
        """The cache that step returns."""
        return {**cache, "keys": kept[0], "values": kept[1]}

    def step(self, y, cache, memory_mask=None):
        kept = self.joined(cache, self.attention.project(y, y))
        found = self.attention(y, None, None, None, kept)[0]
        z = self.rest(y, found, lambda a: self.recall(a, cache, memory_mask))
        return z, self.renewed(cache, kept, z)


class DecoderPreNorm(_Decoder):
    """Your norms stand before attention and network, not after the sums.

    That is the pre-norm layer that many later models use. The paper's layer is post-norm:
    LayerNorm(x + Sublayer(x)), three times.
    """

    def forward(self, y, memory, mask=None, memory_mask=None):
        a = y + self.look(self.attention_norm(y), mask)
        b = a + self.consult(self.memory_attention_norm(a), memory, memory_mask)
        return b + self.feed_forward(self.feed_forward_norm(b))

    def step(self, y, cache, memory_mask=None):
        normed = self.attention_norm(y)
        kept = self.joined(cache, self.attention.project(normed, normed))
        a = y + self.attention(normed, None, None, None, kept)[0]
        b = a + self.recall(self.memory_attention_norm(a), cache, memory_mask)
        z = b + self.feed_forward(self.feed_forward_norm(b))
        return z, self.renewed(cache, kept, z)


class DecoderWithoutMemory(_Decoder):
    """Your decoder never looks at the encoder's states.

    Between self-attention and network stands a second attention: its queries come from the decoder,
    keys and values from the memory.
    """

    def rest(self, y, found, consult):
        b = self.memory_attention_norm(self.attention_norm(y + found))
        return self.feed_forward_norm(b + self.feed_forward(b))


class DecoderMemoryFirst(_Decoder):
    """Your decoder looks at the memory before it looks at its own words.

    First self-attention, then attention to the memory, then the network: figure 1, right, from
    below.
    """

    def forward(self, y, memory, mask=None, memory_mask=None):
        a = self.memory_attention_norm(y + self.consult(y, memory, memory_mask))
        b = self.attention_norm(a + self.look(a, mask))
        return self.feed_forward_norm(b + self.feed_forward(b))

    def step(self, y, cache, memory_mask=None):
        a = self.memory_attention_norm(y + self.recall(y, cache, memory_mask))
        kept = self.joined(cache, self.attention.project(a, a))
        b = self.attention_norm(a + self.attention(a, None, None, None, kept)[0])
        z = self.feed_forward_norm(b + self.feed_forward(b))
        return z, self.renewed(cache, kept, z)


class DecoderQueriesWithInput(_Decoder):
    """You query the memory with the layer's input, not with the result of self-attention.

    The query of the second attention is a, which knows the words before: b = LayerNorm(a +
    Attention(a, memory, memory)).
    """

    def rest(self, y, found, consult):
        a = self.attention_norm(y + found)
        b = self.memory_attention_norm(a + consult(y))
        return self.feed_forward_norm(b + self.feed_forward(b))


class DecoderOneAttention(_Decoder):
    """You use the self-attention for the memory, too.

    The layer has two attentions with weights of their own: `attention` for its words,
    `memory_attention` for the encoder's states.
    """

    def consult(self, a, memory, mask):
        return self.attention(a, memory, memory, mask)[0]

    def recall(self, a, cache, mask):
        kept = cache["memory_keys"], cache["memory_values"]
        return self.attention(a, None, None, mask, kept)[0]

    def start(self, memory):
        keys, values = self.attention.project(memory, memory)
        return {**super().start(memory), "memory_keys": keys, "memory_values": values}


class DecoderWithoutMemoryResidual(_Decoder):
    """You do not add the query of the memory to what it found.

    b = LayerNorm(a + Attention(a, memory, memory)): each of the three sub-layers has a residual
    connection.
    """

    def rest(self, y, found, consult):
        b = self.memory_attention_norm(consult(self.attention_norm(y + found)))
        return self.feed_forward_norm(b + self.feed_forward(b))


class DecoderWithoutResiduals(_Decoder):
    """The residual connections are missing.

    Each of the three sub-layers adds its input to its result before the norm.
    """

    def rest(self, y, found, consult):
        b = self.memory_attention_norm(consult(self.attention_norm(found)))
        return self.feed_forward_norm(self.feed_forward(b))


class DecoderNormsSwapped(_Decoder):
    """The norms of the two attentions have changed places.

    `attention_norm` comes after the self-attention, `memory_attention_norm` after the attention
    to the memory.
    """

    def rest(self, y, found, consult):
        a = self.memory_attention_norm(y + found)
        b = self.attention_norm(a + consult(a))
        return self.feed_forward_norm(b + self.feed_forward(b))


class DecoderWithoutNetwork(_Decoder):
    """The feed-forward network is not used.

    It is the third sub-layer: z = LayerNorm(b + FFN(b)).
    """

    def rest(self, y, found, consult):
        a = self.attention_norm(y + found)
        return self.feed_forward_norm(self.memory_attention_norm(a + consult(a)))


class DecoderForgetsMask(_Decoder):
    """The mask does not reach the self-attention.

    Without it each word sees the words that come after it, also the one that it should predict:
    training would look very good, and translating would not work at all.
    """

    def look(self, y, mask):
        return self.attention(y, y, y)[0]


class DecoderMasksItself(_Decoder):
    """Your layer adds a causal mask of its own.

    What may be attended to is said by the mask that is given, and by nothing else. The model makes
    it, once for all layers.
    """

    def look(self, y, mask):
        before = torch.ones(y.shape[1], y.shape[1], dtype=torch.bool).tril().unsqueeze(0)
        return super().look(y, before if mask is None else mask & before)


class DecoderForgetsMemoryMask(_Decoder):
    """The memory's mask does not reach the attention to the memory.

    Source sentences end in padding, in `forward` and in `step`; hand the mask on in both.
    """

    def consult(self, a, memory, mask):
        return super().consult(a, memory, None)

    def recall(self, a, cache, mask):
        return super().recall(a, cache, None)


class DecoderStepForgetsMemoryMask(_Decoder):
    """Your `step` does not hand on the memory's mask.

    `forward` is right. In `step` there are no later words to hide, but the source still has its
    padding.
    """

    def recall(self, a, cache, mask):
        return super().recall(a, cache, None)


class DecoderStepSeesOnlyItself(_Decoder):
    """Your step sees its own word alone.

    Its keys and values are those kept so far *and* its own, joined along the axis of the positions.
    """

    def joined(self, cache, new):
        return new


class DecoderStepSeesOnlyTheOthers(_Decoder):
    """Your step does not see its own word.

    A position may attend to itself: join its own key and value to the kept ones before it attends.
    """

    def step(self, y, cache, memory_mask=None):
        kept = cache["keys"], cache["values"]
        found = torch.zeros_like(y)
        if kept[0].shape[2]:
            found = self.attention(y, None, None, None, kept)[0]
        z = self.rest(y, found, lambda a: self.recall(a, cache, memory_mask))
        return z, self.renewed(cache, self.joined(cache, self.attention.project(y, y)), z)


class DecoderKeepsOldCache(_Decoder):
    """Your `step` returns the cache as it got it.

    The new one holds one position more. Without it, each step believes that it writes the first
    word.
    """

    def renewed(self, cache, kept, z):
        return cache


class DecoderWritesIntoCache(_Decoder):
    """Your `step` writes into the cache that it was given.

    A search goes on from one state in several ways: the cache it hands in must stay as it is.
    Return a new dict.
    """

    def renewed(self, cache, kept, z):
        cache.update(keys=kept[0], values=kept[1])
        return cache


class DecoderKeepsResult(_Decoder):
    """You project what is kept of a step from its result.

    In `forward`, keys and values of the self-attention come from y, the layer's input. z goes to
    the next layer.
    """

    def renewed(self, cache, kept, z):
        key, value = self.joined(cache, self.attention.project(z, z))
        return {**cache, "keys": key, "values": value}


class DecoderStartsFull(_Decoder):
    """Before the first word, you put the memory into the cache of the words.

    `keys` and `values` belong to the words written so far, and there are none: the axis of the
    positions has size 0. The memory goes into `memory_keys` and `memory_values`.
    """

    def start(self, memory):
        keys, values = self.attention.project(memory, memory)
        return {**super().start(memory), "keys": keys, "values": values}


class DecoderProjectsWithOneAttention(_Decoder):
    """Your self-attention projects the memory.

    What is kept of the memory is for `memory_attention`, so it has to project it.
    """

    def start(self, memory):
        keys, values = self.attention.project(memory, memory)
        return {**super().start(memory), "memory_keys": keys, "memory_values": values}


class DecoderSecondResidualFromInput(_Decoder):
    """Your second residual adds the layer's input.

    What asks the memory is a, the result of the first sub-layer, and that is what is added: b =
    LayerNorm(a + Attention(a, memory, memory)).
    """

    def rest(self, y, found, consult):
        b = self.memory_attention_norm(y + consult(self.attention_norm(y + found)))
        return self.feed_forward_norm(b + self.feed_forward(b))


class DecoderWithoutFirstNorm(_Decoder):
    """You have no norm after the self-attention.

    Each of the three sub-layers ends in a norm of its own: a = LayerNorm(y + SelfAttention(y)).
    """

    def rest(self, y, found, consult):
        a = y + found
        b = self.memory_attention_norm(a + consult(a))
        return self.feed_forward_norm(b + self.feed_forward(b))


class DecoderWithoutLastNorm(_Decoder):
    """You have no norm after the network.

    Each of the three sub-layers ends in a norm of its own: z = LayerNorm(b + FFN(b)).
    """

    def rest(self, y, found, consult):
        a = self.attention_norm(y + found)
        b = self.memory_attention_norm(a + consult(a))
        return b + self.feed_forward(b)


class DecoderForwardPreNorm(_Decoder):
    """In `forward`, your norms stand before attention and network, not after the sums.

    The paper's layer is post-norm, LayerNorm(x + Sublayer(x)), three times. Your `step` does it
    like this already.
    """

    def forward(self, y, memory, mask=None, memory_mask=None):
        a = y + self.look(self.attention_norm(y), mask)
        b = a + self.consult(self.memory_attention_norm(a), memory, memory_mask)
        return b + self.feed_forward(self.feed_forward_norm(b))


class DecoderForwardMemoryFirst(_Decoder):
    """In `forward`, your decoder looks at the memory before it looks at its own words.

    First self-attention, then attention to the memory, then the network. Your `step` has this order
    already.
    """

    def forward(self, y, memory, mask=None, memory_mask=None):
        a = self.memory_attention_norm(y + self.consult(y, memory, memory_mask))
        b = self.attention_norm(a + self.look(a, mask))
        return self.feed_forward_norm(b + self.feed_forward(b))
