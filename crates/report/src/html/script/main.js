// The page as a whole: what is open, keys, colours.

let opened = null;
let view = null;

function showSummary() {
  const proven = items.race.length || data.reports.some((one) => one.deadlocks.length || one.violations.length);
  const headline = make("h1", {}, make("span", { class: proven ? "verdict-bad" : "verdict-none" }, data.summary));
  const report = (one) =>
    make(
      "div",
      { class: "report" },
      make("p", {}, make("b", {}, text(one.file)), " · ", make("span", { class: "technique" }, text(one.technique)), reportsDiffer && ` · ${one.summary}`, dots(one.facts.map(text))),
      notesPart(one.notes.map(text)),
      one.deadlocks.map(deadlockView),
      one.violations.map(deadlockView),
      huntView(one.hunt),
    );
  // Of very many reports, those with something to say come first to mind.
  const shown = data.reports.slice(0, 12);
  const rest = data.reports.slice(12);
  const more = rest.length > 0 && make("details", {}, make("summary", {}, count(rest.length, "more report")), rest.map(report));
  fill(byId("summary"), [make("p", { class: "brand" }, data.tool), headline, causesPart(), shown.map(report), more]);
}

/** What is to be known about a report: one line, and all of it when asked for. */
function notesPart(notes) {
  if (!notes.length) return null;
  const first = notes[0].length > 80 ? `${notes[0].slice(0, 79)}…` : notes[0];
  const words = [make("b", {}, count(notes.length, "note")), `: ${first}`];
  return make("details", { class: "notes" }, make("summary", {}, words), notes.map((note) => make("p", { class: "note" }, note)));
}

/** What the races come from, if several have the same cause. */
function causesPart() {
  if (!isGrouped) return null;
  const entry = (cause) => make("li", {}, make("button", { class: "link", type: "button", onclick: () => open(cause.races[0]) }, quoted(text(cause.sentence))), make("span", { class: "dim" }, ` · ${count(cause.races.length, "race")}`));
  const [shown, rest] = [causes.slice(0, 8), causes.slice(8)];
  return make(
    "div",
    { class: "causes" },
    make("p", {}, make("b", {}, `${count(causes.length, "cause")} of ${count(items.race.length, "race")}`)),
    make("ol", {}, shown.map(entry)),
    rest.length > 0 && make("details", {}, make("summary", {}, count(rest.length, "more cause")), make("ol", { start: shown.length + 1 }, rest.map(entry))),
  );
}

/** What is there before anything is opened. */
function showNothing() {
  const detail = byId("detail");
  const hint = items.race.length || items.open.length || data.reports.some((one) => one.deadlocks.length || one.violations.length || one.hunt?.deadlocks.length) ? "Select an entry of the list to see both accesses, the schedule that makes them race, and the proof." : "Nothing was found. The notes above say whether the analysis is complete.";
  detail.replaceChildren(make("div", { class: "empty" }, make("p", {}, hint)));
}

function close() {
  view?.end();
  [view, opened] = [null, null];
  document.body.classList.remove("reading");
  showNothing();
  list.follow(null);
}

/** Shows an item, without changing the address. */
function show(item) {
  view?.end();
  opened = item;
  view = item.kind === "race" ? raceView(item) : pairView(item);
  const detail = byId("detail");
  document.body.classList.add("reading");
  detail.replaceChildren(make("button", { class: "back", type: "button", onclick: leave }, "← All findings"), view.element);
  view.start();
  list.follow(item);
}

/** Shows what the address names. */
function followAddress() {
  const item = itemOf(location.hash);
  if (item === opened) return;
  if (item) {
    show(item);
    window.scrollTo({ top: byId("panes").offsetTop - 8 < scrollY ? byId("panes").offsetTop - 8 : scrollY, behavior: "instant" });
  } else close();
}

/** Opens an item. To go from one to the next is no step back to go. */
function open(item) {
  if (item === opened) return;
  if (opened) history.replaceState(null, "", `#${idOf(item)}`);
  else location.hash = idOf(item);
  followAddress();
}

function leave() {
  if (location.hash) location.hash = "";
  followAddress();
}

const THEMES = ["system", "light", "dark"];

function setTheme(theme) {
  const root = document.documentElement;
  if (theme === "system") delete root.dataset.theme;
  else root.dataset.theme = theme;
  byId("theme").textContent = `Theme: ${theme}`;
  try {
    localStorage.setItem("foretell-theme", theme);
  } catch {
    // A page from a file may not be allowed to remember anything.
  }
}

function rememberedTheme() {
  try {
    const theme = localStorage.getItem("foretell-theme");
    return THEMES.includes(theme) ? theme : "system";
  } catch {
    return "system";
  }
}

function key(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || byId("guide").open) return;
  const isTyping = event.target.matches?.("input, select, textarea");
  if (event.key === "Escape") {
    if (isTyping) event.target.blur();
    else if (opened) leave();
    return;
  }
  if (isTyping) {
    if (event.key === "Enter" && list.shown.length) list.choose(Math.max(list.at, 0), true);
    return;
  }
  const actions = {
    j: () => list.move(1, true),
    k: () => list.move(-1, true),
    ArrowDown: () => list.move(1, true),
    ArrowUp: () => list.move(-1, true),
    Enter: () => event.target === document.body && list.choose(Math.max(list.at, 0), true),
    "/": () => list.search.focus(),
    a: () => view?.view?.toggleAll(),
    "?": () => byId("guide").showModal(),
  };
  // Arrows scroll the page, unless nothing is open or it is the list that they are for.
  const isForPage = event.key.startsWith("Arrow") && opened && event.target !== document.body;
  if (!actions[event.key] || isForPage) return;
  if (event.key === "Enter" && event.target !== document.body) return;
  actions[event.key]();
  event.preventDefault();
}

const list = new List(byId("list"), open);
showSummary();
setTheme(rememberedTheme());
byId("theme").addEventListener("click", () => {
  const theme = document.documentElement.dataset.theme || "system";
  setTheme(THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length]);
});
byId("help").addEventListener("click", () => byId("guide").showModal());
document.addEventListener("keydown", key);
addEventListener("hashchange", followAddress);
/** What is folded cannot be opened on paper. */
let openedForPrint = [];
addEventListener("beforeprint", () => {
  isPrinting = true;
  openedForPrint = [...document.querySelectorAll("#detail .fact details:not([open]), .notes:not([open])")];
  for (const details of openedForPrint) details.open = true;
  for (const virtual of virtuals) virtual.update();
});
addEventListener("afterprint", () => {
  isPrinting = false;
  for (const details of openedForPrint.splice(0)) details.open = false;
  for (const virtual of virtuals) virtual.update();
});
showNothing();
if (itemOf(location.hash)) followAddress();
else if (items.race.length && matchMedia("(min-width: 1000px)").matches) show(listed.race[0]);
document.documentElement.dataset.ready = "";
