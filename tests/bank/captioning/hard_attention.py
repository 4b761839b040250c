"""Answers to `hard_attention`: every right one draws in a way of its own."""

import sys
import warnings

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.distributions import Categorical
from tqdm.auto import tqdm

# Right


def with_multinomial(weights: Tensor, values: Tensor, generator=None):
    place = torch.multinomial(weights, 1, generator=generator).squeeze(1)
    rows = torch.arange(len(weights))
    sample = F.one_hot(place, weights.shape[1]).to(weights.dtype)
    return values[rows, place], sample, torch.log(weights[rows, place])


def inverse_of_the_sum(weights, values, generator=None):
    u = torch.rand(len(weights), 1, generator=generator, dtype=weights.dtype)
    place = (weights.detach().cumsum(1) <= u).sum(1, keepdim=True)
    sample = torch.zeros_like(weights)
    sample.scatter_(1, place, 1.0)
    context = (sample.unsqueeze(2) * values).sum(1)
    return context, sample, weights.gather(1, place)[:, 0].log()


def with_searchsorted(weights, values, generator=None):
    B, N, d = values.shape
    u = torch.rand((B, 1), generator=generator)
    edges = weights.detach().float().cumsum(-1).contiguous()
    place = torch.searchsorted(edges, u, right=True).clamp(max=N - 1)
    context = values.gather(1, place.unsqueeze(2).expand(B, 1, d)).squeeze(1)
    sample = torch.eye(N, dtype=weights.dtype)[place[:, 0]]
    return context, sample, torch.log((weights * sample).sum(1))


def gumbel_max(weights, values, generator=None):
    u = torch.rand(weights.shape, generator=generator, dtype=torch.float64)
    noise = -torch.log(-torch.log(u))
    with torch.no_grad():
        place = (weights.double().log() + noise).argmax(dim=-1)
    sample = F.one_hot(place, weights.shape[-1]).type_as(weights)
    context = torch.bmm(sample.unsqueeze(1), values).squeeze(1)
    log_prob = weights.take_along_dim(place[:, None], dim=1).log().flatten()
    return context, sample, log_prob


def race_of_exponentials(weights, values, generator=None):
    times = torch.empty_like(weights.detach()).exponential_(generator=generator)
    place = (times / weights.detach()).argmin(1)
    sample = torch.zeros_like(weights).index_put(
        (torch.arange(len(place)), place), torch.ones((), dtype=weights.dtype)
    )
    log_prob = torch.where(sample.bool(), weights, torch.ones_like(weights)).log().sum(1)
    return torch.einsum("bn,bnd->bd", sample, values), sample, log_prob


def one_picture_at_a_time(weights, values, generator=None):
    contexts, samples, logs = [], [], []
    for row, places in zip(weights, values, strict=True):
        i = int(torch.multinomial(row.detach(), 1, generator=generator))
        one = torch.zeros_like(row)
        one[i] = 1
        contexts.append(places[i])
        samples.append(one)
        logs.append(row[i].log())
    return torch.stack(contexts), torch.stack(samples), torch.stack(logs)


def place_by_place(weights, values, generator=None):
    # is it this place, given that it was none before?
    B, N = weights.shape
    alpha = weights.detach().double()
    left = torch.ones(B, dtype=torch.float64)
    free = torch.ones(B, dtype=torch.bool)
    sample = torch.zeros_like(weights)
    for i in range(N):
        u = torch.rand(B, generator=generator, dtype=torch.float64)
        here = free & (u * left < alpha[:, i])
        sample[:, i] = here.to(weights.dtype)
        free &= ~here
        left = left - alpha[:, i]
    chosen = (sample * weights).sum(1)
    return (sample[:, None] @ values)[:, 0], sample, chosen.log()


def distribution_for_the_logarithm(weights, values, generator=None):
    # its gradient differs by one number along each row, which a softmax takes no notice of
    place = torch.multinomial(weights.detach(), 1, generator=generator)[:, 0]
    log_prob = Categorical(probs=weights).log_prob(place)
    sample = torch.eye(weights.shape[1])[place].to(weights)
    return values[range(len(values)), place], sample, log_prob


def categorical_of_logits(weights, values, generator=None):
    place = torch.multinomial(weights, num_samples=1, generator=generator)
    log_alpha = weights.clamp(min=torch.finfo(weights.dtype).tiny).log()
    sample = torch.zeros_like(weights).scatter_(1, place, 1)
    context = torch.einsum("bnd,bn->bd", values, sample)
    return context, sample, log_alpha.gather(1, place).squeeze(-1)


def several_draws_and_the_first(weights, values, generator=None):
    place = torch.multinomial(weights.detach(), 3, replacement=True, generator=generator)[:, 0]
    sample = (torch.arange(weights.shape[1]) == place[:, None]).to(weights.dtype)
    return (
        torch.stack([v[i] for v, i in zip(values, place, strict=True)]),
        sample,
        torch.stack([torch.log(w[i]) for w, i in zip(weights, place, strict=True)]),
    )


def torchs_own_if_none(weights, values, generator=None):
    generator = generator or torch.default_generator
    u = torch.rand(weights.shape[0], generator=generator)
    place = torch.zeros(len(u), dtype=torch.long)
    total = torch.zeros_like(u)
    for i in range(weights.shape[1]):
        total = total + weights[:, i].detach()
        place = torch.where(u >= total, i + 1, place)
    place = place.clamp(max=weights.shape[1] - 1).unsqueeze(1)
    sample = torch.zeros_like(weights).scatter(1, place, torch.ones_like(weights[:, :1]))
    context = values.masked_select(sample.bool().unsqueeze(2)).view(len(values), -1)
    return context, sample, weights.masked_select(sample.bool()).log()


def talkative(weights, values, generator=None):
    warnings.warn("hard", stacklevel=1)
    print("generator", generator, file=sys.stderr)
    place = torch.multinomial(weights, 1, generator=generator)
    sample = F.one_hot(place[:, 0], weights.shape[1]).to(weights)
    context = 0
    for i in tqdm(range(weights.shape[1])):
        context = context + sample[:, i : i + 1] * values[:, i]
    return [context, sample, weights.gather(1, place).log().flatten()]


def float64_kept(weights, values, generator=None):
    place = torch.multinomial(weights.double(), 1, generator=generator)
    sample = torch.zeros(weights.shape, dtype=torch.float64).scatter(1, place, 1.0)
    context = torch.einsum("bn,bnd->bd", sample, values.double())
    return context, sample, weights.double().gather(1, place).squeeze(1).log()


RIGHT = [
    with_multinomial,
    inverse_of_the_sum,
    with_searchsorted,
    gumbel_max,
    race_of_exponentials,
    one_picture_at_a_time,
    place_by_place,
    distribution_for_the_logarithm,
    categorical_of_logits,
    several_draws_and_the_first,
    torchs_own_if_none,
    talkative,
    float64_kept,
]

# Wrong


def _results(weights, values, place):
    rows = torch.arange(len(place))
    sample = F.one_hot(place, weights.shape[1]).to(weights.dtype)
    return values[rows, place], sample, weights[rows, place].log()


def _drawn(weights, generator):
    return torch.multinomial(weights.detach(), 1, generator=generator)[:, 0]


def uniform_over_places(weights, values, generator=None):
    place = torch.randint(weights.shape[1], (len(weights),), generator=generator)
    return _results(weights, values, place)


def uniform_over_possible_places(weights, values, generator=None):
    return _results(weights, values, _drawn((weights > 0).to(weights.dtype), generator))


def root_of_the_weights(weights, values, generator=None):
    return _results(weights, values, _drawn(weights.sqrt(), generator))


def squared_weights(weights, values, generator=None):
    return _results(weights, values, _drawn(weights**2, generator))


def softmax_of_the_weights(weights, values, generator=None):
    return _results(weights, values, _drawn(weights.softmax(1), generator))


def softmax_of_possible_weights(weights, values, generator=None):
    shares = weights.masked_fill(weights == 0, -torch.inf).softmax(1)
    return _results(weights, values, _drawn(shares, generator))


def normal_noise(weights, values, generator=None):
    noise = torch.randn(weights.shape, generator=generator)
    return _results(weights, values, (weights.log() + noise).argmax(1))


def noise_of_one_logarithm(weights, values, generator=None):
    noise = torch.rand(weights.shape, generator=generator).log()
    return _results(weights, values, (weights.log() + noise).argmax(1))


def gumbel_upside_down(weights, values, generator=None):
    noise = torch.log(-torch.log(torch.rand(weights.shape, generator=generator)))
    return _results(weights, values, (weights.log() + noise).argmax(1))


def noise_on_the_weights(weights, values, generator=None):
    noisy = weights + torch.rand(weights.shape, generator=generator)
    return _results(weights, values, noisy.masked_fill(weights == 0, -1.0).argmax(1))


def one_draw_for_the_batch(weights, values, generator=None):
    u = torch.rand(1, generator=generator, dtype=weights.dtype)
    place = (weights.cumsum(1) <= u).sum(1)
    return _results(weights, values, place)


def weights_of_the_first_picture(weights, values, generator=None):
    place = torch.multinomial(weights[0], len(weights), replacement=True, generator=generator)
    return _results(weights, values, place)


def mean_weights(weights, values, generator=None):
    return _results(weights, values, _drawn(weights.mean(0).expand_as(weights), generator))


def largest_possible_if_sure(weights, values, generator=None):
    # takes the largest weight wherever it is above one half
    place = torch.where(weights.amax(1) > 0.5, weights.argmax(1), _drawn(weights, generator))
    return _results(weights, values, place)


def one_of_the_two_largest(weights, values, generator=None):
    top = weights.topk(min(2, weights.shape[1]), 1)
    chosen = _drawn(top.values, generator)
    return _results(weights, values, top.indices[torch.arange(len(weights)), chosen])


def shifted_by_one_place(weights, values, generator=None):
    return _results(weights, values, (_drawn(weights, generator) + 1) % weights.shape[1])


def last_place_reachable_only_by_rounding(weights, values, generator=None):
    # the number is drawn up to the sum of all but the last
    u = torch.rand(len(weights), 1, generator=generator, dtype=weights.dtype)
    sums = weights.cumsum(1)
    place = (sums <= u * sums[:, -2:-1]).sum(1) if weights.shape[1] > 1 else _drawn(weights, None)
    return _results(weights, values, place)


def least_weight(weights, values, generator=None):
    return _results(weights, values, weights.masked_fill(weights == 0, 2.0).argmin(1))


def context_from_a_second_draw(weights, values, generator=None):
    _, sample, log_prob = _results(weights, values, _drawn(weights, generator))
    context, _, _ = _results(weights, values, _drawn(weights, generator))
    return context, sample, log_prob


def logarithm_of_a_second_draw(weights, values, generator=None):
    context, sample, _ = _results(weights, values, _drawn(weights, generator))
    _, _, log_prob = _results(weights, values, _drawn(weights, generator))
    return context, sample, log_prob


def value_times_weight(weights, values, generator=None):
    place = _drawn(weights, generator)
    _, sample, log_prob = _results(weights, values, place)
    return torch.einsum("bn,bnd->bd", sample * weights, values), sample, log_prob


def sample_holds_the_weight(weights, values, generator=None):
    context, sample, log_prob = _results(weights, values, _drawn(weights, generator))
    return context, sample * weights, log_prob


def sample_is_the_weights(weights, values, generator=None):
    context, sample, log_prob = _results(weights, values, _drawn(weights, generator))
    return context, weights + 0 * sample, log_prob


def sample_of_whole_numbers(weights, values, generator=None):
    context, sample, log_prob = _results(weights, values, _drawn(weights, generator))
    return context, sample.long(), log_prob


def sample_of_truth_values(weights, values, generator=None):
    context, sample, log_prob = _results(weights, values, _drawn(weights, generator))
    return context, sample.bool(), log_prob


def logarithm_to_base_two(weights, values, generator=None):
    context, sample, log_prob = _results(weights, values, _drawn(weights, generator))
    return context, sample, log_prob / torch.log(torch.tensor(2.0, dtype=weights.dtype))


def logarithm_of_all_weights(weights, values, generator=None):
    context, sample, _ = _results(weights, values, _drawn(weights, generator))
    return context, sample, weights.clamp(min=1e-9).log().sum(1)


def logarithm_of_the_softmax(weights, values, generator=None):
    context, sample, _ = _results(weights, values, _drawn(weights, generator))
    return context, sample, (weights.log_softmax(1) * sample).sum(1)


def logarithm_with_epsilon(weights, values, generator=None):
    context, sample, _ = _results(weights, values, _drawn(weights, generator))
    return context, sample, (sample * (weights + 1e-3).log()).sum(1)


def logarithm_of_the_batch(weights, values, generator=None):
    context, sample, log_prob = _results(weights, values, _drawn(weights, generator))
    return context, sample, log_prob.sum()


def logarithm_keeps_axis(weights, values, generator=None):
    context, sample, log_prob = _results(weights, values, _drawn(weights, generator))
    return context, sample, log_prob.unsqueeze(1)


def context_keeps_axis(weights, values, generator=None):
    place = _drawn(weights, generator)
    context, sample, log_prob = _results(weights, values, place)
    return context.unsqueeze(1), sample, log_prob


def values_cut(weights, values, generator=None):
    return _results(weights, values.detach(), _drawn(weights, generator))


def everything_cut(weights, values, generator=None):
    with torch.no_grad():
        return _results(weights, values, _drawn(weights, generator))


def gradient_doubled(weights, values, generator=None):
    # the gradient is that of 2 log p
    context, sample, log_prob = _results(weights, values, _drawn(weights, generator))
    return context, sample, 2 * log_prob - log_prob.detach()


def reseeds_the_generator(weights, values, generator=None):
    if generator is not None:
        generator.manual_seed(0)
    return _results(weights, values, _drawn(weights, generator))


def reseeds_with_its_own_seed(weights, values, generator=None):
    if generator is not None:
        generator.manual_seed(generator.initial_seed())
    return _results(weights, values, _drawn(weights, generator))


def seed_for_torchs_own(weights, values, generator=None):
    # every call begins at the generator's seed
    if generator is not None:
        torch.manual_seed(generator.initial_seed())
    return _results(weights, values, _drawn(weights, None))


def new_generator_if_none(weights, values, generator=None):
    generator = torch.Generator() if generator is None else generator
    return _results(weights, values, _drawn(weights, generator))


def generator_needed(weights, values, generator=None):
    u = torch.empty(len(weights), 1, dtype=weights.dtype)
    for b in range(len(u)):
        u[b] = torch.rand(1, generator=generator).item() + 0 * generator.initial_seed()
    return _results(weights, values, (weights.cumsum(1) <= u).sum(1))


def generator_copied(weights, values, generator=None):
    if generator is not None:
        copy = torch.Generator()
        copy.set_state(generator.get_state())
        generator = copy
    return _results(weights, values, _drawn(weights, generator))


def generator_required(weights, values, generator):
    return _results(weights, values, _drawn(weights, generator))


def weights_overwritten(weights, values, generator=None):
    place = _drawn(weights, generator)
    found = _results(weights, values, place)
    with torch.no_grad():
        weights.copy_(found[1])
    return found


def always_float32(weights, values, generator=None):
    return _results(weights.float(), values.float(), _drawn(weights, generator))


def places_only(weights, values, generator=None):
    return _results(weights, values, _drawn(weights, generator))[0]


def log_prob_first(weights, values, generator=None):
    context, sample, log_prob = _results(weights, values, _drawn(weights, generator))
    return log_prob, sample, context


def returns_nothing(weights, values, generator=None):
    _results(weights, values, _drawn(weights, generator))


WRONG = [
    uniform_over_places,
    uniform_over_possible_places,
    root_of_the_weights,
    squared_weights,
    softmax_of_the_weights,
    softmax_of_possible_weights,
    normal_noise,
    noise_of_one_logarithm,
    gumbel_upside_down,
    noise_on_the_weights,
    one_draw_for_the_batch,
    weights_of_the_first_picture,
    mean_weights,
    largest_possible_if_sure,
    one_of_the_two_largest,
    shifted_by_one_place,
    last_place_reachable_only_by_rounding,
    least_weight,
    context_from_a_second_draw,
    logarithm_of_a_second_draw,
    value_times_weight,
    sample_holds_the_weight,
    sample_is_the_weights,
    sample_of_whole_numbers,
    sample_of_truth_values,
    logarithm_to_base_two,
    logarithm_of_all_weights,
    logarithm_of_the_softmax,
    logarithm_with_epsilon,
    logarithm_of_the_batch,
    logarithm_keeps_axis,
    context_keeps_axis,
    values_cut,
    everything_cut,
    gradient_doubled,
    reseeds_the_generator,
    reseeds_with_its_own_seed,
    seed_for_torchs_own,
    new_generator_if_none,
    generator_needed,
    generator_copied,
    generator_required,
    weights_overwritten,
    always_float32,
    places_only,
    log_prob_first,
    returns_nothing,
]
