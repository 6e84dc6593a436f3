// The flame graphs of a page, one at a time; it may say at which width they begin.
function flames() {
  if (!data.flames.length) return;
  at("flames").hidden = false;
  const parts = flameGraph((id) => at(`flame-${id}`), isDark);
  themed.push(parts.draw);
  const what = at("flame-what"), state = at("flame-state");
  data.flames.forEach((flame, place) => what.append(el("option", { value: place }, flame.name)));
  at("flame-whats").hidden = data.flames.length < 2;
  const show = () => {
    const flame = data.flames[what.value || 0];
    at("flame-states").hidden = !flame.states.length;
    state.replaceChildren(el("option", { value: "" }, "all"), ...flame.states.map(([name]) => el("option", { value: name }, name)));
    if (flame.widths) at("flame-widths").value = flame.widths;
    parts.show(flame);
    at("flame-note").textContent = `${flame.about}, ${parts.whole()} in all. ${flame.note}${flame.note ? "." : ""}`;
  };
  what.addEventListener("change", show);
  show();
}
