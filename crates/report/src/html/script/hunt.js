// A hunt: how many races there were after each run, and how runs got stuck.

const CURVE = { width: 560, height: 110, left: 34, bottom: 22, top: 10, right: 12 };

/** Races against runs, as steps. */
function curve(runs) {
  const most = Math.max(1, ...runs.map(([total]) => total));
  const { width, height, left, bottom, top, right } = CURVE;
  const x = (run) => left + ((width - left - right) * run) / runs.length;
  const y = (total) => height - bottom - ((height - bottom - top) * total) / most;
  let path = `M ${x(0)} ${y(0)}`;
  runs.forEach(([total], index) => (path += ` V ${y(total)} H ${x(index + 1)}`));
  const label = (at, text, anchor) => Object.assign(draw("text", { ...at, "text-anchor": anchor }), { textContent: text });
  const svg = draw("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", class: "curve", "aria-label": `${count(runs.at(-1)[0], "race")} after ${count(runs.length, "run")}` });
  svg.append(
    draw("path", { d: `M ${left} ${top} V ${height - bottom} H ${width - right}`, class: "axis" }),
    draw("path", { d: `${path} V ${y(0)} Z`, class: "area" }),
    draw("path", { d: path, class: "steps" }),
    label({ x: left - 6, y: y(most) + 4 }, String(most), "end"),
    label({ x: left - 6, y: y(0) + 4 }, "0", "end"),
    label({ x: left, y: height - 6 }, "races against runs", "start"),
    label({ x: width - right, y: height - 6 }, String(runs.length), "end"),
  );
  runs.forEach(([total, isStuck], index) => {
    if (isStuck) svg.append(draw("circle", { cx: x(index + 1), cy: y(total), r: 3.5, class: "stuck" }));
  });
  return svg;
}

function waitingThread({ thread, waits, place, stack, locks }) {
  return make(
    "article",
    { class: "access" },
    make("h3", {}, make("b", {}, text(thread)), ` ${text(waits)}`),
    make("p", { class: "at" }, placeText(place)),
    excerpt(text(place), ""),
    make("dl", {}, callers({ stack }), locksFact({ locks })),
  );
}

/** Threads that wait for each other. */
function deadlockView({ kind, title, waiting }) {
  return make("details", { class: "deadlock", open: true }, make("summary", {}, make("b", { class: "verdict-bad" }, kind), `: ${title}`), make("div", { class: "accesses" }, waiting.map(waitingThread)));
}

/** What is to be known of the hunt as a whole. */
function huntView(hunt) {
  if (!hunt) return null;
  return make(
    "section",
    { class: "hunt", "aria-label": "Hunt" },
    make("p", {}, make("b", {}, "hunt"), `: ${hunt.words}`),
    hunt.runs.length > 1 && curve(hunt.runs),
    hunt.endings.map((ending) => make("p", { class: "note" }, text(ending))),
    hunt.deadlocks.map(deadlockView),
  );
}
