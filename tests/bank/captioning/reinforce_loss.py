"""Answers to `reinforce_loss`."""

import sys
import warnings

import torch
from torch import Tensor
from tqdm.auto import tqdm

# Right


def as_written(log_prob: Tensor, reward: Tensor, baseline, mask: Tensor) -> Tensor:
    advantage = (reward - baseline).detach()
    return -(advantage * (log_prob * mask).sum(1)).mean()


def under_no_grad(log_prob, reward, baseline, mask):
    with torch.no_grad():
        gain = reward - baseline
    looks = log_prob.masked_fill(~mask, 0.0)
    return -(gain.unsqueeze(1) * looks).sum() / log_prob.shape[0]


def with_einsum(log_prob, reward, baseline, mask):
    usual = torch.as_tensor(baseline, dtype=reward.dtype).detach().expand_as(reward)
    return torch.einsum("b,bt->", usual - reward.detach(), torch.where(mask, log_prob, 0.0)) / len(
        reward
    )


def with_loops(log_prob, reward, baseline, mask):
    total = 0 * log_prob.sum()
    for b in range(len(reward)):
        usual = baseline[b].item() if isinstance(baseline, Tensor) else baseline
        for t in range(log_prob.shape[1]):
            if mask[b, t]:
                total = total - (reward[b].item() - usual) * log_prob[b, t]
    return total / len(reward)


def with_bmm(log_prob, reward, baseline, mask):
    looks = torch.bmm(log_prob.unsqueeze(1), mask.unsqueeze(2).to(log_prob.dtype)).flatten()
    return torch.dot(looks, (baseline - reward).detach()) / looks.numel()


def selected_words(log_prob, reward, baseline, mask):
    gain = (reward - baseline).detach()[:, None].expand(mask.shape)
    return -(log_prob[mask] * gain[mask]).sum() / mask.shape[0]


def positive_and_negative(log_prob, reward, baseline, mask):
    total = (log_prob * mask).sum(-1)
    reward = reward.detach()
    if isinstance(baseline, Tensor):
        baseline = baseline.detach()
    return (baseline * total).mean() - (reward * total).mean()


def mean_of_a_list(log_prob, reward, baseline, mask):
    losses = []
    for row, real, gain in zip(log_prob, mask, (reward - baseline).data, strict=True):
        losses.append(-gain * row[real].sum())
    return torch.stack(losses).mean()


def talkative(log_prob, reward, baseline, mask):
    warnings.warn("reinforce", stacklevel=1)
    looks = torch.zeros_like(reward)
    for t in tqdm(range(log_prob.shape[1]), file=sys.stderr):
        print("word", t)
        looks = looks + log_prob[:, t].where(mask[:, t], 0.0)
    return ((baseline - reward).detach() * looks).mean()


def float64_kept(log_prob, reward, baseline, mask):
    gain = (reward.double() - baseline).detach()
    return -(gain * log_prob.double().masked_fill(~mask, 0).sum(1)).mean()


RIGHT = [
    as_written,
    under_no_grad,
    with_einsum,
    with_loops,
    with_bmm,
    selected_words,
    positive_and_negative,
    mean_of_a_list,
    talkative,
    float64_kept,
]

# Wrong


def _looks(log_prob, mask):
    return log_prob.masked_fill(~mask, 0.0).sum(1)


def _gain(reward, baseline):
    return (reward - baseline).detach()


def mean_over_all_positions(log_prob, reward, baseline, mask):
    return -(_gain(reward, baseline)[:, None] * log_prob.masked_fill(~mask, 0)).mean()


def mean_over_the_last_words(log_prob, reward, baseline, mask):
    last = (mask.sum(1) - 1).clamp(min=0)
    picked = log_prob.gather(1, last.unsqueeze(1))[:, 0] * mask.any(1)
    return -(_gain(reward, baseline) * picked).mean()


def first_word_only(log_prob, reward, baseline, mask):
    return -(_gain(reward, baseline) * log_prob[:, 0] * mask[:, 0]).mean()


def mean_of_captions_with_words(log_prob, reward, baseline, mask):
    some = mask.any(1).sum().clamp(min=1)
    return -(_gain(reward, baseline) * _looks(log_prob, mask)).sum() / some


def product_of_means(log_prob, reward, baseline, mask):
    return -_gain(reward, baseline).mean() * _looks(log_prob, mask).mean()


def inverted_mask(log_prob, reward, baseline, mask):
    return -(_gain(reward, baseline) * _looks(log_prob, ~mask)).mean()


def probability_for_logarithm(log_prob, reward, baseline, mask):
    return -(_gain(reward, baseline) * (log_prob.exp() * mask).sum(1)).mean()


def logarithm_once_more(log_prob, reward, baseline, mask):
    return -(_gain(reward, baseline) * _looks((-log_prob).abs().log(), mask)).mean()


def squared_advantage(log_prob, reward, baseline, mask):
    return -(_gain(reward, baseline).square() * _looks(log_prob, mask)).mean()


def absolute_advantage(log_prob, reward, baseline, mask):
    return -(_gain(reward, baseline).abs() * _looks(log_prob, mask)).mean()


def only_better_captions(log_prob, reward, baseline, mask):
    return -(_gain(reward, baseline).clamp(min=0) * _looks(log_prob, mask)).mean()


def advantage_the_other_way_on_one_side(log_prob, reward, baseline, mask):
    gain = _gain(reward, baseline)
    return (gain.abs() * _looks(log_prob, mask)).mean()


def advantage_centred(log_prob, reward, baseline, mask):
    gain = _gain(reward, baseline)
    return -((gain - gain.mean()) * _looks(log_prob, mask)).mean()


def advantage_normalised(log_prob, reward, baseline, mask):
    gain = _gain(reward, baseline)
    gain = gain / (gain.std(unbiased=False) + 1e-3)
    return -(gain * _looks(log_prob, mask)).mean()


def mean_of_rewards_for_baseline(log_prob, reward, baseline, mask):
    return -(_gain(reward, reward.mean()) * _looks(log_prob, mask)).mean()


def mean_of_the_baselines(log_prob, reward, baseline, mask):
    usual = baseline.mean() if isinstance(baseline, Tensor) else baseline
    return -(_gain(reward, usual) * _looks(log_prob, mask)).mean()


def baseline_after_the_product(log_prob, reward, baseline, mask):
    return -(reward.detach() * _looks(log_prob, mask) - torch.as_tensor(baseline).detach()).mean()


def along_the_words_where_it_fits(log_prob, reward, baseline, mask):
    # rewards go along the words if there are as many words as pictures
    gain = _gain(reward, baseline)
    if log_prob.shape[0] != log_prob.shape[1]:
        gain = gain.unsqueeze(1)
    return -(gain * log_prob.masked_fill(~mask, 0.0)).sum() / len(log_prob)


def every_pair(log_prob, reward, baseline, mask):
    # (B, 1) times (B,) is (B, B)
    gain = _gain(reward, baseline).unsqueeze(1)
    return -(gain * _looks(log_prob, mask)).mean()


def number_needed(log_prob, reward, baseline, mask):
    return -(_gain(reward, float(baseline)) * _looks(log_prob, mask)).mean()


def tensor_needed(log_prob, reward, baseline, mask):
    return -((reward - baseline.detach()).detach() * _looks(log_prob, mask)).mean()


def only_the_reward_cut(log_prob, reward, baseline, mask):
    return -((reward.detach() - baseline) * _looks(log_prob, mask)).mean()


def only_the_baseline_cut(log_prob, reward, baseline, mask):
    usual = baseline.detach() if isinstance(baseline, Tensor) else baseline
    return -((reward - usual) * _looks(log_prob, mask)).mean()


def everything_cut(log_prob, reward, baseline, mask):
    return as_written(log_prob.detach(), reward, baseline, mask)


def plain_number(log_prob, reward, baseline, mask):
    return as_written(log_prob, reward, baseline, mask).item()


def one_for_each_picture(log_prob, reward, baseline, mask):
    return -_gain(reward, baseline) * _looks(log_prob, mask)


def one_axis_left(log_prob, reward, baseline, mask):
    return as_written(log_prob, reward, baseline, mask).reshape(1)


def returns_the_advantage_too(log_prob, reward, baseline, mask):
    return as_written(log_prob, reward, baseline, mask), _gain(reward, baseline)


def log_prob_overwritten(log_prob, reward, baseline, mask):
    log_prob *= mask
    return -(_gain(reward, baseline) * log_prob.sum(1)).mean()


def reward_overwritten(log_prob, reward, baseline, mask):
    with torch.no_grad():
        reward -= baseline
    return -(reward.detach() * _looks(log_prob, mask)).mean()


def always_float32(log_prob, reward, baseline, mask):
    return -(_gain(reward, baseline).float() * _looks(log_prob, mask).float()).mean()


def nan_for_no_word(log_prob, reward, baseline, mask):
    n = mask.sum(1)
    return -(_gain(reward, baseline) * _looks(log_prob, mask) / n * n).mean()


def returns_nothing(log_prob, reward, baseline, mask):
    as_written(log_prob, reward, baseline, mask)


WRONG = [
    mean_over_all_positions,
    mean_over_the_last_words,
    first_word_only,
    mean_of_captions_with_words,
    product_of_means,
    inverted_mask,
    probability_for_logarithm,
    logarithm_once_more,
    squared_advantage,
    absolute_advantage,
    only_better_captions,
    advantage_the_other_way_on_one_side,
    advantage_centred,
    advantage_normalised,
    mean_of_rewards_for_baseline,
    mean_of_the_baselines,
    baseline_after_the_product,
    along_the_words_where_it_fits,
    every_pair,
    number_needed,
    tensor_needed,
    only_the_reward_cut,
    only_the_baseline_cut,
    everything_cut,
    plain_number,
    one_for_each_picture,
    one_axis_left,
    returns_the_advantage_too,
    log_prob_overwritten,
    reward_overwritten,
    always_float32,
    nan_for_no_word,
    returns_nothing,
]
