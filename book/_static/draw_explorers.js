// Draws the explorers of a page from the states that the build has left in it, see
// book/site/explorers.py. An explorer reads its state, changes it and hears of changes; this is all
// that it needs of Jupyter's widget manager. One whose state is in a file of its own, such as a
// model, is drawn when the reader comes near; until then its opening state stands there.
(() => {
  const scriptsOf = (what) =>
    [...document.querySelectorAll(`script[type='application/vnd.jupyter.widget-${what}+json']`)];
  const bytes = (text) => new DataView(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer);
  const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);

  // The part of a Backbone model that anywidget gives to `render`.
  class Model {
    constructor({ state, buffers }) {
      this.state = state;
      this.listeners = new Map();
      for (const { path, data } of buffers) {
        const holder = path.slice(0, -1).reduce((at, key) => at[key], state);
        holder[path.at(-1)] = bytes(data);
      }
    }

    get(name) {
      return this.state[name];
    }

    set(name, value) {
      const given = typeof name === "string" ? { [name]: value } : name;
      const changed = Object.keys(given).filter((key) => !same(given[key], this.state[key]));
      Object.assign(this.state, given);
      for (const event of changed.length ? [...changed.map((key) => `change:${key}`), "change"] : []) {
        for (const listener of [...(this.listeners.get(event) ?? [])]) listener();
      }
    }

    on(event, listener) {
      if (!this.listeners.has(event)) this.listeners.set(event, new Set());
      this.listeners.get(event).add(listener);
    }

    off(event, listener) {
      this.listeners.get(event)?.delete(listener);
    }

    save_changes() {}
  }

  // A link to a state scrolls to its explorer when that is drawn. Equations and fonts that come later
  // move it; it is brought back, unless the reader has begun to scroll.
  async function keepInSight() {
    const name = linked();
    await Promise.all(waiting.filter(({ code }) => code === name).map(({ draw }) => draw()));
    const explorer = name && document.querySelector(`.${CSS.escape(name)}-explorer`);
    if (!explorer) return;
    let moved = false;
    for (const event of ["wheel", "touchmove", "pointerdown", "keydown"]) {
      addEventListener(event, () => { moved = true; }, { once: true, passive: true });
    }
    const scroll = () => moved || explorer.scrollIntoView({ behavior: "instant" });
    if (document.readyState !== "complete") {
      await new Promise((done) => addEventListener("load", done, { once: true }));
    }
    scroll();
    await window.MathJax?.startup?.promise;
    await document.fonts.ready;
    requestAnimationFrame(scroll);
  }

  const linked = () => new URLSearchParams(location.hash.slice(1)).get("live");
  const waiting = []; // {code, draw}: draw() loads an explorer's state and draws it, once

  function load(file) {
    return new Promise((done, failed) => {
      const script = document.createElement("script");
      script.src = file;
      script.onload = done;
      script.onerror = () => failed(new Error(`${file} could not be loaded.`));
      document.head.append(script);
    });
  }

  function drawBefore(view, explorer, saved) {
    const el = document.createElement("div");
    el.className = "widget-subarea";
    const opening = view.previousElementSibling; // see tools/opening_states.py
    if (opening?.hasAttribute("data-opening")) opening.remove();
    view.before(el); // attached first: what is drawn has a size and can be scrolled to
    explorer.render({ model: new Model(saved), el });
  }

  function drawWhenNear(view, explorer, { code, file }, id) {
    let place = view.previousElementSibling;
    if (!place?.hasAttribute("data-opening")) {
      place = document.createElement("div");
      place.setAttribute("data-opening", "");
      view.before(place);
    }
    let drawn = null;
    const draw = () => (drawn ??= load(file).then(() => drawBefore(view, explorer, window.courseStates[id])));
    const near = new IntersectionObserver((entries) => {
      if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
      near.disconnect();
      draw();
    }, { rootMargin: "80% 0px" });
    near.observe(place);
    waiting.push({ code, draw });
  }

  const states = Object.assign({}, ...scriptsOf("state").map((s) => JSON.parse(s.textContent).state));
  for (const script of scriptsOf("view")) {
    const id = JSON.parse(script.textContent).model_id;
    const saved = states[id];
    const explorer = window.courseExplorers?.[saved?.code];
    if (!explorer) {
      console.error("There is no code for an explorer of this page.");
      continue;
    }
    if (saved.file) drawWhenNear(script, explorer, saved, id);
    else drawBefore(script, explorer, saved);
  }
  window.drawExplorers = () => Promise.all(waiting.map(({ draw }) => draw())); // wherever they are
  addEventListener("hashchange", () => waiting.filter(({ code }) => code === linked()).forEach(({ draw }) => draw()));
  keepInSight();
})();
