// A Transformer translates a sentence here; ribbons show what each word of the translation reads.
// State: weights (packed model), heads, layer, head (from 1), words (by id), source_words, bos, eos,
// sentences [[word]]. What the reader does is not kept.

const MOST = 16; // words of a sentence
const PLAY_MS = 650; // for a word
const WIDEST = 14; // pixels of a ribbon for the weight 1

// The sentence that stands for the ribbons of one word.
function inWords(word, source, weights) {
  const texts = [...source, "the end"];
  const order = [...texts.keys()].sort((i, j) => weights[j] - weights[i]).slice(0, 2).filter((j) => weights[j] >= 0.05);
  return `“${word}” reads ${order.map((j) => `“${texts[j]}” (${weights[j].toFixed(2)})`).join(" and ")}.`;
}

function render({ model, el }) {
  const get = (name) => model.get(name);
  const [words, bos, eos] = [get("words"), get("bos"), get("eos")];
  const vocabulary = get("source_words");
  const ids = new Map(words.map((word, i) => [word, i]));
  const known = new Map(vocabulary.map((word) => [word, ids.get(word)]));
  const network = transformer(unpack(get("weights")), get("heads"));
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;

  const source = make("ol", { class: "al-source", "aria-label": "English" });
  const svg = makeSvg("svg", { "aria-hidden": "true" });
  const target = make("ol", { class: "al-target", role: "radiogroup", "aria-label": "French; press a word to see what it reads" });
  const stage = make("div", { class: "al-stage" }, svg, source, target);
  const told = make("p", { class: "al-told", "aria-live": "polite" });
  const { field, input } = textField("Now yours", vocabulary, typed);
  const note = make("p", { class: "live-note", role: "status" });
  const choices = make("div", { class: "al-choices", role: "group", "aria-label": "Sentences to try" }, ...get("sentences").map((sentence) => {
    const made = make("button", { type: "button", text: sentence.join(" ") });
    made.addEventListener("click", () => play(sentence));
    return made;
  }));
  const root = make("div", { class: "alignment-explorer", role: "group", "aria-label": "A Transformer translates a sentence into French" },
    stage, told, field, note, choices);
  el.append(root);

  let found = null; // {source words, said words, weights (T, S)}
  let at = 0; // the word of the translation whose ribbons are strong
  let written = 0; // words of the translation that are shown
  let timer = null;

  function translateWords(given) {
    const read = [...given.map((word) => ids.get(word)), eos];
    const { tokens, last } = write(network, read, {
      bos, eos, most: 2 * read.length + 10,
    });
    const kept = tokens.filter((id) => id !== eos);
    const weights = last.weights.memory[get("layer") - 1][get("head") - 1].slice(0, kept.length);
    found = { source: given, said: kept.map((id) => words[id]), weights };
    source.replaceChildren(...given.map((word) => make("li", {}, make("span", { text: word }))));
    target.replaceChildren(...found.said.map((word, i) => {
      const button = make("button", { type: "button", role: "radio", text: word, lang: "fr" });
      button.addEventListener("click", () => { stop(); choose(i); });
      return make("li", { role: "presentation" }, button);
    }));
  }

  function draw() {
    const buttons = [...target.querySelectorAll("button")];
    buttons.forEach((button, i) => {
      button.setAttribute("aria-checked", String(i === at));
      button.tabIndex = i === at ? 0 : -1;
      button.classList.toggle("al-coming", i >= written);
    });
    const origin = stage.getBoundingClientRect();
    const boxOf = (element) => boxWithin(element, origin);
    const beside = getComputedStyle(source).flexDirection === "column";
    const from = [...source.children].map((item) => boxOf(item.firstChild));
    const paths = [];
    found.weights.slice(0, written).forEach((row, t) => {
      const to = boxOf(buttons[t]);
      from.forEach((box, j) => {
        if (row[j] >= 0.03) paths.push(makeSvg("path", { d: ribbon(box, to, beside), class: t === at ? "al-strong" : "al-faint", "stroke-width": Math.max(1, WIDEST * row[j]) }));
      });
    });
    svg.setAttribute("viewBox", `0 0 ${origin.width} ${origin.height}`);
    svg.replaceChildren(...paths.sort((a, b) => (a.getAttribute("class") < b.getAttribute("class") ? -1 : 1)));
    [...source.children].forEach((item, j) => item.firstChild.style.setProperty("--share", found.weights[at]?.[j]?.toFixed(3) ?? 0));
  }

  function choose(i) {
    [at, written] = [i, found.said.length];
    told.textContent = found.said.length ? inWords(found.said[i], found.source, found.weights[i]) : "";
    draw();
  }

  function stop() {
    clearInterval(timer);
    timer = null;
  }

  // Word after word, or at once.
  function play(given) {
    stop();
    input.value = given.join(" ");
    note.textContent = "";
    stage.classList.remove("live-old");
    translateWords(given);
    if (still || !found.said.length) return choose(0);
    [at, written] = [0, 1];
    told.textContent = "";
    draw();
    timer = setInterval(() => {
      if (!root.isConnected) return stop();
      if (written < found.said.length) {
        [at, written] = [at + 1, written + 1];
        return draw();
      }
      stop();
      return choose(found.said.length - 1);
    }, PLAY_MS);
  }

  function typed(text) {
    stop();
    const given = wordsOf(text);
    const wrong = complaint(given, known, MOST);
    note.textContent = wrong && given.length <= MOST && isUnfinished(text, given, known, vocabulary) ? goOn(given) : wrong;
    stage.classList.toggle("live-old", Boolean(wrong));
    if (!wrong) {
      translateWords(given);
      choose(Math.max(0, found.said.length - 1));
    }
  }

  arrowKeys(target, (to) => {
    stop();
    choose(to);
  });
  keepArrows(root);

  const fit = new ResizeObserver(() => found && draw());
  fit.observe(stage);
  const seen = new IntersectionObserver(([entry]) => {
    if (!entry.isIntersecting) return;
    seen.disconnect();
    play(get("sentences")[0]);
  });
  translateWords(get("sentences")[0]); // so that nothing moves when it begins to play
  [at, written] = [0, 0];
  draw();
  told.textContent = "\u00a0";
  seen.observe(root);
  return () => {
    stop();
    fit.disconnect();
    seen.disconnect();
  };
}

export default { render };
