// Five translators from 2014 to 2017 translate the reader's sentence side by side.
// State: models [{name, label, kind, weights, joint, probe (or null)}], source_words, target_words,
// joint_words (by id), content (source ids, in the order of the probes' outputs), special, synonyms
// {word: known word}, suggestions (sentences), stories [{label, sentences: [{source, target}]}], longest,
// bos, eos, shown {words, model, step, barred, forced, off, hand}. `forced`: step -> word, which every model must write
// there; `off`: heads of the Transformer's last layer; `hand`: model -> step -> a number per word.
// A translator from the reader's own file comes last, under the name "own".

const MOST = 40; // words of a sentence
const CONSIDERED = 5; // words shown for a step
const HEADS = 4; // of the Transformer
const WIDEST = 14; // pixels of a ribbon for the weight 1
const KINDS = {
  cho, sutskever, bahdanau, luong, transformer: (p, off, heads = HEADS) => transformerByWord(p, heads, { off }),
};

const toLink = ({ words, model, step, barred, forced, off, hand }) => ({
  s: words.join(" "),
  by: model,
  at: step ? String(step + 1) : "",
  bar: barred.map((j) => j + 1).join(" "),
  force: placesToLink(forced),
  off: off.map((h) => h + 1).join(" "),
  hand: Object.entries(hand).flatMap(([name, steps]) => Object.entries(steps).map(([i, row]) => `${name}:${Number(i) + 1}:${row.join(",")}`)).join(" "),
});

function fromLink({ s = "", by = "", at = "1", bar = "", force = "", off = "", hand = "" }, names) {
  const byHand = {};
  const parts = (text) => text.split(" ").filter(Boolean);
  for (const [name, i, row = ""] of parts(hand).map((part) => part.split(":"))) {
    if (names.includes(name)) (byHand[name] ??= {})[Number(i) - 1] = row.split(",").map((value) => Math.max(0, Number(value) || 0));
  }
  return {
    words: read(s),
    model: names.includes(by) ? by : names.at(-1),
    step: Math.max(0, (Number(at) || 1) - 1),
    barred: parts(bar).map((j) => Number(j) - 1),
    forced: placesFromLink(force),
    off: parts(off).map((h) => Number(h) - 1),
    hand: byHand,
  };
}

// Which words of a text are not in the longest common subsequence with another one: a Set of places.
function differing(words, reference) {
  const [n, m] = [words.length, reference.length];
  const longest = Array.from({ length: n + 1 }, () => new Array(m + 1).fill(0)); // of words from i, reference from j
  for (let i = n - 1; i >= 0; i--) {
    for (let j = m - 1; j >= 0; j--) {
      longest[i][j] = words[i] === reference[j] ? longest[i + 1][j + 1] + 1 : Math.max(longest[i + 1][j], longest[i][j + 1]);
    }
  }
  const apart = new Set();
  let [i, j] = [0, 0];
  while (i < n) {
    if (j < m && words[i] === reference[j]) [i, j] = [i + 1, j + 1];
    else if (j < m && longest[i][j + 1] > longest[i + 1][j]) j++;
    else apart.add(i++);
  }
  return apart;
}

// The sentence that stands for the ribbons of one word.
function inWords(word, source, { weights, probabilities, token, forced }, size) {
  const chance = forced ? `You forced it; the model gives it ${percent(probabilities[token])}.` : `The model gives it ${percent(probabilities[token])}.`;
  if (!weights) return `“${word}”: written from the vector of ${size} numbers and the words before; no source word is looked at. ${chance}`;
  const order = source.map((_, j) => j).sort((a, b) => weights[b] - weights[a]).slice(0, 3).filter((j) => weights[j] >= 0.05);
  return `“${word}” reads ${order.map((j) => `“${source[j]}” (${weights[j].toFixed(2)})`).join(", ")}. ${chance}`;
}

function render({ model, el }) {
  const get = (name) => model.get(name);
  const [bos, eos, stories] = [get("bos"), get("eos"), get("stories")];
  const vocabulary = get("source_words").slice(get("special")).sort();
  const translators = get("models").map(({ weights, kind, joint, ...rest }) => {
    const [source, target] = joint ? [get("joint_words"), get("joint_words")] : [get("source_words"), get("target_words")];
    return {
      ...rest,
      kind,
      weights,
      make: KINDS[kind],
      heads: kind === "transformer" ? HEADS : 0,
      sourceIds: new Map(source.map((word, i) => [word, i])),
      targetIds: new Map(target.map((word, i) => [word, i])),
      target,
    };
  });
  const recorded = translators.length;
  const names = () => translators.map(({ name }) => name);
  const known = new Map(vocabulary.map((word) => [word, word]));
  const fresh = (words) => ({ words, model: translators[recorded - 1].name, step: 0, barred: [], forced: {}, off: [], hand: {} });
  const shown = () => ({ ...fresh(stories[0].sentences[0].source), ...get("shown") });
  const end = "the end";

  // ---- what stands there

  const button = (text, action, options = {}) => {
    const made = make("button", { type: "button", text, ...options });
    made.addEventListener("click", action);
    return made;
  };
  const { field, input } = textField("English", vocabulary, typed);
  const note = make("p", { class: "live-note", role: "status" });
  const instead = button("", () => {
    input.value = instead.dataset.text;
    typed(input.value);
    input.focus(); // this button is gone
  }, { class: "hi-instead" });
  const select = make("select", {}, make("option", { value: "", text: "your own, no reference" }));
  stories.forEach(({ label }, i) => select.append(make("option", { value: i, text: label })));
  const slider = make("input", { type: "range", min: "0", step: "1", class: "hi-slider" });
  const length = make("output", { class: "hi-length" });
  const ladder = make("div", { class: "hi-ladder" },
    make("label", {}, make("span", { text: "Story" }), select),
    make("label", { class: "hi-longer" }, make("span", { text: "Length" }), slider, length));
  const list = make("ol", { class: "hi-models", role: "radiogroup", "aria-label": "Translators; press one to see what it reads" });
  const reference = make("p", { class: "hi-reference" });
  const source = make("ol", { class: "hi-source" });
  const svg = makeSvg("svg", { "aria-hidden": "true" });
  const vector = make("div", { class: "hi-vector", "aria-hidden": "true" }, make("canvas"), make("span"));
  const target = make("ol", { class: "hi-target", role: "radiogroup", "aria-label": "French; press a word to see what it reads" });
  const stage = make("div", { class: "hi-stage" }, svg, source, vector, target);
  const told = make("p", { class: "hi-told", "aria-live": "polite" });
  const guesses = make("ol", { class: "hi-guesses", "aria-label": "What the model finds most probable here; press a word to force it in all models" });
  const reset = button("Undo all changes", () => {
    change({ barred: [], forced: {}, off: [], hand: {} }, "All changes are undone");
    input.focus(); // this button is gone
  });
  const heads = make("fieldset", { class: "hi-heads" }, make("legend", { text: "Switch off heads of the last layer's cross-attention" }),
    ...Array.from({ length: HEADS }, (_, h) => {
      const box = make("input", { type: "checkbox", value: String(h) });
      box.addEventListener("change", () => {
        const off = box.checked ? [...shown().off, h].sort() : shown().off.filter((k) => k !== h);
        change({ off }, `Head ${h + 1} is ${box.checked ? "off" : "on again"}`);
      });
      return make("label", {}, box, make("span", { text: String(h + 1) }));
    }));
  const byHand = make("input", { type: "checkbox" });
  const hand = make("label", { class: "hi-hand" }, byHand, make("span", { text: "Set this word's weights by hand" }));
  const title = make("p", { class: "hi-title", text: "What this model would write here" });
  const hint = make("p", { class: "hi-hint" });
  const file = make("input", { type: "file", accept: ".json,application/json" });
  const own = make("label", { class: "hi-own" }, make("span", { text: "Add a translator of your own, which an exercise has saved (the file stays on your computer)" }), file);
  const ownNote = make("p", { class: "hi-own-note", role: "status" });
  const kept = make("p", { class: "hi-kept" });
  const body = make("div", {}, list, reference, stage, told, kept, hand, heads, title, guesses, reset, hint, own, ownNote);
  const root = make("div", { class: "history-explorer", role: "group", "aria-label": "Five translators translate your sentence side by side" },
    field, note, instead, ladder, body);
  el.append(root);

  // ---- what is computed: for each model its translation, and the one without the reader's changes

  let event = ""; // what the reader did last; with a full stop, nothing is expected to change
  let stopComputing = () => {};
  const done = new Map(); // name -> {key, words, read, steps, plain}

  const now = () => Math.min(shown().step, current().steps.length - 1);
  const chosen = () => translators.find(({ name }) => name === shown().model) ?? translators.at(-1);
  const current = () => done.get(chosen().name);
  const isSame = (a, b) => a.join(" ") === b.join(" ");
  const given = () => {
    for (const [i, { sentences }] of stories.entries()) {
      const at = sentences.findIndex((one) => isSame(one.source, shown().words));
      if (at >= 0) return { story: i, at, ...sentences[at] };
    }
    return null;
  };
  const said = (one, steps) => steps.map(({ token }) => one.target[token]);
  const text = (one, steps) => said(one, steps).filter((word) => word !== one.target[eos]);

  function compute(one) {
    const { words, barred, forced, off, hand: set_ } = shown();
    const own = set_[one.name] ?? {};
    const key = JSON.stringify([words, barred, forced, one.heads && off, own]);
    const before = done.get(one.name);
    if (before?.key === key) return;
    one.off ??= new Set();
    one.model ??= one.make(unpack(one.weights), one.off);
    one.off.clear();
    const ids = [...words.map((word) => one.sourceIds.get(word) ?? 1), eos];
    const same = before && isSame(before.words, words);
    const read = same ? before.read : one.model.encode(ids);
    if (one.probe && !same) {
      one.unpackedProbe ??= unpack(one.probe);
      read.back = readBack(wordContent(read.vector, one.unpackedProbe), ids, get("content"));
    }
    const options = { bos, eos, most: 2 * ids.length + 10, read };
    const plain = same ? before.plain : translate(one.model, ids, options).steps;
    const numbers = Object.entries(own).filter(([, row]) => row.length === ids.length);
    const changed = barred.length || Object.keys(forced).length || numbers.length || (one.heads && off.length);
    if (one.heads) off.forEach((h) => one.off.add(h));
    const steps = changed ? translate(one.model, ids, {
      ...options,
      mask: barred.length ? ids.map((_, j) => !barred.includes(j)) : undefined,
      forced: new Map(Object.entries(forced).filter(([, word]) => one.targetIds.has(word)).map(([i, word]) => [Number(i), one.targetIds.get(word)])),
      hand: new Map(numbers.map(([i, row]) => [Number(i), shares(row)])),
    }).steps : plain;
    done.set(one.name, { key, words, read, steps, plain });
  }

  // ---- what the reader does

  function set(values) {
    model.set("shown", { ...shown(), ...values });
    model.save_changes();
    link.keep();
  }

  function change(values, what) {
    event = what;
    set(values);
  }

  function typed(value) {
    const words = read(value);
    const wrong = complaint(words, known, MOST);
    const unfinished = wrong && words.length <= MOST && isUnfinished(value, words, known, vocabulary);
    note.textContent = unfinished ? goOn(words) : wrong;
    const near = wrong && !unfinished && words.length <= MOST ? nearWords(words, known, get("synonyms")) : [];
    const other = withKnownWords(near) || nearestSentence(near, get("suggestions"));
    instead.dataset.text = other;
    instead.textContent = near.includes(null) ? `The nearest sentence they can read: “${other}”` : `Write “${other}”`;
    instead.style.display = other ? "" : "none";
    body.classList.toggle("live-old", Boolean(wrong));
    if (!wrong && !isSame(words, shown().words)) take(words);
  }

  // The weights of the chosen model's present step; null gives them back to the model.
  function setHand(row, what) {
    const { name } = chosen();
    const { [now()]: _, ...rest } = shown().hand[name] ?? {};
    change({ hand: { ...shown().hand, [name]: row ? { ...rest, [now()]: row } : rest } }, what);
  }

  const take = (words) => set({ ...fresh(words), model: shown().model });

  // Take a sentence that the reader has not typed.
  function choose(words) {
    input.value = words.join(" ");
    typed(input.value);
  }

  async function addOwn() {
    if (!file.files.length) return;
    const saved = await file.files[0].text();
    let mine;
    try {
      mine = readTranslator(saved, KINDS, { bos });
    } catch (error) {
      ownNote.textContent = error.message;
      return;
    }
    const { label } = translators.find(({ kind }) => kind === mine.kind) ?? { label: mine.kind };
    translators.splice(recorded, 1, { name: "own", label: `Yours, like ${label}`, ...mine });
    done.delete("own");
    set({ model: "own", step: 0 });
    update();
  }

  // ---- drawing

  function drawList() {
    const whole = given()?.target;
    const focused = list.contains(document.activeElement);
    list.replaceChildren(...translators.map((one) => {
      const found = done.get(one.name);
      const reference = whole?.every((word) => one.targetIds.has(word)) ? whole : null; // in another language there is none
      const choice = button("", () => change({ model: one.name, step: 0 }, ""), {
        role: "radio", "aria-checked": String(one === chosen()), tabindex: one === chosen() ? "0" : "-1",
      });
      const words = found && text(one, found.steps);
      const plain = found && text(one, found.plain);
      const line = make("span", { class: "hi-line", lang: "fr" });
      const apart = differing(words ?? [], reference ?? []);
      const changed = differing(words ?? [], plain ?? []);
      if (words && !words.length) line.append("(nothing)");
      words?.forEach((word, i) => {
        const gap = i && !words[i - 1].endsWith("'") ? " " : "";
        const wrong = reference && apart.has(i);
        const other = changed.has(i);
        line.append(gap, make("span", { class: [wrong ? "hi-wrong" : "", other ? "hi-other" : ""].join(" ").trim(), text: word }));
      });
      const right = reference && words && isSame(words, reference);
      const mark = reference && words ? make("span", { class: "hi-mark", text: right ? "exact" : "differs" }) : "";
      choice.append(make("span", { class: "hi-name", text: one.label }), line, mark);
      return make("li", { role: "presentation" }, choice);
    }));
    if (focused) list.querySelector("[aria-checked=true]").focus();
    reference.textContent = whole ? `Reference: ${joinWords(whole)}` : "";
  }

  function buildStage() {
    const { words, barred } = shown();
    const one = chosen();
    const { attends } = one.model;
    const focus = (holder) => (holder.contains(document.activeElement) ? [...holder.querySelectorAll("button")].indexOf(document.activeElement) : -1);
    const refocus = (holder, at) => at >= 0 && holder.querySelectorAll("button")[Math.min(at, holder.children.length - 1)]?.focus();
    const [inSource, inTarget] = [focus(source), focus(target)];
    const rows = [...words, ...(attends ? [end] : [])];
    const sliders = attends && shown().hand[one.name]?.[now()];
    source.setAttribute("aria-label", attends ? "English; press a word to bar it" : "English");
    source.replaceChildren(...rows.map((word, j) => {
      const off = attends && barred.includes(j);
      const name = attends ? button(word, () => {
        const places = off ? barred.filter((k) => k !== j) : [...barred, j].sort((a, b) => a - b);
        change({ barred: places }, `“${word}” is ${off ? "no longer barred" : "barred"}`);
      }, { "aria-pressed": String(off), title: off ? "Barred; press to let it in" : "Press to bar this word" }) : make("span", { text: word });
      if (!sliders) return make("li", { class: off ? "hi-off" : "" }, name);
      const range = make("input", { type: "range", min: "0", max: "100", value: String(Math.round(sliders[j] ?? 0)), "aria-label": `Weight of ${word}` });
      range.addEventListener("input", () => {
        const row = [...shown().hand[one.name][now()]];
        row[j] = Number(range.value);
        setHand(row, `“${word}” is set to ${shares(row)[j].toFixed(2)}`);
      });
      return make("li", { class: off ? "hi-off" : "" }, range, name);
    }));
    const found = current();
    vector.style.display = attends ? "none" : "";
    if (!attends) {
      drawStrip(vector.firstChild, found.read.vector);
      vector.lastChild.textContent = `one vector, ${found.read.vector.length} numbers`;
    }
    kept.textContent = found.read.back ? readBackInWords(found.read.back, get("source_words")) : "";
    buildTarget();
    byHand.checked = Boolean(sliders);
    hand.style.display = attends ? "" : "none";
    heads.style.display = one.heads === HEADS ? "" : "none";
    heads.querySelectorAll("input").forEach((box, h) => { box.checked = shown().off.includes(h); });
    refocus(source, inSource);
    refocus(target, inTarget >= 0 ? now() : -1);
  }

  function buildTarget() {
    const one = chosen();
    const found = current();
    target.replaceChildren(...said(one, found.steps).map((word, i) => {
      const choice = button(word === one.target[eos] ? end : word, () => change({ step: i }, ""), { role: "radio", lang: "fr" });
      if (found.steps[i].forced) choice.append(make("small", { text: " forced" }));
      return make("li", { role: "presentation" }, choice);
    }));
  }

  function drawRibbons() {
    const found = current();
    const i = now();
    const origin = stage.getBoundingClientRect();
    const from = [...source.children].map((item) => boxWithin(item.lastChild, origin));
    const to = [...target.children].map((item) => boxWithin(item.firstChild, origin));
    const paths = [];
    const path = (a, b, kind, width) => paths.push(makeSvg("path", { d: ribbon(a, b, true), class: kind, "stroke-width": width }));
    if (chosen().model.attends) {
      found.steps.forEach(({ weights }, t) => weights.forEach((weight, j) => {
        if (weight >= 0.03) path(from[j], to[t], t === i ? "hi-strong" : "hi-faint", Math.max(1, WIDEST * weight));
      }));
    } else {
      const middle = boxWithin(vector.firstChild, origin);
      from.forEach((box) => path(box, middle, "hi-faint", 2));
      to.forEach((box, t) => path(middle, box, t === i ? "hi-strong" : "hi-faint", t === i ? 4 : 2));
    }
    paths.sort((a, b) => (a.getAttribute("class") < b.getAttribute("class") ? -1 : 1));
    svg.setAttribute("viewBox", `0 0 ${origin.width} ${origin.height}`);
    svg.replaceChildren(...paths);
    [...source.children].forEach((item, j) => item.lastChild.style.setProperty("--share", (found.steps[i].weights?.[j] ?? found.read.back?.places[j] ?? 0).toFixed(3)));
  }

  function drawStep() {
    const one = chosen();
    const found = current();
    const i = now();
    const { probabilities, token } = found.steps[i];
    target.querySelectorAll("button").forEach((choice, t) => {
      choice.setAttribute("aria-checked", String(t === i));
      choice.tabIndex = t === i ? 0 : -1;
    });
    const order = [...probabilities.keys()].sort((a, b) => probabilities[b] - probabilities[a]).slice(0, CONSIDERED);
    if (!order.includes(token)) order.push(token);
    const { forced } = shown();
    const focused = [...guesses.querySelectorAll("button")].indexOf(document.activeElement);
    guesses.replaceChildren(...order.map((id) => {
      const word = one.target[id];
      const choice = button("", () => {
        const rest = Object.fromEntries(Object.entries(forced).filter(([t]) => Number(t) !== i));
        const free = id === token && i in forced;
        change({ forced: free ? rest : { ...rest, [i]: word } }, free ? "The models choose again" : `All models must write “${word}” as word ${i + 1}`);
      }, { "aria-pressed": String(id === token) });
      choice.style.setProperty("--share", probabilities[id].toFixed(4));
      choice.append(make("span", { text: word === one.target[eos] ? end : word, lang: "fr" }), make("span", { class: "hi-value", text: percent(probabilities[id]) }));
      return make("li", {}, choice);
    }));
    if (focused >= 0) guesses.querySelectorAll("button")[Math.min(focused, order.length - 1)].focus();
    const word = token === eos ? end : one.target[token];
    const altered = translators.filter((each) => done.has(each.name) && !isSame(text(each, done.get(each.name).steps), text(each, done.get(each.name).plain)));
    const changes = altered.length ? `changed ${altered.map(({ label }) => label).join(", ")}` : !event.endsWith(".") && "no translation changes";
    const effect = event && (changes ? `${event.replace(/\.$/, "")}: ${changes}. ` : `${event} `);
    told.textContent = effect + inWords(word, [...shown().words, end], found.steps[i], found.read.vector?.length);
    drawRibbons();
  }

  function drawControls() {
    const { words, barred, forced, off, hand: set_ } = shown();
    const example = given();
    if (document.activeElement !== input) input.value = words.join(" ");
    select.value = example ? String(example.story) : "";
    slider.disabled = !example;
    if (example) {
      const { sentences } = stories[example.story];
      slider.max = String(sentences.length - 1);
      slider.value = String(example.at);
    }
    const longest = get("longest");
    const beyond = words.length > longest;
    length.textContent = `${words.length} word${words.length === 1 ? "" : "s"}${beyond ? `, more than any in training (${longest})` : ""}`;
    slider.setAttribute("aria-valuetext", length.textContent);
    ladder.classList.toggle("hi-beyond", beyond);
    const byHandSomewhere = Object.values(set_).some((steps) => Object.keys(steps).length);
    const mine = translators[recorded];
    if (mine) {
      const unknown = words.filter((word) => !mine.sourceIds.has(word));
      ownNote.textContent = mine.verdict + (unknown.length ? ` It does not know ${unknown.map((word) => `“${word}”`).join(", ")}.` : "");
    }
    reset.style.display = barred.length || off.length || Object.keys(forced).length || byHandSomewhere ? "" : "none";
    hint.textContent = "Press a translator to see what it reads, a source word to bar it from every model that attends, one of the words under “What this model would write here” to force it there in all five. "
      + "Orange: differs from the reference, which the stories have and your own sentences do not. Underlined: changed by what you did. The Transformer's ribbons are the mean of the heads of its last layer; "
      + "weights set by hand take the place of all of them. Copy the page's address to share this view.";
  }

  // The translator that is looked at first, then the others, some at a time.
  function update() {
    stopComputing();
    const first = !done.size;
    compute(chosen());
    drawControls();
    // Sliders stay as they are while they are dragged.
    if (source.contains(document.activeElement) && document.activeElement.matches("input") && shown().hand[chosen().name]?.[now()]) buildTarget();
    else buildStage();
    const rest = translators.filter((one) => one !== chosen());
    const finish = () => {
      drawList();
      drawStep();
      event = "";
    };
    if (first) {
      rest.forEach(compute);
      finish();
    } else {
      drawRibbons();
      stopComputing = inSlices(rest, compute, () => {}, finish);
    }
  }

  byHand.addEventListener("change", () => {
    const row = [...current().steps[now()].weights].map((weight) => Math.round(100 * weight));
    setHand(byHand.checked ? row : null, byHand.checked ? "Drag the sliders to set this word's weights; they are divided by their sum." : "The model sets the weights again");
  });
  select.addEventListener("change", () => {
    if (!select.value) return;
    event = "";
    choose(stories[Number(select.value)].sentences[0].source);
  });
  slider.addEventListener("input", () => {
    event = "";
    const example = given();
    choose(stories[example.story].sentences[Number(slider.value)].source);
  });
  arrowKeys(list, (to) => change({ model: names()[to], step: 0 }, ""));
  arrowKeys(target, (to) => change({ step: to }, ""));
  file.addEventListener("click", () => { file.value = ""; }); // the same file can be chosen again
  file.addEventListener("change", addOwn);
  keepArrows(root);

  const link = address("history", () => toLink(shown()), (asked) => {
    const wanted = fromLink(asked, names());
    if (complaint(wanted.words, known, MOST)) return typed(wanted.words.join(" "));
    input.value = wanted.words.join(" ");
    model.set("shown", wanted);
    model.save_changes();
    typed(input.value); // takes a complaint about an earlier text away
    root.scrollIntoView();
  });
  const fit = new ResizeObserver(() => current() && drawRibbons());
  instead.style.display = "none";
  model.on("change:shown", update);
  update();
  fit.observe(stage);
  link.look();
  return () => {
    stopComputing();
    fit.disconnect();
    link.close();
    model.off("change:shown", update);
  };
}

export default { render };
