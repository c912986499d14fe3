// What was found, with filters.

const ITEM = 92;
const TABS = [
  ["race", "Races", "Each of these is proven."],
  ["open", "Not proven", "These pairs are not proven to race. Each says why it is undecided."],
  ["suppressed", "Suppressed", "These pairs match a rule of the suppressions file."],
];

class List {
  constructor(element, open) {
    Object.assign(this, { element, open, tab: items.race.length || !items.open.length ? "race" : "open", shown: [], at: -1 });
    this.search = make("input", { type: "search", placeholder: "Filter: variable, function, file, thread …", "aria-label": "Filter", "aria-keyshortcuts": "/", oninput: () => this.filter() });
    this.file = this.choice("File", "all files", (item) => filesOf(item));
    this.variable = this.choice("Variable", "all variables", (item) => [text(item.pair.first.target)]);
    this.cause = this.choice("Cause", "all causes", (item) => (isGrouped && item.cause ? [`${item.cause.number}. ${text(item.cause.sentence)}`] : []));
    this.proof = this.choice("Proof", "any proof", (item) => [proofName(item)]);
    this.report = this.choice("Technique and trace", "all techniques and traces", (item) => [reportName(item)]);
    this.tabs = make("div", { role: "tablist", class: "tabs", "aria-label": "Kinds" });
    this.about = make("p", { class: "about dim" });
    this.body = make("div", { class: "items" });
    this.box = make(
      "div",
      { class: "box", role: "listbox", tabindex: "0", "aria-label": "What was found", "data-scroller": true, onkeydown: (event) => this.key(event) },
      this.body,
    );
    this.none = make("p", { class: "none" });
    fill(element, [this.tabs, make("div", { class: "filters" }, this.search, this.cause, this.file, this.variable, this.proof, this.report), this.about, this.none, this.box]);
    this.virtual = new Virtual(this.body, ITEM, (index) => this.row(index));
    this.show(this.tab);
  }

  /** A choice among what the items of a tab have in common. */
  choice(name, all, values) {
    const select = make("select", { "aria-label": name, onchange: () => this.filter() });
    return Object.assign(select, { all, values });
  }

  choices() {
    return [this.cause, this.file, this.variable, this.proof, this.report];
  }

  /** Changes to another kind of findings. */
  show(kind) {
    this.tab = kind;
    const tab = ([name, title]) => {
      const isChosen = name === kind;
      const found = items[name].length;
      if (!found && name === "suppressed") return null;
      const attributes = { role: "tab", type: "button", id: `tab-${name}`, "aria-selected": String(isChosen), tabindex: isChosen ? "0" : "-1", onclick: () => this.show(name), onkeydown: (event) => this.tabKey(event) };
      return make("button", attributes, `${title} `, make("span", { class: "count" }, found.toLocaleString("en")));
    };
    this.tabs.replaceChildren(...TABS.map(tab).filter(Boolean));
    this.about.textContent = items[kind].length ? TABS.find(([name]) => name === kind)[2] : "";
    for (const choice of this.choices()) this.offer(choice);
    this.filter();
  }

  /** Fills a choice with what there is, the most frequent first; a choice without an alternative is not shown. */
  offer(select) {
    const found = new Map();
    for (const item of items[this.tab]) for (const value of select.values(item)) found.set(value, (found.get(value) || 0) + 1);
    const chosen = select.value;
    const sorted = [...found].sort((one, other) => other[1] - one[1]).slice(0, 500);
    const option = ([value, times]) => make("option", { value }, `${clipped(value)} (${times})`);
    select.replaceChildren(make("option", { value: "" }, select.all), ...sorted.map(option));
    select.value = found.has(chosen) ? chosen : "";
    select.hidden = found.size < 2;
  }

  filter() {
    const words = this.search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const choices = this.choices().filter((select) => select.value);
    const matches = (item) =>
      choices.every((select) => select.values(item).includes(select.value)) && words.every((word) => wordsOf(item).includes(word));
    const isFiltered = words.length > 0 || choices.length > 0;
    this.shown = isFiltered ? listed[this.tab].filter(matches) : listed[this.tab];
    const [found, all] = [this.shown.length, items[this.tab].length];
    this.none.textContent = found ? (isFiltered ? `${found.toLocaleString("en")} of ${all.toLocaleString("en")}` : "") : all ? "Nothing matches." : this.tab === "race" ? "No race is proven." : "There is nothing here.";
    this.box.hidden = found === 0;
    this.at = this.shown.indexOf(this.opened);
    this.virtual.reset(found);
    this.describe();
  }

  row(index) {
    const item = this.shown[index];
    const { first, second } = item.pair;
    const access = (one, lane) =>
      make("span", { class: "one" }, make("i", { class: `mark ${lane}` }), make("span", { class: "verb" }, verbOf(one)), " ", make("span", { class: "place" }, shortPlace(text(one.place))), one.function !== undefined && make("span", { class: "dim" }, ` ${text(one.function)}`));
    const isChosen = index === this.at;
    return make(
      "div",
      { class: `item${isChosen ? " chosen" : ""}${isGrouped && item.cause && item.cause !== this.shown[index - 1]?.cause ? " first-of-cause" : ""}`, role: "option", id: `item-${index}`, "aria-selected": String(isChosen), "aria-setsize": this.shown.length, "aria-posinset": index + 1, onclick: () => this.choose(index, true) },
      make("span", { class: "first-line" }, make("span", { class: "index" }, String(item.number)), make("code", { class: "target" }, text(first.target)), make("span", { class: "badge" }, proofName(item))),
      access(first, "lane-0"),
      access(second, "lane-1"),
      make("span", { class: "last-line dim" }, [isGrouped && item.cause && `cause ${item.cause.number}`, text(item.report.technique), item.pair.reason !== undefined ? text(item.pair.reason) : reportsDiffer ? text(item.report.file) : null, item.pair.fingerprint].filter(Boolean).join(" · ")),
    );
  }

  /** Selects what stands at a position of the list; opens it, too, if wanted. */
  choose(index, isOpened) {
    if (index < 0 || index >= this.shown.length) return;
    this.at = index;
    if (isOpened) this.open(this.shown[index]);
    this.virtual.reveal(index);
    this.describe();
  }

  /** Shows what is selected. */
  describe() {
    for (const [index, row] of this.virtual.rows) {
      row.classList.toggle("chosen", index === this.at);
      row.setAttribute("aria-selected", String(index === this.at));
    }
    if (this.at >= 0) this.box.setAttribute("aria-activedescendant", `item-${this.at}`);
    else this.box.removeAttribute("aria-activedescendant");
  }

  /** What is open was opened from elsewhere: a link, or a key. */
  follow(item) {
    this.opened = item;
    if (item && item.kind !== this.tab) this.show(item.kind);
    this.at = this.shown.indexOf(item);
    if (this.at >= 0) this.virtual.reveal(this.at);
    this.describe();
  }

  move(direction, isOpened) {
    const next = this.at < 0 ? (direction > 0 ? 0 : this.shown.length - 1) : this.at + direction;
    this.choose(next, isOpened);
  }

  key(event) {
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 }[event.key];
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (steps) this.choose(Math.max(0, Math.min(this.shown.length - 1, Math.max(this.at, -1) + steps)), false);
    else if (event.key === "Home") this.choose(0, false);
    else if (event.key === "End") this.choose(this.shown.length - 1, false);
    else if (event.key === "Enter" || event.key === " ") this.choose(this.at, true);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  tabKey(event) {
    const direction = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!direction) return;
    const names = [...this.tabs.children].map((tab) => tab.id.slice(4));
    const next = names[(names.indexOf(this.tab) + direction + names.length) % names.length];
    this.show(next);
    byId(`tab-${next}`).focus();
    event.preventDefault();
  }
}

/** Whether some races have the same cause. */
const isGrouped = causes.length < items.race.length;
const reportsDiffer = data.reports.length > 1;

function reportName(item) {
  return `${text(item.report.technique)} · ${text(item.report.file)}`;
}

function proofName(item) {
  if (item.kind === "open") return "not proven";
  if (item.kind === "suppressed") return "suppressed";
  return item.pair.proof === "adjacent" ? "proven: schedule" : "proven: unordered";
}

/** What an access does, without what it does it to. */
function verbOf(access) {
  const [deed, target] = [text(access.deed), text(access.target)];
  const at = deed.indexOf(target);
  return at > 0 ? deed.slice(0, at).trim() : deed;
}

function clipped(words) {
  return words.length > 60 ? `…${words.slice(-59)}` : words;
}
