// The timeline: lanes of threads and tracks of what happened, drawn on a canvas from what was put together before.
// How high a bar is tells its state besides its colour; what is under the pointer or chosen by keys is told in words.
const HEIGHTS = { running: 1, gc_suspended: 1, ready: 0.9, native: 0.8, lock: 0.65, task_wait: 0.55, wait: 0.5, join: 0.45, io: 0.4, sleep: 0.35,
  pool_idle: 0.18, unknown: 0.1 };
const ROW_HEIGHT = 18, AXIS = 22, FEW_LANES = 16;

function timelinePart() {
  const timeline = data.timeline, canvas = at("timeline-canvas"), pen = canvas.getContext("2d");
  if (!timeline.lanes.length && !timeline.tracks.length) return;
  at("timeline").hidden = false;
  let from = 0, to = timeline.ticks, everyLane = timeline.lanes.length <= FEW_LANES, rows = [], chosen = null;
  const time = (tick) => durationText(tick * timeline.tick_ns);

  // A row of the picture: its title, and its things with where they begin and end.
  function layOut() {
    rows = [];
    for (const track of timeline.tracks) {
      const lines = Math.max(-1, ...track.rows) + 1;
      for (let line = 0; line < lines; line++) {
        const things = [...track.rows.keys()].filter((thing) => track.rows[thing] === line);
        rows.push({ title: line ? "" : track.title, track, things });
      }
    }
    for (const lane of timeline.lanes) {
      if (everyLane || lane.rank < FEW_LANES) rows.push({ title: data.texts[lane.title], lane, things: [...lane.starts.keys()] });
    }
  }
  const source = (row) => row.lane ?? row.track;

  function told(row, thing) {
    const its = source(row), count = its.counts[thing];
    const span = its.ends[thing] > its.starts[thing]
      ? `from ${time(its.starts[thing])} to ${time(its.ends[thing])}, ${time(its.ends[thing] - its.starts[thing])}`
      : `at ${time(its.starts[thing])}`;
    if (row.lane) {
      const state = timeline.states[its.states[thing]];
      const what = count > 1 ? `${state} ${its.shares[thing]} % of the time, ${counted(count, "short interval")}` : state;
      return `thread ${row.title}: ${what}, ${span}`;
    }
    const name = data.texts[its.labels[thing]];
    const several = count > 1 ? `${grouped(count)} close together, the longest: ` : "";
    return `${row.track.title}: ${several}${name}${name ? ", " : ""}${span}`;
  }

  function hatch(x, y, width, height) {
    pen.save();
    pen.beginPath();
    pen.rect(x, y, width, height);
    pen.clip();
    pen.strokeStyle = ink("paper");
    pen.lineWidth = 1;
    pen.beginPath();
    for (let left = x - height; left < x + width; left += 5) { pen.moveTo(left, y + height); pen.lineTo(left + height, y); }
    pen.stroke();
    pen.restore();
  }

  function stateBar(state, colour, x, y, width, room) {
    const height = Math.max(2, HEIGHTS[state] * room);
    pen.fillStyle = colour;
    pen.fillRect(x, y + room - height, width, height);
    if (state === "gc_suspended" && width > 3) hatch(x, y + room - height, width, height);
  }

  const left = () => Math.min(230, Math.max(96, canvas.clientWidth * 0.2));
  const place = (tick) => left() + ((tick - from) / (to - from)) * (canvas.clientWidth - left() - 4);

  function axis(width) {
    const steps = [1, 2, 5], span = (to - from) * timeline.tick_ns, wide = Math.max(2, (width - left()) / 110);
    let step = 1;
    for (let power = 1; step < span / wide; power *= 10) {
      for (const size of steps) { step = size * power; if (step >= span / wide) break; }
    }
    const digits = step >= 1e6 ? 0 : step >= 1e3 ? 3 : 6;
    pen.textAlign = "center";
    for (let ns = Math.ceil((from * timeline.tick_ns) / step) * step; ns <= to * timeline.tick_ns; ns += step) {
      const x = place(ns / timeline.tick_ns);
      pen.fillStyle = ink("line");
      pen.fillRect(x, AXIS - 5, 1, rows.length * ROW_HEIGHT + 5);
      pen.fillStyle = ink("soft");
      if (x > left() + 20 && x < width - 30) pen.fillText(`${grouped(ns / 1e6, digits)} ms`, x, 12);
    }
  }

  function draw() {
    const width = canvas.clientWidth, height = AXIS + rows.length * ROW_HEIGHT + 4, fine = devicePixelRatio || 1;
    canvas.style.height = `${height}px`;
    canvas.width = Math.round(width * fine);
    canvas.height = Math.round(height * fine);
    pen.setTransform(fine, 0, 0, fine, 0, 0);
    pen.clearRect(0, 0, width, height);
    pen.font = "12px system-ui, sans-serif";
    pen.textBaseline = "middle";
    axis(width);
    const colours = timeline.states.map(ink), mark = ink("mark"), words = ink("ink"), paper = ink("paper"), link = ink("link");
    rows.forEach((row, number) => {
      const y = AXIS + number * ROW_HEIGHT, its = source(row), room = ROW_HEIGHT - 4;
      const bars = row.things.filter((thing) => its.ends[thing] >= from && its.starts[thing] <= to);
      for (const thing of bars) {
        const x = Math.max(place(its.starts[thing]), left()), wide = Math.max(place(its.ends[thing]) - x, row.lane ? 0.5 : 2);
        if (row.lane) {
          stateBar(timeline.states[its.states[thing]], colours[its.states[thing]], x, y + 2, wide, room);
        } else {
          pen.fillStyle = mark;
          pen.fillRect(x, y + 2, wide, room);
          if (wide > 40) {
            pen.save();
            pen.beginPath();
            pen.rect(x, y, wide - 3, ROW_HEIGHT);
            pen.clip();
            pen.fillStyle = paper;
            pen.textAlign = "left";
            pen.fillText(data.texts[its.labels[thing]], x + 3, y + ROW_HEIGHT / 2);
            pen.restore();
          }
        }
        if (chosen && chosen.row === number && chosen.thing === thing) {
          pen.strokeStyle = link;
          pen.lineWidth = 2;
          pen.strokeRect(x - 1, y + 1, wide + 2, room + 2);
        }
      }
      pen.fillStyle = paper;
      pen.fillRect(0, y, left() - 2, ROW_HEIGHT);
      pen.fillStyle = words;
      pen.textAlign = "left";
      pen.save();
      pen.beginPath();
      pen.rect(0, y, left() - 6, ROW_HEIGHT);
      pen.clip();
      pen.fillText(row.title, 0, y + ROW_HEIGHT / 2);
      pen.restore();
    });
    at("timeline-whole").disabled = from === 0 && to === timeline.ticks;
  }

  // A view that stays inside of the trace, and not so narrow that nothing would be in it.
  function view(low, high) {
    const span = Math.min(timeline.ticks, Math.max(high - low, timeline.ticks / 2000, 5));
    const middle = (low + high) / 2;
    from = Math.min(Math.max(0, middle - span / 2), timeline.ticks - span);
    to = from + span;
    draw();
  }
  function zoom(factor, middle = (from + to) / 2) {
    view(middle - (middle - from) * factor, middle + (to - middle) * factor);
  }
  const move = (part) => view(from + part * (to - from), to + part * (to - from));

  function choose(row, thing) {
    chosen = { row, thing };
    at("timeline-told").textContent = told(rows[row], thing);
    const its = source(rows[row]);
    if (its.ends[thing] < from || its.starts[thing] > to) {
      const half = (to - from) / 2;
      view(its.starts[thing] - half, its.starts[thing] + half);
    } else draw();
  }
  function nearest(row, tick) {
    const its = source(rows[row]);
    const far = (thing) => Math.max(its.starts[thing] - tick, tick - its.ends[thing], 0);
    return rows[row].things.reduce((best, thing) => (best === null || far(thing) < far(best) ? thing : best), null);
  }
  function go(key) {
    if (!chosen) { if (rows.length) choose(0, nearest(0, from)); return; }
    const { row, thing } = chosen, step = { ArrowUp: -1, ArrowDown: 1 }[key];
    if (step) {
      const next = row + step;
      if (next >= 0 && next < rows.length) choose(next, nearest(next, source(rows[row]).starts[thing]));
      return;
    }
    const things = rows[row].things, beside = things[things.indexOf(thing) + (key === "ArrowRight" ? 1 : -1)];
    if (beside !== undefined) choose(row, beside);
  }

  canvas.addEventListener("keydown", (event) => {
    const middle = chosen ? source(rows[chosen.row]).starts[chosen.thing] : undefined;
    if (event.key.startsWith("Arrow")) go(event.key);
    else if (event.key === "+" || event.key === "=") zoom(0.5, middle);
    else if (event.key === "-") zoom(2, middle);
    else if (event.key === "Home" || event.key === "Escape") view(0, timeline.ticks);
    else return;
    event.preventDefault();
  });
  const tickAt = (x) => from + ((x - left()) / (canvas.clientWidth - left() - 4)) * (to - from);
  const rowAt = (y) => Math.floor((y - AXIS) / ROW_HEIGHT);
  canvas.addEventListener("mousemove", (event) => {
    const row = rowAt(event.offsetY), tick = tickAt(event.offsetX), slack = ((to - from) / canvas.clientWidth) * 3;
    if (!rows[row] || event.offsetX < left()) return;
    const thing = nearest(row, tick), its = source(rows[row]);
    const near = thing !== null && its.starts[thing] - slack <= tick && its.ends[thing] + slack >= tick;
    at("timeline-told").textContent = near ? told(rows[row], thing) : `${rows[row].title}: nothing at ${time(tick)}`;
  });
  canvas.addEventListener("click", (event) => {
    const row = rowAt(event.offsetY);
    if (rows[row] && event.offsetX >= left()) choose(row, nearest(row, tickAt(event.offsetX)));
  });
  canvas.addEventListener("dblclick", (event) => zoom(0.33, tickAt(event.offsetX)));
  canvas.addEventListener("wheel", (event) => {
    // Without a key the wheel scrolls the page.
    if (!event.ctrlKey && !event.shiftKey) return;
    event.preventDefault();
    zoom(event.deltaY > 0 || event.deltaX > 0 ? 1.25 : 0.8, tickAt(event.offsetX));
  }, { passive: false });
  at("timeline-in").addEventListener("click", () => zoom(0.5));
  at("timeline-out").addEventListener("click", () => zoom(2));
  at("timeline-left").addEventListener("click", () => move(-0.5));
  at("timeline-right").addEventListener("click", () => move(0.5));
  at("timeline-whole").addEventListener("click", () => view(0, timeline.ticks));
  const lanes = at("timeline-lanes");
  lanes.hidden = everyLane;
  lanes.textContent = `All ${timeline.lanes.length} threads`;
  lanes.addEventListener("click", () => {
    everyLane = !everyLane;
    chosen = null;
    lanes.setAttribute("aria-pressed", String(everyLane));
    layOut();
    draw();
  });

  function legend() {
    const used = new Set(timeline.lanes.flatMap((lane) => lane.states));
    const entries = timeline.states.filter((_, number) => used.has(number)).map((state) => {
      const swatch = el("canvas", { width: "36", height: "28", "aria-hidden": "true" });
      const own = swatch.getContext("2d");
      own.scale(2, 2);
      own.fillStyle = ink(state);
      const height = Math.max(2, HEIGHTS[state] * 14);
      own.fillRect(0, 14 - height, 18, height);
      return el("li", {}, swatch, state.replace("_", " "));
    });
    at("timeline-legend").replaceChildren(...entries);
  }
  const about = [`Anything shorter than ${durationText(timeline.part_ns)} is merged with its neighbours.`];
  if (timeline.more) about.push(`${counted(timeline.more, "thread")} that did less ${timeline.more === 1 ? "is" : "are"} not drawn.`);
  const unplaced = [];
  for (const track of timeline.tracks) {
    if (track.unplaced) unplaced.push(`${track.title}: ${grouped(track.unplaced)} of ${grouped(track.count)}`);
  }
  if (unplaced.length) about.push(`Not drawn, because their begin or end is unknown: ${unplaced.join("; ")}.`);
  at("timeline-about").textContent = about.join(" ");
  at("timeline-told").textContent = "Point at a bar, or use the arrow keys; Ctrl and the wheel zoom.";
  themed.push(() => { legend(); draw(); });
  addEventListener("resize", draw);
  layOut();
}
