// The language models of chapters 1 and 10. Each has read(ids) -> for each beginning of ids, the
// shortest first, the logits (V,) of the word that follows it: ids[0] alone, ids[0..1], and so on to
// all of ids. ids begin with the mark that begins a text. The n-gram model's logits are log p.

// Interpolated Kneser-Ney as in coursekit/models/ngrams.py, counted in the training text on demand.
// `text`: the ids of the sentences, each with its end, as one string (pack_ids); discounts: D_1 ... D_order.
function ngramModel({ text, discounts, size, bos, eos }) {
  const order = discounts.length;
  const corpus = [bos];
  for (const character of text) {
    const id = character.codePointAt(0) - 0x100;
    corpus.push(id);
    if (id === eos) corpus.push(bos);
  }
  const after = Array.from({ length: size }, () => []); // id -> the places of the words that follow it
  for (let i = 1; i < corpus.length; i++) if (corpus[i] !== bos) after[corpus[i - 1]].push(i);
  const cache = new Map();

  // The places in the corpus of the words that follow the last k words of the history, k = 1, 2, ...
  function follow(history) {
    const places = [];
    for (let k = 1; k < order && k <= history.length; k++) {
      const word = history.at(-k);
      places.push(k === 1 ? after[word] : places.at(-1).filter((i) => corpus[i - k] === word));
    }
    return places;
  }

  // How often each word stands at these places; or, of shorter n-grams, after how many different words.
  function count(places, k, occurrences) {
    const counts = new Map();
    const seen = new Set();
    for (const i of places) {
      if (!occurrences) {
        const pair = corpus[i - k - 1] * size + corpus[i];
        if (seen.has(pair)) continue;
        seen.add(pair);
      }
      counts.set(corpus[i], (counts.get(corpus[i]) ?? 0) + 1);
    }
    return counts;
  }

  const first = count(after.flat(), 0, order === 1);

  function mix(p, counts, discount) {
    const total = [...counts.values()].reduce((a, b) => a + b, 0);
    const free = (discount * counts.size) / total;
    return p.map((value, w) => Math.max((counts.get(w) ?? 0) - discount, 0) / total + free * value);
  }

  function predict(history) {
    const key = history.slice(1 - order || history.length).join(" ");
    if (!cache.has(key)) {
      let p = mix(new Float64Array(size).fill(1 / size), first, discounts[0]);
      follow(history).forEach((places, i) => {
        const k = i + 1;
        if (places.length) p = mix(p, count(places, k, k + 1 === order || history.at(-k) === bos), discounts[k]);
      });
      cache.set(key, p.map(Math.log));
    }
    return cache.get(key);
  }

  // The longest end of the history that the training text contains: its words, of how many that were
  // asked for, how often it occurs, before how many different words, and one of these
  function recall(history) {
    const places = follow(history);
    const seen = places.filter(({ length }) => length);
    return {
      words: seen.length,
      asked: places.length,
      times: seen.at(-1)?.length ?? 0,
      different: new Set((seen.at(-1) ?? []).map((i) => corpus[i])).size,
      next: corpus[seen.at(-1)?.[0]] ?? null,
    };
  }

  return { recall, read: (ids) => ids.map((_, i) => predict(ids.slice(0, i + 1))) };
}

// y = b + W x + U tanh(d + H x), x = [C(w_{t-n}); ...; C(w_{t-1})] (Bengio et al., 2003)
function neuralLanguageModel(p, { bos }) {
  const table = p["embedding.weight"];
  const window = p["hidden.weight"].columns / table.columns;

  function predict(history) {
    const context = [...Array(window).fill(bos), ...history].slice(-window);
    const x = joined(...context.map((id) => rowOf(table, id)));
    const hidden = linear(x, p["hidden.weight"], p["hidden.bias"]).map(Math.tanh);
    return added(linear(hidden, p["output.weight"], p["output.bias"]), linear(x, p["direct.weight"]));
  }

  // The ids among `others` whose vectors are the most similar to that of a word, by their cosine
  function nearest(id, others, count) {
    const norm = (vector) => Math.sqrt(dot(vector, vector)) || 1;
    const own = rowOf(table, id);
    const cosine = new Map(others.map((other) => [other, dot(own, rowOf(table, other)) / norm(rowOf(table, other))]));
    return others.filter((other) => other !== id).sort((a, b) => cosine.get(b) - cosine.get(a)).slice(0, count);
  }

  return { nearest, read: (ids) => ids.map((_, i) => predict(ids.slice(0, i + 1))) };
}

const silu = (z) => z * sigmoid(z);

// x / rms(x) * weight
function rmsNorm(x, weight, eps) {
  const scale = 1 / Math.sqrt(dot(x, x) / x.length + eps);
  return x.map((value, i) => weight[i] * value * scale);
}

// Each pair of components of a head turned by an angle that is proportional to the position
function rotary(x, position, size) {
  const turned = new Float32Array(x.length);
  for (let i = 0; i < x.length; i += 2) {
    const angle = position * 10000 ** (-(i % size) / size);
    const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
    turned[i] = x[i] * cos - x[i + 1] * sin;
    turned[i + 1] = x[i] * sin + x[i + 1] * cos;
  }
  return turned;
}

// The decoder of chapter 10: pre-RMSNorm, rotary positions, grouped queries, SwiGLU, no biases, one
// table of embeddings for input and output. `heads` of queries; those of keys and values are in the weights.
function decoderModel(p, { heads, eps = 1e-6 }) {
  const table = p["embedding.weight"];
  const blocks = [];
  while (`blocks.${blocks.length}.query.weight` in p) blocks.push(inside(p, `blocks.${blocks.length}`));

  function attend(block, states) {
    const size = block["query.weight"].rows / heads;
    const groups = block["key.weight"].rows / size;
    const [q, k, v] = ["query", "key", "value"].map((name) => states.map((y) => linear(y, block[`${name}.weight`])));
    const turned = [q, k].map((rows) => rows.map((row, i) => rotary(row, i, size)));
    return states.map((_, i) => {
      const found = Array.from({ length: heads }, (_unused, h) => {
        const g = Math.floor((h * groups) / heads);
        const query = turned[0][i].subarray(h * size, (h + 1) * size);
        const scores = Float32Array.from({ length: i + 1 }, (_unused2, j) =>
          dot(query, turned[1][j].subarray(g * size, (g + 1) * size)) / Math.sqrt(size));
        return weighted(softmax(scores), v.slice(0, i + 1), g * size, (g + 1) * size);
      });
      return linear(joined(...found), block["output.weight"]);
    });
  }

  function read(ids) {
    let x = ids.map((id) => rowOf(table, id));
    for (const block of blocks) {
      const normed = (k) => x.map((row) => rmsNorm(row, block[`norms.${k}.weight`], eps));
      const found = attend(block, normed(0));
      x = x.map((row, i) => added(row, found[i]));
      const inner = normed(1).map((y) => {
        const up = linear(y, block["up.weight"]);
        return linear(linear(y, block["gate.weight"]).map((z, i) => silu(z) * up[i]), block["down.weight"]);
      });
      x = x.map((row, i) => added(row, inner[i]));
    }
    return x.map((row) => linear(rmsNorm(row, p["norm.weight"], eps), table));
  }

  return { read };
}

// The probabilities from which a word is drawn: softmax(logits / temperature), of which only the
// topK largest are kept (0 for all), and of these the largest that together reach topP.
function sampling(logits, { temperature = 1, topK = 0, topP = 1 } = {}) {
  const p = softmax(logits.map((value) => value / temperature));
  const order = [...p.keys()].sort((a, b) => p[b] - p[a]);
  const kept = topK ? order.slice(0, topK) : order;
  const all = kept.reduce((sum, id) => sum + p[id], 0);
  const out = new Float32Array(p.length);
  let sum = 0;
  for (const id of kept) {
    if (sum >= topP * all) break; // the first word always stays
    out[id] = p[id];
    sum += p[id];
  }
  return out.map((value) => value / sum);
}

// The id where the running sum of the probabilities passes u, from 0 to 1
function drawFrom(probabilities, u) {
  let sum = 0;
  let last = 0;
  for (let id = 0; id < probabilities.length; id++) {
    if (!probabilities[id]) continue;
    sum += probabilities[id];
    last = id;
    if (sum > u) return id;
  }
  return last;
}
