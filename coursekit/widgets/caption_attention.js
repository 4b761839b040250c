// The reader picks a scene and a word; the picture shows where the model looked for the word.
// State: scenes [{picture, words, weights, regions, truth}], scene, word.

const SIDE = 240; // units of the drawing

const total = (values) => values.reduce((sum, value) => sum + value, 0);

// What a word's look is in numbers: share inside the region, its size, the strongest place.
function measure(weights, region) {
  const best = weights.indexOf(Math.max(...weights));
  return {
    share: total(region.map((place) => weights[place])),
    size: region.length / weights.length,
    best,
    inside: region.includes(best),
  };
}

// The outline of a set of places of an n x n grid, as an SVG path in units of a place.
function outline(region, n) {
  const has = (row, column) =>
    row >= 0 && column >= 0 && row < n && column < n && region.includes(row * n + column);
  let path = "";
  for (const place of region) {
    const [row, column] = [Math.floor(place / n), place % n];
    if (!has(row - 1, column)) path += `M${column} ${row}h1`;
    if (!has(row + 1, column)) path += `M${column} ${row + 1}h1`;
    if (!has(row, column - 1)) path += `M${column} ${row}v1`;
    if (!has(row, column + 1)) path += `M${column + 1} ${row}v1`;
  }
  return path;
}

// The sentence that stands for the picture.
function inWords(scene, word) {
  const weights = scene.weights[word];
  const n = Math.sqrt(weights.length);
  const { share, size, best, inside } = measure(weights, scene.regions[word]);
  const place = `row ${Math.floor(best / n) + 1}, column ${(best % n) + 1} of ${n}`;
  const most = `Largest weight: ${weights[best].toFixed(2)}, at ${place}`;
  if (!scene.regions[word].length) return `“${scene.words[word]}” is about no place. ${most}.`;
  return (
    `“${scene.words[word]}”: ${percent(share)} of the weight lies in the true region, which has ` +
    `${percent(size)} of the places. ${most}, ${inside ? "inside" : "outside"}.`
  );
}

function render({ model, el }) {
  const scenes = model.get("scenes");
  const select = make("select");
  scenes.forEach(({ words }, i) => {
    select.append(make("option", { value: i, text: `${i + 1}. ${words.join(" ")}` }));
  });
  const chooser = make("label", {}, make("span", { text: "Scene" }), select);
  const list = make("div", {
    class: "gx-words",
    role: "radiogroup",
    "aria-label": "Words of the caption; the arrow keys step through them",
  });
  const drawing = makeSvg("svg", { viewBox: `0 0 ${SIDE} ${SIDE}`, role: "img" });
  const plain = make("input", { type: "checkbox" });
  const undo = make("label", {}, plain, make("span", { text: "show the picture only" }));
  const told = make("p", { class: "gx-told", "aria-live": "polite" });
  const truth = make("p", { class: "gx-truth" });
  const hint = make(
    "p",
    { class: "gx-hint" },
    "Bright: looked at. ",
    make("i", { class: "gx-key" }),
    " outline: the true region of the word. Click a word, or use the arrow keys.",
  );
  const side = make("div", { class: "gx-side" }, list, told, truth, undo, hint);
  const root = make(
    "div",
    {
      class: "gaze-explorer",
      role: "group",
      "aria-label": "Gaze explorer: where a model looks in a picture for each word of its caption",
    },
    chooser,
    make("div", { class: "gx-field" }, drawing, side),
  );
  el.append(root);

  let buttons = [];
  let shades = [];
  let edge = null;

  const current = () => scenes[model.get("scene")];
  const wordNow = () => Math.min(model.get("word"), current().words.length - 1);

  function go(word, focus = false) {
    model.set("word", Math.max(0, Math.min(current().words.length - 1, word)));
    model.save_changes();
    if (focus) buttons[wordNow()].focus();
  }

  function build() {
    const scene = current();
    const n = Math.sqrt(scene.weights[0].length);
    select.value = String(model.get("scene"));
    buttons = scene.words.map((word, t) => {
      const button = make("button", { type: "button", role: "radio", text: word });
      button.addEventListener("click", () => go(t));
      return button;
    });
    list.replaceChildren(...buttons);
    const image = makeSvg("image", { href: scene.picture, width: SIDE, height: SIDE });
    const step = SIDE / n;
    shades = scene.weights[0].map((_, place) =>
      makeSvg("rect", {
        class: "gx-shade",
        x: (place % n) * step,
        y: Math.floor(place / n) * step,
        width: step + 0.4,
        height: step + 0.4,
      }),
    );
    edge = makeSvg("path", { class: "gx-region", transform: `scale(${step})` });
    drawing.replaceChildren(image, ...shades, edge);
    truth.replaceChildren(
      make("span", { text: "True caption: " }),
      scene.truth === scene.words.join(" ") ? "the same." : scene.truth,
    );
    update();
  }

  function update() {
    const scene = current();
    const word = wordNow();
    const weights = scene.weights[word];
    const largest = Math.max(...weights);
    shades.forEach((shade, place) => {
      const dark = plain.checked ? 0 : 0.75 * (1 - weights[place] / largest);
      shade.setAttribute("fill-opacity", dark.toFixed(3));
    });
    const region = plain.checked ? [] : scene.regions[word];
    edge.setAttribute("d", outline(region, Math.sqrt(weights.length)));
    buttons.forEach((button, t) => {
      button.setAttribute("aria-checked", String(t === word));
      button.tabIndex = t === word ? 0 : -1;
    });
    told.textContent = inWords(scene, word);
    drawing.setAttribute("aria-label", `A drawn scene: ${scene.truth}. ${told.textContent}`);
  }

  select.addEventListener("change", () => {
    const scene = Number(select.value);
    model.set("word", Math.max(0, scenes[scene].regions.findIndex((region) => region.length)));
    model.set("scene", scene);
    model.save_changes();
  });
  plain.addEventListener("change", update);
  list.addEventListener("keydown", (event) => {
    const moves = {
      ArrowUp: wordNow() - 1, ArrowLeft: wordNow() - 1,
      ArrowDown: wordNow() + 1, ArrowRight: wordNow() + 1,
      Home: 0, End: current().words.length - 1,
    };
    if (!(event.key in moves) || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    event.stopPropagation(); // the theme turns pages and notebooks run commands on arrow keys
    go(moves[event.key], true);
  });

  model.on("change:word", update);
  model.on("change:scene", build);
  build();
  return () => {
    model.off("change:word", update);
    model.off("change:scene", build);
  };
}

export default { render };
