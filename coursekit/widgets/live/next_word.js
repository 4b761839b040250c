// The reader writes the beginning of a text; one or two language models predict the word in each place.
// State: models [{name, kind, ...what language_models.js needs}], words (by id), bos, eos (ends a
// sentence, shown as a full stop), special (so many ids are no words), sentences and most (words of a
// text), beginnings [{text, at}], controls (temperature, top-k and top-p are shown), shown {text
// (words), at (a place; text.length for the next word), temperature, topK, topP}.

const GUESSES = 7;
const STOP = ".";
const KINDS = { ngram: ngramModel, neural: neuralLanguageModel, decoder: decoderModel };

const splitText = (text) => text.toLowerCase().match(/[^\s.,;:!?"“”]+|[.!?]/g)?.map((word) => (/[.!?]/.test(word) ? STOP : word)) ?? [];
const joinText = (words) => words.join(" ").replaceAll(" .", ".");
// The end of a text, with "…" for what is left out
const endOf = (words, count = 5) => (words.length <= count + 1 ? joinText(words) : `… ${joinText(words.slice(-count)).replace(/^\. /, "")}`);
const isOver = (text, sentences) => text.filter((word) => word === STOP).length >= sentences;
const between = (value, low, high, otherwise) => (value >= low && value <= high ? value : otherwise);

const toLink = ({ text, at, temperature, topK, topP }, controls) => ({
  s: joinText(text), at: String(at + 1), ...(controls ? { t: String(temperature), k: String(topK), p: String(topP) } : {}),
});

function fromLink({ s = "", at = "", t = "1", k = "0", p = "1" }) {
  const text = splitText(s);
  return {
    text,
    at: between(placeFromLink(at), 0, text.length, text.length),
    temperature: between(Number(t), 0.1, 3, 1),
    topK: between(Math.floor(Number(k)), 0, 1000, 0),
    topP: between(Number(p), 0.01, 1, 1),
  };
}

// What the n-gram model knows of the words before a place. `only`: the one word that followed, or "".
function recalled({ words, asked, times, different }, before, only = "") {
  const last = (count) => `“${before.slice(-count).join(" ")}”`;
  if (!asked) return "";
  const longer = words < asked ? `${last(words + 1)} does not occur in the training text` : "";
  if (!words) return `${longer}: the guess is made without context.`;
  const often = times === 1 ? "once" : `${times.toLocaleString("en")} times`;
  const followed = only ? `${times === 1 ? "" : "always "}before “${only}”` : `before ${different} different words`;
  return longer
    ? `${longer}; ${last(words)} occurs ${often}, ${followed}.`
    : `${last(words)} occurs ${often} in the training text, ${followed}.`;
}

const perplexityOf = (chances) => Math.exp(-chances.reduce((sum, p) => sum + Math.log(Math.max(p, 1e-30)), 0) / chances.length);

function render({ model, el }) {
  const get = (name) => model.get(name);
  const [words, special, bos, eos, controls] = ["words", "special", "bos", "eos", "controls"].map(get);
  const vocabulary = words.slice(special).sort();
  const known = new Map([...words.map((word, i) => [word, i]).slice(special), [STOP, eos]]);
  const ids = (text) => text.map((word) => known.get(word));
  const nameOf = (id) => (id === eos ? STOP : words[id]);
  const called = (word) => (word === STOP ? "the end of the sentence" : `“${word}”`);
  const models = get("models").map(({ name, kind, weights, ...rest }) => ({
    name,
    ...(kind === "ngram"
      ? KINDS.ngram({ ...rest, size: words.length, bos, eos })
      : KINDS[kind](unpack(weights), { ...rest, bos })),
  }));
  const shown = () => ({ temperature: 1, topK: 0, topP: 1, ...get("beginnings")[0], ...get("shown") });

  const { field, input } = textField("Text", vocabulary, typed);
  const { chooser, select } = exampleList(get("beginnings").map(({ text }) => joinText(text) || "(nothing yet)"), (i) => {
    const { text, at } = get("beginnings")[i];
    input.value = joinText(text);
    set({ text, at });
  });
  const note = make("p", { class: "live-note", role: "status" });
  const line = make("div", { class: "nw-text", role: "radiogroup", "aria-label": "Words of the text; press one to see the predictions for its place" });
  const perplexities = make("p", { class: "nw-hint" });
  const panels = models.map(({ name }, m) => {
    const list = make("ol", { class: "nw-guesses", "aria-label": `${name}: the most probable words` });
    const why = make("p", { class: "nw-why" });
    const [draw, write] = ["Draw a word", "Write on"].map((text) => make("button", { type: "button", text, "aria-label": `${name}: ${text.toLowerCase()}` }));
    draw.addEventListener("click", () => continueWith(m, 1));
    write.addEventListener("click", () => continueWith(m, Infinity));
    const box = make("section", { class: "nw-model", "aria-label": name },
      make("p", { class: "nw-title", text: name }), list, why, make("div", { class: "nw-buttons" }, draw, write));
    return { box, list, why };
  });

  const choose = (label, values, key, text) => {
    const box = make("select", {}, ...values.map((value) => make("option", { value, text: text(value) })));
    box.addEventListener("change", () => set({ [key]: Number(box.value) }));
    return { box, key, label: make("label", {}, make("span", { text: label }), box) };
  };
  const settings = controls
    ? [
      choose("Temperature", [0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 1, 1.2, 1.5, 2, 3], "temperature", String),
      choose("Top-k", [0, 1, 2, 3, 5, 10, 20, 50], "topK", (k) => (k ? String(k) : "all words")),
      choose("Top-p", [0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 1], "topP", (p) => (p === 1 ? "all words" : String(p))),
    ]
    : [];
  const told = make("p", { class: "nw-told", "aria-live": "polite" });
  const hint = make("p", {
    class: "nw-hint",
    text: "Press a word of the text to see what was predicted in its place, and a word of a list to put it there. "
      + "Under each word: its probability, given the words before it"
      + (models.length > 1 ? `; the upper number is that of the ${models[0].name}, the lower that of the ${models[1].name}. ` : ", at temperature 1. ")
      + "Drawing discards the text from the chosen place on; “Write on” goes on to the end of "
      + (get("sentences") === 1 ? "the sentence, " : `${get("sentences")} sentences, `) + `but not beyond ${get("most")} words. `
      + (models.some(({ recall }) => recall) ? "The n-gram model (interpolated Kneser–Ney) mixes the longest context that it has seen with the shorter ones, so a word that has always followed is not certain. " : "")
      + "Copy the page's address to share this view.",
  });
  const stage = make("div", {}, line, perplexities, make("div", { class: "nw-settings" }, ...settings.map(({ label }) => label)),
    make("div", { class: "nw-models" }, ...panels.map(({ box }) => box)));
  const root = make("div", { class: "nextword-explorer", role: "group", "aria-label": "Next word: the chapter's language models go on with your text" },
    chooser, field, note, stage, told, hint);
  el.append(root);

  const limits = () => ({ sentences: get("sentences"), most: get("most") });

  // The sentence that says what is wrong with the full stops of a text, or "".
  function wrongStops(text) {
    const { sentences } = limits();
    const stop = text.indexOf(STOP);
    if (text[0] === STOP || text.some((word, i) => word === STOP && text[i + 1] === STOP)) return "A sentence needs a word before its full stop.";
    if (sentences === 1 && stop >= 0 && stop < text.length - 1) return "The models read one sentence: leave out what stands after the full stop.";
    if (text.filter((word) => word === STOP).length > sentences) return `The model reads up to ${sentences} sentences here.`;
    return "";
  }

  // The sentence that says why a text cannot be read, or "".
  const wrongIn = (text) => wrongStops(text) || (text.length ? complaint(text, known, limits().most) : "");

  function set(values) {
    model.set("shown", { ...shown(), ...values });
    model.save_changes();
    link.keep();
  }

  function tell(wrong) {
    note.textContent = wrong;
    stage.classList.toggle("live-old", Boolean(wrong));
  }

  function typed(value) {
    const text = splitText(value);
    const wrong = wrongIn(text);
    const begun = !wrongStops(text) && text.length <= limits().most && isUnfinished(value, text, known, vocabulary);
    tell(wrong && begun ? goOn(text) : wrong);
    if (!wrong) set({ text, at: isOver(text, limits().sentences) ? text.length - 1 : text.length });
  }

  // Draws so many words from a model, from the chosen place on, in place of what stands there.
  function continueWith(m, count) {
    const { text, at, ...options } = shown();
    const { sentences, most } = limits();
    const written = text.slice(0, at);
    for (let i = 0; i < count && written.length < most && !isOver(written, sentences); i++) {
      const logits = models[m].read([bos, ...ids(written)]).at(-1);
      written.push(nameOf(drawFrom(sampling(withoutMarks(logits), options), Math.random())));
    }
    set({ text: written, at: count === 1 && !isOver(written, sentences) ? written.length : Math.min(at, written.length - 1) });
  }

  // Marks other than the end of a sentence are never drawn.
  const isWord = (id) => id >= special || id === eos;
  const withoutMarks = (logits) => logits.map((value, id) => (isWord(id) ? value : -Infinity));

  function put(word) {
    const { text, at } = shown();
    const changed = [...text.slice(0, at), word, ...text.slice(at + 1)];
    const wrong = wrongIn(changed);
    if (wrong) return tell(wrong);
    const next = at === text.length && !isOver(changed, limits().sentences) ? changed.length : at;
    set({ text: changed, at: next });
    line.querySelectorAll("button")[next].focus({ preventScroll: true }); // the button that was pressed is gone
  }

  function buildLine(text, at, chances) {
    const places = isOver(text, limits().sentences) ? text : [...text, "…"];
    const buttons = places.map((word, i) => {
      const numbers = chances.map((of) => (i < text.length ? chance(of[i]) : ""));
      const button = make("button", {
        type: "button", role: "radio", class: "live-word", "aria-checked": String(i === at),
        "aria-label": i < text.length ? `${word === STOP ? "full stop" : word}, ${numbers.join(" and ")}` : "the next word",
      }, make("span", { text: word }), ...numbers.map((number) => make("small", { text: number })));
      button.tabIndex = i === at ? 0 : -1;
      button.style.setProperty("--share", i < text.length ? chances.at(-1)[i].toFixed(3) : "0");
      button.addEventListener("click", () => {
        set({ at: i });
        line.querySelectorAll("button")[i]?.focus();
      });
      return button;
    });
    line.replaceChildren(...buttons);
  }

  // Fills a model's list; returns the words, the best first.
  function list({ list: element }, logits, truth, options) {
    const raw = softmax(logits);
    const drawn = controls ? sampling(withoutMarks(logits), options) : raw;
    const order = [...raw.keys()].filter(isWord).sort((a, b) => raw[b] - raw[a]).slice(0, GUESSES);
    if (truth !== undefined && !order.includes(truth)) order.push(truth);
    element.replaceChildren(...order.map((id) => {
      const word = nameOf(id);
      const changed = Math.abs(drawn[id] - raw[id]) > 0.0005;
      const value = changed ? `${chance(raw[id])} → ${drawn[id] ? chance(drawn[id]) : "never"}` : chance(raw[id]);
      const button = make("button", { type: "button", "aria-label": `${called(word)}, ${value}` },
        make("span", { text: word }), make("span", { class: "nw-value", text: value }));
      button.style.setProperty("--share", drawn[id].toFixed(3));
      button.dataset.probability = raw[id].toFixed(4);
      button.addEventListener("click", () => put(word));
      return make("li", { class: [id === truth ? "nw-true" : "", drawn[id] ? "" : "nw-never"].join(" ").trim() }, button);
    }));
    return { best: order[0], p: raw, drawable: drawn.filter((value) => value > 0).length };
  }

  function reason(one, before) {
    if (one.recall) {
      const found = one.recall([bos, ...ids(before)]);
      return recalled(found, ["(beginning)", ...before], found.different === 1 ? nameOf(found.next) : "");
    }
    const last = before.at(-1);
    if (!one.nearest || !last || last === STOP) return "";
    const near = one.nearest(known.get(last), vocabulary.map((word) => known.get(word)), 4).map(nameOf);
    return `Words whose vectors in this network are the most similar to that of “${last}”: ${near.join(", ")}.`;
  }

  function update() {
    const { text, at: asked, temperature, topK, topP } = shown();
    const at = Math.min(asked, isOver(text, limits().sentences) ? text.length - 1 : text.length);
    const options = { temperature, topK, topP };
    const given = ids(text);
    const focused = line.contains(document.activeElement);
    const logits = models.map((one) => one.read([bos, ...given]));
    const chances = logits.map((rows) => given.map((id, i) => softmax(rows[i])[id]));
    if (document.activeElement !== input) input.value = joinText(text);
    const example = get("beginnings").findIndex((one) => joinText(one.text) === joinText(text));
    select.value = example < 0 ? "" : String(example);
    settings.forEach(({ box, key }) => {
      const value = String(shown()[key]);
      if (![...box.options].some((option) => option.value === value)) box.append(make("option", { value, text: value }));
      box.value = value;
    });
    tell("");
    buildLine(text, at, chances);
    if (focused) line.querySelectorAll("button")[at].focus();
    const found = panels.map((panel, m) => list(panel, logits[m][at], given[at], options));
    const before = text.slice(0, at);
    panels.forEach(({ why }, m) => { why.textContent = reason(models[m], before); });
    perplexities.textContent = text.length
      ? `Perplexity of ${text.length === 1 ? "this word" : `these ${text.length} words`}${text.includes(STOP) ? ", full stops included" : ""}: ${models.map(({ name }, m) => `${name} ${perplexityOf(chances[m]).toFixed(1)}`).join(", ")}.` : "";
    const after = before.length ? `After “${endOf(before)}”` : "At the beginning";
    const firsts = found.map(({ best, p }, m) => `${m ? "that" : "the first choice"} of the ${models[m].name} is ${called(nameOf(best))} (${chance(p[best])})`);
    const truth = given[at] === undefined ? "" : ` In your text, ${called(text[at])} has ${found.map(({ p }) => chance(p[given[at]])).join(" and ")}.`;
    const rest = controls ? ` With these settings ${found[0].drawable === 1 ? "one word" : `${found[0].drawable} words`} can be drawn here.` : "";
    told.textContent = `${after}, ${firsts.join(", ")}.${truth}${rest}`;
  }

  arrowKeys(line, (to) => set({ at: to }));
  keepArrows(root);

  const link = linkedState("nextword", {
    model, root, fromLink, tell, update,
    toLink: () => toLink(shown(), controls),
    wrongIn: ({ text }) => wrongIn(text),
    fill: ({ text }) => { input.value = joinText(text); },
  });
  return link.start();
}

export default { render };
