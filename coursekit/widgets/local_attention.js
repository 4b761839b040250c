// The reader moves a window over a sentence; softmax, Gaussian and their product follow.
// State: words, scores, position, D, sigma (null: D / 2).

// The weights of local attention: softmax over the window, Gaussian, and their product.
function localWeights(scores, position, D, sigma) {
  const inside = scores.map((_, s) => Math.abs(s - position) <= D);
  const largest = Math.max(...scores.filter((_, s) => inside[s]));
  const powers = scores.map((score, s) => (inside[s] ? Math.exp(score - largest) : 0));
  const total = powers.reduce((sum, value) => sum + value, 0);
  const softmax = powers.map((value) => (total > 0 ? value / total : 0));
  const gauss = scores.map((_, s) => Math.exp(-((s - position) ** 2) / (2 * sigma ** 2)));
  const product = softmax.map((value, s) => value * gauss[s]);
  return { inside, softmax, gauss, product };
}

const sum = (values) => values.reduce((total, value) => total + value, 0);

function slider(label, id, range) {
  const input = make("input", { type: "range", ...range, "data-name": id });
  const value = make("output");
  return { input, value, row: make("label", {}, make("span", { text: label }), input, value) };
}

function render({ model, el }) {
  const words = model.get("words");
  const scores = model.get("scores");
  const count = words.length;
  const place = slider("position p", "position", { min: 0, max: count, step: 0.1 });
  const width = slider("half width D", "D", { min: 0.5, max: count, step: 0.5 });
  const spread = slider("sigma", "sigma", { min: 0.25, max: count / 2, step: 0.25 });
  const free = make("input", { type: "checkbox" });
  const tied = make("label", { class: "wx-tied" }, free, make("span", { text: "set sigma freely" }));

  const rows = words.map((word, s) => {
    const cells = ["wx-softmax", "wx-gauss", "wx-product"].map((kind) => make("td", { class: kind }));
    const bars = makeSvg("svg", { viewBox: "0 0 100 20", preserveAspectRatio: "none" });
    const outline = makeSvg("rect", { class: "wx-outline", x: 0, y: 3, height: 14 });
    const filled = makeSvg("rect", { class: "wx-filled", x: 0, y: 3, height: 14 });
    const mark = makeSvg("line", { class: "wx-mark", y1: 0, y2: 20 });
    bars.append(filled, outline, mark);
    bars.setAttribute("aria-hidden", "true");
    const row = make(
      "tr",
      {},
      make("td", { class: "wx-index", text: String(s) }),
      make("th", { scope: "row", text: word, title: word }),
      make("td", { class: "wx-bars" }, bars),
      ...cells,
    );
    return { row, cells, outline, filled, mark };
  });
  const titles = ["s", "word", "", "softmax", "Gauss", "product"];
  const head = make("tr", {}, ...titles.map((text) => make("th", { scope: "col", text })));
  const totals = make("tr", { class: "wx-totals" });
  const table = make(
    "table",
    {},
    make("thead", {}, head),
    make("tbody", {}, ...rows.map(({ row }) => row)),
    make("tfoot", {}, totals),
  );
  const told = make("p", { class: "wx-told", "aria-live": "polite" });
  const hint = make(
    "p",
    { class: "wx-hint" },
    make("i", { class: "wx-key-outline" }),
    " softmax over the window ",
    make("i", { class: "wx-key-mark" }),
    " Gaussian ",
    make("i", { class: "wx-key-filled" }),
    " product, the weight. Grey rows lie outside the window.",
  );
  const root = make(
    "div",
    {
      class: "window-explorer",
      role: "group",
      "aria-label": "Window explorer: local attention over the positions of a sentence",
    },
    make("div", { class: "wx-bar" }, place.row, width.row, spread.row, tied),
    table,
    told,
    hint,
  );
  el.append(root);

  const sigmaNow = () => model.get("sigma") ?? model.get("D") / 2;

  function set(name, value) {
    model.set(name, value);
    model.save_changes();
  }

  function update() {
    const [position, D, sigma] = [model.get("position"), model.get("D"), sigmaNow()];
    const { inside, softmax, gauss, product } = localWeights(scores, position, D, sigma);
    place.input.value = position;
    width.input.value = D;
    spread.input.value = sigma;
    place.value.textContent = position.toFixed(1);
    width.value.textContent = D.toFixed(1);
    spread.value.textContent = sigma.toFixed(2);
    free.checked = model.get("sigma") !== null;
    spread.input.disabled = !free.checked;
    rows.forEach(({ row, cells, outline, filled, mark }, s) => {
      row.classList.toggle("wx-outside", !inside[s]);
      [softmax[s], gauss[s], product[s]].forEach((value, i) => {
        cells[i].textContent = inside[s] || i === 1 ? value.toFixed(2) : "–";
      });
      outline.setAttribute("width", 100 * softmax[s]);
      filled.setAttribute("width", 100 * product[s]);
      mark.setAttribute("x1", 100 * gauss[s]);
      mark.setAttribute("x2", 100 * gauss[s]);
    });
    totals.replaceChildren(
      make("th", { colspan: "3", scope: "row", text: "sum" }),
      make("td", { text: sum(softmax).toFixed(2) }),
      make("td"),
      make("td", { class: "wx-sum", text: sum(product).toFixed(2) }),
    );
    const some = inside.filter(Boolean).length;
    const best = product.indexOf(Math.max(...product));
    told.textContent = some
      ? `${some} of ${count} positions lie in the window; the largest weight is ` +
        `${product[best].toFixed(2)} on “${words[best]}”; the weights sum to ` +
        `${sum(product).toFixed(2)}.`
      : "No word lies in the window: all weights are 0.";
  }

  place.input.addEventListener("input", () => set("position", Number(place.input.value)));
  width.input.addEventListener("input", () => set("D", Number(width.input.value)));
  spread.input.addEventListener("input", () => set("sigma", Number(spread.input.value)));
  free.addEventListener("change", () => set("sigma", free.checked ? sigmaNow() : null));
  keepArrows(root);

  const names = ["change:position", "change:D", "change:sigma"];
  names.forEach((name) => model.on(name, update));
  update();
  return () => names.forEach((name) => model.off(name, update));
}

export default { render };
