// Run in a page of the site by pdf.py: returns the page's text, made ready to stand in one document
// with all others. Ids get the page's name in front, links to other pages become links within the
// document, what is folded is unfolded, what only works on a screen goes.
async ({ slug, number, pages, site, stills, code }) => {
  const article = document.querySelector("article.bd-article, main article");

  // A reader of the PDF hears the TeX of an equation; its MathML has no place in a PDF.
  for (const { typesetRoot, math } of window.MathJax?.startup?.document?.math ?? []) {
    if (!typesetRoot) continue;
    typesetRoot.setAttribute("role", "img");
    typesetRoot.setAttribute("aria-label", math.trim());
    typesetRoot.querySelector("mjx-assistive-mml")?.remove();
  }

  [...article.querySelectorAll("[data-still]")].forEach((explorer, i) => {
    const figure = document.createElement("figure");
    figure.className = "still";
    const picture = document.createElement("img");
    picture.src = stills[i];
    const told = explorer.querySelector("[aria-live]")?.textContent ?? "";
    picture.alt = `${explorer.getAttribute("aria-label") ?? "Explorer"}. ${told}`.trim();
    const words = document.createElement("figcaption");
    words.append("A still picture: it can be moved ");
    const place = site ? document.createElement("a") : document.createElement("span");
    if (site) place.href = new URL(location.pathname.slice(1), site).href;
    place.textContent = "on the course’s site";
    words.append(place, ".");
    figure.append(picture, words);
    (explorer.closest(".widget-subarea") ?? explorer).replaceWith(figure);
  });

  const screenOnly =
    "script, noscript, template, button, .headerlink, .places, .only-dark, .cq-verdict, .cq-entry," +
    " .course-question input, .course-read, dialog";
  for (const element of article.querySelectorAll(screenOnly)) element.remove();
  for (const fold of article.querySelectorAll("details")) {
    if (fold.matches(".hide.above-input")) {
      if (code) fold.querySelector("summary")?.remove();
      else fold.remove();
    }
    fold.open = true;
  }
  for (const box of article.querySelectorAll("[tabindex]")) {
    box.removeAttribute("tabindex");
    // Nothing scrolls on paper: neither equations nor tables say so.
    if (box.matches(".math, .pst-scrollable-table-container, .text_html")) {
      for (const name of ["role", "aria-label"]) box.removeAttribute(name);
    }
  }

  const named = (id) => `${slug}--${id}`;
  for (const element of article.querySelectorAll("[id]")) element.id = named(element.id);
  for (const name of ["for", "aria-labelledby", "aria-describedby", "aria-controls", "headers"]) {
    for (const element of article.querySelectorAll(`[${name}]`)) {
      element.setAttribute(name, element.getAttribute(name).split(/\s+/).map(named).join(" "));
    }
  }

  for (const link of article.querySelectorAll("a[href]")) {
    const url = new URL(link.getAttribute("href"), location.href);
    const page = pages[url.pathname];
    const target = decodeURIComponent(url.hash.slice(1));
    const toExplorer = target.startsWith("live="); // a state that only the site can show
    if (url.origin !== location.origin) {
      link.setAttribute("href", url.href);
    } else if (toExplorer && !site) {
      const line = link.closest(".course-try-link");
      if (line) line.remove();
      else link.removeAttribute("href");
    } else if (page && !toExplorer) {
      link.setAttribute("href", `#${target ? `${page}--${target}` : page}`);
    } else if (site) {
      link.setAttribute("href", new URL(url.pathname.slice(1) + url.hash, site).href);
    } else {
      link.removeAttribute("href"); // a page that is not in the document, at no known address
    }
  }
  for (const picture of article.querySelectorAll("img")) {
    picture.loading = "eager";
    picture.src = picture.src; // from here on absolute
  }

  const title = article.querySelector("h1");
  // The words of a heading; an equation's glyphs are drawn by style, so its TeX stands for it.
  const inWords = (heading) => {
    const copy = heading.cloneNode(true);
    for (const equation of copy.querySelectorAll("mjx-container")) {
      equation.replaceWith(equation.getAttribute("aria-label") ?? "");
    }
    return copy.textContent.replace(/\s+/g, " ").trim();
  };
  for (const heading of article.querySelectorAll("h1, h2, h3, h4, h5, h6")) {
    heading.dataset.words = inWords(heading);
  }
  const name = inWords(title);
  if (number) {
    const before = document.createElement("span");
    before.className = "chapter-number";
    before.textContent = `${number}\u2002`;
    title.prepend(before);
    title.dataset.words = `${number} ${name}`;
  }
  const sections = [...article.querySelectorAll("h2")]
    .map((h2) => ({ title: h2.dataset.words, id: h2.closest("section[id]")?.id }))
    .filter(({ id }) => id);
  const rules = document.getElementById("MJX-CHTML-styles")?.sheet?.cssRules ?? [];
  return {
    html: article.innerHTML,
    title: name,
    sections,
    styles: [...rules].map((rule) => rule.cssText),
    sheets: [...document.querySelectorAll("link[rel=stylesheet]")].map((link) => link.href),
  };
}
