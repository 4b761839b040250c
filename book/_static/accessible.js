// MathJax breaks an equation that is wider than its place. It has to do so anew when that place
// changes: a phone that is turned, a fold that opens. A line that is still a little too wide is set
// smaller. What is left scrolls, so it must be reachable with the keyboard. (The theme does the same
// for code, outputs and tables.)
(() => {
  const SMALLEST = 0.85; // of the size that MathJax gives an equation
  const FROM_METRICS = 110; // MathJax measures the place again, not only from its step RERENDER on
  const equations = "main mjx-container[display=true]";

  function check() {
    for (const box of document.querySelectorAll(equations)) {
      const share = (box.clientWidth - 1) / box.scrollWidth;
      if (box.scrollWidth <= box.clientWidth + 1 || share < SMALLEST) continue;
      box.style.fontSize = `${share * (parseFloat(box.style.fontSize) || 100)}%`;
    }
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

  function delayed(run) {
    let soon = 0;
    return () => {
      clearTimeout(soon);
      soon = setTimeout(run, 150);
    };
  }
  // W: (d, e) stays in one piece: no line begins with a colon. MathJax is not loaded yet.
  if (window.MathJax) {
    window.MathJax.startup = {
      ready() {
        window.MathJax.startup.defaultReady();
        for (const input of window.MathJax.startup.document.inputJax) {
          input.postFilters.add(({ data }) => {
            data.root.walkTree((node) => {
              if (node.isKind("mo") && node.getText() === ":") node.attributes.set("linebreak", "nobreak");
            });
          });
        }
      },
    };
  }

  const breakAnew = delayed(() =>
    window.MathJax.startup.document.rerenderPromise(FROM_METRICS).then(check),
  );

  window.addEventListener("load", () => {
    // MathJax sets the equations when the page is loaded; without it there are none.
    const done = window.MathJax?.startup?.promise;
    if (!done) return;
    done.then(check);
    document.fonts.addEventListener("loadingdone", delayed(check)); // the glyphs decide its width
    let width = innerWidth;
    window.addEventListener("resize", () => {
      if (innerWidth !== width) breakAnew();
      width = innerWidth;
    });
    document.addEventListener(
      "toggle",
      (event) => {
        if (event.target.open && event.target.querySelector(equations)) breakAnew();
      },
      true,
    );
  });
})();
