// One attention weight under the microscope: from the two vectors to the score, the weight, and what
// the value adds. An explorer gives the stages; this file draws them.

const STRIP_ROOM = 1.05; // how far beyond its largest number a strip's scale reaches

// A positive number, short.
const number = (value) => {
  if (value && value < 1e-4) return value.toExponential(0).replace(/e-(\d+)/, (_, power) => ` × 10⁻${[...power].map((digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[digit]).join("")}`);
  if (value && value < 0.005) return String(Number(value.toPrecision(1)));
  return value >= 100 ? Math.round(value).toLocaleString("en") : value.toFixed(2);
};

// "W^{Q}" with the Q raised
const raised = (tag, text) => make(tag, {}, ...text.split(/\^\{(.*?)\}/).map((part, i) => (i % 2 ? make("sup", { text: part }) : part)));

const products = (a, b) => a.map((value, i) => value * b[i]);
const total = (vector) => vector.reduce((sum, value) => sum + value, 0);

// How a score becomes a weight: `scores` and `mask` of one row, one sentence each.
function softmaxInWords(scores, mask, weights, key) {
  if (mask && !mask[key]) return ["The mask bars this word: its score counts as −∞, its weight is 0."];
  const open = scores.filter((_, j) => !mask || mask[j]);
  const top = Math.max(...open);
  const shift = top > 12 ? top : 0; // e^12 is still easy to read
  const powers = open.map((score) => Math.exp(score - shift));
  const own = Math.exp(scores[key] - shift);
  const exponent = shift ? `${signed(scores[key])} − ${signed(shift)}` : signed(scores[key]);
  return [
    `Softmax: e^{${exponent}} ≈ ${number(own)}${shift ? " (the largest score is subtracted from all, which changes no weight)" : ""}. ` +
      `${open.length === 1 ? "No other word may be looked at" : `Over the ${open.length} words that may be looked at, these powers sum to ${number(total(powers))}`}.`,
    `Weight: ${number(own)} ÷ ${number(total(powers))} ≈ ${number(weights[key])}.`,
  ];
}

// The stages of a head: softmax(q k^T / sqrt(d_k)) v W^O. `inside` is what multiHeadAttention returns.
function dotProductStages({ queries, keys, q, k, v }, { heads, head, row, key, weights, mask, output, from, about, to, isOff }) {
  const size = q[row].length / heads;
  const part = (vector) => vector.subarray(head * size, (head + 1) * size);
  const [query, other, value] = [part(q[row]), part(k[key]), part(v[key])];
  const multiplied = products(query, other);
  const scores = k.map((vector) => dot(query, part(vector)) / Math.sqrt(size));
  const found = weighted(weights, v, head * size, (head + 1) * size);
  const padded = new Float32Array(q[row].length);
  padded.set(found, head * size);
  return [
    { name: `vector of “${from}”`, vector: queries[row], note: about },
    { name: "q, its query", kind: "query", vector: query, component: true, note: "W^{Q} times this vector, plus a bias" },
    { name: `vector of “${to}”`, vector: keys[key] },
    { name: "k, its key", kind: "key", vector: other, component: true, note: "W^{K} times that vector, plus a bias" },
    { name: "qᵢ kᵢ, the products", vector: multiplied, component: true },
    {
      lines: [
        `Score: the ${size} products sum to ${signed(total(multiplied))}; divided by √${size} = ${signed(Math.sqrt(size))}: ${signed(scores[key])}.`,
        ...softmaxInWords(scores, mask, weights, key),
      ],
    },
    { name: `v, the value of “${to}”`, kind: "value", vector: value, note: "W^{V} times that vector, plus a bias" },
    { name: `${number(weights[key])} × v`, kind: "value", vector: value.map((one) => weights[key] * one), like: value },
    { name: "sum over all words", kind: "found", vector: found, note: isOff ? "not passed on: the head is off" : "the head’s result" },
    {
      name: `added to “${from}”`, kind: "found", vector: isOff ? new Float32Array(output.rows) : linear(padded, output),
      note: isOff ? "nothing, since the head is off" : "W^{O} times the result; the other heads add theirs, and a bias",
    },
  ];
}

// The stages of Bahdanau's score: v^T tanh(W s + U h).
function additiveStages({ query, key, W, U, v }, { at, scores, weights, mask, values, byHand, from, to }) {
  const [asked, offered] = [linear(query, W), linear(key, U)];
  const bent = added(asked, offered).map(Math.tanh);
  const multiplied = products(v, bent);
  const largest = added(asked.map(Math.abs), offered.map(Math.abs));
  return [
    { name: "s, the query", kind: "query", vector: query, note: `the decoder’s state before it writes “${from}”` },
    { name: "W s", kind: "query", vector: asked, component: true, like: largest },
    { name: `h, annotation of “${to}”`, kind: "key", vector: key },
    { name: "U h", kind: "key", vector: offered, component: true, like: largest },
    { name: "tanh(W s + U h)", vector: bent, component: true },
    { name: "v, learned", vector: v, component: true, note: "the same for all words" },
    { name: "vᵢ tanhᵢ, the products", vector: multiplied, component: true },
    {
      lines: [
        `Score: the ${multiplied.length} products sum to ${signed(total(multiplied))}.`,
        ...(byHand ? [`Weight: ${weights[at].toFixed(2)}, set by hand; the scores are not used.`] : softmaxInWords(scores, mask, weights, at)),
      ],
    },
    { name: `${number(weights[at])} × h`, kind: "value", vector: key.map((one) => weights[at] * one), like: key },
    { name: "c, the context", kind: "found", vector: weighted(weights, values), like: key, note: "the sum over all words" },
  ];
}

// A panel that opens. `opened(open)` when the reader opens or closes it, `chosen(row, key)` when a
// weight is pressed.
function microscope({ opened, chosen }) {
  const summary = make("summary");
  const matrix = make("div", { class: "ms-matrix", "aria-hidden": "true" });
  const row = make("div", { class: "ms-keys", role: "radiogroup", "aria-label": "Words that are looked at; the chosen one is under the microscope" });
  const slider = make("input", { type: "range", min: "1", step: "1", value: "1" });
  const component = make("label", { class: "ms-component" }, make("span", { text: "Component" }), slider);
  const product = make("p", { class: "ms-product", role: "status" });
  const stages = make("div", { class: "ms-stages" });
  const panel = make("details", { class: "microscope" }, summary,
    make("p", { class: "ms-title", text: "All weights here: from each row’s word, to each column’s. Press one." }),
    matrix, row, component, product, stages);
  let view = null; // what was shown last

  panel.addEventListener("toggle", () => {
    if (view && panel.open !== view.open) opened(panel.open);
  });
  matrix.addEventListener("click", ({ target }) => {
    if (target.dataset.key) chosen(Number(target.dataset.row), Number(target.dataset.key));
  });
  arrowKeys(row, (to) => chosen(view.row, to));
  slider.addEventListener("input", mark);
  stages.addEventListener("click", ({ target, offsetX }) => {
    if (!target.closest(".ms-marked")) return;
    slider.value = String(Math.ceil((offsetX / target.clientWidth) * Number(slider.max)) || 1);
    mark();
  });

  // One component of the strips that have the same size, in numbers.
  function mark() {
    const shown = view.stages.filter((stage) => stage.component);
    const i = Number(slider.value) - 1;
    product.textContent = `Component ${i + 1} of ${shown[0].vector.length}: ${shown.map(({ name, vector }) => `${name.split(",")[0]} = ${signed(vector[i])}`).join(", ")}.`;
    slider.setAttribute("aria-valuetext", product.textContent);
    stages.style.setProperty("--at", `${(100 * (i + 0.5)) / shown[0].vector.length}%`);
  }

  function drawMatrix({ rows, keys, weights, masks }) {
    matrix.style.setProperty("--columns", keys.length);
    const head = [make("span"), ...keys.map((word, j) => spoken(make("span", { class: `ms-column${j === view.key ? " ms-chosen" : ""}`, text: word })))];
    matrix.replaceChildren(...head, ...rows.flatMap((word, i) => [
      spoken(make("span", { class: `ms-row${i === view.row ? " ms-chosen" : ""}`, text: word })),
      ...keys.map((other, j) => {
        const cell = make("span", { class: "ms-cell", "data-row": i, "data-key": j, title: `${word} → ${other}: ${weights[i][j].toFixed(2)}` });
        cell.style.setProperty("--share", weights[i][j].toFixed(3));
        if (masks?.(i, j) === false) cell.classList.add("ms-masked");
        if (i === view.row && j === view.key) cell.classList.add("ms-chosen");
        return cell;
      }),
    ]));
  }

  function drawKeys({ keys, weights }) {
    const at = [...row.children].indexOf(document.activeElement);
    row.replaceChildren(...keys.map((word, j) => {
      const made = make("button", { type: "button", role: "radio", class: "live-word ms-key", "aria-checked": String(j === view.key) }, spoken(make("span", { text: word })), make("small", { text: weights[view.row][j].toFixed(2) }));
      made.style.setProperty("--share", weights[view.row][j].toFixed(3));
      made.tabIndex = j === view.key ? 0 : -1;
      made.addEventListener("click", () => {
        chosen(view.row, j);
        row.children[j].focus();
      });
      return made;
    }));
    row.children[at]?.focus();
  }

  function drawStages() {
    stages.replaceChildren(...view.stages.flatMap(({ name, kind = "", vector, note = "", like = vector, component: marked, lines }) => {
      if (lines) return [make("ul", { class: "ms-lines" }, ...lines.map((text) => raised("li", text)))];
      const canvas = make("canvas", { class: "ms-strip", "aria-hidden": "true" });
      drawStrip(canvas, vector, STRIP_ROOM * like.reduce((most, value) => Math.max(most, Math.abs(value)), 1e-9));
      return [
        make("span", { class: `ms-name ms-${kind || "plain"}-name` }, spoken(make("span", { text: name })), ...(note ? [raised("small", note)] : [])),
        make("div", { class: `ms-vector${marked ? " ms-marked" : ""}` }, canvas),
      ];
    }));
  }

  // open, title, rows and keys (words), weights [row][key], masks(row, key) or nothing, row, key, stages().
  function show(given) {
    view = { ...given, stages: given.open ? given.stages() : [] };
    panel.open = view.open;
    summary.textContent = view.open ? given.title : "Under the microscope: how one weight comes about";
    if (!view.open) return;
    const size = view.stages.find((stage) => stage.component).vector.length;
    slider.max = String(size);
    slider.value = String(Math.min(Number(slider.value), size));
    drawMatrix(given);
    drawKeys(given);
    drawStages();
    mark();
  }

  return { panel, show };
}
