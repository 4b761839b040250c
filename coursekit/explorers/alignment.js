// The reader picks a target word; bars, ribbons and numbers show the weights of the source words.
// State: sentences [{source, target, weights, links}], sentence, step.

const PLAY_MS = 1300;
const SVG = "http://www.w3.org/2000/svg";

function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name === "class") element.className = value;
    else if (name === "text") element.textContent = value;
    else element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

// An element with a word in it; Korean is named, so that it is read out as such.
function spoken(element) {
  if (/\p{Script=Hangul}/u.test(element.textContent)) element.lang = "ko";
  return element;
}

// The sentence that stands for the picture: for “책”: book 0.91, the 0.04; gold link: book.
function inWords(sentence, step) {
  const row = sentence.weights[step];
  const order = row.map((_, j) => j).sort((a, b) => row[b] - row[a]);
  const shown = order.filter((j, rank) => rank < 4 && (rank === 0 || row[j] >= 0.01));
  const weights = shown.map((j) => `${sentence.source[j]} ${row[j].toFixed(2)}`).join(", ");
  const gold = sentence.links.filter(([, t]) => t === step).map(([s]) => sentence.source[s]);
  const links = gold.length ? `; gold link: ${gold.join(", ")}` : "";
  return `For “${sentence.target[step]}”: ${weights}${links}.`;
}

function render({ model, el }) {
  const root = make("div", {
    class: "alignment-explorer",
    role: "group",
    "aria-label": "Alignment explorer: weights of the source words for each target word",
  });
  const select = make("select");
  const chooser = make("label", {}, make("span", { text: "Sentence" }), select);
  const previous = make("button", { type: "button", text: "◀ Back" });
  const next = make("button", { type: "button", text: "Next ▶" });
  const play = make("button", { type: "button", text: "Play", "aria-pressed": "false" });
  const count = make("span", { class: "ax-count" });
  const sourceList = make("ol", { class: "ax-source", "aria-label": "Source words and weights" });
  const targetList = make("ol", {
    class: "ax-target",
    role: "radiogroup",
    "aria-label": "Target words; the arrow keys step through them",
  });
  const ribbons = document.createElementNS(SVG, "svg");
  ribbons.setAttribute("aria-hidden", "true");
  ribbons.setAttribute("preserveAspectRatio", "none");
  const heads = make(
    "div",
    { class: "ax-heads", "aria-hidden": "true" },
    make("span", { text: "source, with its weight" }),
    make("span", { text: "target" }),
  );
  const told = make("p", { class: "ax-told", "aria-live": "polite" });
  const hint = make("p", { class: "ax-hint" });
  const field = make("div", { class: "ax-field" }, sourceList, ribbons, targetList);
  const buttons = make("div", { class: "ax-bar" }, chooser, previous, next, play, count);
  root.append(buttons, heads, field, told, hint);
  el.append(root);

  let timer = null;
  let rowHeight = 32;
  let buttonsOfWords = [];
  let rowsOfSource = [];

  const current = () => model.get("sentences")[model.get("sentence")];
  const stepNow = () => Math.min(model.get("step"), current().target.length - 1);

  function go(step, focus = false) {
    const last = current().target.length - 1;
    model.set("step", Math.max(0, Math.min(last, step)));
    model.save_changes();
    if (focus) buttonsOfWords[stepNow()].focus();
  }

  function stop() {
    clearInterval(timer);
    timer = null;
    play.textContent = "Play";
    play.setAttribute("aria-pressed", "false");
    told.setAttribute("aria-live", "polite");
  }

  function start() {
    if (stepNow() === current().target.length - 1) go(0);
    play.textContent = "Stop";
    play.setAttribute("aria-pressed", "true");
    told.setAttribute("aria-live", "off"); // a word a second is too fast to be read out
    timer = setInterval(() => {
      if (!root.isConnected || stepNow() >= current().target.length - 1) stop();
      else go(stepNow() + 1);
    }, PLAY_MS);
  }

  function build() {
    const { source, target, links } = current();
    const longest = Math.max(source.length, target.length);
    rowHeight = longest > 14 ? 26 : 32;
    field.style.setProperty("--row", `${rowHeight}px`);
    rowsOfSource = source.map((word) => {
      const mark = make("span", { class: "ax-mark" });
      const number = make("span", { class: "ax-number" });
      const text = spoken(make("span", { class: "ax-word", text: word, title: word }));
      return make("li", {}, mark, text, number);
    });
    buttonsOfWords = target.map((word, t) => {
      const button = spoken(make("button", { type: "button", role: "radio", text: word, title: word }));
      button.addEventListener("click", () => { stop(); go(t); });
      return button;
    });
    sourceList.replaceChildren(...rowsOfSource);
    targetList.replaceChildren(
      ...buttonsOfWords.map((button) => make("li", { role: "presentation" }, button)),
    );
    ribbons.style.height = `${longest * rowHeight}px`;
    ribbons.setAttribute("viewBox", `0 0 100 ${longest * rowHeight}`);
    hint.replaceChildren("Click a target word, or use the arrow keys.");
    if (links.length) {
      const gold = make("b", { text: " ◆ and dashed lines: gold links." });
      hint.append(gold);
    }
    update();
  }

  function ribbon(s, t, kind, width) {
    const { source, target } = current();
    const longest = Math.max(source.length, target.length);
    const from = ((longest - source.length) / 2 + s + 0.5) * rowHeight;
    const to = ((longest - target.length) / 2 + t + 0.5) * rowHeight;
    const path = document.createElementNS(SVG, "path");
    path.setAttribute("d", `M0 ${from} C50 ${from} 50 ${to} 100 ${to}`);
    path.setAttribute("class", kind);
    path.setAttribute("vector-effect", "non-scaling-stroke");
    if (width) path.setAttribute("stroke-width", width);
    return path;
  }

  function update() {
    const sentence = current();
    const step = stepNow();
    const row = sentence.weights[step];
    const gold = new Set(sentence.links.filter(([, t]) => t === step).map(([s]) => s));
    const widest = rowHeight - 6;
    rowsOfSource.forEach((item, s) => {
      const [mark, , number] = item.children;
      item.style.setProperty("--weight", row[s]);
      item.classList.toggle("ax-strong", row[s] >= 0.1);
      number.textContent = row[s].toFixed(2);
      mark.textContent = gold.has(s) ? "◆" : "";
      if (gold.has(s)) mark.setAttribute("aria-label", "gold link");
      else mark.removeAttribute("aria-label");
    });
    buttonsOfWords.forEach((button, t) => {
      button.setAttribute("aria-checked", String(t === step));
      button.tabIndex = t === step ? 0 : -1;
    });
    const paths = [];
    sentence.weights.forEach((others, t) => {
      if (t !== step) {
        others.forEach((weight, s) => {
          if (weight >= 0.05) paths.push(ribbon(s, t, "ax-faint", weight * widest));
        });
      }
    });
    row.forEach((weight, s) => {
      if (weight >= 0.005) paths.push(ribbon(s, step, "ax-strong", Math.max(1, weight * widest)));
    });
    gold.forEach((s) => paths.push(ribbon(s, step, "ax-gold")));
    ribbons.replaceChildren(...paths);
    // Not "disabled": that would take the focus away from who steps with the keyboard.
    previous.setAttribute("aria-disabled", String(step === 0));
    next.setAttribute("aria-disabled", String(step === sentence.target.length - 1));
    count.textContent = `word ${step + 1} of ${sentence.target.length}`;
    told.textContent = inWords(sentence, step);
  }

  function chooseSentence() {
    select.value = String(model.get("sentence"));
    build();
  }

  model.get("sentences").forEach(({ source }, i) => {
    select.append(make("option", { value: i, text: `${i + 1}. ${source.join(" ")}` }));
  });
  chooser.hidden = model.get("sentences").length < 2;
  chooser.style.display = chooser.hidden ? "none" : "";

  select.addEventListener("change", () => {
    stop();
    model.set("step", 0);
    model.set("sentence", Number(select.value));
    model.save_changes();
  });
  previous.addEventListener("click", () => { stop(); go(stepNow() - 1); });
  next.addEventListener("click", () => { stop(); go(stepNow() + 1); });
  play.addEventListener("click", () => (timer === null ? start() : stop()));
  targetList.addEventListener("keydown", (event) => {
    const last = current().target.length - 1;
    const moves = {
      ArrowUp: stepNow() - 1, ArrowLeft: stepNow() - 1,
      ArrowDown: stepNow() + 1, ArrowRight: stepNow() + 1,
      Home: 0, End: last,
    };
    if (!(event.key in moves) || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    event.stopPropagation(); // the theme turns pages and notebooks run commands on arrow keys
    stop();
    go(moves[event.key], true);
  });

  model.on("change:step", update);
  model.on("change:sentence", chooseSentence);
  chooseSentence();
  return () => {
    clearInterval(timer);
    model.off("change:step", update);
    model.off("change:sentence", chooseSentence);
  };
}

export default { render };
