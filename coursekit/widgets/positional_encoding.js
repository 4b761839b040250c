// The reader picks a position, a step and a wave; the picture, two clocks and a curve follow.
// State: length, size, position, step, wave.

// PE(p): sine and cosine of each wave side by side.
function positionVector(position, size) {
  const vector = [];
  for (let i = 0; i < size / 2; i += 1) {
    const angle = position / 10000 ** ((2 * i) / size);
    vector.push(Math.sin(angle), Math.cos(angle));
  }
  return vector;
}

// Positions from one crest of wave i to the next.
const wavelength = (i, size) => 2 * Math.PI * 10000 ** ((2 * i) / size);

const dot = (a, b) => a.reduce((sum, value, j) => sum + value * b[j], 0);

// The sentence that stands for the drawings.
function inWords({ position, step, wave, size }) {
  const [here, there] = [position, position + step].map((p) => positionVector(p, size));
  const turn = (360 * step) / wavelength(wave, size);
  const pair = (vector) => `(${signed(vector[2 * wave])}, ${signed(vector[2 * wave + 1])})`;
  return (
    `Wave ${wave} comes back after ${wavelength(wave, size).toPrecision(3)} positions. At position ` +
    `${position} its sine and cosine are ${pair(here)}, at position ${position + step} ` +
    `${pair(there)}: the hand has turned by ${turn.toFixed(1)} degrees, as from any position to ` +
    `the one ${step} further on. The dot product of the two vectors is ` +
    `${signed(dot(here, there))} of ${(size / 2).toFixed(0)}.`
  );
}

function render({ model, el }) {
  const [length, size] = [model.get("length"), model.get("size")];
  const vectors = Array.from({ length }, (_, p) => positionVector(p, size));

  const ranges = [
    ["position", "position p", length - 1],
    ["step", "step k", Math.floor(length / 2)],
    ["wave", "wave i", size / 2 - 1],
  ].map(([name, label, max]) => {
    const input = make("input", { type: "range", min: 0, max, step: 1, "data-name": name });
    const value = make("output");
    input.addEventListener("input", () => {
      model.set(name, Number(input.value));
      model.save_changes();
    });
    return { name, input, value, row: make("label", {}, make("span", { text: label }), input, value) };
  });

  // Every number as a pixel: positions down, components across.
  const canvas = make("canvas", { width: size, height: length, "aria-hidden": "true" });
  const context = canvas.getContext("2d");
  const image = context.createImageData(size, length);
  vectors.flat().forEach((value, i) => { // 0 is transparent: the paper is that of the page's theme
    image.data.set(signedColour(value), 4 * i);
  });
  context.putImageData(image, 0, 0);
  const marks = makeSvg("svg", {
    viewBox: `0 0 ${size} ${length}`, preserveAspectRatio: "none", class: "po-marks",
  });
  marks.setAttribute("aria-hidden", "true");
  const [rowHere, rowThere] = ["po-here", "po-there"].map((kind) =>
    makeSvg("rect", { class: kind, x: 0, width: size, height: 1 }),
  );
  const columns = makeSvg("rect", { class: "po-wave", y: 0, width: 2, height: length });
  marks.append(columns, rowHere, rowThere);

  const clock = makeSvg("svg", { viewBox: "-1.2 -1.2 2.4 2.4", class: "po-clock" });
  clock.setAttribute("aria-hidden", "true");
  const hands = ["po-here", "po-there"].map((kind) => makeSvg("line", { class: kind, x1: 0, y1: 0 }));
  clock.append(makeSvg("circle", { r: 1, class: "po-face" }), ...hands);

  const curve = makeSvg("svg", {
    viewBox: `0 0 ${length - 1} 100`, preserveAspectRatio: "none", class: "po-curve",
  });
  curve.setAttribute("aria-hidden", "true");
  const zero = makeSvg("line", { class: "po-zero", x1: 0, x2: length - 1 });
  const path = makeSvg("polyline", { class: "po-path" });
  const [lineHere, lineThere] = ["po-here", "po-there"].map((kind) =>
    makeSvg("line", { class: kind, y1: 0, y2: 100 }),
  );
  curve.append(zero, lineHere, lineThere, path);

  const told = make("p", { class: "po-told", "aria-live": "polite" });
  const hint = make(
    "p",
    { class: "po-hint" },
    "Left: a row for each position, a column for each component, blue +1, orange −1. ",
    make("i", { class: "po-key po-here" }),
    " position p ",
    make("i", { class: "po-key po-there" }),
    " position p + k. Right: sine and cosine of the wave as a hand; below, the dot product of p " +
      "with every position.",
  );
  const root = make(
    "div",
    {
      class: "positions-explorer",
      role: "group",
      "aria-label": "Positions explorer: sines and cosines that tell where a word stands",
    },
    make("div", { class: "po-controls" }, ...ranges.map(({ row }) => row)),
    make(
      "div",
      { class: "po-field" },
      make("div", { class: "po-picture" }, canvas, marks),
      make("div", { class: "po-side" }, clock, curve),
    ),
    told,
    hint,
  );
  el.append(root);

  function update() {
    const [position, wave] = [model.get("position"), model.get("wave")];
    const step = model.get("step");
    const there = position + step;
    for (const { name, input, value } of ranges) {
      input.value = model.get(name);
      value.textContent = model.get(name);
    }
    rowHere.setAttribute("y", position);
    rowThere.setAttribute("y", there);
    rowThere.style.display = there < length ? "" : "none";
    columns.setAttribute("x", 2 * wave);
    [position, there].forEach((p, i) => {
      const vector = positionVector(p, size);
      hands[i].setAttribute("x2", vector[2 * wave]);
      hands[i].setAttribute("y2", -vector[2 * wave + 1]);
    });
    const products = vectors.map((vector) => dot(vectors[position], vector));
    const top = size / 2;
    const bottom = Math.min(0, ...products);
    const height = (value) => 96 - (92 * (value - bottom)) / (top - bottom);
    path.setAttribute("points", products.map((value, p) => `${p},${height(value).toFixed(2)}`).join(" "));
    zero.setAttribute("y1", height(0));
    zero.setAttribute("y2", height(0));
    [[lineHere, position], [lineThere, there]].forEach(([line, p]) => {
      line.setAttribute("x1", p);
      line.setAttribute("x2", p);
    });
    lineThere.style.display = there < length ? "" : "none";
    told.textContent = inWords({ position, step, wave, size });
  }

  keepArrows(root);
  const names = ["change:position", "change:step", "change:wave"];
  names.forEach((name) => model.on(name, update));
  update();
  return () => names.forEach((name) => model.off(name, update));
}

export default { render };
