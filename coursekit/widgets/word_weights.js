// The reader picks a text and a view; each word is coloured by its weight there.
// State: texts [{sentences, weights: view -> numbers, sentence_weights, marked, title, told}],
// views (their names, in order), text, view, absolute (colours from 0 to 1 instead of to the
// strongest word), marked.

const SHOWN = 5; // words named in the sentence below the text

// How strong the colours are: each weight as a share of the strongest, or as it is.
function strengths(weights, absolute) {
  const largest = Math.max(...weights, 0);
  return weights.map((weight) => (absolute ? weight : largest > 0 ? weight / largest : 0));
}

// The words with the most weight, as positions; the earlier first among equals.
function strongest(weights, count) {
  const order = weights.map((_, i) => i).filter((i) => weights[i] > 0);
  return order.sort((a, b) => weights[b] - weights[a] || a - b).slice(0, count);
}

// The sentence that stands for the colours.
function inWords(words, weights) {
  if (!words.length) return "This text has no words; there is nothing to look at.";
  const best = strongest(weights, SHOWN);
  if (!best.length) return "No word has any weight.";
  const parts = best.map((i) => `${words[i]} ${weights[i].toFixed(2)}`);
  return `Most weight: ${parts.join(", ")}.`;
}

// The sentence that stands for one word: its weight, and how many have more.
function ofWord(words, weights, i) {
  const larger = weights.filter((weight) => weight > weights[i]).length;
  const place = larger ? `${larger} of ${words.length} words ${larger === 1 ? "has" : "have"} more` : "no word has more";
  return `“${words[i]}” has the weight ${weights[i].toFixed(3)}; ${place}.`;
}

function render({ model, el }) {
  const texts = model.get("texts");
  const views = model.get("views");
  const select = make("select");
  texts.forEach(({ sentences, title }, i) => {
    const words = sentences.flat().join(" ") || "(no words)";
    const name = title || (words.length > 60 ? `${words.slice(0, 60)}…` : words);
    select.append(make("option", { value: i, text: `${i + 1}. ${name}` }));
  });
  const chooser = make("label", { class: "wo-choose" }, make("span", { text: "Text" }), select);
  const group = `wo-${Math.random().toString(36).slice(2)}`;
  const radios = views.map((name) => {
    const input = make("input", { type: "radio", name: group, value: name });
    return { input, label: make("label", { class: "wo-view" }, input, make("span", { text: name })) };
  });
  const picker = make(
    "fieldset",
    {},
    make("legend", { text: "Weights of" }),
    ...radios.map(({ label }) => label),
  );
  const scale = make("input", { type: "checkbox" });
  const scaled = make(
    "label",
    { class: "wo-scale" },
    scale,
    make("span", { text: "full colour at weight 1, not at the strongest word" }),
  );
  const page = make("div", { class: "wo-text", role: "group", "aria-label": "Text; press a word to read its weight" });
  const said = make("p", { class: "wo-said" });
  const told = make("p", { class: "wo-told", "aria-live": "polite" });
  const hint = make("p", { class: "wo-hint" });
  const root = make(
    "div",
    {
      class: "words-explorer",
      role: "group",
      "aria-label": "Words explorer: a text, its words coloured by weight",
    },
    make("div", { class: "wo-bar" }, chooser, picker, scaled),
    page,
    said,
    told,
    hint,
  );
  el.append(root);
  chooser.style.display = texts.length < 2 ? "none" : "";
  picker.style.display = views.length < 2 ? "none" : "";

  let spans = [];
  let margins = [];
  let chosen = -1; // the word that the reader has pressed

  const current = () => texts[model.get("text")] ?? texts[0];

  function set(name, value) {
    model.set(name, value);
    model.save_changes();
  }

  function build() {
    const { sentences, sentence_weights, marked } = current();
    const underlined = new Set(marked);
    const hierarchical = Object.keys(sentence_weights).length > 0;
    let position = 0;
    spans = [];
    margins = [];
    chosen = -1;
    const lines = sentences.map((sentence) => {
      const line = make("p", { class: "wo-line" });
      if (hierarchical) {
        const margin = make("span", { class: "wo-margin" });
        margins.push(margin);
        line.append(margin);
      }
      const body = make("span", { class: "wo-words" });
      for (const word of sentence) {
        const span = make("button", { type: "button", class: "wo-word in-text", text: word });
        const i = position;
        span.addEventListener("click", () => choose(i));
        if (underlined.has(position)) span.classList.add("wo-marked");
        body.append(span, " ");
        spans.push(span);
        position += 1;
      }
      line.append(body);
      return line;
    });
    page.classList.toggle("wo-hierarchical", hierarchical);
    page.replaceChildren(...lines);
    if (!position) page.replaceChildren(make("p", { class: "wo-line", text: "(no words)" }));
    const underline = underlined.size && model.get("marked") ? ` Underlined: ${model.get("marked")}.` : "";
    const edge = hierarchical ? " The bar at the margin is the weight of the sentence." : "";
    hint.textContent = `The stronger the colour, the more weight; press a word to read it.${edge}${underline}`;
    update();
  }

  function choose(i) {
    chosen = i;
    update();
  }

  function update() {
    const { sentences, weights, sentence_weights, told: sayings } = current();
    const view = views.includes(model.get("view")) ? model.get("view") : views[0];
    const absolute = model.get("absolute");
    const shown = weights[view];
    const words = sentences.flat();
    const strength = strengths(shown, absolute);
    spans.forEach((span, i) => {
      span.style.setProperty("--weight", strength[i].toFixed(3));
      span.title = `${words[i]}: ${shown[i].toFixed(3)}`;
      span.tabIndex = i === Math.max(chosen, 0) ? 0 : -1; // the arrow keys lead to the others
      span.setAttribute("aria-pressed", String(i === chosen));
      span.dataset.weight = shown[i].toFixed(3);
    });
    const rows = sentence_weights[view] ?? [];
    const widths = strengths(rows, absolute);
    margins.forEach((margin, i) => {
      margin.style.setProperty("--weight", (widths[i] ?? 0).toFixed(3));
      margin.textContent = i < rows.length ? rows[i].toFixed(2) : "";
      margin.title = i < rows.length ? `weight of sentence ${i + 1}: ${rows[i].toFixed(3)}` : "";
    });
    select.value = String(model.get("text"));
    radios.forEach(({ input }) => { input.checked = input.value === view; });
    scale.checked = absolute;
    said.textContent = sayings[view] ?? "";
    said.style.display = said.textContent ? "" : "none";
    const lead = rows.length ? strongest(rows, 1)[0] : undefined;
    const line = lead === undefined ? "" : ` Strongest sentence: number ${lead + 1}, ${rows[lead].toFixed(2)}.`;
    const one = chosen < 0 ? "" : `${ofWord(words, shown, chosen)} `;
    told.textContent = one + inWords(words, shown) + line;
  }

  select.addEventListener("change", () => set("text", Number(select.value)));
  radios.forEach(({ input }) => input.addEventListener("change", () => set("view", input.value)));
  scale.addEventListener("change", () => set("absolute", scale.checked));
  arrowKeys(page, choose);
  keepArrows(root);

  model.on("change:text", build);
  model.on("change:view", update);
  model.on("change:absolute", update);
  build();
  return () => {
    model.off("change:text", build);
    model.off("change:view", update);
    model.off("change:absolute", update);
  };
}

export default { render };
