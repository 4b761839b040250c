// In a page, see opening_states.py: what stands before the script of each view, as it is seen,
// without what is for hands and for screen readers. A canvas becomes a background.
() => {
  const left = ["id", "name", "for", "list", "title", "tabindex", "role", "lang", "contenteditable"];
  function freeze(root) {
    const copy = root.cloneNode(true);
    const [from, to] = [root, copy].map((one) => [one, ...one.querySelectorAll("*")]);
    from.forEach((element, i) => {
      const still = to[i];
      for (const { name } of [...still.attributes]) {
        if (left.includes(name) || (name.startsWith("aria-") && !/checked|pressed|selected|disabled/.test(name))) {
          still.removeAttribute(name);
        }
      }
      if (element.matches("input[type=checkbox], input[type=radio]")) still.toggleAttribute("checked", element.checked);
      else if (element.matches("input")) still.setAttribute("value", element.value);
      else if (element.matches("option")) still.toggleAttribute("selected", element.selected);
      else if (element.matches("canvas")) {
        const picture = document.createElement("span");
        picture.className = `canvas ${element.className}`.trim();
        const shown = `background: url(${element.toDataURL()}) 0 0 / 100% 100% no-repeat`;
        const { width, height } = element.getBoundingClientRect(); // rules for canvases do not hold for it
        const size = `display: block; width: ${width}px; max-width: 100%; height: ${height}px`;
        picture.setAttribute("style", `${element.getAttribute("style") ?? ""}; ${size}; image-rendering: pixelated; ${shown}`);
        still.replaceWith(picture);
      }
    });
    const told = root.querySelector("[aria-live]")?.textContent.trim() ?? "";
    return { html: copy.outerHTML, label: `${root.getAttribute("aria-label") ?? "Explorer"}. ${told}`.trim() };
  }
  return [...document.querySelectorAll("script[type='application/vnd.jupyter.widget-view+json']")]
    .map((script) => freeze(script.previousElementSibling.firstElementChild));
}
