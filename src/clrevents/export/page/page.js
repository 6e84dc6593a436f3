// Lays out the page. Sections are filled when they are first opened, so that the first picture comes soon.
const FIRST_CELLS = 3;
const SIGNS = { info: "✓", warning: "⚠", error: "✗" };

function pairs(list, lines) {
  for (const [name, value] of lines) list.append(el("dt", {}, name), el("dd", {}, value));
}

function head() {
  document.title = `${data.title} · clrevents`;
  at("title").textContent = data.title;
  at("about").textContent = data.facts.filter(([name]) => name === "duration" || name === "events").map(([, v]) => v).join(", ");
  at("producer").textContent = `Made by ${data.producer}. This page works offline and sends no requests.`;
  const trust = data.trust;
  const box = el("div", { class: `trust ${trust.level}` }, el("b", {}, `${SIGNS[trust.level]} ${trust.verdict}`));
  const lines = trust.lines.map(([severity, text]) => el("li", { class: severity }, text));
  if (trust.doubtful.length) lines.push(el("li", {}, `Answers with a warning of their own: ${trust.doubtful.join(", ")}`));
  if (lines.length) box.append(el("ul", {}, ...lines));
  at("trust").append(box);
  findings();
  pairs(at("facts"), data.facts);
  const rows = data.kinds.rows.map(([name, provider, count]) => el("tr", {}, el("td", { class: "right" }, grouped(count)),
    el("td", { class: "text" }, name, el("div", { class: "soft" }, provider))));
  at("kinds").append(gridOf("Kinds of event", ["events", "event"], rows));
  if (data.kinds.more) at("kinds").append(el("p", { class: "soft" }, `and ${counted(data.kinds.more, "more kind")}`));
}

// What is wrong, worst first, each with a link to the answer that shows it.
function findings() {
  const { opening, headline, rows } = data.findings;
  at("findings").append(...opening.map((line) => el("p", {}, line)));
  at("findings").append(el("h3", { class: rows.length ? "found" : "clear" }, headline));
  if (!rows.length) return;
  at("findings").append(el("ol", {}, ...rows.map((row) => {
    const place = el("a", { href: `#report-${row.report}` }, row.rule);
    place.addEventListener("click", () => { const target = at(`report-${row.report}`); if (target) target.open = true; });
    const culprit = row.culprit ? [el("div", {}, "culprit: ", el("code", {}, row.culprit))] : [];
    return el("li", {}, place, ` (${row.impact}): ${row.title}`, ...culprit, el("div", {}, row.advice), el("div", { class: "soft" }, `Unless ${row.trap}`));
  })));
}

// The first row of an answer's first table: what it is about, and its first numbers.
function firstRow(section) {
  const table = section.tables.find((one) => one.columns.length);
  const known = table?.columns.filter((column) => column.texts[0] !== null) ?? [];
  if (!known.length) return [];
  const about = known.find((column) => column.importance === 0 && !column.right);
  const others = known.filter((column) => column !== about).sort((a, b) => a.importance - b.importance).slice(0, FIRST_CELLS);
  const name = about ? [el("code", {}, cellText(about, 0)), " "] : [];
  return [el("span", { class: "first" }, `${table.name}: `, ...name, others.map((column) => `${column.title} ${cellText(column, 0)}`).join(", "))];
}

function sectionPart(section) {
  const headline = section.headline.map(([name, value]) => el("span", {}, `${name} `, el("b", {}, value)));
  const tags = section.coverage === "full" ? [] : [el("span", { class: "tag" }, `${section.coverage} data`)];
  const summary = el("summary", {}, el("span", {}, el("h3", {}, section.name)), el("span", {},
    el("span", { class: "question" }, section.question, ...tags), el("span", { class: "headline" }, ...headline), ...firstRow(section)));
  const body = el("div", { class: "body" });
  const made = el("details", { class: "report", id: `report-${section.name}` }, summary, body);
  made.fill = () => { if (!body.childElementCount) fillSection(body, section); };
  made.addEventListener("toggle", () => { if (made.open) made.fill(); });
  return made;
}

function missing() {
  if (!data.missing.rows.length) return;
  at("missing").hidden = false;
  const body = at("missing-body");
  body.append(el("p", {}, "To record everything:"), el("p", {}, el("code", {}, `dotnet-trace collect --providers ${data.missing.record}`)));
  const rows = data.missing.rows.map((row) => el("tr", {}, el("td", {}, row.report), el("td", {}, row.coverage),
    el("td", { class: "text" }, row.question), el("td", { class: "text" }, row.missing.join(", "))));
  body.append(gridOf("What was not recorded", ["report", "data", "question", "not recorded"], rows));
}

function contents() {
  const entries = [["trace", "This trace"]];
  if (!at("timeline").hidden) entries.push(["timeline", "Timeline"]);
  entries.push(["answers", "Answers"], ...data.sections.map((section) => [`report-${section.name}`, section.name, "under"]));
  if (!at("flames").hidden) entries.push(["flames", "Flame graph"]);
  if (!at("missing").hidden) entries.push(["missing", "Not recorded"]);
  for (const [id, text, under] of entries) {
    const link = el("a", { href: `#${id}` }, text);
    link.addEventListener("click", () => { if (under) at(id).open = true; });
    at("contents").append(el("li", { class: under || null }, link));
  }
}

head();
const sections = data.sections.map(sectionPart);
at("sections").append(...sections);
if (!sections.length) at("sections").append(el("p", {}, "No report has data in this trace."));
missing();
timelinePart();
flames();
contents();
for (const [id, open] of [["open-all", true], ["close-all", false]]) {
  at(id).addEventListener("click", () => { for (const section of sections) { section.open = open; if (open) section.fill(); } });
}
themes();
if (location.hash) {
  const target = sections.find((section) => `#${section.id}` === location.hash);
  if (target) { target.open = true; target.scrollIntoView(); }
}
// For tests and tools: everything that is shown first is there.
document.documentElement.dataset.ready = "yes";
