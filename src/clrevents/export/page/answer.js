// Lays out the page of one answer.
document.title = data.section.question;
at("title").textContent = data.section.question;
at("about").textContent = data.about;
fillSection(at("answer"), data.section);
themes();
// For tests and tools: everything is there.
document.documentElement.dataset.ready = "yes";
