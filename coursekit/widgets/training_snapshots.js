// The reader moves through a training: the loss, and what the model knows about one sentence.
// State: sentences [{source, target, title, frames [{probabilities, weights, written}]}] with numbers
// in thousandths, updates and losses by snapshot, language, glosses {target word: meaning}, shown {sentence, snapshot, word}.

const FRAME_MS = 300;
const [WIDE, HIGH, EDGE] = [600, 90, 6]; // of a curve, in units of its own
const count = (n) => n.toLocaleString("en");

// A softmax gives no word exactly 0 or 1: thousandths that say so were rounded.
const inPercent = (thousandths) => percent(Math.min(Math.max(thousandths, 0.5), 999.5) / 1000);

// The sentence that stands for the picture.
function inWords({ source, target, frames }, { snapshot, word }, updates) {
  const { probabilities, weights } = frames[snapshot];
  const order = source.map((_, j) => j).sort((a, b) => weights[word][b] - weights[word][a]).slice(0, 2).filter((j) => weights[word][j] >= 50);
  const looks = order.map((j) => `“${source[j]}” (${(weights[word][j] / 1000).toFixed(2)})`).join(" and ");
  const learned = probabilities.filter((p) => p > 500).length;
  return `After ${count(updates[snapshot])} of ${count(updates.at(-1))} updates “${target[word]}” has a probability of ${inPercent(probabilities[word])}${looks && ` and looks most at ${looks}`}. `
    + `${learned} of the ${target.length} words ${learned === 1 ? "has" : "have"} more than one half.`;
}

function render({ model, el }) {
  const get = (name) => model.get(name);
  const updates = get("updates");
  const last = updates.length - 1;
  const gloss = (word) => get("glosses")[word] ?? "";
  const across = (i) => EDGE + (WIDE - 2 * EDGE) * Math.sqrt(updates[i] / updates[last]);

  const shown = () => {
    const { sentence, snapshot, word } = get("shown");
    const chosen = Math.min(Math.max(sentence, 0), get("sentences").length - 1);
    const words = get("sentences")[chosen].target.length;
    return { sentence: chosen, snapshot: Math.min(Math.max(snapshot, 0), last), word: Math.min(Math.max(word, 0), words - 1) };
  };
  const current = () => get("sentences")[shown().sentence];

  const select = make("select", {}, ...get("sentences").map(({ title }, i) => make("option", { value: i, text: title })));
  const chooser = make("label", {}, make("span", { text: "Sentence" }), select);
  const slider = make("input", { type: "range", min: "0", max: String(last), step: "1" });
  const play = make("button", { type: "button", text: "Play the training", "aria-pressed": "false" });
  const where = make("span", { class: "tr-where" });
  const [loss, chances] = ["Loss, mean since the moment before", "Probability of each word of the reference"].map((name) => {
    const svg = makeSvg("svg", { viewBox: `0 0 ${WIDE} ${HIGH}`, preserveAspectRatio: "none", "aria-hidden": "true" });
    svg.addEventListener("click", (event) => {
      stop();
      const box = svg.getBoundingClientRect();
      const at = (WIDE * (event.clientX - box.left)) / box.width;
      const near = updates.map((_, i) => Math.abs(across(i) - at));
      set({ snapshot: near.indexOf(Math.min(...near)) });
    });
    return { name, svg, range: make("span", { class: "tr-range", "aria-hidden": "true" }) };
  });
  const plots = make("div", { class: "tr-plots" }, ...[loss, chances].map(({ name, svg, range }) =>
    make("div", {}, make("p", { class: "tr-name" }, make("span", { text: name }), range), svg)));
  const ticks = make("p", { class: "tr-ticks", "aria-hidden": "true" });
  const heads = make("div", { class: "tr-row tr-heads", "aria-hidden": "true" });
  const rows = make("ol", { role: "radiogroup", "aria-label": "Words of the reference; press one to follow it" });
  const map = make("div", { class: "tr-map" }, heads, rows);
  const written = make("span");
  const writes = make("p", { class: "tr-written" }, make("span", { class: "tr-name", text: "By itself it writes: " }), written);
  const told = make("p", { class: "tr-told", "aria-live": "polite" });
  const hint = make("p", { class: "tr-hint", text: "The stronger the colour, the larger the weight of a source word when the word at the left is written, after the true words before it. "
    + "The bar is the word's probability. Press a word to follow it. The axis of time is stretched at its beginning, where most is learned. What it writes is cut three words after the length of the reference." });
  const root = make("div", { class: "training-explorer", role: "group", "aria-label": "Training explorer: what a translator knows about one sentence, from the first update to the last" },
    make("div", { class: "tr-bar" }, chooser, play, where), make("label", { class: "tr-slide" }, make("span", { text: "Updates" }), slider),
    plots, ticks, map, writes, told, hint);
  el.append(root);

  let timer = null;

  function set(values) {
    model.set("shown", { ...shown(), ...values });
    model.save_changes();
    link.keep();
  }

  function stop() {
    clearInterval(timer);
    timer = null;
    play.textContent = "Play the training";
    play.setAttribute("aria-pressed", "false");
    told.setAttribute("aria-live", "polite");
  }

  function start() {
    if (shown().snapshot === last) set({ snapshot: 0 });
    play.textContent = "Stop";
    play.setAttribute("aria-pressed", "true");
    told.setAttribute("aria-live", "off"); // too fast to be read out
    timer = setInterval(() => {
      if (!root.isConnected || shown().snapshot >= last) stop();
      else set({ snapshot: shown().snapshot + 1 });
    }, FRAME_MS);
  }

  // A curve of values from 0 to 1.
  const curve = (values, kind) => makeSvg("polyline", {
    class: kind,
    points: values.map((value, i) => `${across(i).toFixed(1)},${(HIGH - EDGE - (HIGH - 2 * EDGE) * value).toFixed(1)}`).join(" "),
  });
  const marker = () => makeSvg("line", { class: "tr-now", x1: across(shown().snapshot), x2: across(shown().snapshot), y1: 0, y2: HIGH });

  function drawCurves() {
    const { word } = shown();
    const { frames } = current();
    const largest = Math.max(...get("losses"));
    loss.svg.replaceChildren(curve(get("losses").map((value) => value / largest), "tr-strong"), marker());
    loss.range.textContent = `${get("losses")[shown().snapshot].toFixed(2)}, of ${largest.toFixed(2)} at most`;
    const chance = (t) => frames.map(({ probabilities }) => probabilities[t] / 1000);
    const others = current().target.map((_, t) => t).filter((t) => t !== word);
    chances.svg.replaceChildren(...others.map((t) => curve(chance(t), "tr-faint")), curve(chance(word), "tr-strong"), marker());
    const named = make("span", { text: current().target[word], lang: get("language") });
    chances.range.replaceChildren("“", named, `”: ${inPercent(frames[shown().snapshot].probabilities[word])}`);
  }

  // The words and the cells; their values follow in `update`.
  function build() {
    const { source, target } = current();
    map.style.setProperty("--columns", source.length);
    heads.replaceChildren(make("span"), ...source.map((word) => make("span", { class: "tr-head", text: word })), make("span"));
    rows.replaceChildren(...target.map((word, t) => {
      const name = make("button", { type: "button", role: "radio", text: word, lang: get("language") });
      name.addEventListener("click", () => set({ word: t }));
      const cells = source.map(() => make("span", { class: "tr-cell", "aria-hidden": "true" }));
      return make("li", { class: "tr-row", role: "presentation" }, name, ...cells, make("span", { class: "tr-chance", "aria-hidden": "true" }));
    }));
    update();
  }

  function update() {
    const { sentence, snapshot, word } = shown();
    const { source, target, frames } = current();
    const { probabilities, weights, written: text } = frames[snapshot];
    [...rows.children].forEach((row, t) => {
      const [name, ...cells] = row.children;
      const chance = cells.pop();
      name.setAttribute("aria-checked", String(t === word));
      name.tabIndex = t === word ? 0 : -1;
      row.classList.toggle("tr-chosen", t === word);
      cells.forEach((cell, j) => {
        cell.style.setProperty("--weight", weights[t][j] / 1000);
        cell.title = `${target[t]}, ${source[j]}: ${(weights[t][j] / 1000).toFixed(2)}`;
      });
      chance.style.setProperty("--share", probabilities[t] / 1000);
      chance.textContent = inPercent(probabilities[t]);
    });
    select.value = String(sentence);
    slider.value = String(snapshot);
    slider.setAttribute("aria-valuetext", `${count(updates[snapshot])} of ${count(updates[last])} updates`);
    where.textContent = `${count(updates[snapshot])} of ${count(updates[last])} updates`;
    written.replaceChildren(text ? withGlosses(text.split(" "), gloss) : "nothing");
    written.lang = text ? get("language") : "en";
    told.textContent = inWords(current(), shown(), updates);
    drawCurves();
  }

  const link = address("training", () => {
    const { sentence, snapshot, word } = shown();
    return { sentence: sentence + 1, updates: updates[snapshot], word: word + 1 };
  }, (given) => {
    const near = updates.map((n) => Math.abs(n - (Number(given.updates) || 0)));
    model.set("shown", {
      sentence: (Number(given.sentence) || 1) - 1,
      snapshot: "updates" in given ? near.indexOf(Math.min(...near)) : last,
      word: (Number(given.word) || 1) - 1,
    });
    model.save_changes();
    root.scrollIntoView();
  });

  for (let quarter = 0; quarter <= 4; quarter += 1) {
    ticks.append(make("span", { text: count(Math.round(updates[last] * (quarter / 4) ** 2)) }));
  }
  chooser.style.display = get("sentences").length < 2 ? "none" : "";
  select.addEventListener("change", () => set({ sentence: Number(select.value) }));
  slider.addEventListener("input", () => { stop(); set({ snapshot: Number(slider.value) }); });
  play.addEventListener("click", () => (timer === null ? start() : stop()));
  arrowKeys(rows, (t) => set({ word: t }));
  keepArrows(root);

  let built = shown().sentence;
  const change = () => {
    if (built === shown().sentence) return update();
    built = shown().sentence;
    build();
  };
  model.on("change:shown", change);
  build();
  link.look();
  return () => {
    clearInterval(timer);
    link.close();
    model.off("change:shown", change);
  };
}

export default { render };
