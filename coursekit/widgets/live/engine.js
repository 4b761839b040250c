// The layers and models of the chapters in the reader's browser. A vector is a Float32Array, a
// sequence a list of vectors, a matrix {rows, columns, data} with the rows one after the other, as
// pack.py sends them. Sums run in double precision. A mask is a list of booleans, true = may be
// attended, as everywhere in the course; no mask means that everything may.

const ALPHABET = [..."!#$%()*+,-./0123456789:;=?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[]^_abcdefghijklmnopqrstuvwxyz{|}~"];

// ---- what pack.py sends

function halves(text) {
  const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  const view = new DataView(bytes.buffer);
  return Float32Array.from({ length: bytes.length / 2 }, (_, i) => {
    const bits = view.getUint16(2 * i, true);
    const exponent = (bits >> 10) & 31;
    const fraction = (bits & 1023) / 1024;
    const size = exponent ? (1 + fraction) * 2 ** (exponent - 15) : fraction * 2 ** -14;
    return bits & 0x8000 ? -size : size;
  });
}

function unpack(packed) {
  const level = new Map(ALPHABET.map((character, i) => [character, i - (ALPHABET.length - 1) / 2]));
  const found = {};
  // Saving a notebook sorts the names, so that an entry may come before the one it is the same as.
  const entries = Object.entries(packed);
  for (const [name, { shape, halves: text, levels, scales }] of entries.filter(([, e]) => !e.same)) {
    const [rows, columns] = shape;
    let data;
    if (levels) {
      const scale = halves(scales);
      data = Float32Array.from(levels, (character, i) => level.get(character) * scale[Math.floor(i / columns)]);
    } else data = halves(text);
    found[name] = shape.length === 1 ? data : { rows, columns, data };
  }
  for (const [name, { same }] of entries) if (same) found[name] = found[same];
  return found;
}

// ---- layers

const rowOf = (matrix, i) => matrix.data.subarray(i * matrix.columns, (i + 1) * matrix.columns);
const added = (a, b) => a.map((value, i) => value + b[i]);
const sigmoid = (value) => 1 / (1 + Math.exp(-value));
const argmax = (vector) => vector.reduce((best, value, i) => (value > vector[best] ? i : best), 0);

function joined(...vectors) {
  const out = new Float32Array(vectors.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const vector of vectors) {
    out.set(vector, at);
    at += vector.length;
  }
  return out;
}

// Loops and no closures here: these run for every pair of words, a frame has 16 ms.
function dot(a, b, from = 0, to = a.length) {
  let sum = 0;
  for (let i = from; i < to; i++) sum += a[i] * b[i];
  return sum;
}

// W x + b, (rows,) for x (columns,)
function linear(x, weight, bias) {
  const { rows, columns, data } = weight;
  const out = new Float32Array(rows);
  for (let o = 0, at = 0; o < rows; o++) {
    let sum = bias ? bias[o] : 0;
    for (let i = 0; i < columns; i++, at++) sum += data[at] * x[i];
    out[o] = sum;
  }
  return out;
}

// A row without any place gives zeros.
function softmax(scores, mask) {
  const parts = new Float64Array(scores.length);
  let top = -Infinity;
  for (let i = 0; i < scores.length; i++) if ((!mask || mask[i]) && scores[i] > top) top = scores[i];
  let sum = 0;
  for (let i = 0; i < scores.length; i++) {
    if (!mask || mask[i]) parts[i] = Math.exp(scores[i] - top);
    sum += parts[i];
  }
  for (let i = 0; sum && i < parts.length; i++) parts[i] /= sum;
  return Float32Array.from(parts);
}

// The sum of the values with these weights, (d,), of their components `from` to `to`
function weighted(weights, values, from = 0, to = values[0].length) {
  const out = new Float64Array(to - from);
  for (let j = 0; j < values.length; j++) {
    const [weight, value] = [weights[j], values[j]];
    if (weight) for (let i = from; i < to; i++) out[i - from] += weight * value[i];
  }
  return Float32Array.from(out);
}

function layerNorm(x, weight, bias, eps) {
  const mean = x.reduce((a, b) => a + b, 0) / x.length;
  const variance = x.reduce((sum, value) => sum + (value - mean) ** 2, 0) / x.length;
  const scale = 1 / Math.sqrt(variance + eps);
  return x.map((value, i) => weight[i] * (value - mean) * scale + bias[i]);
}

// The error function by its series near 0 and by a continued fraction further out.
function erf(x) {
  const size = Math.abs(x);
  if (size > 6) return Math.sign(x);
  if (size < 2.5) {
    let term = x;
    let sum = x;
    for (let n = 1; n < 60 && Math.abs(term) > 1e-17; n++) {
      term *= (-x * x) / n;
      sum += term / (2 * n + 1);
    }
    return (2 / Math.sqrt(Math.PI)) * sum;
  }
  let below = size;
  for (let k = 60; k > 0; k--) below = size + k / 2 / below;
  return Math.sign(x) * (1 - Math.exp(-size * size) / (Math.sqrt(Math.PI) * below));
}

const relu = (x) => x.map((value) => Math.max(0, value));
const gelu = (x) => x.map((value) => 0.5 * value * (1 + erf(value / Math.SQRT2)));

// torch's layout: reset, update, new
function gruCell(x, h, p, suffix = "") {
  const [ih, hh] = ["ih", "hh"].map((side, k) =>
    linear(k ? h : x, p[`weight_${side}${suffix}`], p[`bias_${side}${suffix}`]));
  const d = h.length;
  return h.map((old, i) => {
    const reset = sigmoid(ih[i] + hh[i]);
    const update = sigmoid(ih[d + i] + hh[d + i]);
    const fresh = Math.tanh(ih[2 * d + i] + reset * hh[2 * d + i]);
    return (1 - update) * fresh + update * old;
  });
}

// torch's layout: input, forget, cell, output
function lstmCell(x, { h, c }, p, suffix = "") {
  const d = h.length;
  const gates = added(
    linear(x, p[`weight_ih${suffix}`], p[`bias_ih${suffix}`]),
    linear(h, p[`weight_hh${suffix}`], p[`bias_hh${suffix}`]),
  );
  const cell = c.map((old, i) =>
    sigmoid(gates[d + i]) * old + sigmoid(gates[i]) * Math.tanh(gates[2 * d + i]));
  return { h: cell.map((value, i) => sigmoid(gates[3 * d + i]) * Math.tanh(value)), c: cell };
}

// Both directions of an RNN with one layer: for each word [h->; h<-], (2d,)
function bidirectional(inputs, p, kind) {
  const d = p.weight_hh_l0.columns;
  const read = (words, suffix) => {
    let state = new Float32Array(d);
    let cell = new Float32Array(d);
    return words.map((x) => {
      if (kind === "gru") state = gruCell(x, state, p, suffix);
      else ({ h: state, c: cell } = lstmCell(x, { h: state, c: cell }, p, suffix));
      return state;
    });
  };
  const forward = read(inputs, "_l0");
  const backward = read([...inputs].reverse(), "_l0_reverse").reverse();
  return forward.map((state, j) => joined(state, backward[j]));
}

// e_j = v^T tanh(W s + U h_j); the U h_j are given
function additiveScores(query, projected, W, v) {
  const asked = linear(query, W);
  return Float32Array.from(projected, (key) =>
    key.reduce((sum, value, i) => sum + v[i] * Math.tanh(asked[i] + value), 0));
}

// queries (T vectors), keys (N vectors); mask(i, j) or nothing; heads in `off` add nothing.
// Returns the outputs (T vectors), the weights, [head][i] -> (N,), and what they were made of
function multiHeadAttention(queries, keys, p, heads, mask, off = new Set()) {
  const size = p["query.weight"].rows / heads;
  const project = (name, rows) => rows.map((x) => linear(x, p[`${name}.weight`], p[`${name}.bias`]));
  const [q, k, v] = [project("query", queries), project("key", keys), project("value", keys)];
  const weights = Array.from({ length: heads }, (_, h) =>
    q.map((query, i) => {
      const scores = new Float32Array(k.length);
      for (let j = 0; j < k.length; j++) scores[j] = dot(query, k[j], h * size, (h + 1) * size) / Math.sqrt(size);
      return softmax(scores, mask && k.map((_, j) => mask(i, j)));
    }));
  const outputs = q.map((_, i) => {
    const found = weights.map((rows, h) =>
      off.has(h) ? new Float32Array(size) : weighted(rows[i], v, h * size, (h + 1) * size));
    return linear(joined(...found), p["output.weight"], p["output.bias"]);
  });
  return { outputs, weights, inside: { queries, keys, q, k, v } };
}

// The parameters below a name: inside(p, "rnn") has weight_ih_l0 for rnn.weight_ih_l0
function inside(p, name) {
  const start = `${name}.`;
  const own = Object.entries(p).filter(([key]) => key.startsWith(start));
  return Object.fromEntries(own.map(([key, value]) => [key.slice(start.length), value]));
}

// ---- models: of each what a page shows, stage by stage

// Bahdanau's translator, and the same with one fixed vector where there is no `decoder.attention`.
function bahdanau(p) {
  const [rnn, cell] = [inside(p, "encoder.rnn"), inside(p, "decoder.cell")];
  const attends = "decoder.attention.W" in p;

  // ids (S,) -> annotations [h->; h<-], the projected keys and s_0
  function encode(ids) {
    const words = ids.map((id) => rowOf(p["encoder.embedding.weight"], id));
    const annotations = bidirectional(words, rnn, "gru");
    const d = rnn.weight_hh_l0.columns;
    const first = linear(annotations[0].subarray(d), p["encoder.first_state.weight"], p["encoder.first_state.bias"]);
    return {
      annotations,
      fixed: joined(annotations.at(-1).subarray(0, d), annotations[0].subarray(d)),
      projected: attends ? annotations.map((h) => linear(h, p["decoder.attention.U"])) : [],
      state: first.map(Math.tanh),
    };
  }

  // One word after `token`. `mask`: which source words may be attended to; `hand`: weights (S,) in
  // place of the model's own.
  function step(token, state, { annotations, fixed, projected }, mask, hand) {
    const scores = attends ? additiveScores(state, projected, p["decoder.attention.W"], p["decoder.attention.v"]) : null;
    const weights = attends ? hand ?? softmax(scores, mask) : null;
    const context = attends ? weighted(weights, annotations) : fixed;
    const embedded = rowOf(p["decoder.embedding.weight"], token);
    const next = gruCell(joined(embedded, context), state, cell);
    const hidden = linear(joined(embedded, next, context), p["decoder.hidden.weight"], p["decoder.hidden.bias"]);
    const logits = linear(hidden.map(Math.tanh), p["decoder.output.weight"], p["decoder.output.bias"]);
    return { scores, weights, context, query: state, state: next, logits, probabilities: softmax(logits) };
  }

  const score = { W: p["decoder.attention.W"], U: p["decoder.attention.U"], v: p["decoder.attention.v"] };
  return { attends, encode, step, score };
}

// The most probable word at each step until `eos`, or the one in `forced` (step -> id).
// `hand`: step -> weights. `read`: what `model.encode(ids)` returned, if it is there already.
// Returns the steps, each with its `token`, and what was read.
function translate(model, ids, { bos, eos, most, mask, forced = new Map(), hand = new Map(), read = model.encode(ids) }) {
  const steps = [];
  let [token, state] = [bos, read.state];
  while (steps.length < most && (token !== eos || !steps.length)) {
    const i = steps.length;
    const found = model.step(token, state, read, mask, hand.get(i));
    ({ state } = found);
    token = forced.get(i) ?? argmax(found.logits);
    steps.push({ ...found, token, forced: forced.has(i) });
  }
  return { read, steps };
}

// The review classifier: an LSTM in both directions, and attention that its last states ask for.
// `open` (N,): which words may be attended to; all are read. `asks`: false gives every text the query 0.
function classifier(p) {
  const rnn = inside(p, "rnn");
  const d = rnn.weight_hh_l0.columns;

  // ids (N,) -> the states, scores, weights and the probabilities of the classes
  function read(ids, { open, asks = true } = {}) {
    const states = bidirectional(ids.map((id) => rowOf(p["embedding.weight"], id)), rnn, "lstm");
    const last = joined(states.at(-1).subarray(0, d), states[0].subarray(d));
    const query = asks ? last : new Float32Array(2 * d);
    const scores = additiveScores(query, states.map((state) => linear(state, p.U)), p.W, p.v);
    const weights = softmax(scores, open);
    const logits = linear(weighted(weights, states), p["output.weight"], p["output.bias"]);
    return { states, scores, weights, logits, probabilities: softmax(logits) };
  }

  return { read };
}

// The chapter's BERT with its head. `sees`: "left" lets each place see itself and what stands
// before it; its word is then told from the state one place before. `off`: layer -> heads (a Set)
// that add nothing. eps is that of every norm.
function bert(p, heads, { sees = "both", eps = 1e-12 } = {}) {
  const embeddings = inside(p, "encoder.embeddings");
  const layers = [];
  while (`encoder.layers.${layers.length}.inner.weight` in p) layers.push(inside(p, `encoder.layers.${layers.length}`));
  const attentions = layers.map((layer) => inside(layer, "attention"));
  const part = (name, own, x) => linear(x, own[`${name}.weight`], own[`${name}.bias`]);
  const norm = (name, own, x) => layerNorm(x, own[`${name}.weight`], own[`${name}.bias`], eps);
  const mask = sees === "both" ? undefined : (i, j) => (sees === "left" ? j <= i : j >= i);

  // ids and segments (N,) -> the states of the last layer and the weights of all, [layer][head][i]
  function read(ids, segments, off = []) {
    let states = ids.map((id, i) => norm("norm", embeddings, added(
      added(rowOf(embeddings["token.weight"], id), rowOf(embeddings["segment.weight"], segments[i])),
      rowOf(embeddings["position.weight"], i))));
    const weights = layers.map((layer, l) => {
      const found = multiHeadAttention(states, states, attentions[l], heads, mask, off[l]);
      states = states.map((x, i) => norm("attention_norm", layer, added(x, found.outputs[i])));
      states = states.map((x) => norm("output_norm", layer,
        added(x, part("outer", layer, gelu(part("inner", layer, x))))));
      return found.weights;
    });
    return { states, weights };
  }

  // The probabilities (V,) of the word at a place, which ids should hide.
  function fill(ids, segments, place, off) {
    const { states, weights } = read(ids, segments, off);
    const from = { left: place - 1, right: place + 1, both: place }[sees];
    const state = states[from] ?? new Float32Array(states[0].length);
    const logits = linear(norm("head.norm", p, gelu(part("head.transform", p, state))), embeddings["token.weight"], p["head.bias"]);
    return { states, logits, probabilities: softmax(logits), weights };
  }

  // The probability that the second text follows the first, from the states (N,), of which [CLS] has the first.
  function follows(states) {
    const first = part("pooler", p, states[0]).map(Math.tanh);
    return softmax(part("next", p, first))[0];
  }

  return { layers: layers.length, read, fill, follows };
}

// The Transformer, norms after the sums, one table of embeddings for both languages and the output.
// `off`: part -> layer -> heads (a Set) that add nothing, for the parts encoder, decoder (to itself)
// and memory (to the encoder). `stages`: the vectors before and after positions, then after each
// layer, [stage][i].
function transformer(p, heads, { eps = 1e-5 } = {}) {
  const table = p["embedding.weight"];
  const stack = (name) => {
    const layers = [];
    while (`${name}.${layers.length}.attention.query.weight` in p) layers.push(inside(p, `${name}.${layers.length}`));
    return layers;
  };
  const [encoder, decoder] = [stack("encoder_layers"), stack("decoder_layers")];
  const norm = (name, own, x) => layerNorm(x, own[`${name}.weight`], own[`${name}.bias`], eps);

  function wave(position) {
    return Float32Array.from({ length: table.columns }, (_, i) => {
      const angle = position / 10000 ** ((i - (i % 2)) / table.columns);
      return i % 2 ? Math.cos(angle) : Math.sin(angle);
    });
  }

  function embed(ids, positions) {
    const plain = ids.map((id) => rowOf(table, id).map((value) => value * Math.sqrt(table.columns)));
    return [plain, positions ? plain.map((x, i) => added(x, wave(i))) : plain];
  }

  // x + what is found, normed
  const attend = (name, own, x, keys, mask, off) => {
    const found = multiHeadAttention(x, keys, inside(own, name), heads, mask, off);
    return [x.map((row, i) => norm(`${name}_norm`, own, added(row, found.outputs[i]))), found];
  };
  const think = (own, x) => x.map((row) => {
    const inner = relu(linear(row, own["feed_forward.inner.weight"], own["feed_forward.inner.bias"]));
    return norm("feed_forward_norm", own, added(row, linear(inner, own["feed_forward.outer.weight"], own["feed_forward.outer.bias"])));
  });

  // What the attentions found, {part: [layer]}, as weights {part: [layer][head][i]} and inside {part: [layer]}
  const apart = (found) => Object.fromEntries(["weights", "inside"].map((what) => [what,
    Object.fromEntries(Object.entries(found).map(([part, layers]) => [part, layers.map((layer) => layer[what])]))]));

  // ids (S,) -> the memory, stages, and weights and inside of the encoder
  function encode(ids, { off = {}, positions = true } = {}) {
    const stages = embed(ids, positions);
    let x = stages[1];
    const found = { encoder: [] };
    encoder.forEach((own, l) => {
      [x, found.encoder[l]] = attend("attention", own, x, x, undefined, off.encoder?.[l]);
      x = think(own, x);
      stages.push(x);
    });
    return { memory: x, stages, ...apart(found) };
  }

  // ids (T,), from <bos> on -> the logits at each place, stages, and weights and inside of both attentions
  function decode(ids, memory, { off = {}, positions = true, causal = true } = {}) {
    const stages = embed(ids, positions);
    let y = stages[1];
    const found = { decoder: [], memory: [] };
    decoder.forEach((own, l) => {
      [y, found.decoder[l]] = attend("attention", own, y, y, causal ? (i, j) => j <= i : undefined, off.decoder?.[l]);
      [y, found.memory[l]] = attend("memory_attention", own, y, memory, undefined, off.memory?.[l]);
      y = think(own, y);
      stages.push(y);
    });
    return { logits: y.map((row) => linear(row, table)), stages, ...apart(found) };
  }

  // The matrix W^O of an attention
  const outputOf = (part, layer) => ({
    encoder: encoder[layer]["attention.output.weight"],
    decoder: decoder[layer]["attention.output.weight"],
    memory: decoder[layer]["memory_attention.output.weight"],
  })[part];

  return { layers: encoder.length, encode, decode, outputOf };
}

// The most probable word at each step until `eos`. Returns what was read, the words written with
// their probabilities when they were written, and the last pass of the decoder.
function write(model, ids, { bos, eos, most, ...options }) {
  const read = model.encode(ids, options);
  const written = [bos];
  const probabilities = [];
  let last;
  do {
    last = model.decode(written, read.memory, options);
    const chances = softmax(last.logits.at(-1));
    written.push(argmax(chances));
    probabilities.push(chances[written.at(-1)]);
  } while (written.at(-1) !== eos && probabilities.length < most);
  return { read, last, tokens: written.slice(1), probabilities };
}
