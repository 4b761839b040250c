// An equation that is a little too wide for its place is set smaller, down to the size of the text
// around it. One that is still too wide scrolls; so it must be reachable with the keyboard. (The
// theme does the same for code, outputs and tables.)
(() => {
  const SMALLEST = 0.75; // of the size that MathJax gives an equation
  const sizes = new WeakMap(); // the sizes that it gave

  function fit() {
    const boxes = [...document.querySelectorAll("main mjx-container[display=true]")];
    for (const box of boxes) {
      if (!sizes.has(box)) sizes.set(box, parseFloat(box.style.fontSize) || 100);
      box.style.fontSize = `${sizes.get(box)}%`;
    }
    // All are measured before one is changed: the page is laid out twice and not for each.
    const shares = boxes.map((box) =>
      box.scrollWidth > box.clientWidth + 1 ? (box.clientWidth - 1) / box.scrollWidth : 1,
    );
    boxes.forEach((box, i) => {
      box.style.fontSize = `${Math.max(SMALLEST, shares[i]) * sizes.get(box)}%`;
    });
  }

  function check() {
    fit();
    for (const box of document.querySelectorAll("main :is(.math, mjx-container)")) {
      const wide = box.scrollWidth > box.clientWidth + 1;
      // A slanted letter that leans out of its box by a pixel makes no scroll box of it.
      box.style.overflow = wide ? "" : "visible";
      if (wide) {
        box.tabIndex = 0;
        box.setAttribute("role", "group");
        box.setAttribute("aria-label", "Equation, scrolls sideways");
      } else if (box.hasAttribute("tabindex")) {
        for (const name of ["tabindex", "role", "aria-label"]) box.removeAttribute(name);
      }
    }
  }

  let soon = 0;
  const later = () => {
    clearTimeout(soon);
    soon = setTimeout(check, 150);
  };

  window.addEventListener("load", () => {
    // MathJax sets the equations when the page is loaded; without it there are none.
    const done = window.MathJax?.startup?.promise;
    if (!done) return;
    done.then(check);
    document.fonts.addEventListener("loadingdone", later); // the glyphs decide how wide it is
    new ResizeObserver(later).observe(document.body); // a fold that opens, a window that shrinks
  });
})();
