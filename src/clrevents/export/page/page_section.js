// What an answer tells: its facts, caveats, charts and tables.
function noted(lines) {
  return el("ul", { class: "notes" }, ...lines.map(([severity, text]) => {
    const [word, ...rest] = text.split(": ");
    return el("li", { class: severity }, el("b", {}, `${word}: `), rest.join(": "));
  }));
}

function chartPart(chart) {
  const made = el("figure", { "data-chart": chart.name });
  if (chart.svg) {
    const scroll = el("div", { class: "chart", tabindex: "0", role: "region", "aria-label": `Chart ${chart.name}` });
    scroll.append(drawing(chart.svg, chart.about));
    made.append(scroll);
  }
  made.append(el("figcaption", {}, chart.svg ? chart.about : `Chart ${chart.name} is not here: ${chart.why}`));
  return made;
}

function fillSection(body, section) {
  body.append(el("p", { class: "soft" }, section.about));
  const many = el("dl", { class: "facts many" });
  for (const [name, value] of section.facts) many.append(el("div", {}, el("dt", {}, name), el("dd", {}, value)));
  if (section.facts.length) body.append(many);
  const unknown = section.unknown.map((text) => ["info", `unknown: ${text}`]);
  const lacking = section.lacking.length ? [["warning", `not recorded: ${section.lacking.join(", ")}`]] : [];
  const notes = [...section.notes, ...lacking, ...unknown];
  if (notes.length) body.append(noted(notes));
  body.append(...section.charts.map(chartPart));
  body.append(...section.tables.filter((table) => table.columns.length).map(tablePart));
  const counts = section.tables.filter((table) => !table.columns.length);
  for (const table of counts) {
    body.append(el("p", { class: "soft left-out" }, `${table.name} is not in this page (${counted(table.rows, "row")}): `,
      el("code", {}, table.command)));
  }
}
