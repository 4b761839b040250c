// The reader writes a sentence; the model translates it here, and shows every stage of one step.
// State: attention and fixed (packed models), source_words, target_words, examples [{source,
// target, links}], glosses, longest, bos, eos, special, shown {words, step, barred, forced, hand,
// key (the source place under the microscope, -1: closed)}.

const PLAY_MS = 1300;
const MOST = 40; // words of a sentence
const CONSIDERED = 5; // words shown for a step
const ROW = 30; // pixels, before there is a layout

// What a link holds, and back: words and places are separated so that a person can read it.
const toLink = ({ words, step, barred, forced, hand, key = -1 }) => ({
  s: words.join(" "),
  at: step ? String(step + 1) : "",
  bar: barred.map((j) => j + 1).join(" "),
  force: placesToLink(forced),
  hand: placesToLink(hand), // a row as numbers with commas
  key: key < 0 ? "" : String(key + 1),
});

function fromLink({ s = "", at = "1", bar = "", force = "", hand = "", key = "" }) {
  const parts = (text) => text.split(" ").filter(Boolean);
  const numbers = (row) => row.split(",").map((value) => Math.max(0, Number(value) || 0));
  return {
    words: wordsOf(s),
    step: Math.max(0, (Number(at) || 1) - 1),
    barred: parts(bar).map((j) => Number(j) - 1),
    forced: placesFromLink(force),
    hand: Object.fromEntries(Object.entries(placesFromLink(hand)).map(([i, row]) => [i, numbers(row)])),
    key: placeFromLink(key),
  };
}

// The sentence that stands for the picture of a step.
function inWords(words, weights, target, probability, forced) {
  const order = words.map((_, j) => j).sort((a, b) => weights[b] - weights[a]);
  const told = order.filter((j, rank) => rank < 4 && weights[j] >= (rank ? 0.01 : 1e-9));
  const looks = told.map((j) => `${words[j]} ${weights[j].toFixed(2)}`).join(", ");
  const how = forced ? "forced; the model gives it" : "the model gives it";
  return `For “${target}”: ${looks || "no weight anywhere, so the context is 0"}; ${how} ${percent(probability)}.`;
}

function render({ model, el }) {
  const get = (name) => model.get(name);
  const [sourceWords, targetWords, special] = [get("source_words"), get("target_words"), get("special")];
  const vocabulary = sourceWords.slice(special).sort();
  const ids = new Map(sourceWords.map((word, i) => [word, i]));
  const known = new Map(vocabulary.map((word) => [word, ids.get(word)]));
  const targetIds = new Map(targetWords.map((word, i) => [word, i]));
  const [bos, eos] = [get("bos"), get("eos")];
  const attention = bahdanau(unpack(get("attention")));
  const fixed = Object.keys(get("fixed")).length ? bahdanau(unpack(get("fixed"))) : null;
  const fresh = (words) => ({ words, step: 0, barred: [], forced: {}, hand: {}, key: -1 });
  const shown = () => ({ ...fresh(get("examples")[0].source), ...get("shown") });
  const gloss = (word) => get("glosses")[word] ?? "";
  const glossed = (word) => (gloss(word) ? `${word} (${gloss(word)})` : word);

  const { field, input } = textField("English", vocabulary, typed);
  const { chooser, select } = exampleList(get("examples").map(({ source }) => source.join(" ")), (i) => {
    stop();
    event = "";
    input.value = get("examples")[i].source.join(" ");
    set(fresh(get("examples")[i].source));
  });
  const note = make("p", { class: "live-note", role: "status" });
  const outputs = make("dl", { class: "tr-outputs" });
  const button = (text, action, options = {}) => {
    const made = make("button", { type: "button", text, ...options });
    made.addEventListener("click", action);
    return made;
  };
  const previous = button("◀ Back", () => { stop(); go(now() - 1); });
  const next = button("Next ▶", () => { stop(); go(now() + 1); });
  const play = button("Play", () => (timer === null ? start() : stop()), { "aria-pressed": "false" });
  const reset = button("Undo all changes", () => {
    change({ barred: [], forced: {}, hand: {} }, "All changes are undone");
    play.focus(); // this button is gone
  });
  const follow = button("Force the reference", () => {
    const { target } = example();
    change({ forced: Object.fromEntries([...target, targetWords[eos]].map((word, i) => [i, word])) }, "Every word of the reference is forced");
  });
  const count = make("span", { class: "tr-count" });
  const bar = make("div", { class: "tr-bar" }, previous, next, play, count, follow, reset);
  const head = make(
    "div", { class: "tr-head", "aria-hidden": "true" },
    make("div", {}, ...["source", "annotation", "score", "weight"].map((text) => make("span", { text }))),
    make("span", { text: "target" }),
  );
  const rows = make("ol", { class: "tr-source", "aria-label": "Source words with scores and weights; press a word to bar it" });
  const ribbons = makeSvg("svg", { "aria-hidden": "true", preserveAspectRatio: "none" });
  const targets = make("ol", { class: "tr-target", role: "radiogroup", "aria-label": "Target words; the arrow keys step through them" });
  const grid = make("div", { class: "tr-field" }, rows, ribbons, targets);
  const byHand = make("input", { type: "checkbox" });
  const hand = make("label", { class: "tr-hand" }, byHand, make("span", { text: "Set this step's weights by hand" }));
  const vectors = ["query", "context", "new state"].map((name) => ({
    canvas: make("canvas", { class: `tr-strip tr-${name.replace(" ", "-")}` }),
    name: make("span", {}),
  }));
  const strips = make("div", { class: "tr-vectors", "aria-hidden": "true" }, ...vectors.flatMap(({ name, canvas }) => [name, canvas]));
  const guesses = make("ol", { class: "tr-guesses", "aria-label": "The words that the model finds most probable here; press one to force it" });
  const other = make("select", {});
  const choose = make("label", { class: "tr-other" }, make("span", { text: "Force another word" }), other);
  const told = make("p", { class: "tr-told", "aria-live": "polite" });
  const hint = make("p", { class: "tr-hint" });
  const scope = microscope({
    opened: (open) => set({ key: open ? argmax(found.steps[now()].weights) : -1 }),
    chosen: (step, key) => {
      stop();
      event = "";
      set({ step, key });
    },
  });
  const stage = make("div", { class: "tr-stage" }, outputs, bar, head, grid, hand, strips,
    make("p", { class: "tr-title", text: "What the model would write in this step" }), guesses, choose, scope.panel);
  const root = make(
    "div",
    { class: "translator-explorer", role: "group", "aria-label": "Translator: the chapter's model translates your sentence" },
    field, chooser, note, stage, told, hint,
  );
  el.append(root);
  other.append(make("option", { value: "", text: "choose…" }));
  targetWords.slice(special).sort().forEach((word) => other.append(make("option", { value: word, text: glossed(word) })));
  other.append(make("option", { value: targetWords[eos], text: `${targetWords[eos]} (end)` }));

  let timer = null;
  let found = null; // the translation that is shown: {words, steps, mask}
  let before = null; // the text of the translation before, to say whether it changed
  let event = ""; // what the reader did last

  const now = () => Math.min(shown().step, found.steps.length - 1);
  const example = () => get("examples").find(({ source }) => source.join(" ") === shown().words.join(" "));
  const isWord = (word) => word !== targetWords[eos];
  const plain = (words) => words.filter(isWord).join(" ");
  const texts = (steps) => steps.map(({ token }) => targetWords[token]);

  function set(values) {
    model.set("shown", { ...shown(), ...values });
    model.save_changes();
    link.keep();
  }

  function change(values, what) {
    stop();
    event = what;
    set(values);
  }

  function typed(text) {
    stop();
    const words = wordsOf(text);
    const wrong = complaint(words, known, MOST);
    const unfinished = wrong && words.length <= MOST && isUnfinished(text, words, known, vocabulary);
    tell(unfinished ? goOn(words) : wrong);
    if (!wrong && words.join(" ") !== shown().words.join(" ")) {
      event = "";
      set(fresh(words));
    }
  }

  function tell(wrong) {
    const { words } = shown();
    const long = words.length > get("longest")
      ? `A sentence of ${words.length} words is longer than any that the model was trained on (${get("longest")}).` : "";
    note.textContent = wrong || long;
    stage.classList.toggle("live-old", Boolean(wrong));
  }

  function go(step) {
    event = "";
    set({ step: Math.max(0, Math.min(found.steps.length - 1, step)) });
    if (shown().key >= 0) set({ key: argmax(found.steps[now()].weights) }); // an open microscope goes along
  }

  function stop() {
    clearInterval(timer);
    timer = null;
    play.textContent = "Play";
    play.setAttribute("aria-pressed", "false");
    told.setAttribute("aria-live", "polite");
  }

  function start() {
    if (now() === found.steps.length - 1) go(0);
    play.textContent = "Stop";
    play.setAttribute("aria-pressed", "true");
    told.setAttribute("aria-live", "off"); // a word a second is too fast to be read out
    timer = setInterval(() => {
      if (!root.isConnected || now() >= found.steps.length - 1) stop();
      else go(now() + 1);
    }, PLAY_MS);
  }

  function compute() {
    const { step, key: _, ...choices } = shown();
    const key = JSON.stringify(choices);
    if (found?.key === key) return; // only another step is looked at
    const { words, barred, forced, hand: set_ } = choices;
    const source = [...words.map((word) => ids.get(word)), eos];
    const mask = source.map((_, j) => !barred.includes(j));
    const numbers = Object.entries(set_).filter(([, row]) => row.length === source.length);
    const options = {
      bos, eos, mask, most: 2 * source.length + 10,
      forced: new Map(Object.entries(forced).filter(([, word]) => targetIds.has(word)).map(([i, word]) => [Number(i), targetIds.get(word)])),
      hand: new Map(numbers.map(([i, row]) => [Number(i), shares(row)])),
    };
    const same = found && found.words.slice(0, -1).join(" ") === words.join(" ");
    const result = translate(attention, source, same ? { ...options, read: found.read } : options);
    const other = same ? found.plain : fixed && translate(fixed, source, { bos, eos, most: options.most }).steps;
    found = { ...result, key, mask, plain: other, words: [...words, targetWords[eos]] };
  }

  function buildSource() {
    const { hand: set_, barred } = shown();
    const byHandNow = set_[now()];
    rows.replaceChildren(...found.words.map((word, j) => {
      const off = barred.includes(j);
      const name = button(word, () => {
        const places = off ? barred.filter((k) => k !== j) : [...barred, j].sort((a, b) => a - b);
        change({ barred: places }, `“${word}” is ${off ? "no longer barred" : "barred"}`);
        rows.children[j].querySelector("button").focus();
      }, { class: "tr-word", "aria-pressed": String(off), title: off ? "Barred; press to let it in" : "Press to bar this word" });
      const weight = make("span", { class: "tr-weight" });
      if (!byHandNow) {
        const canvas = make("canvas", { class: "tr-strip", "aria-hidden": "true" });
        drawStrip(canvas, found.read.annotations[j]);
        return make("li", { class: off ? "tr-off" : "" }, name, canvas, make("span", { class: "tr-score" }), weight);
      }
      const slider = make("input", { type: "range", min: "0", max: "100", value: String(Math.round(byHandNow[j])), "aria-label": `Weight of ${word}` });
      slider.addEventListener("input", () => {
        const row = [...shown().hand[now()]];
        row[j] = Number(slider.value);
        change({ hand: { ...shown().hand, [now()]: row } }, `“${word}” is set to ${shares(row)[j].toFixed(2)} of the sum`);
      });
      return make("li", { class: off ? "tr-off" : "" }, name, slider, weight);
    }));
  }

  function buildTarget() {
    const { forced } = shown();
    targets.replaceChildren(...found.steps.map(({ token }, i) => {
      const word = targetWords[token];
      const choice = button("", () => { stop(); go(i); }, { role: "radio", title: glossed(word) });
      choice.append(spoken(make("span", { text: word })));
      if (gloss(word)) choice.append(make("small", { text: gloss(word) }));
      if (i in forced) choice.append(make("small", { class: "tr-forced", text: "forced" }));
      return make("li", { role: "presentation" }, choice);
    }));
  }

  // Where the rows of a list are, which stands in the middle of the field: its height in pixels,
  // and `at(k)`, from the middle. On a phone the target's rows are higher than the source's.
  function measureRows(list) {
    const count = list.children.length;
    const tops = [list.firstElementChild, list.lastElementChild].map((row) => row.getBoundingClientRect().top);
    const each = (tops[1] - tops[0]) / (count - 1) || ROW;
    return { height: count * each, at: (k) => (k + 0.5 - count / 2) * each };
  }

  function ribbon({ source, target, height }, j, i, kind, width) {
    const [from, to] = [height / 2 + source.at(j), height / 2 + target.at(i)];
    return makeSvg("path", {
      d: `M0 ${from} C50 ${from} 50 ${to} 100 ${to}`, class: kind, "vector-effect": "non-scaling-stroke",
      ...(width ? { "stroke-width": width } : {}),
    });
  }

  // The weight of the source word under the microscope, in this step.
  function lookInside(said) {
    const { key, hand: set_ } = shown();
    const { scores, weights, query } = found.steps[now()];
    const { annotations } = found.read;
    const at = Math.min(key, found.words.length - 1);
    const [from, to] = [said[now()], found.words[at]];
    scope.show({
      open: key >= 0, title: `Under the microscope: the weight of “${glossed(from)}” on “${to}”`,
      rows: said.map(glossed), keys: found.words, weights: found.steps.map((step) => step.weights), row: now(), key: at,
      masks: (_, j) => found.mask[j],
      stages: () => additiveStages({ query, key: annotations[at], ...attention.score }, {
        at, scores, weights, mask: found.mask, values: annotations, byHand: Boolean(set_[now()]), from: glossed(from), to,
      }),
    });
  }

  function update() {
    compute();
    const { words, barred, forced, hand: set_ } = shown();
    const i = now();
    const { scores, weights, query, context, state, probabilities, token } = found.steps[i];
    const said = texts(found.steps);
    const given = example();
    const text = plain(said);
    if (document.activeElement !== input) input.value = words.join(" ");
    select.value = given ? String(get("examples").indexOf(given)) : "";
    tell("");
    const wrong = (words) => given && [...given.target, targetWords[eos]].join(" ") !== words.join(" ");
    const line = (name, words) => [
      make("dt", { text: name }),
      make("dd", {}, plain(words) ? withGlosses(words.filter(isWord), gloss) : "(nothing)", wrong(words) ? make("small", { text: " not the reference" }) : ""),
    ];
    outputs.replaceChildren(
      ...line("with attention", said),
      ...(found.plain ? line("one fixed vector", texts(found.plain)) : []),
      ...(given ? line("reference", [...given.target, targetWords[eos]]) : []),
    );
    // Sliders stay as they are while they are dragged.
    const sliders = rows.querySelectorAll("input");
    const dragged = sliders.length === found.words.length && set_[i] && [...sliders].includes(document.activeElement);
    if (!dragged) buildSource();
    buildTarget();
    const same = given && !wrong(said);
    const gold = same ? given.links : [];
    const [source, target] = [rows, targets].map(measureRows);
    const layout = { source, target, height: Math.max(source.height, target.height) };
    ribbons.style.height = `${layout.height}px`;
    ribbons.setAttribute("viewBox", `0 0 100 ${layout.height}`);
    const paths = [];
    found.steps.forEach((step, t) => step.weights.forEach((weight, j) => {
      if (t !== i && weight >= 0.05) paths.push(ribbon(layout, j, t, "tr-faint", weight * 24));
    }));
    weights.forEach((weight, j) => {
      if (weight >= 0.005) paths.push(ribbon(layout, j, i, "tr-strong", Math.max(1, weight * 24)));
    });
    gold.filter(([, t]) => t === i).forEach(([j]) => paths.push(ribbon(layout, j, i, "tr-gold")));
    ribbons.replaceChildren(...paths);
    [...rows.children].forEach((row, j) => {
      row.style.setProperty("--weight", weights[j]);
      row.classList.toggle("tr-high", weights[j] >= 0.1);
      row.querySelector("input")?.setAttribute("aria-valuetext", weights[j].toFixed(2));
      row.querySelector(".tr-score")?.replaceChildren(signed(scores[j]));
      row.querySelector(".tr-weight").textContent = weights[j].toFixed(2);
    });
    targets.querySelectorAll("button").forEach((choice, t) => {
      choice.setAttribute("aria-checked", String(t === i));
      choice.tabIndex = t === i ? 0 : -1;
    });
    byHand.checked = Boolean(set_[i]);
    stage.classList.toggle("tr-by-hand", byHand.checked);
    [[query, `query, state ${i}`], [context, `context ${i + 1}`], [state, `new state ${i + 1}`]].forEach(([vector, name], k) => {
      drawStrip(vectors[k].canvas, vector);
      vectors[k].name.textContent = name;
    });
    const order = [...probabilities.keys()].sort((a, b) => probabilities[b] - probabilities[a]).slice(0, CONSIDERED);
    if (!order.includes(token)) order.push(token);
    const focused = guesses.contains(document.activeElement) ? [...guesses.querySelectorAll("button")].indexOf(document.activeElement) : -1;
    guesses.replaceChildren(...order.map((id) => {
      const word = targetWords[id];
      const choice = button("", () => {
        const rest = Object.fromEntries(Object.entries(shown().forced).filter(([t]) => Number(t) !== now()));
        const free = id === token && i in shown().forced;
        change({ forced: free ? rest : { ...rest, [now()]: word } }, free ? "The model chooses again" : `“${word}” is forced as word ${now() + 1}`);
      }, { "aria-pressed": String(id === token) });
      choice.style.setProperty("--share", probabilities[id].toFixed(4));
      choice.dataset.probability = probabilities[id].toFixed(4);
      choice.append(spoken(make("span", { text: word })), make("small", { text: gloss(word) }), make("span", { class: "tr-value", text: percent(probabilities[id]) }));
      return make("li", {}, choice);
    }));
    if (focused >= 0) guesses.querySelectorAll("button")[Math.min(focused, order.length - 1)].focus();
    lookInside(said);
    other.value = "";
    const changed = barred.length || Object.keys(forced).length || Object.keys(set_).length;
    // Not "disabled": that would take the focus away from who uses the keyboard.
    previous.setAttribute("aria-disabled", String(i === 0));
    next.setAttribute("aria-disabled", String(i === found.steps.length - 1));
    reset.style.display = changed ? "" : "none";
    follow.style.display = given && !same ? "" : "none";
    count.textContent = `word ${i + 1} of ${found.steps.length}`;
    const effect = event && `${event}: ${inComparison(text, before)}. `;
    told.textContent = effect + inWords(found.words, weights, glossed(targetWords[token]), probabilities[token], i in forced);
    hint.replaceChildren(
      "Press a source word to bar it, a target word to see its step, a word below to force it. " +
      "Strips: blue is above 0, orange below; on a narrow screen those of the annotations are left out. Copy the page's address to share this view. " +
      (fixed ? "The model with one fixed vector has no weights: only the sentence changes what it writes." : ""),
    );
    if (gold.length) hint.append(make("b", { text: " Dashed: gold links." }));
    before = text;
    event = "";
  }

  other.addEventListener("change", () => {
    if (other.value) change({ forced: { ...shown().forced, [now()]: other.value } }, `“${other.value}” is forced as word ${now() + 1}`);
  });
  byHand.addEventListener("change", () => {
    const { [now()]: _, ...rest } = shown().hand;
    const row = [...found.steps[now()].weights].map((weight) => Math.round(100 * weight));
    change({ hand: byHand.checked ? { ...rest, [now()]: row } : rest }, byHand.checked ? "The weights are yours, divided by their sum so that they stay weights" : "The model sets the weights again");
  });
  arrowKeys(targets, (to) => {
    stop();
    go(to);
  });
  keepArrows(root);

  const link = linkedState("translator", {
    model, root, fromLink, tell, update,
    toLink: () => toLink(shown()),
    wrongIn: ({ words }) => complaint(words, known, MOST),
    fill: ({ words }) => { input.value = words.join(" "); },
    ended: () => clearInterval(timer),
  });
  return link.start();
}

export default { render };
