// The reader steps through a beam search; a tree shows what was kept, cut and finished.
// State: searches [{source, beams: [{size, steps: [[{parent, word, log_p, total, fate}]]}]}],
// search, beam (its place in the list), position (steps shown).

const COLUMN = 112; // pixels from step to step
const WIDTH = 86;
const ROW = 46;
const HEIGHT = 38;
const MARKS = { kept: "●", finished: "■", cut: "✕" };

function render({ model, el }) {
  const root = make("div", {
    class: "beam-explorer",
    role: "group",
    "aria-label": "Beam search explorer: hypotheses kept, cut and finished at each step",
  });
  const sentences = make("select");
  const chooser = make("label", {}, make("span", { text: "Sentence" }), sentences);
  const sizes = make("select");
  const sizer = make("label", { class: "bx-size" }, make("span", { text: "Beam size" }), sizes);
  const previous = make("button", { type: "button", text: "◀ Back" });
  const next = make("button", { type: "button", text: "Next ▶" });
  const count = make("span", { class: "bx-count" });
  const lines = makeSvg("svg", { "aria-hidden": "true" });
  const canvas = make("div", { class: "bx-canvas", "aria-hidden": "true" });
  const view = make(
    "div",
    { class: "bx-view", tabindex: "0", role: "region", "aria-label": "The tree; scrolls sideways" },
    canvas,
  );
  const told = make("p", { class: "bx-told", "aria-live": "polite" });
  const hint = make("p", {
    class: "bx-hint",
    text:
      "Each box: a word, log p of the sentence up to it, and what became of it. ● kept, ✕ cut, " +
      "■ finished. Of those that are cut only the best are drawn.",
  });
  const buttons = make("div", { class: "bx-bar" }, chooser, sizer, previous, next, count);
  root.append(buttons, view, told, hint);
  el.append(root);

  const chosen = () => model.get("searches")[model.get("search")];
  const beamNow = () => Math.max(0, Math.min(model.get("beam"), chosen().beams.length - 1));
  const steps = () => chosen().beams[beamNow()].steps;
  const now = () => Math.max(0, Math.min(model.get("position"), steps().length));

  function go(position) {
    model.set("position", Math.max(0, Math.min(steps().length, position)));
    model.save_changes();
  }

  // The words of an extension, from the first on.
  function words(step, place) {
    const extension = steps()[step][place];
    const before = step === 0 ? [] : words(step - 1, extension.parent);
    return [...before, extension.word];
  }

  function quoted(step, place) {
    const { total } = steps()[step][place];
    return `“${words(step, place).join(" ")}” ${total.toFixed(2)}`;
  }

  // Places of the extensions of a step with a fate.
  const places = (step, fate) =>
    steps()[step].flatMap((extension, place) => (extension.fate === fate ? [place] : []));

  function finishedUpTo(position) {
    const found = [];
    for (let step = 0; step < position; step += 1) {
      places(step, "finished").forEach((place) => found.push([step, place]));
    }
    const total = ([step, place]) => steps()[step][place].total;
    return found.sort((a, b) => total(b) - total(a));
  }

  function inWords(position) {
    if (position === 0) return "Before the first step: one hypothesis without words, log p 0.";
    const step = position - 1;
    const parts = Object.keys(MARKS).flatMap((fate) => {
      const those = places(step, fate).map((place) => quoted(step, place));
      return those.length ? [`${fate} ${those.join(", ")}`] : [];
    });
    let text = `Step ${position}: ${parts.join("; ")}.`;
    if (position === steps().length) {
      const [[last, place]] = finishedUpTo(position);
      text += ` The search ends; the best finished hypothesis is ${quoted(last, place)}.`;
    }
    return text;
  }

  // Steps and places on the way to the winner, once the search has ended.
  function winners(position) {
    const path = new Set();
    if (position < steps().length) return path;
    let [[step, place]] = finishedUpTo(position);
    while (step >= 0) {
      path.add(`${step} ${place}`);
      place = steps()[step][place].parent;
      step -= 1;
    }
    return path;
  }

  function draw() {
    const position = now();
    const rows = Math.max(...steps().map((step) => step.length));
    const x = (step) => 4 + (step + 1) * COLUMN; // step -1 is the root
    const y = (place) => 4 + place * ROW;
    const path = winners(position);
    const width = x(steps().length - 1) + WIDTH + 4;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${rows * ROW + 4}px`;
    lines.setAttribute("width", width);
    lines.setAttribute("height", rows * ROW + 4);
    const boxes = [];
    const edges = [];
    const box = (step, place, kind, top, bottom) => {
      const element = make(
        "div",
        { class: `bx-box bx-${kind}`, title: top },
        make("span", { class: "bx-word", text: top }),
        make("span", { class: "bx-total", text: bottom }),
      );
      element.style.left = `${x(step)}px`;
      element.style.top = `${y(place)}px`;
      element.style.width = `${WIDTH}px`;
      element.style.height = `${HEIGHT}px`;
      boxes.push(element);
      return element;
    };
    box(-1, 0, "kept", "<bos>", "0.00");
    for (let step = 0; step < position; step += 1) {
      steps()[step].forEach((extension, place) => {
        const { parent, word, total, fate } = extension;
        const element = box(step, place, fate, word, `${total.toFixed(2)} ${MARKS[fate]}`);
        element.classList.toggle("bx-now", step === position - 1);
        const won = path.has(`${step} ${place}`);
        element.classList.toggle("bx-won", won);
        const [x0, y0] = [x(step - 1) + WIDTH, y(Math.max(parent, 0)) + HEIGHT / 2];
        const [x1, y1] = [x(step), y(place) + HEIGHT / 2];
        const middle = (x0 + x1) / 2;
        edges.push(
          makeSvg("path", {
            d: `M${x0} ${y0} C${middle} ${y0} ${middle} ${y1} ${x1} ${y1}`,
            class: `bx-${fate}${won ? " bx-won" : ""}`,
          }),
        );
      });
    }
    lines.replaceChildren(...edges);
    canvas.replaceChildren(lines, ...boxes);
    view.scrollLeft = Math.max(0, x(position - 1) + WIDTH + 12 - view.clientWidth);
    previous.setAttribute("aria-disabled", String(position === 0));
    next.textContent = position === steps().length ? "Again ↺" : "Next ▶";
    count.textContent = `step ${position} of ${steps().length}`;
    told.textContent = inWords(position);
  }

  function build() {
    sentences.value = String(model.get("search"));
    sizes.replaceChildren(
      ...chosen().beams.map(({ size }, i) =>
        make("option", { value: i, text: size === 1 ? "1 (greedy)" : String(size) }),
      ),
    );
    sizes.value = String(beamNow());
    draw();
  }

  model.get("searches").forEach(({ source }, i) => {
    sentences.append(make("option", { value: i, text: `${i + 1}. ${source.join(" ")}` }));
  });
  chooser.style.display = model.get("searches").length < 2 ? "none" : "";

  sentences.addEventListener("change", () => {
    model.set("search", Number(sentences.value));
    go(steps().length); // the whole tree; "Again" steps through it
  });
  sizes.addEventListener("change", () => {
    const ended = now() === steps().length; // compare results: stay at the end
    model.set("beam", Number(sizes.value));
    model.set("position", ended ? steps().length : now());
    model.save_changes();
  });
  previous.addEventListener("click", () => go(now() - 1));
  next.addEventListener("click", () => go(now() === steps().length ? 0 : now() + 1));
  // The theme turns pages on arrow keys; here they scroll the tree and change the selection.
  root.addEventListener("keydown", (event) => event.stopPropagation());

  model.on("change:position", draw);
  model.on("change:beam", build);
  model.on("change:search", build);
  build();
  return () => {
    model.off("change:position", draw);
    model.off("change:beam", build);
    model.off("change:search", build);
  };
}

export default { render };
