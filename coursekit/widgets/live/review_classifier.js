// The reader writes a review; the model reads it here, and says good or bad.
// State: weights (packed model), words (by id), special (so many ids are no words), most (words),
// classes [0, 1], examples [{words, truth}], shown {words, barred (places), asks, show}.

const MODES = {
  weight: "the attention weights",
  rests: "what each word adds to the verdict",
  growing: "the verdict after the words so far",
};

const toLink = ({ words, barred, asks, show }) => ({
  s: words.join(" "), bar: barred.map((j) => j + 1).join(" "), asks: asks ? "" : "no", show: show === "weight" ? "" : show,
});

function fromLink({ s = "", bar = "", asks = "", show = "" }) {
  const barred = bar.split(" ").filter(Boolean).map((j) => Number(j) - 1).filter((j) => j >= 0);
  return { words: wordsOf(s), barred, asks: asks !== "no", show: show in MODES ? show : "weight" };
}

// The sentence that stands for the colours: `values`, one for each word, mean what `show` says.
function inWords(words, classes, p, show, values) {
  const verdict = p >= 0.5 ? `${classes[1]}, ${percent(p)}` : `${classes[0]}, ${percent(1 - p)}`;
  const order = [...words.keys()].sort((i, j) => Math.abs(values[j]) - Math.abs(values[i]));
  const top = order.slice(0, 3).filter((i) => Math.abs(values[i]) >= 0.05);
  if (show === "weight") {
    const said = top.map((i) => `${words[i]} (${values[i].toFixed(2)})`).join(", ");
    return `The model says ${verdict}. ${said ? `Most weight: ${said}.` : "No word has any weight."}`;
  }
  if (show === "rests") {
    const said = top.map((i) => `“${words[i]}” ${values[i] > 0 ? "raises" : "lowers"} it by ${Math.abs(values[i]).toFixed(2)}`).join(", ");
    return `The model says ${verdict}. Compared with the review without the word, ${said ? `the probability of ${classes[1]} changes most here: ${said}` : `no word changes the probability of ${classes[1]} by 0.05`}.`;
  }
  const turns = [...words.keys()].filter((i) => i && (values[i] >= 0) !== (values[i - 1] >= 0)).map((i) => words[i]);
  return `The model says ${verdict}. ${turns.length ? `As the review grows, the verdict turns at: ${turns.join(", ")}.` : "The verdict is the same from the first word on."}`;
}

function render({ model, el }) {
  const get = (name) => model.get(name);
  const [words, special, classes] = [get("words"), get("special"), get("classes")];
  const vocabulary = words.slice(special).sort();
  const known = new Map(words.map((word, i) => [word, i]).slice(special));
  const network = classifier(unpack(get("weights")));
  const fresh = (given) => ({ words: given, barred: [], asks: true, show: "weight" });
  const shown = () => ({ ...fresh(get("examples")[0].words), ...get("shown") });

  const { field, input } = textField("Review", vocabulary, typed);
  const { chooser, select } = exampleList(get("examples").map(({ words: text }) => text.join(" ")), (i) => {
    const { words: given } = get("examples")[i];
    input.value = given.join(" ");
    set({ words: given, barred: [] });
  });
  const note = make("p", { class: "live-note", role: "status" });
  const bar = make("div", { class: "rv-verdict", "aria-hidden": "true" }, make("span"), make("span"));
  const page = make("div", { class: "rv-text", role: "group", "aria-label": "Words; press one to bar it from attention" });
  const mode = make("select");
  Object.entries(MODES).forEach(([value, text]) => mode.append(make("option", { value, text })));
  const asks = make("input", { type: "checkbox" });
  const told = make("p", { class: "rv-told", "aria-live": "polite" });
  const hint = make("p", {
    class: "rv-hint",
    text: `Press a word to bar it: it is read, but gets no weight. Blue speaks for ${classes[1]}, orange for ${classes[0]}. ` +
      "Copy the page's address to share this view.",
  });
  const stage = make("div", {}, bar, page,
    make("label", {}, make("span", { text: "Colour shows" }), mode),
    make("label", {}, asks, make("span", { text: "Each review asks with its own query, its last states (off: all ask with the query 0)" })));
  const root = make(
    "div",
    { class: "review-explorer", role: "group", "aria-label": "Review classifier: the chapter's model judges your review" },
    chooser, field, note, stage, told, hint,
  );
  el.append(root);

  let stop = () => {}; // what is still computed

  function set(values) {
    model.set("shown", { ...shown(), ...values });
    model.save_changes();
    link.keep();
  }

  function typed(text) {
    const given = wordsOf(text);
    const wrong = complaint(given, known, get("most"));
    tell(wrong && given.length <= get("most") && isUnfinished(text, given, known, vocabulary) ? goOn(given) : wrong);
    // What is barred stays barred while the review grows.
    const { words: before, barred } = shown();
    if (!wrong && given.join(" ") !== before.join(" ")) set({ words: given, barred: barred.filter((j) => given[j] === before[j]) });
  }

  function tell(wrong) {
    note.textContent = wrong;
    stage.classList.toggle("live-old", Boolean(wrong));
  }

  function build(given, barred) {
    const at = [...page.children].indexOf(document.activeElement);
    page.replaceChildren(...given.map((word, j) => {
      const off = barred.includes(j);
      const button = make("button", { type: "button", class: off ? "rv-word rv-off" : "rv-word", "aria-pressed": String(off) },
        make("span", { text: word }), make("small"));
      button.addEventListener("click", () => set({ barred: off ? barred.filter((k) => k !== j) : [...barred, j].sort((a, b) => a - b) }));
      return button;
    }));
    page.children[at]?.focus();
  }

  function colour(values, show) {
    [...page.children].forEach((button, j) => {
      const value = values[j] ?? 0;
      const strength = show === "growing" ? 2 * Math.abs(value) : Math.abs(value);
      button.style.setProperty("--share", Math.min(1, strength).toFixed(3));
      button.classList.toggle("rv-against", value < 0);
      const number = show === "weight" ? value.toFixed(2) : show === "rests" ? signed(value) : (value + 0.5).toFixed(2);
      button.querySelector("small").textContent = show === "growing" || Math.abs(value) >= 0.05 ? number : "";
    });
  }

  function update() {
    stop();
    const { words: given, barred, asks: own, show } = shown();
    const ids = given.map((word) => known.get(word));
    const isOpen = (j) => !barred.includes(j);
    const good = (places) => network.read(places.map((j) => ids[j]), { open: places.map(isOpen), asks: own }).probabilities[1];
    const all = [...given.keys()];
    const { weights, probabilities } = network.read(ids, { open: all.map(isOpen), asks: own });
    const p = probabilities[1];
    if (document.activeElement !== input) input.value = given.join(" ");
    const example = get("examples").findIndex((one) => one.words.join(" ") === given.join(" "));
    select.value = example < 0 ? "" : String(example);
    mode.value = show;
    asks.checked = own;
    tell("");
    build(given, barred);
    bar.style.setProperty("--good", p.toFixed(4));
    bar.dataset.probability = p.toFixed(4);
    bar.children[0].textContent = `${classes[1]} ${percent(p)}`;
    bar.children[1].textContent = `${classes[0]} ${percent(1 - p)}`;
    const truth = example < 0 ? "" : ` ${get("examples")[example].truth}`;
    const values = show === "weight" ? [...weights] : given.map(() => 0);
    const say = () => { told.textContent = inWords(given, classes, p, show, values) + truth; };
    colour(values, show);
    if (show === "weight") return say();
    told.textContent = "";
    stop = inSlices(
      all,
      (j) => {
        if (show === "growing") values[j] = good(all.slice(0, j + 1)) - 0.5;
        else values[j] = given.length > 1 ? p - good(all.filter((k) => k !== j)) : 0;
      },
      () => colour(values, show),
      say,
    );
  }

  mode.addEventListener("change", () => set({ show: mode.value }));
  asks.addEventListener("change", () => set({ asks: asks.checked }));
  keepArrows(root);

  const link = linkedState("review", {
    model, root, fromLink, tell, update,
    toLink: () => toLink(shown()),
    wrongIn: ({ words: given }) => complaint(given, known, get("most")),
    fill: ({ words: given }) => { input.value = given.join(" "); },
    ended: () => stop(),
  });
  return link.start();
}

export default { render };
