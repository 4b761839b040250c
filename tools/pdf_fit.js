// Run in the whole document by pdf.py, laid out as wide as the paper: what is too wide gets smaller,
// what is short stays in one piece.
(turned) => {
  const column = document.querySelector("article.bd-article").clientWidth;

  function shrink(element, width, least, room = column) {
    const size = parseFloat(getComputedStyle(element).fontSize);
    element.style.fontSize = `${Math.max(least, room / width) * size}px`;
  }

  for (const equation of document.querySelectorAll("mjx-container[display=true]")) {
    const width = equation.querySelector("mjx-math")?.getBoundingClientRect().width ?? 0;
    if (width > column) shrink(equation, width + 2, 0.5);
  }
  for (const equation of document.querySelectorAll("mjx-container:not([display=true])")) {
    const width = equation.getBoundingClientRect().width;
    if (width > column) shrink(equation, width + 2, 0.5);
  }
  for (const table of document.querySelectorAll("table")) {
    if (table.offsetWidth > column + 1) shrink(table, table.offsetWidth, 0.85);
    if (table.offsetWidth <= column + 1) continue;
    // Too many columns for this paper: the paper is turned.
    const box = table.closest(".pst-scrollable-table-container, .text_html") ?? table.parentElement;
    table.style.fontSize = "";
    box.style.width = `${turned}px`;
    for (let turn = 0; turn < 3 && table.offsetWidth > turned + 1; turn += 1) {
      shrink(table, table.offsetWidth, 0.85, turned);
    }
    if (table.offsetWidth > turned + 1) table.classList.add("break-words");
    box.style.width = "";
    // With its heading, where the section is little more than the table.
    const section = box.closest("section");
    const alone = section && !section.querySelector("h1") && section.offsetHeight < 1.6 * box.offsetHeight;
    (alone ? section : box).classList.add("turned");
  }
  const whole = ".cell_input, .cell_output, .highlight, .admonition, .course-question, table, .math";
  for (const element of document.querySelectorAll(whole)) {
    if (element.offsetHeight < 320) element.classList.add("whole");
  }
  const lost = [...document.querySelectorAll("a[href^='#']")].filter((link) => {
    const id = decodeURIComponent(link.getAttribute("href").slice(1));
    return !document.getElementById(id);
  });
  for (const link of lost) link.removeAttribute("href");
  return lost.map((link) => link.textContent);
}
