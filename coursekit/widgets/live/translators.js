// The other translators of the history, after `bahdanau` of engine.js and with its interface:
// encode(ids) -> what was read, with the first `state`; step(token, state, read, mask, hand) ->
// {weights (S,) or null, state, logits, probabilities}. So `translate` runs all of them.

// One direction of an RNN with one layer: the state after each word.
function oneDirection(inputs, cell, start) {
  let state = start;
  return inputs.map((x) => (state = cell(x, state)));
}

const zeros = (n) => new Float32Array(n);
const outcome = (logits, found) => ({ ...found, logits, probabilities: softmax(logits) });

// The probability of each content word that it occurs in the sentence of a vector, as a linear probe
// gives it: sigma(W (v - m) / s + b)
const wordContent = (vector, { mean, deviation, weight, bias }) =>
  linear(vector.map((value, i) => (value - mean[i]) / deviation[i]), weight, bias).map(sigmoid);

// Cho's: the last state of a GRU is the context of every step.
function cho(p) {
  const [rnn, cell] = [inside(p, "encoder.rnn"), inside(p, "decoder.cell")];

  function encode(ids) {
    const words = ids.map((id) => rowOf(p["encoder.embedding.weight"], id));
    const states = oneDirection(words, (x, h) => gruCell(x, h, rnn, "_l0"), zeros(rnn.weight_hh_l0.columns));
    const vector = states.at(-1);
    const first = linear(vector, p["decoder.first_state.weight"], p["decoder.first_state.bias"]);
    return { states, vector, state: first.map(Math.tanh) };
  }

  function step(token, state, { vector }) {
    const embedded = rowOf(p["decoder.embedding.weight"], token);
    const next = gruCell(joined(embedded, vector), state, cell);
    const hidden = linear(joined(embedded, next, vector), p["decoder.hidden.weight"], p["decoder.hidden.bias"]);
    const logits = linear(hidden.map(Math.tanh), p["decoder.output.weight"], p["decoder.output.bias"]);
    return outcome(logits, { weights: null, state: next });
  }

  return { attends: false, encode, step };
}

// Sutskever's: one LSTM reads the sentence backwards, another begins with its last state.
function sutskever(p) {
  const [encoder, decoder] = [inside(p, "model.encoder"), inside(p, "model.decoder")];

  function encode(ids) {
    const d = encoder.weight_hh_l0.columns;
    const words = [...ids].reverse().map((id) => rowOf(p["model.source_embedding.weight"], id));
    const states = oneDirection(words, (x, s) => lstmCell(x, s, encoder, "_l0"), { h: zeros(d), c: zeros(d) });
    const state = states.at(-1);
    return { states: states.map(({ h }) => h), vector: joined(state.h, state.c), state };
  }

  function step(token, state) {
    const next = lstmCell(rowOf(p["model.target_embedding.weight"], token), state, decoder, "_l0");
    const logits = linear(next.h, p["model.output.weight"], p["model.output.bias"]);
    return outcome(logits, { weights: null, state: next });
  }

  return { attends: false, encode, step };
}

// Luong's with the general score and input feeding; a state is {h, fed}, fed the attentional state.
function luong(p) {
  const [rnn, cell] = [inside(p, "encoder.rnn"), inside(p, "decoder.cell")];
  const W = p["decoder.attention.score.W"];

  function encode(ids) {
    const keys = bidirectional(ids.map((id) => rowOf(p["encoder.embedding.weight"], id)), rnn, "gru");
    const d = rnn.weight_hh_l0.columns;
    const first = linear(keys[0].subarray(d), p["encoder.first_state.weight"], p["encoder.first_state.bias"]);
    return { annotations: keys, projected: keys.map((key) => linear(key, W)), state: { h: first.map(Math.tanh), fed: zeros(d) } };
  }

  // e_j = h^T W k_j / sqrt(d_k), as in the course's `Score`
  function step(token, { h, fed }, { annotations, projected }, mask, hand) {
    const next = gruCell(joined(rowOf(p["decoder.embedding.weight"], token), fed), h, cell);
    const scores = Float32Array.from(projected, (key) => dot(next, key) / Math.sqrt(W.columns));
    const weights = hand ?? softmax(scores, mask);
    const attentional = linear(joined(weighted(weights, annotations), next), p["decoder.combine.weight"]).map(Math.tanh);
    return outcome(linear(attentional, p["decoder.output.weight"]), { weights, state: { h: next, fed: attentional } });
  }

  return { attends: true, encode, step };
}

// The Transformer, one word at a time with the keys and values of the words before: `write` of
// engine.js computes all places anew at every step. `weights` is the mean of the last layer's heads;
// `hand` stands in for the weights of all heads of that layer, `off` are heads of it that add nothing.
function transformerByWord(p, heads, { off = new Set(), eps = 1e-5 } = {}) {
  const whole = transformer(p, heads, { eps });
  const table = p["embedding.weight"];
  const layers = Array.from({ length: whole.layers }, (_, l) => inside(p, `decoder_layers.${l}`));
  const apply = (own, name, x) => linear(x, own[`${name}.weight`], own[`${name}.bias`]);
  const norm = (own, name, x) => layerNorm(x, own[`${name}.weight`], own[`${name}.bias`], eps);

  function encode(ids) {
    const { memory } = whole.encode(ids);
    const before = layers.map((own) => ({
      keys: [],
      values: [],
      memoryKeys: memory.map((m) => apply(own, "memory_attention.key", m)),
      memoryValues: memory.map((m) => apply(own, "memory_attention.value", m)),
    }));
    return { annotations: memory, state: { position: 0, before } };
  }

  // One query (d,), keys and values (N vectors): what all heads find, (d,), and their weights (N,)
  function attend(query, keys, values, { mask, hand, without = new Set() } = {}) {
    const size = query.length / heads;
    const weights = Array.from({ length: heads }, (_, h) => hand
      ?? softmax(Float32Array.from(keys, (key) => dot(query, key, h * size, (h + 1) * size) / Math.sqrt(size)), mask));
    const found = weights.map((row, h) => (without.has(h) ? zeros(size) : weighted(row, values, h * size, (h + 1) * size)));
    return [joined(...found), weights];
  }

  function step(token, { position, before }, read, mask, hand) {
    const { columns } = table;
    let y = rowOf(table, token).map((value, i) => {
      const angle = position / 10000 ** ((i - (i % 2)) / columns);
      return value * Math.sqrt(columns) + (i % 2 ? Math.cos(angle) : Math.sin(angle));
    });
    let byHead = [];
    const after = layers.map((own, l) => {
      const kept = before[l];
      const last = l === layers.length - 1;
      const keys = [...kept.keys, apply(own, "attention.key", y)];
      const values = [...kept.values, apply(own, "attention.value", y)];
      const [self] = attend(apply(own, "attention.query", y), keys, values);
      y = norm(own, "attention_norm", added(y, apply(own, "attention.output", self)));
      const [across, weights] = attend(apply(own, "memory_attention.query", y), kept.memoryKeys, kept.memoryValues,
        { mask, ...(last ? { hand, without: off } : {}) });
      y = norm(own, "memory_attention_norm", added(y, apply(own, "memory_attention.output", across)));
      const inner = relu(apply(own, "feed_forward.inner", y));
      y = norm(own, "feed_forward_norm", added(y, apply(own, "feed_forward.outer", inner)));
      byHead = weights;
      return { ...kept, keys, values };
    });
    const mean = byHead[0].map((_, j) => byHead.reduce((sum, row) => sum + row[j], 0) / heads);
    return outcome(linear(y, table), { weights: mean, byHead, state: { position: position + 1, before: after } });
  }

  return { attends: true, encode, step };
}
