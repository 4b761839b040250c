"""Honest submissions with wrong, unwritten and partly right answers."""

from __future__ import annotations

from tests.submissions.honest.honest_submission import Bank
from tests.submissions.student_notebooks import POINTS, SCORES, TRANSLATOR, Handed, reference, stub

BANK = Bank()
PARTS = "stock nbgrader gives all points of an exercise or none; here a part of the class is right"
DECODER = "AttentionDecoder"


def _without(source: str, *methods: str) -> str:
    """Return the decoder with some of its methods as released."""
    names = ("step", "readout", "forward")
    found = source[: source.index("    def step")]
    for name, after in zip(names, (*names[1:], None), strict=True):
        given = stub(DECODER) if name in methods else source
        start = given.index(f"    def {name}")
        found += given[start : given.index(f"    def {after}") if after else len(given)]
    return found


@BANK(points=dict.fromkeys(POINTS, 0.0))
def untouched(hand: Handed) -> None:
    """Both notebooks as released."""
    hand.write(**{name: stub(name) for name in POINTS})


@BANK(points=dict.fromkeys(TRANSLATOR, 0.0))
def first_notebook_only(hand: Handed) -> None:
    """The second notebook is as released."""
    hand.write(**{name: stub(name) for name in TRANSLATOR})


@BANK(points={"additive_score": 0.0, "BidirectionalEncoder": 0.0}, quick=True)
def half(hand: Handed) -> None:
    """The tanh is forgotten in one exercise, another one is not written."""
    wrong = reference("additive_score").replace("torch.tanh(", "(")
    hand.write(additive_score=wrong, BidirectionalEncoder=stub("BidirectionalEncoder"))


@BANK(points={"masked_softmax": 0.0, "AdditiveAttention": 0.0})
def wrong_where_it_is_used(hand: Handed) -> None:
    """The softmax is wrong, and with it the attention that calls it."""
    hand.write(
        masked_softmax="def masked_softmax(scores, mask):\n    return scores.softmax(-1) * mask\n"
    )


@BANK(points={"context_vector": 0.0, "AdditiveAttention": 0.0})
def not_written_where_it_is_used(hand: Handed) -> None:
    """The weighted sum is not written, and the attention calls it."""
    hand.write(context_vector=stub("context_vector"))


@BANK(points={"context_vector": 0.0})
def not_written_and_not_used(hand: Handed) -> None:
    """The weighted sum is not written; the attention does without it."""
    hand.write(
        context_vector=stub("context_vector"),
        AdditiveAttention=reference("AdditiveAttention").replace(
            "context_vector(weights, keys)", "torch.einsum('bn,bnd->bd', weights, keys)"
        ),
    )


@BANK(points={DECODER: 4.0}, stock_wrong=PARTS, quick=True)
def decoder_without_forward(hand: Handed) -> None:
    """Step and read-out of the decoder are right, forward is not written."""
    hand.write(AttentionDecoder=_without(reference(DECODER), "forward"))


@BANK(points={DECODER: 3.0}, stock_wrong=PARTS)
def decoder_with_a_step_only(hand: Handed) -> None:
    """Only the decoder's step is written."""
    hand.write(AttentionDecoder=_without(reference(DECODER), "readout", "forward"))


@BANK(points={DECODER: 1.0}, stock_wrong=PARTS)
def decoder_with_a_readout_only(hand: Handed) -> None:
    """Only the decoder's read-out is written."""
    hand.write(AttentionDecoder=_without(reference(DECODER), "step", "forward"))


@BANK(points={DECODER: 4.0}, stock_wrong=PARTS)
def decoder_with_a_wrong_forward(hand: Handed) -> None:
    """The decoder's forward gives the first state to every step."""
    right = reference(DECODER)
    wrong = right.replace(
        "embedded[:, i], state, annotations", "embedded[:, i], first_state, annotations"
    )
    assert wrong != right
    hand.write(AttentionDecoder=wrong)


@BANK(points={DECODER: 3.0}, stock_wrong=PARTS)
def decoder_with_a_wrong_readout(hand: Handed) -> None:
    """The decoder's read-out forgets the tanh, so that forward is wrong too."""
    right = reference(DECODER)
    wrong = right.replace("torch.tanh(self.hidden(together))", "self.hidden(together)")
    assert wrong != right
    hand.write(AttentionDecoder=wrong)


@BANK(points={DECODER: 1.0}, stock_wrong=PARTS)
def decoder_with_a_wrong_step(hand: Handed) -> None:
    """The decoder's step joins in the wrong order, so that forward is wrong too."""
    right = reference(DECODER)
    wrong = right.replace(
        "torch.cat([embedded, context], dim=-1)", "torch.cat([context, embedded], dim=-1)"
    )
    assert wrong != right
    hand.write(AttentionDecoder=wrong)


@BANK(points={DECODER: 0.0})
def decoder_wrong_in_all_parts(hand: Handed) -> None:
    """Step and read-out of the decoder are wrong."""
    decoder_with_a_wrong_step(hand)
    source = hand.cell(DECODER).source
    hand.write(
        AttentionDecoder=source.replace(
            "torch.tanh(self.hidden(together))", "self.hidden(together)"
        )
    )


@BANK(points={"BidirectionalEncoder": 0.0})
def encoder_with_a_wrong_first_state(hand: Handed) -> None:
    """The encoder's annotations are right, the first state is not; there are no parts."""
    right = reference("BidirectionalEncoder")
    wrong = right.replace(
        "annotations[:, 0, self.rnn.hidden_size :]", "annotations[:, -1, self.rnn.hidden_size :]"
    )
    assert wrong != right
    hand.write(BidirectionalEncoder=wrong)


@BANK(points={"AdditiveAttention": 0.0})
def attention_without_forward(hand: Handed) -> None:
    """The attention's project is right, its forward is not written; it has no parts."""
    right, given = reference("AdditiveAttention"), stub("AdditiveAttention")
    cut = "    def forward("
    hand.write(AdditiveAttention=right[: right.index(cut)] + given[given.index(cut) :])


@BANK(points={"context_vector": 0.0, "additive_score": 0.0})
def results_printed_or_in_numpy(hand: Handed) -> None:
    """One answer prints its result, another one returns it as a numpy array."""
    hand.write(
        additive_score=reference("additive_score").replace(
            "return hidden @ v", "print(hidden @ v)"
        ),
        context_vector="def context_vector(weights, values):\n"
        "    return (weights.numpy()[:, None] @ values.numpy())[:, 0]\n",
        AdditiveAttention=reference("AdditiveAttention").replace(
            "context_vector(weights, keys)", "(weights[:, None] @ keys)[:, 0]"
        ),
    )


@BANK(points=dict.fromkeys(SCORES[:3], 0.0))
def right_only_for_one_batch(hand: Handed) -> None:
    """Answers that are right for a single sentence, in float32, without padding."""
    hand.write(
        masked_softmax="def masked_softmax(scores, mask):\n    return scores.softmax(-1)\n",
        additive_score="def additive_score(query, keys, W, U, v):\n"
        "    return (torch.tanh(query[0] @ W.T + keys[0] @ U.T) @ v).unsqueeze(0)\n",
        context_vector="def context_vector(weights, values):\n"
        "    return (weights[0].float() @ values[0].float()).unsqueeze(0)\n",
        AdditiveAttention=reference("AdditiveAttention")
        .replace("context_vector(weights, keys)", "(weights[:, None] @ keys)[:, 0]")
        .replace(
            "masked_softmax(scores, mask)",
            "torch.nan_to_num(scores.masked_fill(~mask, -torch.inf).softmax(-1))",
        ),
    )
