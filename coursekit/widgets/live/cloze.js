// The reader writes a text or two and hides a word; the model fills the gap here.
// State: weights (packed model), left (another one that reads from left to right, or {}), words (by id), heads (in a layer), eps, cls, sep, mask, special (so
// many ids are no words), most (words of both texts), examples [{first, second, hidden}], shown {first,
// second, hidden (a word's place), off ("layer.head", from 1), show ("" or "layer.head")}.

const GUESSES = 6;

const toLink = ({ first, second, hidden, off, show }) => ({
  a: first.join(" "), b: second.join(" "), gap: String(hidden + 1), off: off.join(" "), show,
});

function fromLink({ a = "", b = "", gap = "1", off = "", show = "" }) {
  const heads = off.split(" ").filter((name) => /^\d+\.\d+$/.test(name));
  return { first: wordsOf(a), second: wordsOf(b), hidden: Math.max(0, (Number(gap) || 1) - 1), off: heads, show };
}

// What the model reads: ids, segments, and the place of each word.
function inputOf(first, second, ids, { cls, sep }) {
  const texts = second.length ? [first, second] : [first];
  const tokens = [cls];
  const segments = [0];
  const places = [];
  texts.forEach((words, k) => {
    for (const word of words) {
      places.push(tokens.length);
      tokens.push(ids.get(word));
    }
    tokens.push(sep);
    while (segments.length < tokens.length) segments.push(k);
  });
  return { tokens, segments, places };
}

// The sentence that stands for the bars. `lost`: of each word, how much the true one loses without it.
function inWords(word, best, truth, lost, words) {
  const guess = best.word === word
    ? `The model says so too, with ${chance(best.p)}.`
    : `The model says “${best.word}” with ${chance(best.p)}, and gives “${word}” ${chance(truth)}.`;
  const order = [...lost.keys()].sort((i, j) => lost[j] - lost[i]).filter((i) => lost[i] >= 0.05).slice(0, 3);
  const rests = order.map((i) => `without “${words[i]}” by ${lost[i].toFixed(2)}`).join(", ");
  const why = rests
    ? `Hide one more word, and the probability of “${word}” falls: ${rests}.`
    : `Hide any one word more, and the probability of “${word}” falls by less than 0.05: no single word decides.`;
  return `Hidden: “${word}”. ${guess} ${why}`;
}

function render({ model, el }) {
  const get = (name) => model.get(name);
  const [words, special, heads] = [get("words"), get("special"), get("heads")];
  const vocabulary = words.slice(special).sort();
  const known = new Map(words.map((word, i) => [word, i]).slice(special));
  const network = bert(unpack(get("weights")), heads, { eps: get("eps") });
  const reader = Object.keys(get("left")).length ? bert(unpack(get("left")), heads, { eps: get("eps"), sees: "left" }) : null;
  const names = Array.from({ length: network.layers * heads }, (_, i) => `${Math.floor(i / heads) + 1}.${(i % heads) + 1}`);
  const shown = () => ({ off: [], show: "", ...get("examples")[0], ...get("shown") });

  const fields = ["first", "second"].map((name, k) => ({
    name, ...textField(k ? "Second text" : "First text", vocabulary, (text) => typed(k, text)),
  }));
  const { chooser, select } = exampleList(get("examples").map(({ first, second }) => [...first, ...second].join(" ")), (i) => {
    const example = get("examples")[i];
    fields.forEach(({ name, input }) => { input.value = example[name].join(" "); });
    set({ ...example });
  });
  const note = make("p", { class: "live-note", role: "status" });
  const page = make("div", { class: "cl-text", role: "group", "aria-label": "Words; press one to hide it" });
  const under = make("select", {}, make("option", { value: "", text: "what the guess rests on" }));
  names.forEach((name) => under.append(make("option", { value: name, text: `what head ${name} attends to from the gap` })));
  const guesses = make("ol", { class: "cl-guesses", "aria-label": "What the model would fill in" });
  const lefts = make("ol", { class: "cl-guesses cl-left", "aria-label": "What the model that reads from left to right would say" });
  const leftTitle = make("p", { class: "cl-title", text: "A model that reads only what stands before the gap:" });
  if (!reader) [lefts, leftTitle].forEach((element) => { element.style.display = "none"; });
  const next = make("p", { class: "cl-next" });
  const switches = make("fieldset", {}, make("legend", { text: "Heads, press to switch off" }));
  for (const name of names) {
    const button = make("button", { type: "button", text: name, class: "cl-head", "aria-label": `Head ${name}` });
    button.addEventListener("click", () => {
      const { off } = shown();
      set({ off: off.includes(name) ? off.filter((other) => other !== name) : [...off, name].sort() });
    });
    switches.append(button);
  }
  const told = make("p", { class: "cl-told", "aria-live": "polite" });
  const hint = make("p", {
    class: "cl-hint",
    text: "Coloured: how much probability the true word loses when a word is hidden as well, or a head's weights. " +
      "Framed in the list: the word that stands there in truth. Copy the page's address to share this view.",
  });
  const stage = make("div", {}, page,
    make("label", {}, make("span", { text: "Colour shows" }), under), guesses, leftTitle, lefts, next, switches);
  const root = make(
    "div",
    { class: "cloze-explorer", role: "group", "aria-label": "Cloze: the chapter's model fills the gap in your text" },
    chooser, ...fields.map(({ field }) => field), note, stage, told, hint,
  );
  el.append(root);

  let buttons = [];
  let stop = () => {}; // what is still computed

  function set(values) {
    model.set("shown", { ...shown(), ...values });
    model.save_changes();
    link.keep();
  }

  // The sentence that says why the texts cannot be read, or "".
  function wrongIn(first, second) {
    const both = [...first, ...second];
    return (first.length ? complaint(both, known, get("most")) : complaint([], known, get("most")));
  }

  function typed(k, text) {
    const given = fields.map(({ input }) => wordsOf(input.value));
    const wrong = wrongIn(...given);
    const right = given[k].length <= get("most") && isUnfinished(text, given[k], known, vocabulary);
    tell(wrong && right ? goOn(given[k]) : wrong);
    const [first, second] = given;
    const { hidden } = shown();
    if (!wrong) set({ first, second, hidden: Math.min(hidden, first.length + second.length - 1) });
  }

  function tell(wrong) {
    note.textContent = wrong;
    stage.classList.toggle("live-old", Boolean(wrong));
  }

  function hide(i) {
    set({ hidden: i });
    buttons[i].focus();
  }

  // Shows the most probable words, and the true one; returns their ids, the best first.
  function list(element, probabilities, truth) {
    const order = [...probabilities.keys()].sort((a, b) => probabilities[b] - probabilities[a]).slice(0, GUESSES);
    const shownIds = order.includes(truth) ? order : [...order, truth];
    element.replaceChildren(...shownIds.map((id) => {
      const row = make("li", { class: id === truth ? "cl-true" : "" }, make("span", { text: words[id] }), make("span", { class: "cl-value", text: chance(probabilities[id]) }));
      row.style.setProperty("--share", probabilities[id].toFixed(3));
      row.dataset.probability = probabilities[id].toFixed(4);
      return row;
    }));
    return order;
  }

  // A number for each token, and where it is shown; nothing where there is none.
  function colour(values) {
    [...page.querySelectorAll("[data-token]")].forEach((element) => {
      const value = Math.max(0, values[Number(element.dataset.token)] ?? 0);
      element.style.setProperty("--share", value.toFixed(3));
      element.querySelector("small").textContent = value >= 0.05 ? value.toFixed(2) : "";
    });
  }

  function build(first, second, hidden, places) {
    const all = [...first, ...second];
    const mark = (text, token) => {
      const made = make("span", { class: "cl-mark", "data-token": token }, make("span", { text }), make("small"));
      return made;
    };
    buttons = all.map((word, i) => {
      const gap = i === hidden;
      const button = make("button", { type: "button", class: gap ? "cl-word cl-gap" : "cl-word", "data-token": places[i], "aria-pressed": String(gap), "aria-label": gap ? `${word}, hidden` : word },
        make("span", { text: gap ? "[MASK]" : word }), make("small"));
      button.tabIndex = gap ? 0 : -1;
      button.addEventListener("click", () => hide(i));
      button.addEventListener("keydown", (event) => {
        const to = moved(event.key, i, all.length);
        if (to === undefined) return;
        event.preventDefault();
        hide(to);
      });
      return button;
    });
    const lines = [make("p", {}, mark("[CLS]", 0), ...buttons.slice(0, first.length), mark("[SEP]", first.length + 1))];
    if (second.length) lines.push(make("p", {}, ...buttons.slice(first.length), mark("[SEP]", all.length + 2)));
    page.replaceChildren(...lines);
  }

  function update() {
    const { first, second, hidden: asked, off, show } = shown();
    const all = [...first, ...second];
    const hidden = Math.min(asked, all.length - 1);
    const { tokens, segments, places } = inputOf(first, second, known, { cls: get("cls"), sep: get("sep") });
    const gap = places[hidden];
    const truth = tokens[gap];
    const without = Array.from({ length: network.layers }, () => new Set());
    off.forEach((name) => {
      const [layer, head] = name.split(".").map((value) => Number(value) - 1);
      without[layer]?.add(head);
    });
    const masked = (...others) => tokens.map((id, i) => (i === gap || others.includes(i) ? get("mask") : id));
    const { states, probabilities, weights } = network.fill(masked(), segments, gap, without);
    const focused = page.contains(document.activeElement);
    fields.forEach(({ name, input }) => {
      if (document.activeElement !== input) input.value = shown()[name].join(" ");
    });
    const example = get("examples").findIndex((one) => one.first.join(" ") === first.join(" ") && one.second.join(" ") === second.join(" "));
    select.value = example < 0 ? "" : String(example);
    tell("");
    build(first, second, hidden, places);
    if (focused) buttons[hidden].focus();
    const order = list(guesses, probabilities, truth);
    if (reader) list(lefts, reader.fill(tokens, segments, gap).probabilities, truth);
    next.textContent = second.length
      ? `That the second text follows the first: ${percent(network.follows(states))}, says the model.` : "";
    switches.querySelectorAll("button").forEach((button) => button.setAttribute("aria-pressed", String(off.includes(button.textContent))));
    under.value = names.includes(show) ? show : "";
    const best = { word: words[order[0]], p: probabilities[order[0]] };
    const lost = all.map(() => 0);
    stop();
    if (under.value) {
      const [layer, head] = show.split(".").map((value) => Number(value) - 1);
      const row = weights[layer][head][gap];
      colour(row);
      const most = [...row.keys()].sort((i, j) => row[j] - row[i]).slice(0, 3);
      const name = (i) => (i === gap ? "the gap itself" : words[tokens[i]]);
      told.textContent = `From the gap head ${show} attends most to ${most.map((i) => `${name(i)} (${row[i].toFixed(2)})`).join(", ")}.`
        + (off.includes(show) ? " It is switched off, so this changes nothing." : "");
      return;
    }
    told.textContent = "";
    stop = inSlices(
      places.keys(),
      (i) => {
        if (i !== hidden) lost[i] = probabilities[truth] - network.fill(masked(places[i]), segments, gap, without).probabilities[truth];
      },
      () => {
        const values = [];
        lost.forEach((value, i) => { values[places[i]] = value; });
        colour(values);
      },
      () => { told.textContent = inWords(all[hidden], best, probabilities[truth], lost, all); },
    );
  }

  under.addEventListener("change", () => set({ show: under.value }));
  keepArrows(root);

  const link = linkedState("cloze", {
    model, root, fromLink, tell, update,
    toLink: () => toLink(shown()),
    wrongIn: ({ first, second }) => wrongIn(first, second),
    fill: (asked) => fields.forEach(({ name, input }) => { input.value = asked[name].join(" "); }),
    ended: () => stop(),
  });
  return link.start();
}

export default { render };
