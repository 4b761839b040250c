// What a reader has done, in the reader's own browser. Each thing done is an entry of its own in
// localStorage, so that two open pages never write over each other:
//   attention-course/read:book/07_han = 2026-11-22     a chapter, and the day
//   attention-course/right:han-steps = ...             a question, by its name
//   attention-course/passed:AttentionPooling = ...     an exercise, by its name
// Nothing is sent anywhere.
(() => {
  const PREFIX = "attention-course/";
  const KEY = /^(read|right|passed):[\w./-]{1,120}$/;
  const DAY = /^\d{4}-\d\d-\d\d$/;
  const NOT_KEPT =
    "Your browser lets this page keep nothing (a private window, or storage is switched off or " +
    "full), so what you do now is forgotten when you leave the page.";

  let shelf = null;
  try {
    shelf = window.localStorage;
  } catch {
    // Some browsers refuse even the look.
  }
  const memory = new Map(); // what could not be kept: a day, or null for what was taken away
  const watching = [];

  function write(key, day) {
    try {
      if (day === null) shelf.removeItem(PREFIX + key);
      else shelf.setItem(PREFIX + key, day);
      memory.delete(key);
      return true;
    } catch {
      memory.set(key, day);
      return false;
    }
  }

  function read() {
    const entries = new Map();
    const damaged = [];
    try {
      for (let i = 0; i < shelf.length; i++) {
        const name = shelf.key(i);
        if (!name.startsWith(PREFIX)) continue;
        const key = name.slice(PREFIX.length);
        const day = shelf.getItem(name);
        if (KEY.test(key) && DAY.test(day)) entries.set(key, day);
        else damaged.push(key);
      }
    } catch {
      // No storage: there is what this page remembers.
    }
    for (const [key, day] of memory) day === null ? entries.delete(key) : entries.set(key, day);
    return { entries, damaged };
  }

  function today() {
    const now = new Date();
    const two = (n) => String(n).padStart(2, "0");
    return `${now.getFullYear()}-${two(now.getMonth() + 1)}-${two(now.getDate())}`;
  }

  function changed() {
    for (const draw of watching) draw();
  }

  const store = {
    NOT_KEPT,
    read,
    has: (key) => read().entries.has(key),
    add(key, day = today()) {
      const kept = write(key, day);
      changed();
      return kept;
    },
    remove(key) {
      const kept = write(key, null);
      changed();
      return kept;
    },
    keeps: () => write("test", "1") && write("test", null),
    watch(draw) {
      watching.push(draw);
      draw();
    },
  };
  store.kept = store.keeps();
  memory.delete("test");
  window.courseProgress = store;
  window.addEventListener("storage", (event) => {
    if (event.key === null || (event.key.startsWith(PREFIX) && event.key !== `${PREFIX}test`)) changed();
  });

  // The page "Your progress".
  const board = document.querySelector(".course-progress");
  if (!board) return;
  const $ = (selector) => board.querySelector(selector);
  const groups = [...board.querySelectorAll("tbody")].map((body) => ({
    body,
    chapter: body.dataset.chapter,
    questions: body.dataset.questions.split(" ").filter(Boolean),
    exercises: [...body.querySelectorAll("[data-passed]")],
  }));
  const marks = new Map(
    groups.flatMap((g) => g.exercises.map((item) => [item.dataset.mark, item.dataset.passed])),
  );
  const known = new Set(
    groups.flatMap((g) => [
      ...(g.chapter ? [`read:${g.chapter}`] : []),
      ...g.questions.map((name) => `right:${name}`),
      ...g.exercises.map((item) => `passed:${item.dataset.passed}`),
    ]),
  );
  const things = (n) => `${n} ${n === 1 ? "entry" : "entries"}`;
  const are = (n) => (n === 1 ? "is" : "are");

  function draw() {
    const { entries, damaged } = read();
    const done = { read: 0, right: 0, passed: 0 };
    const all = { read: 0, right: 0, passed: 0 };
    for (const { body, chapter, questions, exercises } of groups) {
      const right = questions.filter((name) => entries.has(`right:${name}`)).length;
      let passed = 0;
      for (const item of exercises) {
        const has = entries.has(`passed:${item.dataset.passed}`);
        const sign = item.querySelector(".cp-sign");
        sign.textContent = has ? "✓" : "○";
        sign.setAttribute("aria-label", has ? "passed" : "not yet");
        item.classList.toggle("cp-done", has);
        passed += has;
      }
      const wasRead = chapter !== "" && entries.has(`read:${chapter}`);
      const fill = (name, text, whole) => {
        const cell = body.querySelector(name);
        cell.textContent = text;
        cell.classList.toggle("cp-done", whole);
      };
      if (chapter) fill(".cp-read", wasRead ? "✓ read" : "not yet", wasRead);
      if (questions.length)
        fill(".cp-right", `${right} of ${questions.length}`, right === questions.length);
      if (exercises.length)
        fill(".cp-passed", `${passed} of ${exercises.length}`, passed === exercises.length);
      done.read += wasRead;
      done.right += right;
      done.passed += passed;
      all.read += chapter !== "";
      all.right += questions.length;
      all.passed += exercises.length;
    }
    const share = (done.read + done.right + done.passed) / Math.max(1, known.size);
    const percent = share === 1 ? 100 : Math.min(99, Math.round(100 * share));
    $("progress").value = percent;
    $("progress").setAttribute("aria-label", "Done so far");
    $(".cp-sum span").textContent =
      `${percent} % done: ${done.read} of ${all.read} chapters read, ${done.right} of ` +
      `${all.right} questions answered right, ${done.passed} of ${all.passed} exercises passed.`;

    const told = store.kept && memory.size === 0 ? [] : [NOT_KEPT];
    const others = [...entries.keys()].filter((key) => !known.has(key)).length;
    if (damaged.length)
      told.push(
        `${things(damaged.length)} in your browser ${are(damaged.length)} damaged and ` +
          `not counted: ${short(damaged)}. All others are there.`,
      );
    if (others)
      told.push(
        `${things(others)} ${are(others)} about something that the course no longer has: kept, ` +
          "and part of an export, but not counted.",
      );
    $(".cp-storage").textContent = told.join(" ");
  }

  function short(list) {
    const shown = list.slice(0, 3).map((text) => (text.length > 40 ? `${text.slice(0, 40)}…` : text));
    return shown.join(", ") + (list.length > 3 ? ` and ${list.length - 3} more` : "");
  }

  // Codes. As `mark` in autograder/progress.py: 32 bits of FNV-1a.
  function mark(code) {
    let total = 0x811c9dc5;
    for (const letter of code) total = Math.imul(total ^ letter.charCodeAt(0), 0x01000193) >>> 0;
    return total.toString(16).padStart(8, "0");
  }

  function codesIn(text) {
    const plain = text.toUpperCase().replace(/[\u2010-\u2015\u2212]/g, "-");
    if (/FOR YOUR PROGRESS/.test(plain)) {
      // A card, or several: only what stands behind these words.
      return [...plain.matchAll(/FOR YOUR PROGRESS\s*:?\s*([A-Z0-9-]+)/g)].map((found) => found[1]);
    }
    const joined = plain.replace(/(?<![A-Z0-9-])([A-Z0-9]{4})[ -]([A-Z0-9]{2})(?![A-Z0-9-])/g, "$1-$2");
    return joined.split(/[\s,;.]+/).filter(Boolean);
  }

  function take() {
    const field = $(".cp-codes textarea");
    const codes = [...new Set(codesIn(field.value))];
    const wrong = [];
    const news = [];
    const old = [];
    for (const code of codes) {
      const name = marks.get(mark(code.replaceAll("-", "")));
      if (!name) wrong.push(code);
      else (store.has(`passed:${name}`) ? old : news).push(name);
    }
    for (const name of new Set(news)) store.add(`passed:${name}`);
    const told = [];
    if (!codes.length) told.push("Type the code of a green card; it looks like K7PX-2M.");
    if (news.length) told.push(`Passed: ${news.join(", ")}.`);
    if (old.length) told.push(`Noted before: ${old.join(", ")}.`);
    if (wrong.length)
      told.push(
        `${short(wrong)} ${wrong.length === 1 ? "is not the code" : "are not codes"} of any exercise: ` +
          "compare letter by letter with the card (it may also come from another version of the course).",
      );
    $(".cp-codes .cp-told").textContent = told.join(" ");
    if (codes.length && !wrong.length) field.value = "";
  }

  // The file.
  const tell = (text) => ($(".cp-file .cp-told").textContent = text);

  function save() {
    const { entries } = read();
    const content = {
      course: "attention-course",
      version: 1,
      saved: today(),
      entries: Object.fromEntries([...entries].sort()),
    };
    const link = document.createElement("a");
    link.href = URL.createObjectURL(
      new Blob([JSON.stringify(content, null, 2) + "\n"], { type: "application/json" }),
    );
    link.download = `attention-course-progress-${today()}.json`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    tell(`${things(entries.size)} written to ${link.download}.`);
  }

  function entriesOf(text) {
    // Pairs of key and day, and whether the file was whole.
    try {
      const content = JSON.parse(text);
      const found = content?.entries;
      if (found && typeof found === "object" && !Array.isArray(found))
        return { pairs: Object.entries(found), whole: true };
      if (content === null || typeof content !== "object") return { pairs: [], whole: true };
    } catch {
      // Cut off or garbled: what still stands in it as an entry counts.
    }
    const pairs = [...text.matchAll(/"((?:read|right|passed):[^"\\]*)"\s*:\s*"([^"\\]*)"/g)];
    return { pairs: pairs.map((found) => [found[1], found[2]]), whole: false };
  }

  async function load(file) {
    let text = "";
    try {
      if (file.size > 1e6) return tell("This file is too large to be an export of this page.");
      text = await file.text();
    } catch {
      return tell("The file could not be read.");
    }
    const { pairs, whole } = entriesOf(text);
    const { entries } = read();
    const bad = [];
    let added = 0;
    let there = 0;
    for (const [key, day] of pairs) {
      if (!KEY.test(key) || typeof day !== "string" || !DAY.test(day)) bad.push(key);
      else if (entries.has(key)) there++;
      else {
        write(key, day);
        added++;
      }
    }
    changed();
    if (!pairs.length) return tell("There is no entry in this file: it is no export of this page.");
    tell(
      (whole ? "" : "The file is damaged; what could still be read was taken. ") +
        `${things(added)} added, ${there} there before` +
        (bad.length ? `, ${bad.length} left out because they are damaged: ${short(bad)}.` : "."),
    );
  }

  function clear() {
    const { entries, damaged } = read();
    const question =
      `Forget all ${things(entries.size)} about chapters, questions and exercises in this browser? ` +
      "Export them first if you may want them back.";
    if (!window.confirm(question)) return tell("Nothing was cleared.");
    for (const key of [...entries.keys(), ...damaged]) write(key, null);
    changed();
    tell("Everything is cleared.");
  }

  $(".cp-codes button").addEventListener("click", take);
  $(".cp-codes textarea").addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    take();
  });
  const chooser = $("input[type=file]");
  chooser.addEventListener("change", async () => {
    if (chooser.files.length) await load(chooser.files[0]);
    chooser.value = "";
  });
  $("[data-does=export]").addEventListener("click", save);
  $("[data-does=import]").addEventListener("click", () => chooser.click());
  $("[data-does=clear]").addEventListener("click", clear);
  for (const part of board.querySelectorAll(".cp-sum, .cp-codes, .cp-file")) part.hidden = false;
  store.watch(draw);
})();
