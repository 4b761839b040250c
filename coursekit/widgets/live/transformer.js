// The reader writes a sentence; the Transformer translates it here, and shows the path of a word.
// State: weights (packed model), heads, words (by id), source_words, bos, eos, examples [{source,
// target}], longest, shown {words, head ("encoder.1.2"), source, target (places), key (the place that
// is under the microscope, -1: closed), off (heads), positions, causal}.

const MOST = 24; // words of a sentence
const PARTS = { encoder: "source to source", decoder: "target to target", memory: "target to source" };

const toLink = ({ words, head, source, target, key, off, positions, causal }) => ({
  s: words.join(" "), head, word: `${source + 1} ${target + 1}`, key: key < 0 ? "" : String(key + 1), off: off.join(" "),
  without: [positions ? "" : "positions", causal ? "" : "mask"].join(" ").trim(),
});

function fromLink({ s = "", head = "", word = "", key = "", off = "", without = "" }) {
  const isHead = (name) => /^(encoder|decoder|memory)\.\d+\.\d+$/.test(name);
  const [source, target] = [0, 1].map((k) => Math.max(0, (Number(word.split(" ")[k]) || 1) - 1));
  return {
    words: wordsOf(s), head: isHead(head) ? head : "", source, target, key: placeFromLink(key), off: off.split(" ").filter(isHead),
    positions: !without.includes("positions"), causal: !without.includes("mask"),
  };
}

const named = (name) => {
  const [part, layer, head] = name.split(".");
  return `${PARTS[part]}, layer ${layer}, head ${head}`;
};

// The sentence that stands for the colours.
function inWords(name, from, to, weights, isOff) {
  const order = [...to.keys()].sort((i, j) => weights[j] - weights[i]).slice(0, 3).filter((j) => weights[j] >= 0.01);
  const looks = order.map((j) => `${to[j]} (${weights[j].toFixed(2)})`).join(", ");
  return `From “${from}”, ${named(name)}: ${looks}.${isOff ? " The head is switched off, so nothing of this is used." : ""}`;
}

function render({ model, el }) {
  const get = (name) => model.get(name);
  const [words, bos, eos] = [get("words"), get("bos"), get("eos")];
  const vocabulary = [...get("source_words")].sort();
  const ids = new Map(words.map((word, i) => [word, i]));
  const known = new Map(vocabulary.map((word) => [word, ids.get(word)]));
  const network = transformer(unpack(get("weights")), get("heads"));
  const names = Object.keys(PARTS).flatMap((part) => Array.from({ length: network.layers * get("heads") }, (_, i) =>
    `${part}.${Math.floor(i / get("heads")) + 1}.${(i % get("heads")) + 1}`));
  const fresh = (given) => ({ words: given, head: names[0], source: 0, target: 0, key: -1, off: [], positions: true, causal: true });
  const shown = () => {
    const all = { ...fresh(get("examples")[0].source), ...get("examples")[0].look, ...get("shown") };
    return { ...all, head: names.includes(all.head) ? all.head : names[0], off: all.off.filter((name) => names.includes(name)) };
  };

  const { field, input } = textField("English", vocabulary, typed);
  const { chooser, select } = exampleList(get("examples").map(({ source }) => source.join(" ")), (i) => {
    const example = get("examples")[i];
    input.value = example.source.join(" ");
    event = "";
    const { off, positions, causal } = shown();
    set({ ...fresh(example.source), ...example.look, off, positions, causal });
  });
  const note = make("p", { class: "live-note", role: "status" });
  const line = (name, label) => {
    const row = make("div", { class: "tf-words", role: "radiogroup", "aria-label": label });
    return { row, block: make("div", { class: "tf-line" }, make("span", { class: "tf-name", text: name }), row) };
  };
  const source = line("source", "Source words; the path of the chosen one is drawn");
  const target = line("translation", "Words of the translation; the path of the chosen one is drawn");
  const reference = make("p", { class: "tf-reference" });
  const grid = make("div", { class: "tf-heads", role: "radiogroup", "aria-label": "Heads; the colours are the weights of the chosen one" });
  const button = (text, action, options = {}) => {
    const made = make("button", { type: "button", text, ...options });
    made.addEventListener("click", action);
    return made;
  };
  const switchOff = button("Switch this head off", () => {
    const { off, head } = shown();
    change({ off: off.includes(head) ? off.filter((name) => name !== head) : [...off, head] }, `The head ${named(head)} is ${off.includes(head) ? "on again" : "off"}`);
  });
  const switchLayer = button("Switch this layer’s whole attention off", () => {
    const { off, head } = shown();
    const mates = names.filter((name) => name.startsWith(head.slice(0, head.lastIndexOf(".") + 1)));
    const all = mates.every((name) => off.includes(name));
    const [part, layer] = head.split(".");
    change({ off: all ? off.filter((name) => !mates.includes(name)) : [...new Set([...off, ...mates])] }, `The attention ${PARTS[part]} of layer ${layer} is ${all ? "on again" : "off"}`);
  });
  const reset = button("Undo all changes", () => {
    change({ off: [], positions: true, causal: true }, "All changes are undone");
    switchOff.focus(); // this button is gone
  });
  const tick = (text, name, off) => {
    const box = make("input", { type: "checkbox" });
    box.addEventListener("change", () => change({ [name]: !box.checked }, `${text[0].toUpperCase()}${text.slice(1)}: ${box.checked ? "yes" : "no"}`));
    return { box, label: make("label", {}, box, make("span", { text })) };
  };
  const noPositions = tick("without positions", "positions");
  const noMask = tick("without the causal mask", "causal");
  const path = make("div", { class: "tf-path", "aria-hidden": "true" });
  const pathTitle = make("p", { class: "tf-title" });
  const told = make("p", { class: "tf-told", "aria-live": "polite" });
  const scope = microscope({
    opened: (open) => set({ key: open ? argmax(lookFrom().weights) : -1 }),
    chosen: (row, key) => {
      event = "";
      set({ [lookFrom().inSource ? "source" : "target"]: row, key });
    },
  });
  const hint = make("p", {
    class: "tf-hint",
    text: "Head 2.1 is the first of layer 2. Press a word to see where a head looks from it, and its vector on the way. Strips: blue is above 0, orange below. " +
      "Copy the page's address to share this view.",
  });
  const stage = make("div", {}, source.block, target.block, reference, grid,
    make("div", { class: "tf-bar" }, switchOff, switchLayer, reset),
    make("div", { class: "tf-bar" }, noPositions.label, noMask.label), scope.panel, pathTitle, path);
  const root = make(
    "div",
    { class: "transformer-explorer", role: "group", "aria-label": "Transformer: the chapter's model translates your sentence" },
    chooser, field, note, stage, told, hint,
  );
  el.append(root);

  let found = null; // what was computed: {key, source words, steps, ...}
  let before = ""; // the translation before, to say whether it changed
  let event = ""; // what the reader did last

  function set(values) {
    model.set("shown", { ...shown(), ...values });
    model.save_changes();
    link.keep();
  }

  function change(values, what) {
    event = what;
    set(values);
  }

  function typed(text) {
    const given = wordsOf(text);
    const wrong = complaint(given, known, MOST);
    tell(wrong && given.length <= MOST && isUnfinished(text, given, known, vocabulary) ? goOn(given) : wrong);
    if (!wrong && given.join(" ") !== shown().words.join(" ")) {
      event = "";
      set({ words: given, source: Math.min(shown().source, given.length), target: 0 });
    }
  }

  function tell(wrong) {
    const long = shown().words.length > get("longest")
      ? `A sentence of ${shown().words.length} words is longer than any that the model was trained on (${get("longest")}).` : "";
    note.textContent = wrong || long;
    stage.classList.toggle("live-old", Boolean(wrong));
  }

  function compute() {
    const { words: given, off, positions, causal } = shown();
    const key = JSON.stringify([given, off, positions, causal]);
    if (found?.key === key) return; // only something else is looked at
    const without = { encoder: [], decoder: [], memory: [] };
    names.forEach((name) => {
      const [part, layer, head] = name.split(".");
      const sets = without[part];
      sets[layer - 1] ??= new Set();
      if (off.includes(name)) sets[layer - 1].add(head - 1);
    });
    const read = [...given.map((word) => ids.get(word)), eos];
    found = { key, ...write(network, read, { bos, eos, most: 2 * read.length + 10, off: without, positions, causal }), source: [...given, words[eos]] };
  }

  const lookFrom = () => {
    const { head, source: s, target: t } = shown();
    const [part, layer, number] = head.split(".");
    const inSource = part === "encoder";
    const place = Math.min(inSource ? s : t, (inSource ? found.source : found.tokens).length - 1);
    const weights = (inSource ? found.read : found.last).weights[part][layer - 1][number - 1][place];
    return { part, layer: layer - 1, number: number - 1, place, inSource, weights };
  };

  // The weight of the place under the microscope: `texts` are the words that are looked at.
  function lookInside(texts, from) {
    const { head, key, off, causal } = shown();
    const { part, layer, number, place, inSource, weights } = lookFrom();
    const { inside, weights: all } = inSource ? found.read : found.last;
    const said = found.tokens.map((id) => words[id]);
    const isOpen = (i, j) => part !== "decoder" || !causal || j <= i;
    const keys = texts.slice(0, weights.length);
    const at = Math.min(key, keys.length - 1);
    scope.show({
      open: key >= 0,
      title: `Under the microscope: the weight of “${from}” on “${keys[at]}”, ${named(head)}`,
      rows: inSource ? found.source : said, keys, weights: all[part][layer][number], masks: isOpen, row: place, key: at,
      stages: () => dotProductStages(inside[part][layer], {
        heads: get("heads"), head: number, row: place, key: at, weights, mask: keys.map((_, j) => isOpen(place, j)),
        output: network.outputOf(part, layer), to: keys[at], isOff: off.includes(head),
        from: inSource ? from : [words[bos], ...said][place],
        about: inSource ? "" : `the last word so far; “${from}” is written from it`,
      }),
    });
  }

  function build({ row }, texts, chosen, side, probabilities) {
    const at = [...row.children].indexOf(document.activeElement);
    row.replaceChildren(...texts.map((text, i) => {
      const made = button("", () => choose(side, i), { role: "radio", class: "live-word", "aria-checked": String(i === chosen) });
      made.append(make("span", { text }), make("small", { text: probabilities ? percent(probabilities[i]) : "" }));
      made.tabIndex = i === chosen ? 0 : -1;
      return made;
    }));
    row.children[at]?.focus();
  }

  // An open microscope goes to the largest weight of the new row.
  function followWeight() {
    if (shown().key >= 0) set({ key: argmax(lookFrom().weights) });
  }

  // A word of the other language is looked from with a head of its own attention.
  function choose(side, i) {
    event = "";
    const { head } = shown();
    const fits = (head.startsWith("encoder") ? "source" : "target") === side;
    const tail = head.split(".").slice(1).join(".");
    set({ [side]: i, ...(fits ? {} : { head: `${side === "source" ? "encoder" : "memory"}.${tail}` }) });
    followWeight();
  }

  function update() {
    compute();
    const { words: given, head, off, positions, causal } = shown();
    const { part, place, inSource, weights } = lookFrom();
    const said = found.tokens.map((id) => words[id]);
    const text = joinWords(said.filter((word) => word !== words[eos]));
    if (document.activeElement !== input) input.value = given.join(" ");
    const example = get("examples").findIndex((one) => one.source.join(" ") === given.join(" "));
    select.value = example < 0 ? "" : String(example);
    tell("");
    build(source, found.source, inSource ? place : -1, "source");
    build(target, said, inSource ? -1 : place, "target", found.probabilities);
    // What a target word attends to in the decoder is what was written before it, from <bos> on.
    const [looked, texts] = part === "decoder" ? [target, [words[bos], ...said]] : [source, found.source];
    [source, target].forEach(({ row }) => [...row.children].forEach((element) => element.style.setProperty("--share", 0)));
    weights.forEach((weight, j) => looked.row.children[part === "decoder" ? j - 1 : j]?.style.setProperty("--share", weight.toFixed(3)));
    [source, target].forEach(({ row }) => {
      const buttons = [...row.children];
      if (!buttons.some((element) => element.tabIndex === 0) && buttons.length) buttons[0].tabIndex = 0;
    });
    const wanted = example < 0 ? "" : joinWords(get("examples")[example].target);
    reference.textContent = !wanted ? "" : wanted === text ? "This is the reference, word for word." : `reference: ${wanted}`;
    grid.replaceChildren(...Object.entries(PARTS).flatMap(([name, label]) => [
      make("span", { text: label }),
      make("div", {}, ...names.filter((one) => one.startsWith(name)).map((one) => {
        const made = button(one.split(".").slice(1).join("."), () => { event = ""; set({ head: one }); followWeight(); grid.querySelector("[aria-checked=true]").focus(); }, { role: "radio", "aria-checked": String(one === head), class: off.includes(one) ? "tf-off" : "", "aria-label": `${named(one)}${off.includes(one) ? ", off" : ""}` });
        made.tabIndex = one === head ? 0 : -1;
        return made;
      })),
    ]));
    const mates = names.filter((name) => name.startsWith(head.slice(0, head.lastIndexOf(".") + 1)));
    const isLayerOff = mates.every((name) => off.includes(name));
    switchOff.textContent = !off.includes(head) ? "Switch this head off" : isLayerOff ? "Switch only this head on" : "Switch this head on";
    switchLayer.textContent = `Switch this layer’s whole attention ${isLayerOff ? "on" : "off"}`;
    reset.style.display = off.length || !positions || !causal ? "" : "none";
    noPositions.box.checked = !positions;
    noMask.box.checked = !causal;
    const stages = (inSource ? found.read : found.last).stages.map((stage) => stage[place]);
    const first = inSource ? found.source[place] : [words[bos], ...said][place];
    pathTitle.textContent = inSource
      ? `The vector of “${first}” on its way through the encoder`
      : `The vector of “${first}” on its way through the decoder, where it becomes “${said[place]}”`;
    const titles = ["embedding", "with its position", ...Array.from({ length: network.layers }, (_, l) => `after layer ${l + 1}`)];
    path.replaceChildren(...stages.flatMap((stage, k) => {
      const canvas = make("canvas", { class: "tf-strip" });
      drawStrip(canvas, stage, 2);
      return [make("span", { text: titles[k] }), canvas];
    }));
    const from = inSource ? first : said[place];
    lookInside(texts, from);
    const effect = event && `${event}: ${inComparison(text, before)}. `;
    told.textContent = effect + inWords(head, from, texts, weights, off.includes(head));
    before = text;
    event = "";
  }

  // Arrow keys go from word to word, and from head to head.
  arrowKeys(source.row, (i) => choose("source", i));
  arrowKeys(target.row, (i) => choose("target", i));
  arrowKeys(grid, (i) => { event = ""; set({ head: names[i] }); followWeight(); });

  keepArrows(root);

  const link = linkedState("transformer", {
    model, root, fromLink, tell, update,
    toLink: () => toLink(shown()),
    wrongIn: ({ words: given }) => complaint(given, known, MOST),
    fill: ({ words: given }) => { input.value = given.join(" "); },
  });
  return link.start();
}

export default { render };
