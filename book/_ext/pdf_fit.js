// Run in the whole document by pdf.py, laid out as wide as the paper: what is too wide gets smaller,
// what is short stays in one piece.
() => {
  const column = document.querySelector("article.bd-article").clientWidth;

  function shrink(element, width, least) {
    const size = parseFloat(getComputedStyle(element).fontSize);
    element.style.fontSize = `${Math.max(least, column / width) * size}px`;
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
    for (let turn = 0; turn < 2 && table.scrollWidth > column + 1; turn += 1) {
      shrink(table, table.scrollWidth, 0.8);
    }
    if (table.scrollWidth > column + 1) table.classList.add("break-words");
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
