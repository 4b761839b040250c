// A table or a picture that is wider than its place scrolls by itself: make that box one that the
// keyboard reaches (the theme does that too) and that says what it is.
(() => {
  const boxes =
    ".pst-scrollable-table-container, .cell_output .text_html:has(> table), .picture";

  function title(box) {
    if (box.matches(".picture")) return "Picture, wider than the screen";
    const caption = box.querySelector("caption, thead");
    const words = [...(caption?.querySelectorAll("th") ?? [])].map((th) => th.textContent.trim());
    return `Table: ${words.filter(Boolean).join(", ") || caption?.textContent.trim() || "wide"}`;
  }

  function look(box) {
    if (box.scrollWidth > box.clientWidth + 1) {
      box.tabIndex = 0;
      box.setAttribute("role", "group"); // named, and no landmark: a page has many tables
      box.setAttribute("aria-label", title(box));
    } else {
      for (const name of ["tabindex", "role", "aria-label"]) box.removeAttribute(name);
    }
  }

  const watcher = new ResizeObserver((seen) => seen.forEach((entry) => look(entry.target)));
  for (const box of document.querySelectorAll(boxes)) {
    watcher.observe(box);
    const inside = box.querySelector("table, img");
    if (inside) new ResizeObserver(() => look(box)).observe(inside);
  }
})();
