// What a reader has done, in the reader's own browser. Each thing done is an entry of its own in
// localStorage, so that two open pages never write over each other:
//   attention-course/read:book/07_han = 2026-11-22     a chapter, and the day
//   attention-course/right:han-steps = ...             a question, by its name
//   attention-course/passed:AttentionPooling = ...     an exercise, by its name
// Nothing is sent anywhere.
(() => {
  const PREFIX = "attention-course/";
  const NOT_KEPT =
    "Your browser lets this page keep nothing (a private window, or storage is switched off or " +
    "full), so what you do now is forgotten when you leave the page.";
  const memory = new Map(); // what could not be kept: a day, or null for what was taken away
  const watching = [];

  // Some browsers refuse even the look at localStorage.
  function write(key, day) {
    try {
      if (day === null) localStorage.removeItem(PREFIX + key);
      else localStorage.setItem(PREFIX + key, day);
      memory.delete(key);
    } catch {
      memory.set(key, day);
    }
  }

  function has(key) {
    if (memory.has(key)) return memory.get(key) !== null;
    try {
      return localStorage.getItem(PREFIX + key) !== null;
    } catch {
      return false;
    }
  }

  const changed = () => watching.forEach((draw) => draw());
  const store = {
    NOT_KEPT,
    has,
    kept: () => memory.size === 0,
    set(key, done) {
      write(key, done ? new Date().toISOString().slice(0, 10) : null);
      changed();
    },
    watch(draw) {
      watching.push(draw);
      draw();
    },
  };
  window.courseProgress = store;
  write("test", "1");
  if (store.kept()) write("test", null);
  window.addEventListener("storage", (event) => {
    if (event.key === null || (event.key.startsWith(PREFIX) && event.key !== `${PREFIX}test`)) changed();
  });

  // The page "Your progress".
  const board = document.querySelector(".course-progress");
  if (!board) return;
  const bar = board.querySelector("progress");
  const groups = [...board.querySelectorAll("tbody")].map((body) => ({
    body,
    read: body.dataset.chapter ? [`read:${body.dataset.chapter}`] : [],
    right: body.dataset.questions.split(" ").filter(Boolean).map((name) => `right:${name}`),
    passed: [...body.querySelectorAll("input")].map((box) => `passed:${box.value}`),
  }));

  function draw() {
    const sums = {};
    for (const group of groups) {
      for (const kind of ["read", "right", "passed"]) {
        const [done, all] = [group[kind].filter(has).length, group[kind].length];
        sums[kind] = { done: done + (sums[kind]?.done ?? 0), all: all + (sums[kind]?.all ?? 0) };
        if (!all) continue;
        const cell = group.body.querySelector(`.cp-${kind}`);
        cell.textContent = kind !== "read" ? `${done} of ${all}` : done ? "✓ read" : "not yet";
        cell.classList.toggle("cp-done", done === all);
      }
      for (const box of group.body.querySelectorAll("input")) box.checked = has(`passed:${box.value}`);
    }
    const { read, right, passed } = sums;
    bar.max = read.all + right.all + passed.all;
    bar.value = read.done + right.done + passed.done;
    board.querySelector(".cp-sum span").textContent =
      `${Math.floor((100 * bar.value) / bar.max)}\u00a0% done: ${read.done} of ${read.all} chapters read, ` +
      `${right.done} of ${right.all} questions answered right, ${passed.done} of ${passed.all} exercises passed.`;
    board.querySelector(".cp-storage").textContent = store.kept() ? "" : NOT_KEPT;
  }

  for (const box of board.querySelectorAll("input")) {
    box.addEventListener("change", () => store.set(`passed:${box.value}`, box.checked));
    box.disabled = false;
  }
  // The green card of a notebook links to #passed=AttentionPooling: another origin, so it can't write here.
  function tickFromAddress() {
    const name = new URLSearchParams(location.hash.slice(1)).get("passed");
    const box = [...board.querySelectorAll("input")].find((each) => each.value === name);
    if (!box) return;
    history.replaceState(null, "", location.pathname + location.search);
    store.set(`passed:${name}`, true);
    box.closest("li").classList.add("cp-new");
    box.scrollIntoView({ block: "center" });
    box.focus({ preventScroll: true });
  }
  window.addEventListener("hashchange", tickFromAddress);

  board.querySelector("button").addEventListener("click", () => {
    if (!window.confirm("Forget all chapters, questions and exercises in this browser?")) return;
    try {
      const names = Object.keys(localStorage).filter((name) => name.startsWith(PREFIX));
      for (const name of names) localStorage.removeItem(name);
    } catch {
      // There is only what this page remembers.
    }
    memory.clear();
    changed();
  });
  for (const part of board.querySelectorAll("[hidden]")) part.hidden = false;
  store.watch(draw);
  tickFromAddress();
})();
