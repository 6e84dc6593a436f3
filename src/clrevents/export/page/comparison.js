// Lays out the page of a comparison.
document.title = `${data.title} · clrevents`;
at("title").textContent = data.title;
at("about").textContent = data.headline;
at("producer").textContent = `Made by ${data.producer}. This page works offline and sends no requests.`;
for (const [name, value] of data.facts) at("facts").append(el("dt", {}, name), el("dd", {}, value));
if (data.warnings.length) {
  at("trust").append(el("div", { class: "trust warning" }, el("b", {}, "⚠ The recordings differ in more than the program"),
    el("ul", {}, ...data.warnings.map((text) => el("li", {}, text)))));
}
at("tables").append(...data.tables.map(tablePart));
const told = [...data.sentences, ...data.lacking];
if (told.length) at("sentences").append(el("ul", { class: "notes" }, ...told.map((text) => el("li", {}, text))));
flames();
at("no-flames").hidden = data.flames.length > 0;
themes();
// For tests and tools: everything is there.
document.documentElement.dataset.ready = "yes";
