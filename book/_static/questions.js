// Questions that answer in the page, and the button at the end of a chapter. progress.js, which
// comes first, keeps what was answered.
(() => {
  const store = window.courseProgress;

  function numberIn(text) {
    let plain = text.trim().replace(/\u2212/g, "-").replace(/\s/g, "").replace(/%$/, "");
    if (/^[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d*)?$/.test(plain)) plain = plain.replaceAll(",", "");
    else plain = plain.replace(",", ".");
    const shape = /^([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)(?:\/(\d+\.?\d*|\.\d+))?$/i.exec(plain);
    const value = shape ? Number(shape[1]) / Number(shape[2] ?? 1) : NaN;
    return Number.isFinite(value) ? value : null;
  }

  function element(tag, text, kind) {
    const made = document.createElement(tag);
    made.textContent = text;
    if (kind) made.className = kind;
    return made;
  }

  for (const box of document.querySelectorAll(".course-question")) {
    const key = `right:${box.dataset.question}`;
    const verdict = box.querySelector(".cq-verdict");
    const reasons = [...box.querySelectorAll(".cq-reason")];

    function tell(judged, head, reason) {
      verdict.dataset.judged = judged;
      const said = reason ? [...reason.querySelector(".cq-why").childNodes].map((n) => n.cloneNode(true)) : [];
      verdict.replaceChildren(element("p", head, "cq-head"), ...said);
      const raw = [...verdict.querySelectorAll(".math")].some((m) => !m.querySelector("mjx-container"));
      if (raw) window.MathJax?.typesetPromise?.([verdict]);
      if (judged === "right") store.set(key, true);
    }

    const judge = (reason, said) => {
      const right = reason.dataset.judged === "right";
      tell(reason.dataset.judged, `${right ? "✓ Right" : "✗ Not right"}${said}`, reason);
    };

    const choose = () => {
      const chosen = box.querySelector("input:checked");
      if (!chosen) return;
      const letter = chosen.parentElement.querySelector(".cq-letter").textContent;
      judge(reasons[Number(chosen.value)], `: ${letter}`);
    };

    // Arrow keys walk through the options; that alone is no answer.
    let walked = false;
    for (const option of box.querySelectorAll("input[type=radio]")) {
      option.addEventListener("keydown", (event) => {
        walked = event.key.startsWith("Arrow");
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        option.checked = true;
        choose();
      });
      option.addEventListener("change", () => {
        if (walked) tell("", "Press Enter or the space bar to answer.");
        else choose();
        walked = false;
      });
    }

    const entry = box.querySelector(".cq-entry");
    if (entry) {
      const field = entry.querySelector("input");
      const tolerance = Number(box.dataset.tolerance);
      const near = (reason, value) => {
        const wanted = Number(reason.dataset.value);
        return Math.abs(value - wanted) <= tolerance + 1e-9 * Math.max(1, Math.abs(wanted));
      };
      const check = () => {
        const value = numberIn(field.value);
        if (value === null) return tell("", "Type a number, such as 0.25 or 1/4.");
        const reason = reasons.find((r) => near(r, value));
        if (reason) judge(reason, `: ${field.value.trim()}`);
        else
          tell("wrong", `✗ Not right: ${field.value.trim()}. Compute it once more, or unfold the answers below.`);
      };
      entry.querySelector("button").addEventListener("click", check);
      field.addEventListener("keydown", (event) => {
        if (event.key === "Enter") check();
      });
      entry.hidden = false;
    }

    box.querySelector("fieldset").disabled = false;
    store.watch(() => {
      box.querySelector(".cq-done").hidden = !store.has(key);
    });
  }

  for (const box of document.querySelectorAll(".course-read")) {
    const key = `read:${box.dataset.read}`;
    const button = box.querySelector("button");
    const told = box.querySelector("[role=status]");
    button.addEventListener("click", () => {
      store.set(key, !store.has(key));
    });
    store.watch(() => {
      const read = store.has(key);
      button.textContent = read ? "Mark as unread" : "Mark as read";
      told.textContent = [read ? "✓ You have read this chapter." : "", store.kept() ? "" : store.NOT_KEPT]
        .filter(Boolean)
        .join(" ");
    });
    box.hidden = false;
  }

  // On paper nothing unfolds: the answers are printed.
  let folded = [];
  window.addEventListener("beforeprint", () => {
    folded = [...document.querySelectorAll(".cq-answers:not([open])")];
    for (const part of folded) part.open = true;
  });
  window.addEventListener("afterprint", () => {
    for (const part of folded) part.open = false;
  });
})();
