// The reader moves a query in the plane; the scores and weights of the keys follow.
// State: words, points [[x, y]] (the keys), query [x, y], general 2x2, concat hx4, v [h].

const LIMIT = 3; // the plane reaches from -3 to 3
const SIZE = 300;
const NAMES = [
  ["dot", "dot", "q · k"],
  ["scaled", "scaled dot", "q · k / √2"],
  ["general", "general", "qᵀ W k"],
  ["concat", "concat", "vᵀ tanh(W [q; k])"],
];

const dot = (a, b) => a.reduce((sum, value, i) => sum + value * b[i], 0);
const length = (a) => Math.hypot(...a);

// All scores of one query for one key.
function scoresOf(query, key, { general, concat, v }) {
  const plain = dot(query, key);
  const together = [...query, ...key];
  return {
    dot: plain,
    scaled: plain / Math.sqrt(key.length),
    general: dot(query, general.map((row) => dot(row, key))),
    concat: dot(v, concat.map((row) => Math.tanh(dot(row, together)))),
  };
}

function softmax(values) {
  const largest = Math.max(...values);
  const powers = values.map((value) => Math.exp(value - largest));
  const total = powers.reduce((sum, value) => sum + value, 0);
  return powers.map((value) => value / total);
}

// The cosine of two vectors; null where one of them has no direction.
function cosine(a, b) {
  const lengths = length(a) * length(b);
  return lengths > 0 ? dot(a, b) / lengths : null;
}

// The query times a factor, no further than the edge of the plane: the direction stays.
function stretched(query, factor) {
  const largest = Math.max(...query.map(Math.abs));
  const most = largest > 0 ? LIMIT / largest : factor;
  return query.map((value) => value * Math.min(factor, most));
}

const across = (x) => ((x + LIMIT) / (2 * LIMIT)) * SIZE;
const down = (y) => ((LIMIT - y) / (2 * LIMIT)) * SIZE;
const within = (value) => Math.max(-LIMIT, Math.min(LIMIT, value));

// An arrow from the origin; its head is drawn as a path, so that no ids can clash on a page.
function arrow(kind) {
  const line = makeSvg("line", { x1: across(0), y1: down(0) });
  const head = makeSvg("path", {});
  const group = makeSvg("g", { class: kind }, line, head);
  const point = ([x, y]) => {
    const [px, py] = [across(x), down(y)];
    line.setAttribute("x2", px);
    line.setAttribute("y2", py);
    const angle = Math.atan2(py - down(0), px - across(0));
    const corner = (turn, far) =>
      `${px - far * Math.cos(angle + turn)} ${py - far * Math.sin(angle + turn)}`;
    const none = Math.hypot(px - across(0), py - down(0)) < 1;
    head.setAttribute("d", none ? "" : `M${px} ${py} L${corner(0.45, 10)} L${corner(-0.45, 10)} Z`);
  };
  return { group, point };
}

function render({ model, el }) {
  const words = model.get("words");
  const keys = model.get("points"); // "keys" is a name that widgets have for themselves
  const parameters = {
    general: model.get("general"),
    concat: model.get("concat"),
    v: model.get("v"),
  };
  const begin = [...model.get("query")];

  const plane = makeSvg("svg", { viewBox: `0 0 ${SIZE} ${SIZE}`, class: "sx-plane" });
  for (let n = -LIMIT; n <= LIMIT; n += 1) {
    const kind = n === 0 ? "sx-axis" : "sx-grid";
    plane.append(
      makeSvg("line", { class: kind, x1: across(n), x2: across(n), y1: 0, y2: SIZE }),
      makeSvg("line", { class: kind, y1: down(n), y2: down(n), x1: 0, x2: SIZE }),
    );
  }
  keys.forEach((key, i) => {
    const { group, point } = arrow("sx-key");
    point(key);
    const far = 1 + 0.3 / Math.max(length(key), 0.1);
    const label = makeSvg("text", {
      x: Math.max(16, Math.min(SIZE - 16, across(key[0] * far))),
      y: Math.max(12, Math.min(SIZE - 6, down(key[1] * far) + 4)),
    });
    label.textContent = words[i];
    group.append(label);
    plane.append(group);
  });
  const queryArrow = arrow("sx-query");
  const ring = makeSvg("circle", { class: "sx-ring", r: 9 });
  const name = makeSvg("text", { class: "sx-name" });
  name.textContent = "query";
  const handle = makeSvg(
    "g",
    {
      class: "sx-handle",
      tabindex: "0",
      role: "slider",
      "aria-label": "Query; the arrow keys move it",
      "aria-valuemin": "0",
      "aria-valuemax": signed(Math.hypot(LIMIT, LIMIT)),
    },
    makeSvg("circle", { class: "sx-touch", r: 26 }),
    ring,
  );
  plane.append(queryArrow.group, name, handle);

  const shorter = make("button", { type: "button", text: "Shorter" });
  const longer = make("button", { type: "button", text: "Longer" });
  const reset = make("button", { type: "button", text: "Reset" });
  const cosines = make("p", { class: "sx-cosines" });
  const panels = NAMES.map(([id, title, formula]) => {
    const rows = words.map((word) => {
      const score = make("td", { class: "sx-score" });
      const weight = make("td", { class: "sx-weight" });
      const row = make("tr", {}, make("th", { scope: "row", text: word, title: word }), score, weight);
      return { row, score, weight };
    });
    const head = make(
      "tr",
      {},
      make("th", { scope: "col", text: "key" }),
      make("th", { scope: "col", text: "score" }),
      make("th", { scope: "col", text: "weight" }),
    );
    const caption = make("caption", {}, make("b", { text: title }), make("span", { text: formula }));
    const body = make("tbody", {}, ...rows.map(({ row }) => row));
    const table = make("table", { "data-score": id }, caption, make("thead", {}, head), body);
    return { id, title, rows, table };
  });
  const told = make("p", { class: "sx-told", "aria-live": "polite" });
  const root = make(
    "div",
    {
      class: "scores-explorer",
      role: "group",
      "aria-label": "Scores explorer: four scores of the same keys for a query that you move",
    },
    make(
      "div",
      { class: "sx-left" },
      plane,
      make("div", { class: "sx-bar" }, shorter, longer, reset),
      cosines,
    ),
    make("div", { class: "sx-panels" }, ...panels.map(({ table }) => table)),
    told,
    make("p", {
      class: "sx-hint",
      text: "Drag the query, click in the plane, or use the arrow keys (with Shift: larger steps).",
    }),
  );
  el.append(root);

  function move(query) {
    model.set("query", query.map((value) => within(Math.round(value * 1e4) / 1e4)));
    model.save_changes();
  }

  function update() {
    const query = model.get("query");
    const scores = keys.map((key) => scoresOf(query, key, parameters));
    const said = [];
    for (const { id, title, rows } of panels) {
      const column = scores.map((score) => score[id]);
      const weights = softmax(column);
      const best = weights.indexOf(Math.max(...weights));
      rows.forEach(({ row, score, weight }, i) => {
        score.textContent = signed(column[i]);
        weight.textContent = signed(weights[i]);
        row.style.setProperty("--weight", weights[i]);
        row.classList.toggle("sx-best", i === best);
      });
      said.push(`${title}: ${words[best]} ${signed(weights[best])}`);
    }
    queryArrow.point(query);
    const [px, py] = [across(query[0]), down(query[1])];
    handle.setAttribute("transform", `translate(${px} ${py})`);
    name.setAttribute("x", Math.max(24, Math.min(SIZE - 24, px)));
    name.setAttribute("y", py > SIZE / 2 ? Math.min(py + 24, SIZE - 4) : Math.max(py - 15, 12));
    const size = signed(length(query));
    const place = `(${query.map(signed).join(", ")})`;
    handle.setAttribute("aria-valuenow", length(query).toFixed(2));
    handle.setAttribute("aria-valuetext", `${place}, length ${size}`);
    const angles = keys.map((key, i) => {
      const value = cosine(query, key);
      return `${words[i]} ${value === null ? "–" : signed(value)}`;
    });
    cosines.replaceChildren(
      make("span", { text: `Query ${place}, length ${size}.` }),
      make("span", { text: `Cosine with ${angles.join(", ")}.` }),
    );
    told.textContent = `Largest weight by ${said.join("; by ")}.`;
  }

  // Where in the plane an event happened.
  function place(event) {
    const box = plane.getBoundingClientRect();
    return [
      within(((event.clientX - box.left) / box.width) * 2 * LIMIT - LIMIT),
      within(LIMIT - ((event.clientY - box.top) / box.height) * 2 * LIMIT),
    ];
  }

  let held = false;
  handle.addEventListener("pointerdown", (event) => {
    held = true;
    told.setAttribute("aria-live", "off"); // a drag is too fast to be read out
    handle.setPointerCapture(event.pointerId);
    handle.focus();
    event.preventDefault();
  });
  handle.addEventListener("pointermove", (event) => held && move(place(event)));
  const letGo = () => {
    held = false;
    told.setAttribute("aria-live", "polite");
  };
  handle.addEventListener("pointerup", letGo);
  handle.addEventListener("pointercancel", letGo);
  plane.addEventListener("click", (event) => {
    if (!handle.contains(event.target)) move(place(event));
  });
  handle.addEventListener("keydown", (event) => {
    const step = event.shiftKey ? 0.5 : 0.1;
    const moves = {
      ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, step], ArrowDown: [0, -step],
    };
    if (!(event.key in moves) || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    event.stopPropagation(); // the theme turns pages and notebooks run commands on arrow keys
    move(model.get("query").map((value, i) => within(value + moves[event.key][i])));
  });
  shorter.addEventListener("click", () => move(stretched(model.get("query"), 0.8)));
  longer.addEventListener("click", () => move(stretched(model.get("query"), 1.25)));
  reset.addEventListener("click", () => move(begin));

  model.on("change:query", update);
  update();
  return () => model.off("change:query", update);
}

export default { render };
