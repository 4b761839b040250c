// What the live explorers share: words that are typed, vectors that are drawn, links that are sent.

// A probability, with more digits where it is small
function chance(p) {
  if (p === 0 || p >= 0.0095) return percent(p);
  return p < 0.00005 ? "<\u00a00.01\u00a0%" : `${(100 * p).toFixed(p < 0.00095 ? 2 : 1)}\u00a0%`;
}

// Words as a sentence: none stands apart from an apostrophe before it, as in "qu'elle".
const joinWords = (words) => words.join(" ").replaceAll("' ", "'");

// What became of a translation, for a sentence about what the reader did.
function inComparison(text, before) {
  if (text === before) return "the translation stays the same";
  return text ? `the translation is now “${text}”` : "the model ends at once and translates nothing";
}

// An element with a word in it; Korean is named, so that it is read out as such.
function spoken(element) {
  if (/\p{Script=Hangul}/u.test(element.textContent)) element.lang = "ko";
  return element;
}

// Words of another language with the meaning of each above it, where it is known.
function withGlosses(words, gloss) {
  return spoken(make("span", {}, ...words.flatMap((word, i) => [
    i ? " " : "",
    gloss(word) ? make("ruby", { text: word }, make("rt", { text: gloss(word), lang: "en" })) : word,
  ])));
}

const wordsOf = (text) => text.toLowerCase().match(/[^\s.,;:!?"“”]+/g) ?? [];

// How many letters must be inserted, left out, replaced or exchanged with the next (Damerau 1964).
function letterDistance(a, b) {
  let [before, row] = [[], Array.from({ length: b.length + 1 }, (_, j) => j)];
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      next[j] = Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + (a[i - 1] !== b[j - 1]));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) next[j] = Math.min(next[j], before[j - 2] + 1);
    }
    [before, row] = [row, next];
  }
  return row[b.length];
}

// The known word that an unknown one is a slip of, or "": one letter apart, two from seven letters on.
// With more, "beach" would be a bear and "daughter" laughed.
function nearestWord(word, known) {
  let [nearest, least] = ["", word.length < 2 ? 0 : word.length < 7 ? 1.5 : 2.5];
  for (const other of known) {
    const distance = letterDistance(word, other);
    if (distance < least) [nearest, least] = [other, distance];
  }
  return nearest;
}

// The sentence that says why a text cannot be read, or "" if it can. `ids` is a Map of the words.
function complaint(words, ids, most) {
  if (!words.length) return "Write at least one word: type a letter, and the list offers words.";
  if (words.length > most) return `These are ${words.length} words; the model reads up to ${most} here.`;
  const unknown = [...new Set(words.filter((word) => !ids.has(word)))];
  if (!unknown.length) return "";
  const named = unknown.slice(0, 3).map((word) => {
    const meant = nearestWord(word, ids.keys());
    return `“${word}”${meant && ` (“${meant}”?)`}`;
  }).join(", ");
  return `The model has learned other words: it does not know ${named}. Below is still the text before.`;
}

// Whether a text ends in the beginning of a word, and is right so far.
function isUnfinished(text, words, ids, vocabulary) {
  return /\S$/.test(text) && words.slice(0, -1).every((word) => ids.has(word)) && completions(text, vocabulary).length > 0;
}

const goOn = (words) => `“${words.at(-1)}…”: type on, or choose a word from the list.`;

// The words that the last one of a text may become.
function completions(text, vocabulary) {
  const begun = /[^\s]*$/.exec(text.toLowerCase())[0];
  return begun ? vocabulary.filter((word) => word.startsWith(begun) && word !== begun) : vocabulary;
}

// A field for a text with a list of words that complete it; `changed(text)` after each change.
function textField(label, vocabulary, changed) {
  const id = `live-${Math.random().toString(36).slice(2)}`;
  const input = make("input", {
    type: "text", role: "combobox", "aria-autocomplete": "list", "aria-expanded": "false",
    "aria-controls": id, autocomplete: "off", autocapitalize: "off", spellcheck: "false",
  });
  const list = make("ul", { id, role: "listbox", "aria-label": "Words that fit" });
  const box = make("div", { class: "live-input" }, input, list);
  const field = make("label", { class: "live-field" }, make("span", { text: label }), box);
  let offered = [];
  let at = -1;

  function mark(i) {
    at = i;
    [...list.children].forEach((item, k) => item.setAttribute("aria-selected", String(k === at)));
    if (at < 0) input.removeAttribute("aria-activedescendant");
    else {
      input.setAttribute("aria-activedescendant", `${id}-${at}`);
      list.children[at].scrollIntoView({ block: "nearest" });
    }
  }

  function offer(words) {
    offered = words;
    list.replaceChildren(...words.map((word, i) => {
      const item = spoken(make("li", { id: `${id}-${i}`, role: "option", text: word }));
      // The field must not lose the focus before the click counts.
      item.addEventListener("pointerdown", (event) => event.preventDefault());
      item.addEventListener("click", (event) => {
        event.preventDefault();
        take(word);
      });
      return item;
    }));
    list.hidden = !words.length;
    input.setAttribute("aria-expanded", String(words.length > 0));
    mark(-1);
  }

  function take(word) {
    const begun = word.startsWith(/[^\s]*$/.exec(input.value.toLowerCase())[0]);
    input.value = `${begun ? input.value.replace(/[^\s]*$/, "") : `${input.value} `}${word} `;
    offer([]);
    input.focus();
    changed(input.value);
  }

  input.addEventListener("input", () => {
    offer(/[^\s]$/.test(input.value) ? completions(input.value, vocabulary).slice(0, 8) : []);
    changed(input.value);
  });
  input.addEventListener("click", () => {
    if (offered.length) return;
    const fitting = completions(input.value, vocabulary);
    offer(fitting.length ? fitting : vocabulary);
  });
  input.addEventListener("blur", () => offer([]));
  input.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      if (!offered.length) offer(completions(input.value, vocabulary));
      mark((at + step + offered.length + (at < 0 && step < 0 ? 1 : 0)) % offered.length);
    } else if ((event.key === "Enter" || event.key === "Tab") && at >= 0) take(offered[at]);
    else if (["Escape", "Enter"].includes(event.key) && offered.length) offer([]);
    else return;
    event.preventDefault();
  });
  list.hidden = true;
  return { field, input };
}

// A list of examples, with a button that takes another one by chance; `chosen(i)` after each choice.
function exampleList(texts, chosen) {
  const select = make("select", {}, make("option", { value: "", text: "your own" }),
    ...texts.map((text, i) => make("option", { value: i, text })));
  const dots = [[6, 6], [18, 6], [12, 12], [6, 18], [18, 18]].map(([cx, cy]) => makeSvg("circle", { cx, cy, r: 2.4 }));
  const dice = make("button", { type: "button", class: "live-dice", title: "Choose at random", "aria-label": "Choose at random" },
    makeSvg("svg", { viewBox: "0 0 24 24", "aria-hidden": "true" }, makeSvg("rect", { x: 1, y: 1, width: 22, height: 22, rx: 5 }), ...dots));
  select.addEventListener("change", () => { if (select.value) chosen(Number(select.value)); });
  dice.addEventListener("click", () => {
    const others = texts.map((_, i) => i).filter((i) => String(i) !== select.value);
    if (others.length) chosen(others[Math.floor(Math.random() * others.length)]);
  });
  const chooser = make("div", { class: "live-chooser" }, make("label", {}, make("span", { text: "Example" }), select), dice);
  return { chooser, select };
}

// A vector as a strip of cells: blue above 0, orange below, the stronger the further from 0.
function drawStrip(canvas, vector, largest = 1) {
  canvas.width = vector.length;
  canvas.height = 1;
  const context = canvas.getContext("2d");
  const image = context.createImageData(vector.length, 1);
  vector.forEach((value, i) => {
    const share = Math.min(1, Math.abs(value) / largest);
    image.data.set(signedColour(Math.sign(value) * share), 4 * i);
  });
  context.putImageData(image, 0, 0);
}

// Where a ribbon begins and ends, and how it bends, for boxes below each other or side by side.
function ribbon(from, to, beside) {
  if (beside) {
    const [x1, y1, x2, y2] = [from.right, (from.top + from.bottom) / 2, to.left, (to.top + to.bottom) / 2];
    const middle = (x1 + x2) / 2;
    return `M${x1} ${y1} C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}`;
  }
  const [x1, y1, x2, y2] = [(from.left + from.right) / 2, from.bottom, (to.left + to.right) / 2, to.top];
  const middle = (y1 + y2) / 2;
  return `M${x1} ${y1} C${x1} ${middle} ${x2} ${middle} ${x2} ${y2}`;
}

// {place: text} as it stands in a link, "3:elle", places from 1; and back.
const placesToLink = (texts) => Object.entries(texts).map(([i, text]) => `${Number(i) + 1}:${text}`).join(" ");
const placesFromLink = (link) => Object.fromEntries(link.split(" ").filter(Boolean).map((part) => {
  const [i, ...text] = part.split(":");
  return [Number(i) - 1, text.join(":")];
}));

// A place as it stands in a link, from 1; -1 for none.
const placeFromLink = (link) => Math.max(0, Math.floor(Number(link)) || 0) - 1;

// Numbers as shares of their sum; all 0 if that is 0.
const shares = (row) => {
  const sum = row.reduce((a, b) => a + b, 0);
  return Float32Array.from(row, (value) => (sum ? value / sum : 0));
};

// The box of an element, seen from that of another one.
function boxWithin(element, origin) {
  const { left, right, top, bottom } = element.getBoundingClientRect();
  return { left: left - origin.left, right: right - origin.left, top: top - origin.top, bottom: bottom - origin.top };
}

// The state of an explorer in the address: #live=NAME&key=value. Only in a published page, which is
// where the widgets' states are written; a notebook's address belongs to Jupyter.
function address(name, values, open) {
  const published = document.querySelector("script[type='application/vnd.jupyter.widget-state+json']");
  let timer = null;

  function look() {
    const given = new URLSearchParams(location.hash.slice(1));
    if (published && given.get("live") === name) open(Object.fromEntries(given));
  }

  const keep = () => {
    if (!published) return;
    clearTimeout(timer); // browsers refuse addresses that change too often
    timer = setTimeout(() => {
      const pairs = Object.entries(values()).filter(([, value]) => value !== "");
      history.replaceState(history.state, "", `#${new URLSearchParams([["live", name], ...pairs])}`);
    }, 300);
  };
  addEventListener("hashchange", look);
  return {
    look,
    keep,
    close() {
      clearTimeout(timer);
      removeEventListener("hashchange", look);
    },
  };
}

// The state of a live explorer, drawn now and after each change, and kept in the address. A link is
// opened if `wrongIn(asked)` has no complaint about what `fromLink` reads; `fill(asked)` writes its text
// into the fields. Returns `keep`, after a change, and `start`, which returns what ends it.
function linkedState(name, { model, root, toLink, fromLink, wrongIn, fill, tell, update, ended = () => {} }) {
  const link = address(name, toLink, (given) => {
    const asked = fromLink(given);
    const wrong = wrongIn(asked);
    if (wrong) return tell(wrong);
    fill(asked);
    model.set("shown", asked);
    model.save_changes();
    root.scrollIntoView();
  });

  function start() {
    model.on("change:shown", update);
    update();
    link.look();
    return () => {
      ended();
      link.close();
      model.off("change:shown", update);
    };
  }

  return { keep: link.keep, start };
}

const SLICE_MS = 12; // of computing, before the page may do something else

// Does `each` for all items, some at a time; `shown` after every slice, `done` at the end. Returns
// what stops it.
function inSlices(items, each, shown, done) {
  const todo = [...items];
  let stopped = false;
  const go = () => {
    if (stopped) return;
    const until = performance.now() + SLICE_MS;
    do {
      if (todo.length) each(todo.shift());
    } while (todo.length && performance.now() < until);
    shown();
    if (todo.length) setTimeout(go);
    else done();
  };
  setTimeout(go);
  return () => { stopped = true; };
}

