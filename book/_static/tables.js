// A table that is wider than its place scrolls by itself: make its box one that the keyboard
// reaches (the theme does that too) and that says what it is. While there is more to the right, the
// box has the attribute data-more.
(() => {
  const boxes = ".pst-scrollable-table-container, .cell_output .text_html:has(> table)";

  function title(box) {
    const caption = box.querySelector("caption, thead");
    const words = [...(caption?.querySelectorAll("th") ?? [])].map((th) => th.textContent.trim());
    return `Table: ${words.filter(Boolean).join(", ") || caption?.textContent.trim() || "wide"}`;
  }

  function fade(box) {
    box.toggleAttribute("data-more", box.scrollLeft + box.clientWidth < box.scrollWidth - 2);
  }

  function look(box) {
    fade(box);
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
    box.addEventListener("scroll", () => fade(box), { passive: true });
    const inside = box.querySelector("table");
    if (inside) new ResizeObserver(() => look(box)).observe(inside);
  }
})();
