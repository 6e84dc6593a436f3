// Draws one flame graph at a time into an SVG element, and answers clicks, keys and searches. `at` finds the elements
// by what they are for: graph, search, matched, reverse, merge, merging, reset, name, weight, and state where there is
// one, legend, gone and widths where two traces may be compared. `isDark` tells whether the paper is dark. Every text
// goes in as text.
function flameGraph(at, isDark) {
  const svg = at("graph"), ROW = 20, THINNEST = 0.4, SVG = "http://www.w3.org/2000/svg";
  let data = null, root, zoomed, here = null, wanted = null, own = [], letter = 7.3;

  // Widths are of one trace; where there is another, `data.before` is what each stack weighed in it, and widths may be of
  // what changed: what stacks gained and what they lost, added up, so that changes that cancel stay visible, and calls
  // that are gone. `data.scales` makes amounts of both what they are `data.per`. The steps are of the change of a share,
  // in percentage points; their colours go from less to more, and no two are told apart by red and green.
  const STEPS = [0.1, 1, 5], SHADES = {
    light: ["#74a6e8", "#a9c8f2", "#dbe8fa", "#e4e4ea", "#fde3d0", "#f9b98a", "#ee8f50"],
    dark: ["#2c62ac", "#27508a", "#22344d", "#3c3c48", "#4a3020", "#7a4317", "#9c500d"],
  }, BARS = { light: ["#1c5bb0", "#b35400"], dark: ["#7fb2f5", "#ffa24d"] }, LISTED = 100;

  // Hues of whose code it is, where the trace tells: as flame graphs of whole machines have them.
  const KINDS = { kernel: 14, native: 48, managed: 128 };

  // A frame below zero stands for a thread.
  const label = (frame) => (frame < 0 ? data.threads[-1 - frame] : data.frames[frame]);
  const module = (frame) => (frame < 0 ? "" : data.modules[data.module[frame]]);
  const nameOf = (node) => (node.frame === null ? "all" : label(node.frame));

  function made(parent, frame) {
    return { parent, frame, depth: parent ? parent.depth + 1 : 0, total: 0, own: 0, before: 0, more: 0, less: 0, start: 0, children: new Map() };
  }

  const byChange = () => Boolean(data.before) && at("widths")?.value === "changes";
  const wideOf = (node) => (byChange() ? node.more + node.less : node.total);

  // What each stack weighs: all of it, or what it weighs in one state of its thread.
  function weigh() {
    const chosen = at("state")?.value;
    const state = chosen ? (data.states || []).find(([name]) => name === chosen) : null;
    own = data.own;
    if (!state) return;
    own = new Array(data.own.length).fill(0);
    state[1].forEach((node, place) => { own[node] = state[2][place]; });
  }

  // The tree as it is to be shown, from every stack that has a weight of its own.
  function plant() {
    const merge = at("merge").checked, reverse = at("reverse").checked;
    weigh();
    root = made(null, null);
    for (let node = 0; node < own.length; node++) {
      const weight = own[node] * (data.scales?.[0] ?? 1), before = (data.before?.[node] ?? 0) * (data.scales?.[1] ?? 1);
      if (!weight && !before) continue;
      const stack = [];
      let thread = null;
      for (let up = node; up >= 0; up = data.parent[up]) {
        if (data.frame[up] < 0) thread = data.frame[up]; else stack.push(data.frame[up]);
      }
      if (!reverse) stack.reverse();
      if (thread !== null && !merge) stack.unshift(thread);
      const count = (place) => {
        place.total += weight;
        place.before += before;
        place[weight > before ? "more" : "less"] += Math.abs(weight - before);
      };
      let place = root;
      count(place);
      for (const frame of stack) {
        let child = place.children.get(frame);
        if (!child) place.children.set(frame, (child = made(place, frame)));
        place = child;
        count(place);
      }
      place.own += weight;
    }
    // Widest first, each one's start counted from the left edge of the whole.
    const waiting = [root];
    while (waiting.length) {
      const node = waiting.pop();
      node.children = [...node.children.values()].sort((a, b) => wideOf(b) - wideOf(a) || (label(a.frame) < label(b.frame) ? -1 : 1));
      let start = node.start;
      for (const child of node.children) {
        child.start = start;
        start += wideOf(child);
        waiting.push(child);
      }
    }
    zoomed = root;
    here = null;
    listGone();
  }

  const amount = (value) => `${unitless(value)}${data.per ?? ""}`;

  function unitless(value) {
    const scaled = (steps) => {
      // As everywhere else in clrevents: three digits in the unit of the magnitude.
      const [size, unit] = steps.find(([size]) => value >= size) || steps[steps.length - 1];
      const scaled = value / size, digits = size === 1 ? 0 : scaled < 9.995 ? 2 : scaled < 99.95 ? 1 : 0;
      return `${scaled.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits })} ${unit}`;
    };
    if (data.unit === "nanoseconds") return scaled([[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]]);
    if (data.unit === "bytes") return scaled([[1e9, "GB"], [1e6, "MB"], [1e3, "kB"], [1, "B"]]);
    return value.toLocaleString("en", { maximumFractionDigits: 3 });
  }

  const share = (part, whole) => `${(whole ? (100 * part) / whole : 0).toFixed(2)} %`;

  // How far a share changed, or an amount as a share of all before: 0 for about the same, up to 3 steps more or less.
  function level(node) {
    if (!byChange() && (!root.total || !root.before)) return 0;
    const points = byChange() ? (100 * (node.total - node.before)) / (root.before || root.total || 1)
      : 100 * (node.total / root.total - node.before / root.before);
    return Math.sign(points) * STEPS.filter((step) => Math.abs(points) >= step).length;
  }
  const tint = (step) => SHADES[isDark() ? "dark" : "light"][step + STEPS.length];
  const mark = (step) => (step > 0 ? "▲ " : step < 0 ? "▼ " : "");
  const signOf = (node) => (byChange() && node !== root && !node.before ? "+ " : byChange() && !node.total ? "− " : mark(level(node)));
  const signed = (value) => (value ? `${value > 0 ? "+" : "−"}${amount(Math.abs(value))}` : "no change");

  // What each colour means, in words.
  function explain() {
    const box = at("legend");
    if (!box) return;
    const kinds = Object.keys(KINDS).filter((kind) => data.kinds.includes(kind));
    box.hidden = !data.before && !kinds.length;
    if (box.hidden) return;
    const ranges = STEPS.map((step, place) => (STEPS[place + 1] ? `${step} to ${STEPS[place + 1]}` : `${step} or more`));
    const swatch = (fill, text) => {
      const part = document.createElement("span"), picture = element("svg", { width: 14, height: 14, "aria-hidden": "true" });
      picture.append(element("rect", { width: 14, height: 14, fill }));
      part.append(picture, ` ${text}`);
      return part;
    };
    if (!data.before) {
      box.replaceChildren("Colour: whose code it is:", ...kinds.flatMap((kind) => [" ", swatch(hued(KINDS[kind], 2), kind)]));
      return;
    }
    const parts = [byChange()
      ? `Width: what grew and what shrank since ${data.against}, added up; below each box solid what grew, dashed what shrank. `
        + "+ is new, − is gone. Colour: the change of both together, in percent of all before:"
      : `Width: the weight now. Colour: change of its share against ${data.against}, in percentage points:`];
    for (let step = -STEPS.length; step <= STEPS.length; step++) {
      parts.push(" ", swatch(tint(step), step ? mark(step) + ranges[Math.abs(step) - 1] : "about the same"));
    }
    box.replaceChildren(...parts);
  }

  // The outermost calls that have no width, because they weighed something before and nothing now.
  function listGone() {
    const box = at("gone");
    if (!box) return;
    const gone = [], waiting = byChange() ? [] : [root];
    while (waiting.length) {
      const node = waiting.pop();
      for (const child of node.children) if (child.total) waiting.push(child); else gone.push(child);
    }
    box.hidden = !gone.length;
    const made = (name, text) => { const one = document.createElement(name); one.textContent = text; return one; };
    const sum = (nodes) => nodes.reduce((all, node) => all + node.before, 0);
    const told = (nodes) => `${amount(sum(nodes))}, ${share(sum(nodes), root.before)} of all before`;
    const calls = (nodes) => `${nodes.length.toLocaleString("en")} ${nodes.length === 1 ? "call" : "calls"}`;
    gone.sort((a, b) => b.before - a.before);
    const list = document.createElement("ul"), rest = gone.slice(LISTED);
    for (const node of gone.slice(0, LISTED)) {
      list.append(made("li", `${nameOf(node)}: ${told([node])}${node.parent === root ? "" : `, called by ${nameOf(node.parent)}`}`));
    }
    if (rest.length) list.append(made("li", `and ${calls(rest)} more: ${told(rest)}`));
    box.replaceChildren(made("summary", `Gone: ${calls(gone)} of ${data.against} without any weight now: ${told(gone)}`), list);
  }

  const hued = (hue, shade) => (isDark() ? `hsl(${hue} 42% ${27 + shade * 1.5}%)` : `hsl(${hue} 68% ${72 + shade * 2}%)`);

  function colour(node) {
    const dark = isDark(), frame = node.frame;
    if (data.before) return tint(level(node));
    if (frame === null || frame < 0) return dark ? "#3c3c48" : "#d5d5de";
    if (data.kinds[frame]) return hued(KINDS[data.kinds[frame]], (frame * 7) % 5);
    if (data.reasons[frame]) return dark ? "#55504a" : "#c9c3ba";
    let hue = 0;
    for (const char of module(frame)) hue = (hue * 31 + char.codePointAt(0)) % 360;
    // Shades tell neighbours of one module apart.
    return hued(hue, (frame * 7) % 5);
  }

  // What of a name fits: all, without parameters, without namespaces, or its beginning. Other languages' names have no
  // namespaces before dots, but versions behind them.
  function fitted(name, letters, kind) {
    if (name.length <= letters) return name;
    if (kind === "kernel" || kind === "native") {
      const plain = name.replace(/@.*$/s, "");
      return plain.length <= letters ? plain : letters < 3 ? "" : `${plain.slice(0, letters - 1)}…`;
    }
    const bare = name.startsWith("[") ? name : name.replace(/\(.*$/s, "");
    const parts = [""];
    let deep = 0;
    for (const char of bare) {
      if (char === "<" || char === "[") deep++;
      if (char === ">" || char === "]") deep--;
      if (char === "." && deep === 0 && parts[parts.length - 1]) parts.push(""); else parts[parts.length - 1] += char;
    }
    for (let first = 0; first < parts.length; first++) {
      const text = parts.slice(first).join(".");
      if (text.length <= letters) return text;
    }
    return letters < 3 ? "" : `${parts[parts.length - 1].slice(0, letters - 1)}…`;
  }

  function element(name, attributes) {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    return made;
  }

  // Which part of a box's width grew, and which shrank.
  function bars(node, x, wide) {
    const middle = x + (node.more + node.less ? (wide * node.less) / (node.more + node.less) : 0), y = node.depth * ROW + ROW - 3;
    const bar = (from, to, step, dash) => element("line", {
      x1: from, x2: to, y1: y, y2: y, class: "bar", stroke: BARS[isDark() ? "dark" : "light"][step], "stroke-dasharray": dash,
    });
    return [...(node.less ? [bar(x, middle, 0, "4 2")] : []), ...(node.more ? [bar(middle, x + wide, 1, "none")] : [])];
  }

  function draw() {
    const width = svg.clientWidth || innerWidth, scale = wideOf(zoomed) ? width / wideOf(zoomed) : 0;
    const above = [];
    for (let node = zoomed.parent; node; node = node.parent) above.unshift(node);
    const groups = [], waiting = [zoomed];
    let deepest = 0;
    const box = (node, x, wide, kind) => {
      const found = wanted && node.frame !== null && wanted(node.frame);
      const group = element("g", { class: `${kind}${found ? " found" : ""}${node === here ? " here" : ""}` });
      group.node = node;
      group.append(element("rect", { x, y: node.depth * ROW, width: wide, height: ROW - 1, rx: 2, fill: colour(node) }));
      if (byChange()) group.append(...bars(node, x, wide));
      const sign = data.before ? signOf(node) : "";
      const code = node.frame === null || node.frame < 0 ? "" : data.kinds[node.frame];
      const shown = fitted(nameOf(node), Math.floor((wide - 6) / letter) - sign.length, code);
      if (shown) {
        const text = element("text", { x: Math.max(x, 0) + 4, y: node.depth * ROW + 14 });
        text.textContent = sign + shown;
        group.append(text);
      }
      groups.push(group);
      deepest = Math.max(deepest, node.depth);
    };
    for (const node of above) box(node, 0, width, "path");
    if (!scale) box(waiting.pop(), 0, width, "box");
    while (waiting.length) {
      const node = waiting.pop(), wide = wideOf(node) * scale;
      if (wide < THINNEST) continue;
      box(node, (node.start - zoomed.start) * scale, wide, "box");
      waiting.push(...node.children);
    }
    svg.setAttribute("height", (deepest + 1) * ROW + 4);
    svg.replaceChildren(...groups);
    at("reset").disabled = zoomed === root;
    explain();
    match();
  }

  // The share that the outermost boxes found have of what is shown; boxes inside of those are not counted again.
  function match() {
    if (!wanted) {
      at("matched").textContent = "";
      return;
    }
    let sum = 0, before = 0;
    const waiting = [zoomed];
    while (waiting.length) {
      const node = waiting.pop();
      if (node.frame !== null && wanted(node.frame)) {
        sum += node.total;
        before += node.before;
      } else waiting.push(...node.children);
    }
    const then = data.before ? `; before ${share(before, zoomed.before)}, ${amount(before)}` : "";
    at("matched").textContent = `${share(sum, zoomed.total)} found, ${amount(sum)}${then}`;
  }

  function search() {
    const text = at("search").value.trim();
    let test = null;
    if (text) {
      const lower = text.toLowerCase();
      test = (name) => name.toLowerCase().includes(lower);
      const pattern = /^\/(.+)\/$/s.exec(text);
      if (pattern) {
        try {
          const compiled = new RegExp(pattern[1], "i");
          test = (name) => compiled.test(name);
        } catch {
          test = () => false;
        }
      }
    }
    const known = new Map();
    wanted = test && ((frame) => {
      if (!known.has(frame)) known.set(frame, test(label(frame)));
      return known.get(frame);
    });
    draw();
  }

  function tell(node) {
    const frame = node.frame, whole = root.total;
    at("name").textContent = nameOf(node);
    const told = [`${amount(node.total)}, ${share(node.total, whole)} of all`];
    if (data.before) {
      const shares = `${share(node.before, root.before)} → ${share(node.total, whole)}`;
      told[0] = `${signed(node.total - node.before)}: ${amount(node.before)} → ${amount(node.total)}, ${shares} of all`;
      if (!node.before) told.push("new");
      if (!node.total) told.push("gone");
      if (node.more && node.less) told.push(`beneath: ${signed(node.more)} and ${signed(-node.less)}`);
    }
    if (zoomed !== root) told.push(`${share(wideOf(node), wideOf(zoomed))} of what is shown`);
    told.push(`${amount(node.own)} ${at("reverse").checked ? "begins here" : "in it alone"}`);
    if (frame !== null && module(frame)) told.push(`module ${module(frame)}`);
    if (frame !== null && frame >= 0 && data.kinds[frame]) told.push(`${data.kinds[frame]} code`);
    if (frame !== null && frame >= 0 && data.reasons[frame]) told.push(`no name: ${data.reasons[frame]}`);
    at("weight").textContent = told.join(" · ");
  }

  function zoom(node) {
    if (!wideOf(node)) return;
    zoomed = here = node;
    draw();
    tell(node);
  }

  const back = () => { zoomed = root; here = null; draw(); };

  // The arrows go from box to box, Enter zooms.
  function go(key) {
    const from = here ?? zoomed, beside = from.parent?.children ?? [];
    const next = {
      ArrowDown: from.children[0],
      ArrowUp: from.parent,
      ArrowRight: beside[beside.indexOf(from) + 1],
      ArrowLeft: beside[beside.indexOf(from) - 1],
    }[key];
    if (!next) return;
    here = next;
    if (next.depth < zoomed.depth) zoomed = next;
    draw();
    tell(next);
  }

  const nodeOf = (event) => event.target.closest("g")?.node;
  svg.addEventListener("click", (event) => {
    const node = nodeOf(event);
    if (node) zoom(node);
  });
  svg.addEventListener("mouseover", (event) => { const node = nodeOf(event); if (node) tell(node); });
  svg.addEventListener("keydown", (event) => {
    if (event.key.startsWith("Arrow")) { event.preventDefault(); go(event.key); }
    if (event.key === "Enter" && here) zoom(here);
    if (event.key === "Escape") back();
  });
  at("search").addEventListener("input", search);
  for (const id of ["reverse", "merge", "state", "widths"]) at(id)?.addEventListener("change", () => { plant(); draw(); });
  at("reset").addEventListener("click", back);
  addEventListener("resize", () => { if (data) draw(); });

  function show(shown) {
    data = shown;
    at("merging").hidden = !data.threads.length;
    if (at("widening")) at("widening").hidden = !data.before;
    const ruler = element("text", {});
    ruler.textContent = "m".repeat(100);
    svg.replaceChildren(ruler);
    letter = ruler.getComputedTextLength() / 100 || letter;
    plant();
    search();
  }

  return { show, draw: () => { if (data) draw(); }, back, label, whole: () => (data.before ? `${amount(root.total)} now and ${amount(root.before)} before` : amount(root.total)) };
}
