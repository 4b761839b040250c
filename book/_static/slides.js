// The tasks of a page as slides: the task with its text beside the explorer that it is about. Opened
// by the button of the `{slides}` directive or by Alt+P, see book/site/explorer_tasks.py.
(() => {
  const opener = document.querySelector(".course-slides-open");
  const name = opener.dataset.explorer;
  const tasks = [...document.querySelectorAll(".course-try")].filter((task) =>
    task.querySelector(`.course-try-link a[href^="#live=${name}&"]`));
  const make = (tag, values = {}, ...children) => {
    const made = Object.assign(document.createElement(tag), values);
    made.append(...children);
    return made;
  };

  const text = make("div", { className: "course-slide-text" });
  const stage = make("div", { className: "course-slide-stage" });
  const place = make("span");
  const button = (label, action) => {
    const made = make("button", { type: "button", textContent: label });
    made.addEventListener("click", action);
    return made;
  };
  const [back, on] = [button("Previous", () => show(at - 1)), button("Next", () => show(at + 1))];
  const bar = make("div", { className: "course-slide-bar" }, back, place, on, button("Close", () => dialog.close()));
  const dialog = make("dialog", { className: "course-slides bd-article" }, text, stage, bar);
  dialog.setAttribute("aria-label", opener.dataset.label);
  document.querySelector(".bd-article-container, main, body").append(dialog);

  let at = 0;
  const homes = new Map(); // what was moved here -> a mark where it was

  function borrow(element, holder) {
    const home = document.createComment("on a slide");
    element.before(home);
    homes.set(element, home);
    holder.append(element);
  }

  function giveBack(holder) {
    for (const element of [...holder.children]) {
      homes.get(element).replaceWith(element);
      homes.delete(element);
    }
  }

  function show(i) {
    if (i < 0 || i >= tasks.length) return;
    at = i;
    giveBack(text);
    borrow(tasks[i].closest("section"), text);
    for (const fold of text.querySelectorAll("details")) fold.open = false; // predict first
    const focused = document.activeElement;
    [back.disabled, on.disabled] = [i === 0, i === tasks.length - 1];
    if (focused.disabled) (i === 0 ? on : back).focus();
    place.textContent = `${i + 1} of ${tasks.length}`;
    location.hash = tasks[i].querySelector(".course-try-link a").hash;
    text.scrollTop = 0;
  }

  // The explorer scrolls to itself when it opens a state, and so would hide the text on a phone.
  const toTheTop = () => dialog.scrollTo(0, 0);

  async function open() {
    await window.drawExplorers();
    const explorer = document.querySelector(`.${name}-explorer`);
    borrow(explorer.parentElement, stage);
    addEventListener("hashchange", toTheTop);
    dialog.showModal();
    show(at);
    on.focus();
  }

  dialog.addEventListener("close", () => {
    removeEventListener("hashchange", toTheTop);
    giveBack(text);
    giveBack(stage);
    opener.scrollIntoView({ block: "center", behavior: "instant" });
    opener.focus({ preventScroll: true });
  });
  // The keys of a presenter's remote, and the arrows where nothing else uses them.
  dialog.addEventListener("keydown", (pressed) => {
    if (pressed.defaultPrevented || pressed.altKey || pressed.ctrlKey || pressed.metaKey) return;
    const elsewhere = pressed.target.closest("input, select, textarea, [role=radiogroup]");
    const step = { PageDown: 1, PageUp: -1, ...(elsewhere ? {} : { ArrowRight: 1, ArrowLeft: -1 }) }[pressed.key];
    if (!step) return;
    pressed.preventDefault();
    show(at + step);
  });
  document.addEventListener("keydown", (pressed) => {
    if (pressed.code !== "KeyP" || !pressed.altKey || pressed.ctrlKey || pressed.metaKey || dialog.open) return;
    pressed.preventDefault();
    open();
  });
  opener.addEventListener("click", open);
  opener.hidden = false;
})();
