// What all explorers share; the code of one explorer follows in the same module.

function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name === "class") element.className = value;
    else if (name === "text") element.textContent = value;
    else element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

function makeSvg(tag, properties = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(properties)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

// The theme turns pages and notebooks run commands on arrow keys; here they move what has the focus.
function keepArrows(root) {
  root.addEventListener("keydown", (event) => {
    if (event.key.startsWith("Arrow")) event.stopPropagation();
  });
}

// The place that a key leads to, among so many words; undefined for other keys.
function moved(key, place, count) {
  const steps = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 };
  if (key === "Home") return 0;
  if (key === "End") return count - 1;
  if (!(key in steps)) return undefined;
  return Math.min(Math.max(place + steps[key], 0), count - 1);
}

// Arrow keys, Home and End in a row of buttons: `go` to the place that a key leads to, which gets the focus.
function arrowKeys(row, go) {
  row.addEventListener("keydown", (pressed) => {
    const buttons = [...row.querySelectorAll("button")];
    const to = moved(pressed.key, buttons.indexOf(document.activeElement), buttons.length);
    if (to === undefined || pressed.altKey || pressed.ctrlKey || pressed.metaKey) return;
    pressed.preventDefault();
    go(to);
    row.querySelectorAll("button")[to]?.focus();
  });
}

// A number from -1 to 1 as the four bytes of a pixel: blue above 0, orange below, 0 transparent.
const signedColour = (value) => [...(value > 0 ? [38, 139, 210] : [222, 120, 20]), 255 * Math.abs(value)];

// A share of 1 in whole percent; only 0 and 1 themselves are 0 and 100 %. No line breaks inside it.
function percent(p) {
  const whole = p > 0.995 && p < 1 ? "> 99" : p > 0 && p < 0.005 ? "< 1" : `${Math.round(100 * p)}`;
  return `${whole} %`.replaceAll(" ", "\u00a0");
}

const signed = (value) => value.toFixed(2).replace("-", "−");
