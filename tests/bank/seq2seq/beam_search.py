"""Answers to `beam_search`."""

import heapq
import math
import sys
import warnings

import torch
from torch import Tensor

from coursekit.decoding import choose

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


def fixed_width(step, state, beam_size, bos_id, eos_id, max_length, length_penalty=0.0):
    # always beam_size rows; those that are empty or finished stand at minus infinity
    state = _pick(state, torch.zeros(beam_size, dtype=torch.long))
    tokens = torch.full((beam_size, 1), bos_id)
    log_probs, _ = step(tokens[:, -1], state)
    sums = torch.full((beam_size,), -math.inf, dtype=log_probs.dtype)
    sums[0] = 0.0
    found, count = [], 0
    for t in range(1, max_length + 1):
        log_probs, state = step(tokens[:, -1], state)
        V = log_probs.shape[1]
        every = (sums[:, None] + log_probs).reshape(-1)
        sums, best = (
            every.topk(beam_size) if beam_size <= len(every) else every.sort(descending=True)
        )
        if len(sums) < beam_size:
            sums = torch.cat([sums, sums.new_full((beam_size - len(sums),), -math.inf)])
            best = torch.cat([best, best.new_zeros(beam_size - len(best))])
        sums[beam_size - count :] = -math.inf
        tokens = torch.cat([tokens[best // V], (best % V)[:, None]], dim=1)
        state = _pick(state, best // V)
        for k in range(beam_size):
            real = sums[k] > -math.inf
            if real and (tokens[k, -1] == eos_id or t == max_length):
                found.append((sums[k].item() / t**length_penalty, tokens[k, 1:].clone()))
                count += 1
                sums[k] = -math.inf
        if count == beam_size:
            break
    score, words = max(found, key=lambda pair: pair[0])
    return words, score


class _Hypothesis:
    def __init__(self, words, total, state):
        self.words, self.total, self.state = words, total, state

    def grow(self, step, bos_id):
        last = self.words[-1] if len(self.words) else bos_id
        log_p, state = step(torch.as_tensor([last]), self.state)
        return [
            _Hypothesis([*self.words, y], self.total + p, state) for y, p in enumerate(log_p[0])
        ]


def with_a_class(step, state, beam_size, bos_id, eos_id, max_length, length_penalty=0.0):
    live, ready = [_Hypothesis([], 0, state)], []

    def score(h):
        return h.total / len(h.words) ** length_penalty

    for _ in range(max_length):
        new = [h for old in live for h in old.grow(step, bos_id)]
        new.sort(key=lambda h: h.total, reverse=True)
        del new[beam_size - len(ready) :]
        ready.extend(h for h in new if h.words[-1] == eos_id)
        live = [h for h in new if h.words[-1] != eos_id]
        if len(ready) == beam_size:
            break
    winner = max(ready + live, key=score)
    return torch.LongTensor(winner.words), score(winner)


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


def stops_when_nothing_can_win(
    step, state, beam_size, bos_id, eos_id, max_length, length_penalty=0.0
):
    # without a penalty totals only fall: who is behind the best finished one stays behind
    best_words, best_score, count = None, -math.inf, 0
    live = [(0.0, [], state)]
    for t in range(1, max_length + 1):
        new = []
        for total, words, own in live:
            out, after = step(torch.tensor([words[-1] if words else bos_id]), own)
            new += [(total + p, [*words, y], after) for y, p in enumerate(out[0].tolist())]
        new = sorted(new, key=lambda one: -one[0])[: beam_size - count]
        for total, words, _ in new:
            if words[-1] == eos_id or t == max_length:
                count += 1
                if total / t**length_penalty > best_score:
                    best_words, best_score = words, total / t**length_penalty
        live = [one for one in new if one[1][-1] != eos_id]
        if not live or (length_penalty == 0 and live[0][0] < best_score):
            break
    return torch.tensor(best_words), best_score


def float64_kept(step, state, beam_size, bos_id, eos_id, max_length, length_penalty=0.0):
    words, score = flattened_topk(
        step, state, beam_size, bos_id, eos_id, max_length, length_penalty
    )
    return words, score.double()


def talkative(step, state, beam_size, bos_id, eos_id, max_length, length_penalty=0.0):
    warnings.warn("this may take a while", UserWarning, stacklevel=2)
    print("beam", beam_size, file=sys.stderr)
    words, score = lists_and_rows(
        step, state, beam_size, bos_id, eos_id, max_length, length_penalty
    )
    print(words, score)
    return [words, score]


RIGHT = [
    lists_and_rows,
    flattened_topk,
    one_hypothesis_at_a_time,
    best_few_of_each_first,
    fixed_width,
    with_a_class,
    recursive,
    stops_when_nothing_can_win,
    float64_kept,
    talkative,
]

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


def topk_of_the_vocabulary(step, state, beam_size, bos_id, eos_id, max_length, length_penalty=0.0):
    # fails where the beam is larger than the vocabulary
    log_probs, state = step(torch.tensor([bos_id]), state)
    totals, words = log_probs[0].topk(beam_size)
    sentences, done = [[w] for w in words.tolist()], []
    state = choose(state, torch.zeros(beam_size, dtype=torch.long))
    for t in range(1, max_length + 1):
        ends = [s[-1] == eos_id or t == max_length for s in sentences]
        done += [
            (v.item() / t**length_penalty, s)
            for v, s, e in zip(totals, sentences, ends, strict=True)
            if e
        ]
        keep = [k for k, e in enumerate(ends) if not e]
        if not keep:
            break
        state = choose(state, torch.tensor(keep))
        sentences, totals = [sentences[k] for k in keep], totals[keep]
        log_probs, state = step(torch.tensor([s[-1] for s in sentences]), state)
        every = (totals[:, None] + log_probs).flatten()
        totals, at = every.topk(min(beam_size - len(done), len(every)))
        V = log_probs.shape[1]
        sentences = [[*sentences[i // V], i % V] for i in at.tolist()]
        state = choose(state, at // V)
    score, words = max(done)
    return torch.tensor(words), score


def first_tensor_chosen_only(
    step, state, beam_size, bos_id, eos_id, max_length, length_penalty=0.0
):
    def partly(thing, rows):
        if torch.is_tensor(thing):
            return thing[rows]
        if isinstance(thing, dict):
            return {k: v[rows] if torch.is_tensor(v) else v for k, v in thing.items()}
        return (thing[0][rows], *thing[1:])

    words, sums, finished = [[]], torch.zeros(1), []
    for t in range(1, max_length + 1):
        log_probs, state = step(torch.tensor([(w or [bos_id])[-1] for w in words]), state)
        every = (sums[:, None] + log_probs).flatten()
        V = log_probs.shape[1]
        top, at = every.topk(min(beam_size - len(finished), len(every)))
        new = [(s, i // V, [*words[i // V], i % V]) for s, i in zip(top, at.tolist(), strict=True)]
        finished += [(s, w) for s, _, w in new if w[-1] == eos_id or t == max_length]
        new = [one for one in new if one[2][-1] != eos_id]
        if not new or t == max_length:
            break
        sums, words = torch.stack([s for s, _, _ in new]), [w for _, _, w in new]
        state = partly(state, torch.tensor([k for _, k, _ in new]))
    score, words = max(((s / len(w) ** length_penalty).item(), w) for s, w in finished)
    return torch.tensor(words), score


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


def stale_state(step, state, beam_size, bos_id, eos_id, max_length, length_penalty=0.0):
    # the state of before the step is carried on
    live, ended = [(0.0, [], state)], []
    for _ in range(max_length):
        new = []
        for total, words, own in live:
            out, _ = step(torch.tensor([words[-1] if words else bos_id]), own)
            new += [(total + p, [*words, y], own) for y, p in enumerate(out[0].tolist())]
        new = sorted(new, key=lambda one: -one[0])[: beam_size - len(ended)]
        ended += [one for one in new if one[1][-1] == eos_id]
        live = [one for one in new if one[1][-1] != eos_id]
    return _best(ended + live, length_penalty)


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


def finished_take_no_place(step, state, beam_size, bos_id, eos_id, max_length, length_penalty=0.0):
    # beam_size live ones to the end
    live, ended = [(0.0, [], state)], []
    for _ in range(max_length):
        new = _grown(step, live, bos_id)
        ended += [one for one in new[:beam_size] if one[1][-1] == eos_id]
        live = [one for one in new if one[1][-1] != eos_id][:beam_size]
    return _best(ended + live, length_penalty)


def every_eos_counts(step, state, beam_size, bos_id, eos_id, max_length, length_penalty=0.0):
    # an extension by eos is finished even where it is not among the best
    live, ended = [(0.0, [], state)], []
    for _ in range(max_length):
        new = _grown(step, live, bos_id)
        ended += [one for one in new if one[1][-1] == eos_id]
        live = [one for one in new if one[1][-1] != eos_id][:beam_size]
    return _best(ended + live, length_penalty)


def best_of_each_parent(step, state, beam_size, bos_id, eos_id, max_length, length_penalty=0.0):
    # after the first step each hypothesis is extended by its best word only
    live, ended = [(0.0, [], state)], []
    for t in range(max_length):
        if t == 0:
            new = _grown(step, live, bos_id)[:beam_size]
        else:
            new = [_grown(step, [one], bos_id)[0] for one in live]
        ended += [one for one in new if one[1][-1] == eos_id]
        live = [one for one in new if one[1][-1] != eos_id]
    return _best(ended + live, length_penalty)


def stops_at_a_finished_leader(
    step, state, beam_size, bos_id, eos_id, max_length, length_penalty=0.0
):
    live, ended = [(0.0, [], state)], []
    for _ in range(max_length):
        new = _grown(step, live, bos_id)[: beam_size - len(ended)]
        if new and new[0][1][-1] == eos_id:
            return _best(new[:1], length_penalty)
        ended += [one for one in new if one[1][-1] == eos_id]
        live = [one for one in new if one[1][-1] != eos_id]
    return _best(ended + live, length_penalty)


def stops_early_with_penalty(
    step, state, beam_size, bos_id, eos_id, max_length, length_penalty=0.0
):
    # the shortcut that is right without a length penalty only
    live, ended = [(0.0, [], state)], []
    for _ in range(max_length):
        new = _grown(step, live, bos_id)[: beam_size - len(ended)]
        ended += [one for one in new if one[1][-1] == eos_id]
        live = [one for one in new if one[1][-1] != eos_id]
        if ended and live and max(ended)[0] > live[0][0]:
            return _best(ended, length_penalty)
    return _best(ended + live, length_penalty)


def live_ones_preferred(step, state, beam_size, bos_id, eos_id, max_length, length_penalty=0.0):
    live, ended = [(0.0, [], state)], []
    for _ in range(max_length):
        new = _grown(step, live, bos_id)[: beam_size - len(ended)]
        ended += [one for one in new if one[1][-1] == eos_id]
        live = [one for one in new if one[1][-1] != eos_id]
    return _best(live or ended, length_penalty)


def mean_always(step, state, beam_size, bos_id, eos_id, max_length, length_penalty=0.0):
    live, ended = [(0.0, [], state)], []
    for _ in range(max_length):
        new = _grown(step, live, bos_id)[: beam_size - len(ended)]
        ended += [one for one in new if one[1][-1] == eos_id]
        live = [one for one in new if one[1][-1] != eos_id]
    return _best(ended + live, 1.0)


def penalty_of_wu(step, state, beam_size, bos_id, eos_id, max_length, length_penalty=0.0):
    live, ended = [(0.0, [], state)], []
    for _ in range(max_length):
        new = _grown(step, live, bos_id)[: beam_size - len(ended)]
        ended += [one for one in new if one[1][-1] == eos_id]
        live = [one for one in new if one[1][-1] != eos_id]

    def score(one):
        return one[0] / ((5 + len(one[1])) / 6) ** length_penalty

    winner = max(ended + live, key=score)
    return torch.tensor(winner[1]), score(winner)


def multiplied_by_the_penalty(
    step, state, beam_size, bos_id, eos_id, max_length, length_penalty=0.0
):
    live, ended = [(0.0, [], state)], []
    for _ in range(max_length):
        new = _grown(step, live, bos_id)[: beam_size - len(ended)]
        ended += [one for one in new if one[1][-1] == eos_id]
        live = [one for one in new if one[1][-1] != eos_id]
    return _best(ended + live, -length_penalty)


def penalty_times_length(step, state, beam_size, bos_id, eos_id, max_length, length_penalty=0.0):
    live, ended = [(0.0, [], state)], []
    for _ in range(max_length):
        new = _grown(step, live, bos_id)[: beam_size - len(ended)]
        ended += [one for one in new if one[1][-1] == eos_id]
        live = [one for one in new if one[1][-1] != eos_id]

    def score(one):
        return one[0] + length_penalty * len(one[1])

    winner = max(ended + live, key=score)
    return torch.tensor(winner[1]), score(winner)


def probability_for_score(step, state, beam_size, bos_id, eos_id, max_length, length_penalty=0.0):
    words, score = one_hypothesis_at_a_time(
        step, state, beam_size, bos_id, eos_id, max_length, length_penalty
    )
    return words, math.exp(score)


def probabilities_summed(step, state, beam_size, bos_id, eos_id, max_length, length_penalty=0.0):
    def step_p(tokens, state):
        log_probs, state = step(tokens, state)
        return log_probs.exp(), state

    return one_hypothesis_at_a_time(
        step_p, state, beam_size, bos_id, eos_id, max_length, length_penalty
    )


def softmax_once_more(step, state, beam_size, bos_id, eos_id, max_length, length_penalty=0.0):
    def step_p(tokens, state):
        log_probs, state = step(tokens, state)
        return log_probs.softmax(-1).log_softmax(-1), state

    return one_hypothesis_at_a_time(
        step_p, state, beam_size, bos_id, eos_id, max_length, length_penalty
    )


def worst_of_all(step, state, beam_size, bos_id, eos_id, max_length, length_penalty=0.0):
    live, ended = [(0.0, [], state)], []
    for _ in range(max_length):
        new = _grown(step, live, bos_id)[: beam_size - len(ended)]
        ended += [one for one in new if one[1][-1] == eos_id]
        live = [one for one in new if one[1][-1] != eos_id]
    total, words, _ = min(ended + live, key=lambda one: one[0] / len(one[1]) ** length_penalty)
    return torch.tensor(words), total / len(words) ** length_penalty


def sampled(step, state, beam_size, bos_id, eos_id, max_length, length_penalty=0.0):
    words, total, last = [], 0.0, torch.tensor([bos_id])
    while len(words) < max_length and (not words or words[-1] != eos_id):
        log_probs, state = step(last, state)
        last = log_probs.exp().multinomial(1)[:, 0]
        total += log_probs[0, last].item()
        words.append(last.item())
    return torch.tensor(words), total / len(words) ** length_penalty


def eos_is_three(step, state, beam_size, bos_id, eos_id, max_length, length_penalty=0.0):
    return one_hypothesis_at_a_time(step, state, beam_size, bos_id, 3, max_length, length_penalty)


def bos_is_two(step, state, beam_size, bos_id, eos_id, max_length, length_penalty=0.0):
    return one_hypothesis_at_a_time(step, state, beam_size, 2, eos_id, max_length, length_penalty)


def padding_never_said(step, state, beam_size, bos_id, eos_id, max_length, length_penalty=0.0):
    def without(tokens, state):
        log_probs, state = step(tokens, state)
        log_probs = log_probs.clone()
        if eos_id != 0:
            log_probs[:, 0] = -1e9
        return log_probs, state

    return one_hypothesis_at_a_time(
        without, state, beam_size, bos_id, eos_id, max_length, length_penalty
    )


def padded_to_the_end(step, state, beam_size, bos_id, eos_id, max_length, length_penalty=0.0):
    words, score = one_hypothesis_at_a_time(
        step, state, beam_size, bos_id, eos_id, max_length, length_penalty
    )
    return torch.cat([words, words.new_zeros(max_length - len(words))]), score


def repeated_words_forbidden(
    step, state, beam_size, bos_id, eos_id, max_length, length_penalty=0.0
):
    live, ended = [(0.0, [], state)], []
    for _ in range(max_length):
        new = [one for one in _grown(step, live, bos_id) if one[1][-1] not in one[1][:-1]]
        new = new[: beam_size - len(ended)]
        ended += [one for one in new if one[1][-1] == eos_id]
        live = [one for one in new if one[1][-1] != eos_id] or live
        if len(ended) >= beam_size:
            break
    return _best(ended + live, length_penalty)


def eos_score_left_out(step, state, beam_size, bos_id, eos_id, max_length, length_penalty=0.0):
    live, ended = [(0.0, [], state)], []
    for _ in range(max_length):
        before = {tuple(words): total for total, words, _ in live}
        new = _grown(step, live, bos_id)[: beam_size - len(ended)]
        ended += [(before[tuple(w[:-1])], w, s) for _, w, s in new if w[-1] == eos_id]
        live = [one for one in new if one[1][-1] != eos_id]
    return _best(ended + live, length_penalty)


def all_hypotheses_returned(step, state, beam_size, bos_id, eos_id, max_length, length_penalty=0.0):
    words, score = one_hypothesis_at_a_time(
        step, state, beam_size, bos_id, eos_id, max_length, length_penalty
    )
    return words.unsqueeze(0), score


def words_only(step, state, beam_size, bos_id, eos_id, max_length, length_penalty=0.0):
    return one_hypothesis_at_a_time(
        step, state, beam_size, bos_id, eos_id, max_length, length_penalty
    )[0]


def a_list_of_words(step, state, beam_size, bos_id, eos_id, max_length, length_penalty=0.0):
    words, score = one_hypothesis_at_a_time(
        step, state, beam_size, bos_id, eos_id, max_length, length_penalty
    )
    return words.tolist(), score


def floating_words(step, state, beam_size, bos_id, eos_id, max_length, length_penalty=0.0):
    words, score = one_hypothesis_at_a_time(
        step, state, beam_size, bos_id, eos_id, max_length, length_penalty
    )
    return words.double(), score


def score_first(step, state, beam_size, bos_id, eos_id, max_length, length_penalty=0.0):
    words, score = flattened_topk(
        step, state, beam_size, bos_id, eos_id, max_length, length_penalty
    )
    return score, words


def score_of_one_axis(step, state, beam_size, bos_id, eos_id, max_length, length_penalty=0.0):
    words, score = flattened_topk(
        step, state, beam_size, bos_id, eos_id, max_length, length_penalty
    )
    return words, score.reshape(1)


def penalty_required(step, state, beam_size, bos_id, eos_id, max_length, length_penalty):
    return one_hypothesis_at_a_time(
        step, state, beam_size, bos_id, eos_id, max_length, length_penalty
    )


def penalty_of_one_by_default(
    step, state, beam_size, bos_id, eos_id, max_length, length_penalty=1.0
):
    return one_hypothesis_at_a_time(
        step, state, beam_size, bos_id, eos_id, max_length, length_penalty
    )


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
    topk_of_the_vocabulary,
    first_tensor_chosen_only,
    tensor_states_only,
    stale_state,
    beam_of_twice_the_size,
    all_sentences,
    finished_take_no_place,
    every_eos_counts,
    best_of_each_parent,
    stops_at_a_finished_leader,
    stops_early_with_penalty,
    live_ones_preferred,
    mean_always,
    penalty_of_wu,
    multiplied_by_the_penalty,
    penalty_times_length,
    probability_for_score,
    probabilities_summed,
    softmax_once_more,
    worst_of_all,
    sampled,
    eos_is_three,
    bos_is_two,
    padding_never_said,
    padded_to_the_end,
    repeated_words_forbidden,
    eos_score_left_out,
    all_hypotheses_returned,
    words_only,
    a_list_of_words,
    floating_words,
    score_first,
    score_of_one_axis,
    penalty_required,
    penalty_of_one_by_default,
    state_overwritten,
]
