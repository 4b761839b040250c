"""Answers to `beam_search`."""

import heapq
import math

import torch
from torch import Tensor

from coursekit.models.greedy_decoding import choose

# Right


def lists_and_rows(step, state, beam_size, bos_id, eos_id, max_length, length_penalty=0.0):
    beams, done = [([], 0.0)], []
    for _ in range(max_length):
        last = torch.tensor([words[-1] if words else bos_id for words, _ in beams])
        log_probs, state = step(last, state)
        everything = []
        for k, (words, total) in enumerate(beams):
            for y in range(log_probs.shape[1]):
                everything.append((total + log_probs[k, y].item(), k, [*words, y]))
        everything.sort(reverse=True)
        beams, rows = [], []
        for total, k, words in everything[: beam_size - len(done)]:
            if words[-1] == eos_id:
                done.append((total / len(words) ** length_penalty, words))
            else:
                beams.append((words, total))
                rows.append(k)
        if not beams:
            break
        state = choose(state, torch.tensor(rows))
    done += [(total / len(words) ** length_penalty, words) for words, total in beams]
    score, words = max(done)
    return torch.tensor(words), score


def flattened_topk(step, state, beam_size, bos_id, eos_id, max_length, length_penalty=0.0):
    sequences = torch.empty(1, 0, dtype=torch.long)
    last = torch.tensor([bos_id])
    sums = 0.0
    best, best_score, n_done = None, -math.inf, 0
    for length in range(1, max_length + 1):
        log_p, state = step(last, state)
        V = log_p.size(-1)
        candidates = (log_p + sums).view(-1)
        top, index = torch.topk(candidates, min(beam_size - n_done, len(candidates)))
        parent = torch.div(index, V, rounding_mode="floor")
        last = index.remainder(V)
        sequences = torch.cat((sequences[parent], last[:, None]), dim=-1)
        over = last.eq(eos_id) if length < max_length else torch.ones_like(last, dtype=torch.bool)
        for row in over.nonzero().flatten():
            score = top[row] / length**length_penalty
            n_done += 1
            if score > best_score:
                best, best_score = sequences[row], score
        if n_done == beam_size or over.all():
            break
        go_on = (~over).nonzero().flatten()
        state = choose(state, parent[go_on])
        last, sequences, sums = last[go_on], sequences[go_on], top[go_on].unsqueeze(-1)
    return best, best_score


def one_hypothesis_at_a_time(
    step, state, beam_size, bos_id, eos_id, max_length, length_penalty=0.0
):
    # no state is ever rearranged: each hypothesis carries its own
    live, ended = [(0.0, (), state)], []
    while live and len(live[0][1]) < max_length:
        grown = []
        for total, words, own in live:
            out, new = step(torch.tensor([words[-1] if words else bos_id]), own)
            grown += [(total + float(p), (*words, y), new) for y, p in enumerate(out[0])]
        grown = heapq.nlargest(beam_size - len(ended), grown, key=lambda one: one[0])
        ended += [one for one in grown if one[1][-1] == eos_id]
        live = [one for one in grown if one[1][-1] != eos_id]
    total, words, _ = max(ended + live, key=lambda one: one[0] / len(one[1]) ** length_penalty)
    return torch.tensor(list(words)), total / len(words) ** length_penalty


def _pick(thing, rows):
    if torch.is_tensor(thing):
        return thing[rows]
    if isinstance(thing, dict):
        return {key: _pick(value, rows) for key, value in thing.items()}
    return tuple(_pick(value, rows) for value in thing)


def best_few_of_each_first(step, state, beam_size, bos_id, eos_id, max_length, length_penalty=0.0):
    # the best of all are among the best of each
    words, sums, finished = [[]], [0.0], []
    for t in range(1, max_length + 1):
        log_probs, state = step(torch.tensor([(w or [bos_id])[-1] for w in words]), state)
        values, ids = log_probs.topk(min(beam_size, log_probs.shape[-1]), dim=-1)
        pool = [
            (sums[k] + v, k, words[k] + [y])
            for k in range(len(words))
            for v, y in zip(values[k].tolist(), ids[k].tolist(), strict=True)
        ]
        pool = sorted(pool, key=lambda entry: entry[0], reverse=True)
        pool = pool[: beam_size - len(finished)]
        stop = t == max_length
        finished += [(s, w) for s, _, w in pool if w[-1] == eos_id or stop]
        rest = [] if stop else [entry for entry in pool if entry[2][-1] != eos_id]
        if not rest:
            break
        sums, words = [s for s, _, _ in rest], [w for _, _, w in rest]
        state = _pick(state, [k for _, k, _ in rest])
    scored = [(s / len(w) ** length_penalty, w) for s, w in finished]
    score, w = sorted(scored)[-1]
    return torch.as_tensor(w, dtype=torch.int64), score


def _search(step, state, words, sums, done, beam_size, bos_id, eos_id, left, alpha):
    if left == 0 or not words:
        return done + [(s / len(w) ** alpha, w) for s, w in zip(sums, words, strict=True)]
    logs, state = step(torch.tensor([w[-1] if w else bos_id for w in words]), state)
    totals = (torch.stack(sums)[:, None] + logs).flatten()
    order = totals.argsort(descending=True)[: beam_size - len(done)].tolist()
    V = logs.shape[1]
    new = [(totals[i], [*words[i // V], i % V], i // V) for i in order]
    done = done + [(s / len(w) ** alpha, w) for s, w, _ in new if w[-1] == eos_id]
    new = [one for one in new if one[1][-1] != eos_id]
    if not new:
        return done
    state = choose(state, torch.tensor([k for _, _, k in new]))
    sums, words = [s for s, _, _ in new], [w for _, w, _ in new]
    return _search(step, state, words, sums, done, beam_size, bos_id, eos_id, left - 1, alpha)


def recursive(step, state, beam_size, bos_id, eos_id, max_length, length_penalty=0.0):
    start = [torch.tensor(0.0)]
    done = _search(
        step, state, [[]], start, [], beam_size, bos_id, eos_id, max_length, length_penalty
    )
    score, words = max(done, key=lambda pair: pair[0].item())
    return torch.tensor(words), score


def float64_kept(step, state, beam_size, bos_id, eos_id, max_length, length_penalty=0.0):
    words, score = flattened_topk(
        step, state, beam_size, bos_id, eos_id, max_length, length_penalty
    )
    return words, score.double()


RIGHT = [lists_and_rows, one_hypothesis_at_a_time, best_few_of_each_first, recursive, float64_kept]

# Wrong


def _grown(step, live, bos_id):
    """All extensions of (total, words, state), the best first."""
    new = []
    for total, words, state in live:
        out, after = step(torch.tensor([words[-1] if words else bos_id]), state)
        new += [(total + p, [*words, y], after) for y, p in enumerate(out[0].tolist())]
    return sorted(new, key=lambda one: -one[0])


def _best(found, alpha):
    total, words, _ = max(found, key=lambda one: one[0] / len(one[1]) ** alpha)
    return torch.tensor(words), total / len(words) ** alpha


def tensor_states_only(step, state, beam_size, bos_id, eos_id, max_length, length_penalty=0.0):
    live, sums, finished = torch.empty(1, 0, dtype=torch.long), torch.zeros(1), []
    for t in range(1, max_length + 1):
        last = live[:, -1] if t > 1 else torch.tensor([bos_id])
        log_probs, state = step(last, state)
        every = (sums[:, None] + log_probs).flatten()
        sums, at = every.topk(min(beam_size - len(finished), len(every)))
        rows, y = at // log_probs.shape[1], at % log_probs.shape[1]
        live = torch.cat([live[rows], y[:, None]], 1)
        over = (y == eos_id) | (t == max_length)
        finished += [(s.item() / t**length_penalty, w) for s, w in zip(sums[over], live[over])]  # noqa: B905
        if over.all():
            break
        live, sums, state = live[~over], sums[~over], state[rows[~over]]
    score, words = max(finished, key=lambda pair: pair[0])
    return words, score


def beam_of_twice_the_size(step, state, beam_size, bos_id, eos_id, max_length, length_penalty=0.0):
    live, ended = [(0.0, [], state)], []
    for _ in range(max_length):
        new = _grown(step, live, bos_id)[: 2 * beam_size - len(ended)]
        ended += [one for one in new if one[1][-1] == eos_id]
        live = [one for one in new if one[1][-1] != eos_id]
    return _best(ended + live, length_penalty)


def all_sentences(step, state, beam_size, bos_id, eos_id, max_length, length_penalty=0.0):
    # the best sentence there is: no beam at all
    live, ended = [(0.0, [], state)], []
    for _ in range(max_length):
        new = _grown(step, live, bos_id)[:400]
        ended += [one for one in new if one[1][-1] == eos_id]
        live = [one for one in new if one[1][-1] != eos_id]
    return _best(ended + live, length_penalty)


def floating_words(step, state, beam_size, bos_id, eos_id, max_length, length_penalty=0.0):
    words, score = one_hypothesis_at_a_time(
        step, state, beam_size, bos_id, eos_id, max_length, length_penalty
    )
    return words.double(), score


def _written_into(state: object) -> None:
    if isinstance(state, Tensor):
        state.mul_(1.5)
        return
    for member in state.values() if isinstance(state, dict) else state:
        _written_into(member)


def state_overwritten(step, state, beam_size, bos_id, eos_id, max_length, length_penalty=0.0):
    found = one_hypothesis_at_a_time(
        step, state, beam_size, bos_id, eos_id, max_length, length_penalty
    )
    _written_into(state)
    return found


WRONG = [
    tensor_states_only,
    beam_of_twice_the_size,
    all_sentences,
    floating_words,
    state_overwritten,
]
