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

// Numbers with commas, and durations in the unit of their magnitude, as `duration_text` writes them.
const grouped = (value, digits = 0) =>
  value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
const counted = (number, one, many = `${one}s`) => `${grouped(number)} ${number === 1 ? one : many}`;
function durationText(ns) {
  if (!ns) return "0 s";
  const units = [["s", 1e9, 999.5e6], ["ms", 1e6, 999.5e3], ["µs", 1e3, 1e3], ["ns", 1, 0]];
  const [unit, size] = units.find(([, , from]) => Math.abs(ns) >= from);
  const scaled = ns / size;
  if (size === 1) return `${grouped(scaled)} ${unit}`;
  return `${grouped(scaled, Math.abs(scaled) < 9.995 ? 2 : Math.abs(scaled) < 99.95 ? 1 : 0)} ${unit}`;
}

// A cell as people read it, a dash where nothing is known.
const cellText = (column, row) => (column.texts[row] === null ? "-" : data.texts[column.texts[row]]);

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
function themes() {
  at("theme").addEventListener("click", () => {
    document.documentElement.dataset.theme = isDark() ? "light" : "dark";
    retheme();
  });
  darkPaper.addEventListener("change", retheme);
  retheme();
}

// Charts come as SVG that holds only shapes and texts; parsed as XML, and never as part of the page's markup.
function drawing(svg, label) {
  const root = new DOMParser().parseFromString(svg, "image/svg+xml").documentElement;
  const shown = document.importNode(root, true);
  shown.setAttribute("role", "img");
  shown.setAttribute("aria-label", label);
  return shown;
}
