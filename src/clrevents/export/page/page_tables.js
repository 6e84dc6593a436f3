// A table of an answer: sorted by a click on a heading, searched by a text, the first rows first.
const FIRST_ROWS = 25;

function tablePart(table) {
  const part = el("div", { class: "table", "data-table": table.name });
  part.append(el("h3", {}, table.name), el("p", { class: "soft" }, table.about));
  let order = table.columns[0].texts.map((_, row) => row), wanted = "", all = false, sortedBy = null;
  const lossy = new Set(table.lossy);
  const search = el("input", { type: "search", "aria-label": `Search in ${table.name}`, placeholder: "search" });
  const status = el("span", { class: "soft", role: "status" });
  const more = el("button", { type: "button" });
  const body = el("tbody");
  const heads = table.columns.map((column, place) => {
    const button = el("button", { type: "button", title: column.about }, column.title);
    const head = el("th", { scope: "col", class: column.right ? "right" : null }, button);
    button.addEventListener("click", () => {
      const falling = sortedBy === place ? head.getAttribute("aria-sort") !== "descending" : column.right;
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", falling ? "descending" : "ascending");
      sortedBy = place;
      order.sort((a, b) => compared(column, a, b, falling));
      fill();
    });
    return head;
  });
  const marks = lossy.size ? [el("th", { scope: "col" }, "!")] : [];

  function compared(column, a, b, falling) {
    const by = column.values || column.texts, x = by[a], y = by[b];
    // What is not known comes last either way.
    if (x === null || y === null) return (x === null) - (y === null) || a - b;
    const found = column.values ? x - y : data.texts[x].localeCompare(data.texts[y], "en", { numeric: true });
    return (falling ? -found : found) || a - b;
  }

  function fill() {
    const lower = wanted.toLowerCase();
    const fits = (row) => table.columns.some((c) => cellText(c, row).toLowerCase().includes(lower));
    const found = lower ? order.filter(fits) : order;
    const shown = all ? found : found.slice(0, FIRST_ROWS);
    body.replaceChildren(...shown.map((row) => {
      const cells = table.columns.map((column) => el("td", {
        class: column.right ? "right" : "text",
      }, cellText(column, row)));
      if (lossy.size) cells.unshift(el("td", {}, lossy.has(row) ? "!" : ""));
      return el("tr", {}, ...cells);
    }));
    status.textContent = lower ? `${grouped(found.length)} of ${counted(order.length, "row")} found` : "";
    more.hidden = found.length <= FIRST_ROWS;
    more.textContent = all ? `Show ${FIRST_ROWS} rows` : `Show all ${grouped(found.length)} rows`;
  }

  search.addEventListener("input", () => { wanted = search.value.trim(); fill(); });
  more.addEventListener("click", () => { all = !all; fill(); });
  if (order.length > 5) part.append(el("div", { class: "tools" }, search, status));
  const grid = el("table", {}, el("thead", {}, el("tr", {}, ...marks, ...heads)), body);
  part.append(el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `Table ${table.name}` }, grid));
  part.append(more);
  if (table.how) part.append(el("p", { class: "soft cut" }, `This page has ${table.how}; all: `, el("code", {}, table.command)));
  if (lossy.size) part.append(el("p", { class: "soft" }, "! events of this row were lost or destroyed"));
  fill();
  return part;
}

// A plain table that scrolls by itself where it is too wide.
function gridOf(label, titles, rows) {
  const heads = titles.map((text, place) => el("th", { scope: "col", class: rows[0]?.children[place].className }, text));
  return el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label },
    el("table", {}, el("thead", {}, el("tr", {}, ...heads)), el("tbody", {}, ...rows)));
}
