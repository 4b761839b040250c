"""Tests of the live explorers' engine: in Chromium it computes the same as torch."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from coursekit.corpora import english_french
from coursekit.corpora.stories import splits
from coursekit.data.batching import source_batch
from coursekit.data.lesson_data import translation_data
from coursekit.models.bert import PretrainingModel
from coursekit.models.cloze import Filler, story_vocabulary, texts_of
from coursekit.models.greedy_decoding import greedy_decode
from coursekit.models.translation import AttentionTranslator, FixedContext
from coursekit.text.vocabulary import BOS, EOS, WordVocabulary, until_eos
from coursekit.widgets.live.weight_packing import as_packed, pack
from solutions.bahdanau.scores import AdditiveAttention, additive_score, masked_softmax
from solutions.bahdanau.translator import AttentionDecoder, BidirectionalEncoder
from solutions.bert.inputs import BertEmbeddings
from solutions.bert.pretraining import BertEncoder, BertLayer, MaskedLanguageModelHead, pool_first
from solutions.sentences.pooling import AttentionClassifier
from solutions.transformer.attention import MultiHeadAttention
from solutions.transformer.model import Transformer
from tests.helpers.browser_engine import CLOSE, close, drawn, made, open_engine
from tests.helpers.small_models import small_transformer

pytestmark = pytest.mark.browser

HALF = 1e-3  # tolerance against torch with the original weights
SEEDS = (0, 1, 2)


@pytest.fixture(scope="module")
def engine(chromium):
    with open_engine(chromium, "live/engine") as evaluate:
        yield evaluate


@pytest.mark.parametrize("levels", [None, 87, 31])
@pytest.mark.parametrize("seed", SEEDS)
def test_a_packed_module_arrives_as_it_was_sent(engine, levels, seed):
    module = made(seed, lambda: nn.Sequential(nn.Linear(7, 5), nn.Embedding(4, 3)))
    found = engine("unpack(packed)", packed=pack(module, levels))
    for name, value in as_packed(module, levels).state_dict().items():
        data = found[name] if value.ndim == 1 else list(found[name]["data"])
        close(data, value.flatten(), within=0)


@pytest.mark.parametrize("value", [0.0, -0.0, 1.0, -65504.0, 2.0**-24, 6.1e-5, 0.333, 1e-6])
def test_every_kind_of_float16(engine, value):
    module = nn.Linear(1, 1, bias=False)
    nn.init.constant_(module.weight, value)
    found = engine("[...unpack(packed).weight.data]", packed=pack(module))
    assert found == as_packed(module).weight.flatten().tolist()


def test_tied_weights_are_sent_once_whatever_the_order(engine):
    module = nn.ModuleDict({"b": nn.Embedding(4, 3), "a": nn.Linear(3, 4, bias=False)})
    module["a"].weight = module["b"].weight
    packed = pack(module)
    assert packed["a.weight"] == {"same": "b.weight"}
    found = engine("unpack(packed)", packed=dict(sorted(packed.items())))
    assert found["a.weight"] == found["b.weight"]


@pytest.mark.parametrize("seed", SEEDS)
def test_vectors(engine, seed):
    x = 3 * drawn(seed, 11)
    mask = drawn(seed + 9, 11) > 0
    close(engine("softmax(typed(x))", x=x), x.softmax(0))
    close(engine("softmax(typed(x), mask)", x=x, mask=mask), masked_softmax(x, mask))
    close(engine("softmax(typed(x), mask)", x=x, mask=mask & False), torch.zeros(11))
    close(engine("softmax(typed(x))", x=1e4 * x), (1e4 * x).softmax(0))
    close(engine("relu(typed(x))", x=x), x.relu())
    close(engine("gelu(typed(x))", x=x), F.gelu(x))
    points = torch.linspace(-7, 7, 281)
    close(engine("x.map(erf)", x=points), torch.special.erf(points), within=1e-6)
    weight, bias = drawn(seed + 1, 11), drawn(seed + 2, 11)
    for eps in (1e-12, 1e-5, 0.5):
        close(
            engine("layerNorm(typed(x), w, b, eps)", x=x, w=weight, b=bias, eps=eps),
            F.layer_norm(x, (11,), weight, bias, eps),
        )


@pytest.mark.parametrize("seed", SEEDS)
def test_linear_and_embedding(engine, seed):
    module = made(seed, lambda: nn.ModuleDict({"a": nn.Linear(7, 5), "e": nn.Embedding(4, 7)}))
    sent = as_packed(module)
    x = drawn(seed, 7)
    call = "(p => linear(typed(x), p['a.weight'], p['a.bias']))(unpack(packed))"
    found = engine(call, packed=pack(module), x=x)
    close(found, sent["a"](x))
    close(found, module["a"](x), HALF)
    row = engine("rowOf(unpack(packed)['e.weight'], 2)", packed=pack(module))
    close(row, sent["e"].weight[2])


@pytest.mark.parametrize("kind", ["gru", "lstm"])
@pytest.mark.parametrize("length", [1, 2, 9])
def test_recurrent_networks_of_both_directions(engine, kind, length):
    cls = {"gru": nn.GRU, "lstm": nn.LSTM}[kind]
    module = made(length, lambda: cls(6, 4, batch_first=True, bidirectional=True))
    x = drawn(length, 1, length, 6)
    call = "bidirectional(typed(x), unpack(packed), kind)"
    found = engine(call, packed=pack(module), x=x[0], kind=kind)
    close(found, as_packed(module)(x)[0][0])
    close(found, module(x)[0][0], HALF)


@pytest.mark.parametrize("seed", SEEDS)
def test_additive_scores(engine, seed):
    attention = made(seed, lambda: AdditiveAttention(5, 6, 4))
    query, keys = drawn(seed, 1, 5), drawn(seed + 1, 1, 9, 6)
    call = """(p => additiveScores(typed(query), typed(keys).map((h) => linear(h, p.U)), p.W, p.v))(
        unpack(packed))"""
    found = engine(call, packed=pack(attention), query=query[0], keys=keys[0])
    for module, within in ((as_packed(attention), CLOSE), (attention, HALF)):
        close(found, additive_score(query, keys, module.W, module.U, module.v)[0], within)


@pytest.mark.parametrize("heads", [1, 2, 4])
@pytest.mark.parametrize("causal", [False, True])
def test_multi_head_attention(engine, heads, causal):
    module = made(heads, lambda: MultiHeadAttention(8, heads))
    x, keys = drawn(3, 1, 6, 8), drawn(4, 1, 6 if causal else 9, 8)
    mask = torch.ones(6, keys.shape[1], dtype=torch.bool)
    mask = mask.tril() if causal else mask & (torch.arange(9) != 4)
    call = """multiHeadAttention(typed(x), typed(keys), unpack(packed), heads, (i, j) => mask[i][j],
        new Set(off))"""
    given = {"packed": pack(module), "x": x[0], "keys": keys[0], "heads": heads, "mask": mask}
    found = engine(call, off=[], **given)
    for torch_module, within in ((as_packed(module), CLOSE), (module, HALF)):
        output, weights = torch_module(x, keys, keys, mask)
        close(found["outputs"], output[0], within)
        close(found["weights"], weights[0], within)
    # A head that is off adds nothing, as if its columns of the output matrix were 0.
    sent = as_packed(module)
    sent.output.weight[:, : 8 // heads] = 0
    close(engine(call, off=[0], **given)["outputs"], sent(x, keys, keys, mask)[0][0])


@pytest.fixture(scope="module")
def corpus():
    return translation_data("quick", pairs=300)


def translator(corpus: Any, attends: bool) -> AttentionTranslator:
    """Return a small translator with random weights, whose outputs vary most."""
    attention = AdditiveAttention(12, 24, 10) if attends else FixedContext()
    return made(
        5,
        lambda: AttentionTranslator(
            BidirectionalEncoder(len(corpus.source_words), 8, 12),
            AttentionDecoder(len(corpus.target_words), 8, 12, 24, attention),
        ),
    )


@pytest.mark.parametrize("attends", [True, False], ids=["attention", "fixed"])
def test_the_translator_on_test_sentences(engine, corpus, attends):
    model = translator(corpus, attends)
    engine("window.model = bahdanau(unpack(packed)), 0", packed=pack(model))
    for ids, target in corpus.test[:100]:
        forced = [[i, token] for i, token in enumerate(target)]
        found = engine(
            """translate(model, ids, { bos, eos, most: 99, forced: new Map(forced) })
                 .steps.map(({ logits, weights }) => ({ logits, weights }))""",
            ids=ids, forced=forced, bos=BOS, eos=EOS,
        )  # fmt: skip
        batch = *source_batch([ids]), torch.tensor([[BOS, *target[:-1]]])
        for module, within in ((as_packed(model), CLOSE), (model, 5 * HALF)):
            logits, weights = module(*batch)
            close([step["logits"] for step in found], logits[0], within)
            if attends:
                close([step["weights"] for step in found], weights[0], within)


@pytest.mark.parametrize("attends", [True, False], ids=["attention", "fixed"])
@pytest.mark.parametrize("levels", [None, 63, 39])
def test_greedy_translations_are_torchs(engine, corpus, attends, levels):
    model = translator(corpus, attends)
    sent = as_packed(model, levels)
    engine("window.model = bahdanau(unpack(packed)), 0", packed=pack(model, levels))
    for ids, _ in corpus.test[:100]:
        found = engine(
            "translate(model, ids, { bos, eos, most: 20 }).steps.map(({ token }) => token)",
            ids=ids, bos=BOS, eos=EOS,
        )  # fmt: skip
        state = sent.encode(*source_batch([ids]))
        expected = greedy_decode(sent.step, state, BOS, EOS, 20)[0].tolist()
        assert until_eos(found) == until_eos(expected)


def test_barred_words_get_no_weight_and_weights_by_hand_are_used(engine, corpus):
    model = translator(corpus, True)
    sent = as_packed(model)
    engine("window.model = bahdanau(unpack(packed)), 0", packed=pack(model))
    ids = corpus.test[0][0]
    mask = torch.tensor([j % 3 != 1 for j in range(len(ids))])
    hand = torch.rand(len(ids), generator=torch.Generator().manual_seed(1))
    hand /= hand.sum()
    call = """(read => model.step(7, read.state, read, mask, hand && typed(hand)))(
        model.encode(ids))"""
    barred = engine(call, ids=ids, mask=mask, hand=None)
    by_hand = engine(call, ids=ids, mask=mask, hand=hand)
    state, annotations, _, projected = sent.encode(*source_batch([ids]))
    words = sent.decoder.embedding(torch.tensor([7]))
    new, context, weights = sent.decoder.step(words, state, annotations, mask[None], projected)
    close(barred["weights"], weights[0])
    assert all(w == 0 for w, kept in zip(barred["weights"], mask, strict=True) if not kept)
    close(barred["logits"], sent.decoder.readout(words, new, context)[0])
    context = (hand[None, None] @ annotations)[:, 0]
    new = sent.decoder.cell(torch.cat([words, context], dim=-1), state)
    close(by_hand["logits"], sent.decoder.readout(words, new, context)[0])


@pytest.mark.parametrize("sees", ["both", "left", "right"])
def test_bert_fills_gaps_of_test_stories(engine, sees):
    stories = splits(200, 1, 50, 1).test
    words = story_vocabulary(splits(200, 1, 50, 1).train)

    def build() -> Filler:
        layers = [BertLayer(16, 4, 24) for _ in range(2)]
        embeddings = BertEmbeddings(len(words), 16, 72)
        head = MaskedLanguageModelHead(embeddings.token)
        return Filler(BertEncoder(embeddings, layers), head, sees)

    model = made(3, build)
    sent = as_packed(model)
    call = "(window.model = bert(unpack(packed), 4, { sees }), model.layers)"
    assert engine(call, packed=pack(model), sees=sees) == 2
    for i, story in enumerate(stories):
        for first, second in (texts_of(story)[:2], texts_of(story, begin=1)[:2]):
            ids, segments = words.join(*([words.id(w) for w in text] for text in (first, second)))
            place = 1 + i % (len(ids) - 2)
            ids[place] = words.mask_id
            found = engine(
                "model.fill(ids, segments, place).logits", ids=ids, segments=segments, place=place
            )
            given = torch.tensor([ids]), torch.tensor([segments])
            close(found, sent(*given)[0, place], 1e-4)
            close(found, model(*given)[0, place], 5e-3)


def test_a_head_of_bert_that_is_off_adds_nothing(engine):
    encoder = made(1, lambda: BertEncoder(BertEmbeddings(9, 8, 12), [BertLayer(8, 2, 6)]))
    wrapped = nn.ModuleDict({"encoder": encoder})
    call = "bert(unpack(packed), 2).read(ids, ids.map(() => 0), [new Set(off)]).states"
    ids = [1, 5, 2, 8]
    for off in ([], [1]):
        sent = as_packed(wrapped)["encoder"]
        for head in off:
            sent.layers[0].attention.output.weight[:, 4 * head : 4 * head + 4] = 0
        found = engine(call, packed=pack(wrapped), ids=ids, off=off)
        close(found, sent(torch.tensor([ids]))[0], 1e-4)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_classifier_judges_reviews(engine, seed):
    model = made(seed, lambda: AttentionClassifier(11, 6, 5, 4, 2))
    sent = as_packed(model)
    engine("window.model = classifier(unpack(packed)), 0", packed=pack(model))
    generator = torch.Generator().manual_seed(seed)
    for length in (1, 2, 7, 20):
        ids = torch.randint(11, (length,), generator=generator)
        found = engine("model.read(ids)", ids=ids)
        logits, weights = sent(ids[None], torch.tensor([length]))
        close(found["logits"], logits[0], 1e-4)
        close(found["weights"], weights[0], 1e-4)
        barred = engine(
            "model.read(ids, { open }).weights", ids=ids, open=[i > 0 for i in range(length)]
        )
        expected = weights[0] * (torch.arange(length) > 0)
        close(barred, expected / expected.sum() if length > 1 else expected, 1e-4)
    sent.W.zero_()
    asked = engine("model.read(ids, { asks: false }).logits", ids=ids)
    close(asked, sent(ids[None], torch.tensor([length]))[0][0], 1e-4)


def test_bert_says_whether_the_second_text_follows(engine):
    def build() -> PretrainingModel:
        embeddings = BertEmbeddings(9, 8, 12)
        encoder = BertEncoder(embeddings, [BertLayer(8, 2, 6)])
        return PretrainingModel(encoder, MaskedLanguageModelHead(embeddings.token), 8, pool_first)

    model = made(2, build)
    ids, segments = [1, 5, 2, 8, 3], [0, 0, 0, 1, 1]
    call = "(b => b.follows(b.read(ids, segments).states))(bert(unpack(packed), 2))"
    found = engine(call, packed=pack(model), ids=ids, segments=segments)
    _, logits = as_packed(model)(torch.tensor([ids]), torch.tensor([segments]))
    close(found, logits[0].softmax(-1)[0], 1e-4)


@pytest.mark.parametrize("levels", [None, 61])
def test_the_transformer_translates_test_sentences(engine, levels):
    pairs = english_french(100, seed=5)
    words = WordVocabulary(side for pair in pairs for side in (pair.source, pair.target))
    model = made(4, lambda: small_transformer(len(words), 16, heads=4, inner=24))
    sent = as_packed(model, levels)
    engine("window.model = transformer(unpack(packed), 4), 0", packed=pack(model, levels))
    for pair in pairs:
        ids, previous = words.encode(pair.source), [BOS, *words.encode(pair.target, eos=False)]
        found = engine(
            "model.decode(previous, model.encode(ids).memory).logits", ids=ids, previous=previous
        )
        close(found, sent(torch.tensor([ids]), torch.tensor([previous]))[0], 2e-4)
    written = engine("write(model, ids, { bos, eos, most: 9 }).tokens", ids=ids, bos=BOS, eos=EOS)
    state = sent.start(torch.tensor([ids]))
    expected = greedy_decode(sent.step, state, BOS, EOS, 9)[0].tolist()
    assert until_eos(written) == until_eos(expected)


def test_knobs_of_the_transformer(engine):
    model = made(6, lambda: small_transformer(11, 16, heads=4, inner=24))
    ids, previous = [4, 5, 6, 3], [2, 7, 8, 9]
    engine("window.model = transformer(unpack(packed), 4), 0", packed=pack(model))

    def logits(options: str) -> Any:
        call = f"(o => model.decode(previous, model.encode(ids, o).memory, o).logits)({options})"
        return engine(call, ids=ids, previous=previous)

    def close_to(changed: Transformer, found: Any, causal: bool = True) -> None:
        memory, memory_mask = changed.encode(torch.tensor([ids]))
        mask = torch.ones(1, 4, 4, dtype=torch.bool)
        y = changed.embed(torch.tensor([previous]))
        for layer in changed.decoder_layers:
            y = layer(y, memory, mask.tril() if causal else mask, memory_mask)
        close(found, (y @ changed.embedding.weight.T)[0], 2e-4)

    close_to(as_packed(model), logits("{}"))
    close_to(as_packed(model), logits("{ causal: false }"), causal=False)
    still = as_packed(model)
    still.positions = lambda length, size: torch.zeros(length, size)
    close_to(still, logits("{ positions: false }"))
    for part, layers, name in (
        ("encoder", "encoder_layers", "attention"),
        ("decoder", "decoder_layers", "attention"),
        ("memory", "decoder_layers", "memory_attention"),
    ):
        off = as_packed(model)
        attention = getattr(getattr(off, layers)[1], name)
        attention.output.weight[:, 8:12] = 0
        close_to(off, logits(f"{{ off: {{ {part}: [undefined, new Set([2])] }} }}"))
