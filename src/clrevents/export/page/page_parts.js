// What every part of the page uses: elements made of texts only, numbers as the command writes them, and the theme.
const data = JSON.parse(document.getElementById("data").textContent);
const at = (id) => document.getElementById(id);

// An element with attributes and children; strings become text, never markup.
function el(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === true) made.setAttribute(key, ""); else if (value !== null && value !== false) made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

// A number with commas; one in the middle of two goes to the even one, as everywhere else in clrevents.
function grouped(value, digits = 0) {
  let fixed = value.toFixed(digits);
  if (value.toFixed(digits + 1).endsWith("5") && /^50*$/.test(value.toFixed(60).slice(digits - 60))) {
    const [low, high] = [Math.floor, Math.ceil].map((round) => round(value * 10 ** digits));
    fixed = ((low % 2 === 0 ? low : high) / 10 ** digits).toFixed(digits);
  }
  const [whole, ...rest] = fixed.split(".");
  return [whole.replace(/\B(?=(\d{3})+$)/g, ","), ...rest].join(".");
}
const counted = (number, one, many = `${one}s`) => `${grouped(number)} ${number === 1 ? one : many}`;
const milliseconds = (ns) => `${grouped(ns / 1e6, 3)} ms`;

// A cell as people read it, a dash where nothing is known.
function cellText(cell, value) {
  if (value === null) return "-";
  switch (cell) {
    case "text": return data.texts[value];
    case "time": case "duration": return grouped(value / 1e6, 3);
    case "count": case "bytes": return grouped(value);
    case "ratio": return `${(100 * value).toFixed(2)} %`;
    case "number": return grouped(value, 3);
    case "flag": return value ? "yes" : "";
    default: return String(value);
  }
}

const darkPaper = matchMedia("(prefers-color-scheme: dark)");
const themed = [];
function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : darkPaper.matches;
}
// A colour of the style sheet as the canvas takes it.
function ink(name) {
  const probe = at("theme");
  const before = probe.style.color;
  probe.style.color = `var(--${name})`;
  const found = getComputedStyle(probe).color;
  probe.style.color = before;
  return found;
}
function retheme() {
  at("theme").setAttribute("aria-pressed", String(isDark()));
  for (const redraw of themed) redraw();
}

// Charts come as SVG that holds only shapes and texts; parsed as XML, and never as part of the page's markup.
function drawing(svg, label) {
  const root = new DOMParser().parseFromString(svg, "image/svg+xml").documentElement;
  const shown = document.importNode(root, true);
  shown.setAttribute("role", "img");
  shown.setAttribute("aria-label", label);
  return shown;
}
