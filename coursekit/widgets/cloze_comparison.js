// The reader hides one word of a text; each model lists what it would fill in.
// State: texts [{sentences, guesses: model -> for each word [[word, probability]], truth: model ->
// probabilities, title}], models (their names, in order), sees: model -> "left" | "right" | "both",
// text, hidden (a word's place).

const SIDES = { left: "reads what stands before", right: "reads what comes after", both: "reads both sides" };

// The sentence that stands for the bars.
function inWords(word, models, guesses, truth, place) {
  const parts = models.map((model) => {
    const [best, p] = guesses[model][place][0];
    return best === word
      ? `${model} is right with ${percent(p)}`
      : `${model} says ${best} with ${percent(p)}, and gives ${word} ${percent(truth[model][place])}`;
  });
  return `Hidden: ${word}. ${parts.join("; ")}.`;
}

function render({ model, el }) {
  const texts = model.get("texts");
  const sees = model.get("sees");
  const names = model.get("models");
  const select = make("select");
  texts.forEach(({ sentences, title }, i) => {
    const words = sentences.flat().join(" ");
    const name = title || (words.length > 60 ? `${words.slice(0, 60)}…` : words);
    select.append(make("option", { value: i, text: `${i + 1}. ${name}` }));
  });
  const chooser = make("label", { class: "fi-choose" }, make("span", { text: "Text" }), select);
  chooser.style.display = texts.length < 2 ? "none" : "";
  const page = make("div", { class: "fi-text", role: "group", "aria-label": "Words; press one to hide it" });
  const columns = make("div", { class: "fi-models" });
  const told = make("p", { class: "fi-told", "aria-live": "polite" });
  const hint = make("p", {
    class: "fi-hint",
    text: "Press a word to hide it, or go from word to word with the arrow keys. Marked: the word that stands there in truth.",
  });
  const root = make(
    "div",
    { class: "fill-explorer", role: "group", "aria-label": "Fill explorer: hide a word and see what each model fills in" },
    chooser,
    page,
    columns,
    told,
    hint,
  );
  el.append(root);

  let buttons = [];

  const current = () => texts[model.get("text")] ?? texts[0];
  const place = () => Math.min(Math.max(model.get("hidden"), 0), buttons.length - 1);

  function set(name, value) {
    model.set(name, value);
    model.save_changes();
  }

  function hide(i, focus) {
    set("hidden", i);
    if (focus) buttons[i].focus();
  }

  function build() {
    buttons = [];
    const lines = current().sentences.map((sentence) => {
      const line = make("p", { class: "fi-line" });
      for (const word of sentence) {
        const i = buttons.length;
        const button = make("button", { type: "button", class: "fi-word", text: word });
        button.addEventListener("click", () => hide(i, true));
        button.addEventListener("keydown", (event) => {
          const next = moved(event.key, i, buttons.length);
          if (next === undefined) return;
          event.preventDefault();
          hide(next, true);
        });
        line.append(button, " ");
        buttons.push(button);
      }
      return line;
    });
    page.replaceChildren(...lines);
    update();
  }

  function column(name, word, at) {
    const { guesses, truth } = current();
    const rows = guesses[name][at].map(([guess, p]) => {
      const row = make(
        "li",
        { class: guess === word ? "fi-guess fi-true" : "fi-guess" },
        make("span", { class: "fi-name", text: guess }),
        make("span", { class: "fi-value", text: percent(p) }),
      );
      row.style.setProperty("--share", p.toFixed(3));
      row.dataset.probability = p.toFixed(3);
      return row;
    });
    const below = guesses[name][at].some(([guess]) => guess === word)
      ? []
      : [make("p", { class: "fi-else", text: `${word}: ${percent(truth[name][at])}` })];
    return make(
      "section",
      { class: "fi-model", "aria-label": name },
      make("p", { class: "fi-title", text: name }),
      make("p", { class: "fi-sees", text: SIDES[sees[name]] }),
      make("ol", {}, ...rows),
      ...below,
    );
  }

  function update() {
    const { sentences, guesses, truth } = current();
    const words = sentences.flat();
    const at = place();
    buttons.forEach((button, i) => {
      const gap = i === at;
      button.textContent = gap ? "[MASK]" : words[i];
      button.classList.toggle("fi-gap", gap);
      button.setAttribute("aria-pressed", String(gap));
      button.setAttribute("aria-label", gap ? `${words[i]}, hidden` : words[i]);
      button.tabIndex = gap ? 0 : -1;
    });
    columns.replaceChildren(...names.map((name) => column(name, words[at], at)));
    select.value = String(model.get("text"));
    told.textContent = inWords(words[at], names, guesses, truth, at);
  }

  select.addEventListener("change", () => {
    model.set("hidden", 0);
    set("text", Number(select.value));
  });
  keepArrows(root);

  model.on("change:text", build);
  model.on("change:hidden", update);
  build();
  return () => {
    model.off("change:text", build);
    model.off("change:hidden", update);
  };
}

export default { render };
