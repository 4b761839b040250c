// The reader moves through a sentence; each row shows how much of one word the state still holds.
// State: examples [{words, left: row t has t + 1 numbers}], example, position, what.

const PLAY_MS = 1100;

// The sentence that stands for the picture.
function inWords({ words, left }, position) {
  const row = left[position];
  const parts = row.map((value, j) => `${words[j]} ${value.toFixed(2)}`);
  return `State after “${words[position]}”: ${parts.join(", ")}.`;
}

function render({ model, el }) {
  const root = make("div", {
    class: "state-explorer",
    role: "group",
    "aria-label": "State explorer: how much of each word is left in the state",
  });
  const select = make("select");
  const chooser = make("label", {}, make("span", { text: "Sentence" }), select);
  const previous = make("button", { type: "button", text: "◀ Back" });
  const next = make("button", { type: "button", text: "Next ▶" });
  const play = make("button", { type: "button", text: "Play", "aria-pressed": "false" });
  const count = make("span", { class: "sx-count" });
  const slider = make("input", { type: "range", min: "1", step: "1" });
  const slide = make("label", {}, make("span", { text: "Words read" }), slider);
  const heads = make(
    "div",
    { class: "sx-row sx-heads", "aria-hidden": "true" },
    make("span", { text: "word" }),
    make("span", { text: "states, from left to right" }),
    make("span", { text: "left" }),
  );
  const rows = make("ol", { "aria-label": "Words, and how much of each is left" });
  const told = make("p", { class: "sx-told", "aria-live": "polite" });
  const hint = make("p", { class: "sx-hint" });
  const buttons = make("div", { class: "sx-bar" }, chooser, previous, next, play, count, slide);
  root.append(buttons, heads, rows, told, hint);
  el.append(root);

  let timer = null;
  let lines = [];

  const current = () => model.get("examples")[model.get("example")];
  const last = () => current().words.length - 1;
  const now = () => Math.max(0, Math.min(model.get("position"), last()));

  function go(position) {
    model.set("position", Math.max(0, Math.min(last(), position)));
    model.save_changes();
  }

  function stop() {
    clearInterval(timer);
    timer = null;
    play.textContent = "Play";
    play.setAttribute("aria-pressed", "false");
    told.setAttribute("aria-live", "polite");
  }

  function start() {
    if (now() === last()) go(0);
    play.textContent = "Stop";
    play.setAttribute("aria-pressed", "true");
    told.setAttribute("aria-live", "off"); // a word a second is too fast to be read out
    timer = setInterval(() => {
      if (!root.isConnected || now() >= last()) stop();
      else go(now() + 1);
    }, PLAY_MS);
  }

  function build() {
    const { words, left } = current();
    slider.max = String(words.length);
    lines = words.map((word, j) => {
      const cells = words.map((_, t) => {
        const cell = make("span", { class: "sx-cell" });
        if (t >= j) {
          cell.style.setProperty("--left", Math.min(1, left[t][j]));
          cell.title = `${word} after ${words[t]}: ${left[t][j].toFixed(2)}`;
        }
        cell.addEventListener("click", () => { stop(); go(t); });
        return cell;
      });
      const strip = make("span", { class: "sx-strip", "aria-hidden": "true" }, ...cells);
      const name = make("span", { class: "sx-word", text: word, title: word });
      const number = make("span", { class: "sx-number" });
      return { item: make("li", { class: "sx-row" }, name, strip, number), cells, number };
    });
    rows.replaceChildren(...lines.map(({ item }) => item));
    const strong = model.get("what") ? ` ${model.get("what")}` : "";
    hint.textContent = `The stronger the colour, the more is left; the framed column is the state now.${strong}`;
    update();
  }

  function update() {
    const { words, left } = current();
    const position = now();
    lines.forEach(({ item, cells, number }, j) => {
      const read = j <= position;
      item.classList.toggle("sx-unread", !read);
      number.textContent = read ? left[position][j].toFixed(2) : "–";
      if (read) number.removeAttribute("aria-label");
      else number.setAttribute("aria-label", "not read yet");
      cells.forEach((cell, t) => {
        cell.classList.toggle("sx-now", t === position);
        cell.classList.toggle("sx-shown", t >= j && t <= position);
      });
    });
    slider.value = String(position + 1);
    slider.setAttribute("aria-valuetext", `${position + 1} words read, up to “${words[position]}”`);
    // Not "disabled": that would take the focus away from who steps with the keyboard.
    previous.setAttribute("aria-disabled", String(position === 0));
    next.setAttribute("aria-disabled", String(position === last()));
    count.textContent = `${position + 1} of ${words.length} words read`;
    told.textContent = inWords(current(), position);
  }

  function chooseExample() {
    select.value = String(model.get("example"));
    build();
  }

  model.get("examples").forEach(({ words }, i) => {
    select.append(make("option", { value: i, text: `${i + 1}. ${words.join(" ")}` }));
  });
  chooser.style.display = model.get("examples").length < 2 ? "none" : "";

  select.addEventListener("change", () => {
    stop();
    const example = Number(select.value);
    model.set("position", model.get("examples")[example].words.length - 1);
    model.set("example", example);
    model.save_changes();
  });
  previous.addEventListener("click", () => { stop(); go(now() - 1); });
  next.addEventListener("click", () => { stop(); go(now() + 1); });
  play.addEventListener("click", () => (timer === null ? start() : stop()));
  slider.addEventListener("input", () => { stop(); go(Number(slider.value) - 1); });
  // The theme turns pages and notebooks run commands on arrow keys.
  slider.addEventListener("keydown", (event) => event.stopPropagation());

  model.on("change:position", update);
  model.on("change:example", chooseExample);
  chooseExample();
  return () => {
    clearInterval(timer);
    model.off("change:position", update);
    model.off("change:example", chooseExample);
  };
}

export default { render };
