// The reader picks one of three attentions and a query; the table shows what it may look at.
// State: source, target, pad, use ("encoder", "decoder" or "memory"), row, scores ({use: rows}, may be
// empty), masked (whether the mask is applied to the scores).

const USES = {
  encoder: {
    label: "encoder: source to source",
    from: "Queries, keys and values come from the source.",
    mask: "Padding is left out.",
  },
  decoder: {
    label: "decoder: target to target",
    from: "Queries, keys and values come from the target.",
    mask: "Padding and what comes later are left out.",
  },
  memory: {
    label: "between them: target to source",
    from: "Queries come from the target, keys and values from the encoder.",
    mask: "The source's padding is left out.",
  },
};

// Words of the queries and of the keys.
function sides(use, source, target) {
  return { queries: use === "encoder" ? source : target, keys: use === "decoder" ? target : source };
}

// The mask: true = may be attended to, a row for each query.
function maskOf(use, source, target, pad) {
  const { queries, keys } = sides(use, source, target);
  return queries.map((_, t) => keys.map((key, s) => key !== pad && (use !== "decoder" || s <= t)));
}

// The sentence that stands for a row of the table.
function inWords(use, source, target, pad, row) {
  const { queries, keys } = sides(use, source, target);
  const seen = keys.filter((_, s) => maskOf(use, source, target, pad)[row][s]);
  const list = seen.length ? seen.join(", ") : "nothing";
  const padding =
    queries[row] === pad ? " It is padding itself: whatever it finds, nobody looks at it." : "";
  return `${USES[use].from} ${USES[use].mask} “${queries[row]}” may look at ${seen.length} of ${keys.length}: ${list}.${padding}`;
}

// The weights of a query: the softmax of its scores, with a score of -infinity where it may not look.
function weigh(scores, open) {
  const greatest = Math.max(...scores.filter((_, s) => open[s]));
  const powers = scores.map((score, s) => (open[s] ? Math.exp(score - greatest) : 0));
  const sum = powers.reduce((a, b) => a + b, 0);
  return powers.map((power) => power / sum);
}

// The sentence about a query without the mask: what it gives to keys that it may not see.
function leakInWords(weights, open, query) {
  const leaked = weights.filter((_, s) => !open[s]).reduce((a, b) => a + b, 0);
  if (leaked === 0) return `For “${query}” the mask makes no difference.`;
  return `Without the mask “${query}” gives ${percent(leaked)} of its weight to what it may not see.`;
}

const inCell = (weight) => weight.toFixed(2).replace(/^0/, "");

function render({ model, el }) {
  const [source, target, pad] = ["source", "target", "pad"].map((name) => model.get(name));
  const group = `ma-${Math.random().toString(36).slice(2)}`;
  const radios = Object.entries(USES).map(([use, { label }]) => {
    const input = make("input", { type: "radio", name: group, value: use });
    input.addEventListener("change", () => {
      model.set("use", use);
      model.save_changes();
    });
    return { input, label: make("label", {}, input, make("span", { text: label })) };
  });
  const picker = make(
    "fieldset",
    {},
    make("legend", { text: "Attention" }),
    ...radios.map(({ label }) => label),
  );
  const slider = make("input", { type: "range", min: 0, step: 1, "data-name": "row" });
  const value = make("output");
  const chooser = make("label", { class: "ma-row" }, make("span", { text: "query" }), slider, value);
  const table = make("table");
  const frame = make("div", { class: "ma-frame" }, table);
  const told = make("p", { class: "ma-told", "aria-live": "polite" });
  const hasScores = Object.keys(model.get("scores")).length > 0;
  const hint = make("p", {
    class: "ma-hint",
    text: hasScores
      ? "Rows are queries, columns are keys, numbers are weights: the softmax of random scores, as in an untrained model. · may not be attended to: its weight is exactly 0."
      : "Rows are queries, columns are keys. ● may be attended to, · may not.",
  });
  const lift = make("input", { type: "checkbox" });
  const lifter = make("label", { class: "ma-lift" }, lift, make("span", { text: "without the mask" }));
  lifter.hidden = !hasScores;
  const root = make(
    "div",
    {
      class: "masks-explorer",
      role: "group",
      "aria-label": "Masks explorer: which position may look at which in a Transformer",
    },
    picker,
    chooser,
    lifter,
    frame,
    told,
    hint,
  );
  el.append(root);
  let rows = [];

  function build() {
    const use = model.get("use");
    const { queries, keys } = sides(use, source, target);
    const mask = maskOf(use, source, target, pad);
    const head = make("tr", {}, make("td"), ...keys.map((text) =>
      make("th", { scope: "col" }, make("span", { text })),
    ));
    const masked = model.get("masked");
    rows = queries.map((text, t) => {
      const weights = hasScores && weigh(model.get("scores")[use][t], masked ? mask[t] : mask[t].map(() => true));
      const cells = mask[t].map((open, s) => {
        const leaks = !open && !masked;
        const said = open || leaks ? (weights ? inCell(weights[s]) : "●") : "·";
        const cell = make("td", { class: leaks ? "ma-leak" : open ? "ma-open" : "ma-shut", text: said });
        if (weights) cell.style.setProperty("--weight", weights[s].toFixed(3));
        return cell;
      });
      const row = make("tr", {}, make("th", { scope: "row", text }), ...cells);
      row.addEventListener("click", () => go(t));
      return row;
    });
    table.replaceChildren(make("thead", {}, head), make("tbody", {}, ...rows));
    slider.max = queries.length - 1;
    radios.forEach(({ input }) => { input.checked = input.value === use; });
    lift.checked = !masked;
    frame.classList.toggle("ma-weighed", hasScores);
    update();
  }

  function go(row) {
    model.set("row", row);
    model.save_changes();
  }

  function update() {
    const use = model.get("use");
    const { queries } = sides(use, source, target);
    const row = Math.min(model.get("row"), queries.length - 1);
    slider.value = row;
    slider.setAttribute("aria-valuetext", `${row + 1}: ${queries[row]}`);
    value.textContent = queries[row];
    rows.forEach((line, t) => line.classList.toggle("ma-chosen", t === row));
    const open = maskOf(use, source, target, pad)[row];
    told.textContent = model.get("masked")
      ? inWords(use, source, target, pad, row)
      : leakInWords(weigh(model.get("scores")[use][row], open.map(() => true)), open, queries[row]);
  }

  slider.addEventListener("input", () => go(Number(slider.value)));
  lift.addEventListener("change", () => {
    model.set("masked", !lift.checked);
    model.save_changes();
  });
  keepArrows(root);
  model.on("change:use", build);
  model.on("change:masked", build);
  model.on("change:row", update);
  build();
  return () => {
    model.off("change:use", build);
    model.off("change:masked", build);
    model.off("change:row", update);
  };
}

export default { render };
