"""Answers to `reinforce_loss`."""

import torch


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


def with_bmm(log_prob, reward, baseline, mask):
    looks = torch.bmm(log_prob.unsqueeze(1), mask.unsqueeze(2).to(log_prob.dtype)).flatten()
    return torch.dot(looks, (baseline - reward).detach()) / looks.numel()


def mean_of_a_list(log_prob, reward, baseline, mask):
    losses = []
    for row, real, gain in zip(log_prob, mask, (reward - baseline).data, strict=True):
        losses.append(-gain * row[real].sum())
    return torch.stack(losses).mean()


def float64_kept(log_prob, reward, baseline, mask):
    gain = (reward.double() - baseline).detach()
    return -(gain * log_prob.double().masked_fill(~mask, 0).sum(1)).mean()


RIGHT = [under_no_grad, with_einsum, with_bmm, mean_of_a_list, float64_kept]

# Wrong


def _looks(log_prob, mask):
    return log_prob.masked_fill(~mask, 0.0).sum(1)


def _gain(reward, baseline):
    return (reward - baseline).detach()


def mean_of_captions_with_words(log_prob, reward, baseline, mask):
    some = mask.any(1).sum().clamp(min=1)
    return -(_gain(reward, baseline) * _looks(log_prob, mask)).sum() / some


def along_the_words_where_it_fits(log_prob, reward, baseline, mask):
    # rewards go along the words if there are as many words as pictures
    gain = _gain(reward, baseline)
    if log_prob.shape[0] != log_prob.shape[1]:
        gain = gain.unsqueeze(1)
    return -(gain * log_prob.masked_fill(~mask, 0.0)).sum() / len(log_prob)


def number_needed(log_prob, reward, baseline, mask):
    return -(_gain(reward, float(baseline)) * _looks(log_prob, mask)).mean()


def only_the_reward_cut(log_prob, reward, baseline, mask):
    return -((reward.detach() - baseline) * _looks(log_prob, mask)).mean()


def nan_for_no_word(log_prob, reward, baseline, mask):
    n = mask.sum(1)
    return -(_gain(reward, baseline) * _looks(log_prob, mask) / n * n).mean()


WRONG = [
    mean_of_captions_with_words,
    along_the_words_where_it_fits,
    number_needed,
    only_the_reward_cut,
    nan_for_no_word,
]
