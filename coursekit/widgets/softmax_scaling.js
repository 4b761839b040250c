// The reader sets the size of the vectors and divides by its root or not; the softmax follows.
// State: words, scores (at d_k = 1), d_k, scaled.

// Scores, weights, entropy in nats and the Frobenius norm of the softmax's derivative.
function softmaxOf(scores, d_k, scaled) {
  const factor = scaled ? 1 : Math.sqrt(d_k);
  const shown = scores.map((score) => factor * score);
  const largest = Math.max(...shown);
  const powers = shown.map((score) => Math.exp(score - largest));
  const total = powers.reduce((sum, value) => sum + value, 0);
  const weights = powers.map((value) => value / total);
  const entropy = weights.reduce((sum, a) => sum - (a > 0 ? a * Math.log(a) : 0), 0);
  let squares = 0;
  weights.forEach((a, i) =>
    weights.forEach((b, j) => {
      squares += ((i === j ? a : 0) - a * b) ** 2;
    }),
  );
  return { scores: shown, weights, entropy, gradient: Math.sqrt(squares) };
}

function small(value) {
  if (value >= 0.01) return value.toFixed(2);
  return value.toExponential(0).replace("-", "−");
}

// The sentence that stands for the bars.
function inWords(words, found, d_k, scaled) {
  const best = found.weights.indexOf(Math.max(...found.weights));
  return (
    `d_k = ${d_k}, ${scaled ? "divided by its root" : "not divided"}: largest weight ` +
    `${found.weights[best].toFixed(2)} on “${words[best]}”; entropy ${found.entropy.toFixed(2)} of ` +
    `at most ${Math.log(words.length).toFixed(2)} nats, as if ${Math.exp(found.entropy).toFixed(1)} ` +
    `words were used; size of the softmax's derivative ${small(found.gradient)}.`
  );
}

function render({ model, el }) {
  const words = model.get("words");
  const slider = make("input", { type: "range", min: 0, max: 10, step: 1, "data-name": "d_k" });
  const value = make("output");
  const size = make("label", {}, make("span", { text: "size d_k" }), slider, value);
  const scale = make("input", { type: "checkbox" });
  const divide = make("label", { class: "te-scale" }, scale, make("span", { text: "divide the scores by √d_k" }));
  const rows = words.map((word) => {
    const bar = make("div", { class: "te-bar", "aria-hidden": "true" });
    const cells = ["te-score", "te-weight"].map((kind) => make("td", { class: kind }));
    const row = make(
      "tr",
      {},
      make("th", { scope: "row", text: word, title: word }),
      cells[0],
      make("td", { class: "te-bars" }, bar),
      cells[1],
    );
    return { row, bar, cells };
  });
  const titles = ["word", "score", "", "weight"];
  const head = make("tr", {}, ...titles.map((text) => make("th", { scope: "col", text })));
  const table = make(
    "table",
    {},
    make("thead", {}, head),
    make("tbody", {}, ...rows.map(({ row }) => row)),
  );
  const told = make("p", { class: "te-told", "aria-live": "polite" });
  const root = make(
    "div",
    {
      class: "temperature-explorer",
      role: "group",
      "aria-label": "Temperature explorer: the softmax over dot products of vectors of a chosen size",
    },
    make("div", { class: "te-controls" }, size, divide),
    table,
    told,
  );
  el.append(root);

  function set(name, now) {
    model.set(name, now);
    model.save_changes();
  }

  function update() {
    const [d_k, scaled] = [model.get("d_k"), model.get("scaled")];
    const found = softmaxOf(model.get("scores"), d_k, scaled);
    slider.value = Math.log2(d_k);
    slider.setAttribute("aria-valuetext", `d_k = ${d_k}`);
    value.textContent = d_k;
    scale.checked = scaled;
    rows.forEach(({ bar, cells }, i) => {
      cells[0].textContent = signed(found.scores[i]);
      cells[1].textContent = found.weights[i].toFixed(2);
      bar.style.width = `${(100 * found.weights[i]).toFixed(2)}%`;
    });
    told.textContent = inWords(words, found, d_k, scaled);
  }

  slider.addEventListener("input", () => set("d_k", 2 ** Number(slider.value)));
  scale.addEventListener("change", () => set("scaled", scale.checked));
  keepArrows(root);

  const names = ["change:d_k", "change:scaled"];
  names.forEach((name) => model.on(name, update));
  update();
  return () => names.forEach((name) => model.off(name, update));
}

export default { render };
