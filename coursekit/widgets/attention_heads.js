// The reader picks a sentence, an attention, a head and a word, and sees where the head looks.
// State: sentences [{source, target, weights: part -> (L, h, rows, columns) in thousandths, word,
// title}], sentence, part, layer, head, word.

const PARTS = {
  encoder: "encoder, source to source",
  decoder: "decoder, target to target",
  memory: "target to source",
};
const NAMED = 4; // words named in the sentence below
const SHADES = 8; // of the small pictures

// Words that ask and words that are looked at.
function sides(sentence, part) {
  return {
    queries: part === "encoder" ? sentence.source : sentence.target,
    keys: part === "decoder" ? sentence.target : sentence.source,
  };
}

// The sentence that stands for a row of weights.
function inWords(sentence, part, layer, head, word) {
  const { queries, keys } = sides(sentence, part);
  const row = sentence.weights[part][layer][head][word];
  const order = keys.map((_, i) => i).filter((i) => row[i] > 0);
  order.sort((a, b) => row[b] - row[a] || a - b);
  const most = order.slice(0, NAMED).map((i) => `${keys[i]} ${(row[i] / 1000).toFixed(2)}`);
  const list = most.length ? most.join(", ") : "nothing";
  return `Layer ${layer + 1}, head ${head + 1}: “${queries[word]}” looks at ${list}.`;
}

function render({ model, el }) {
  const sentences = model.get("sentences");
  const parts = Object.keys(PARTS).filter((part) => part in sentences[0].weights);
  const [layers, heads] = [
    sentences[0].weights[parts[0]].length, sentences[0].weights[parts[0]][0].length,
  ];
  const select = make("select");
  sentences.forEach(({ source, title }, i) => {
    select.append(make("option", { value: i, text: `${i + 1}. ${title || source.join(" ")}` }));
  });
  const chooser = make("label", { class: "he-choose" }, make("span", { text: "Sentence" }), select);
  const group = `he-${Math.random().toString(36).slice(2)}`;
  const radios = parts.map((part) => {
    const input = make("input", { type: "radio", name: group, value: part });
    return { input, label: make("label", {}, input, make("span", { text: PARTS[part] })) };
  });
  const picker = make(
    "fieldset",
    {},
    make("legend", { text: "Attention" }),
    ...radios.map(({ label }) => label),
  );
  const grid = make("div", {
    class: "he-grid",
    role: "radiogroup",
    "aria-label": "Heads, a row for each layer; the arrow keys step through them",
  });
  grid.style.setProperty("--heads", heads);
  const thumbs = [];
  for (let layer = 0; layer < layers; layer += 1) {
    for (let head = 0; head < heads; head += 1) {
      const picture = makeSvg("svg", { "aria-hidden": "true", preserveAspectRatio: "none" });
      const name = `layer ${layer + 1}, head ${head + 1}`;
      const button = make("button", { type: "button", role: "radio", "aria-label": name, title: name }, picture);
      button.addEventListener("click", () => set({ layer, head }));
      thumbs.push({ layer, head, button, picture });
      grid.append(button);
    }
  }
  const asks = make("div", {
    class: "he-words",
    role: "radiogroup",
    "aria-label": "The word that looks; the arrow keys step through them",
  });
  const seen = make("p", { class: "he-seen" });
  const told = make("p", { class: "he-told", "aria-live": "polite" });
  const hint = make(
    "p",
    { class: "he-hint" },
    "Each small picture is a head: rows are the words that look, columns those that are looked at, " +
      "the stronger the colour, the more weight. Pick a head and a word; the colours below show where it looks.",
  );
  const root = make(
    "div",
    {
      class: "heads-explorer",
      role: "group",
      "aria-label": "Heads explorer: where every head of every layer looks",
    },
    chooser,
    picker,
    grid,
    asks,
    seen,
    told,
    hint,
  );
  el.append(root);
  chooser.style.display = sentences.length < 2 ? "none" : "";
  picker.style.display = parts.length < 2 ? "none" : "";
  let buttons = [];

  const current = () => sentences[model.get("sentence")] ?? sentences[0];
  const partNow = () => (parts.includes(model.get("part")) ? model.get("part") : parts[0]);
  const wordNow = () => Math.min(model.get("word"), buttons.length - 1);

  function set(values) {
    for (const [name, value] of Object.entries(values)) model.set(name, value);
    model.save_changes();
  }

  // In the page's accent colour, so that the pictures follow its theme.
  function paint(svg, matrix) {
    svg.setAttribute("viewBox", `0 0 ${matrix[0].length} ${matrix.length}`);
    const squares = Array.from({ length: SHADES + 1 }, () => []);
    matrix.forEach((weights, y) => weights.forEach((weight, x) => {
      const share = Math.sqrt(weight / 1000); // small weights are to be seen too
      squares[Math.round(SHADES * share)].push(`M${x} ${y}h1v1h-1z`);
    }));
    svg.replaceChildren(...squares.slice(1).map((path, i) =>
      makeSvg("path", { d: path.join(""), "fill-opacity": (i + 1) / SHADES }),
    ));
  }

  function build() {
    const sentence = current();
    const part = partNow();
    const { queries } = sides(sentence, part);
    select.value = String(model.get("sentence"));
    radios.forEach(({ input }) => { input.checked = input.value === part; });
    thumbs.forEach(({ layer, head, picture }) => paint(picture, sentence.weights[part][layer][head]));
    buttons = queries.map((text, i) => {
      const button = make("button", { type: "button", role: "radio", text });
      button.addEventListener("click", () => set({ word: i }));
      return button;
    });
    asks.replaceChildren(...buttons);
    update();
  }

  function update() {
    const sentence = current();
    const part = partNow();
    const [layer, head, word] = [model.get("layer"), model.get("head"), wordNow()];
    const { keys } = sides(sentence, part);
    const row = sentence.weights[part][layer][head][word];
    thumbs.forEach((thumb) => {
      const chosen = thumb.layer === layer && thumb.head === head;
      thumb.button.setAttribute("aria-checked", String(chosen));
      thumb.button.tabIndex = chosen ? 0 : -1;
    });
    buttons.forEach((button, i) => {
      button.setAttribute("aria-checked", String(i === word));
      button.tabIndex = i === word ? 0 : -1;
    });
    const spans = keys.flatMap((text, i) => {
      const span = make("span", { class: "he-key", text, title: `${text}: ${(row[i] / 1000).toFixed(3)}` });
      span.style.setProperty("--weight", (row[i] / 1000).toFixed(3));
      span.dataset.weight = (row[i] / 1000).toFixed(3);
      return [span, " "];
    });
    seen.replaceChildren(...spans);
    told.textContent = inWords(sentence, part, layer, head, word);
  }

  select.addEventListener("change", () => {
    const sentence = Number(select.value);
    set({ word: partNow() === "encoder" ? sentences[sentence].word : 0, sentence });
  });
  radios.forEach(({ input }) =>
    input.addEventListener("change", () =>
      set({ word: input.value === "encoder" ? current().word : 0, part: input.value }),
    ),
  );
  // The arrow keys step through heads and words; the theme turns pages with them.
  root.addEventListener("keydown", (event) => {
    if (event.key.startsWith("Arrow")) event.stopPropagation();
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const across = { ArrowLeft: -1, ArrowRight: 1 }[event.key] ?? 0;
    const down = { ArrowUp: -1, ArrowDown: 1 }[event.key] ?? 0;
    if (!across && !down) return;
    const within = (value, count) => Math.max(0, Math.min(count - 1, value));
    if (grid.contains(event.target)) {
      event.preventDefault();
      const layer = within(model.get("layer") + down, layers);
      const head = within(model.get("head") + across, heads);
      set({ layer, head });
      thumbs[layer * heads + head].button.focus();
    } else if (asks.contains(event.target)) {
      event.preventDefault();
      const word = within(wordNow() + across + down, buttons.length);
      set({ word });
      buttons[word].focus();
    }
  });

  const rebuild = ["change:sentence", "change:part"];
  const redraw = ["change:layer", "change:head", "change:word"];
  rebuild.forEach((name) => model.on(name, build));
  redraw.forEach((name) => model.on(name, update));
  build();
  return () => {
    rebuild.forEach((name) => model.off(name, build));
    redraw.forEach((name) => model.off(name, update));
  };
}

export default { render };
