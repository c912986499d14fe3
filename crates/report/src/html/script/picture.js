// A race as a picture: threads are lanes, time runs downwards, the recorded order stands beside the predicted one.

const ROW = 30;
/** The narrowest lane that has room for words; narrower ones have a dot, and the words stand beside all lanes. */
const NARROWEST = 118;
/** With so much room for words there is room for places, too. */
const ROOMY = 300;
const DOT_LANE = 15;
/** So many lanes at most; threads beyond share the last one. The racing threads are always the first two. */
const LANES = 12;
/** So many steps are not worth a fold. */
const FOLDED = 2;
const NUMBERS = 52;
const GUTTER = 72;
/** From this width on the two orders fit side by side. */
const BESIDE = 820;
/** So many lines are drawn at most between the two orders. */
const TIES = 150;

/**
 * What a panel shows of its sequence of events, row by row: steps, folds of steps that do not matter, and threads that wait. Steps
 * that no other thread could notice are part of folds, but make none. `panel.rowAt` says where each event went.
 */
function rowsOf(picture, panel) {
  const rows = [];
  panel.rowAt = new Int32Array(panel.sequence.length);
  let [hidden, from] = [0, 0];
  const waits = new Map();
  if (panel.isPredicted) {
    for (const [before, next] of picture.waits) waits.set(before, [...(waits.get(before) || []), next]);
  }
  const endFold = (to) => {
    panel.rowAt.fill(rows.length, from, to);
    const steps = hidden > FOLDED ? [] : noticeable(from, to);
    if (steps.length && steps.length === hidden) steps.forEach(addStep);
    else if (hidden > 0) rows.push({ fold: [from, to], hidden });
    hidden = 0;
  };
  const noticeable = (start, end) => {
    const positions = Array.from({ length: end - start }, (_, at) => start + at);
    return positions.filter((position) => picture.kind(panel.sequence[position]) !== "silent");
  };
  const addStep = (position) => {
    panel.rowAt[position] = rows.length;
    rows.push({ at: panel.sequence[position], position });
  };
  panel.sequence.forEach((at, position) => {
    const gap = panel.gapBefore(position);
    if (waits.has(position)) {
      endFold(position);
      from = position;
      for (const next of waits.get(position)) rows.push({ waits: next });
    }
    hidden += gap;
    if (panel.isUnfolded(position) || picture.isKey(at)) {
      endFold(position);
      addStep(position);
      from = position + 1;
    } else if (picture.kind(at) !== "silent") hidden += 1;
  });
  endFold(panel.sequence.length);
  return rows;
}

/** From where to where which thread holds which lock, by positions in the sequence. */
function sectionsOf(picture, panel) {
  const [open, sections] = [new Map(), []];
  panel.sequence.forEach((at, position) => {
    const section = picture.sections.get(at);
    if (!section) return;
    const thread = picture.lanes[at];
    const key = `${thread} ${section.lock}`;
    if (section.begins) {
      const depth = [...open.values()].filter((other) => other.thread === thread).length;
      open.set(key, { thread, lock: section.lock, from: position, to: null, depth });
    } else {
      const known = open.get(key) || { thread, lock: section.lock, from: null, depth: 0 };
      sections.push({ ...known, to: position });
      open.delete(key);
    }
  });
  return [...sections, ...open.values()];
}

/** One of the two orders. */
class Panel {
  constructor(view, isPredicted) {
    const picture = view.picture;
    Object.assign(this, { view, isPredicted, unfolded: [], isAll: false });
    this.sequence = isPredicted ? picture.order : Int32Array.from(picture.events, (_, at) => at);
    this.sections = sectionsOf(picture, this);
    this.heads = make("div", { class: "heads", "aria-hidden": "true" });
    this.body = make("div", { class: "rows" });
    this.name = isPredicted ? "Predicted order" : "Recorded order";
    this.scroller = make("div", { class: "panel-scroller" }, this.heads, this.body);
    this.element = make(
      "section",
      { class: isPredicted ? "panel predicted" : "panel recorded", "aria-label": this.name },
      make("h4", {}, this.name, make("small", {}, isPredicted ? "just as possible, and it ends in the race" : "what happened in the recorded run")),
      this.scroller,
    );
    this.virtual = new Virtual(this.body, ROW, (row) => this.row(row));
    this.drawn = new Map();
    this.virtual.onupdate = (from, to) => {
      this.drawSections(from, to);
      view.drawTies();
    };
  }

  /** How many events before this one are not part of the picture. */
  gapBefore(position) {
    const { picture } = this.view;
    if (this.isPredicted) return picture.gaps.get(position) || 0;
    const before = position > 0 ? picture.events[position - 1] : 0;
    return picture.events[position] - before - 1;
  }

  isUnfolded(position) {
    return this.isAll || this.unfolded.some(([from, to]) => position >= from && position < to);
  }

  /** Whether the step at a position has a row of its own. */
  isShown(position) {
    return this.rows[this.rowAt[position]]?.position === position;
  }

  unfold(range) {
    this.unfolded.push(range);
    this.refresh();
  }

  refresh() {
    this.rows = rowsOf(this.view.picture, this);
    this.layOut();
  }

  /** Finds out how wide lanes are, and draws everything anew. */
  layOut() {
    const threads = this.view.picture.threads;
    const room = this.scroller.clientWidth - NUMBERS;
    const fitting = Math.floor(room / NARROWEST);
    this.hasWords = fitting >= Math.min(threads.length, 3);
    // Dots leave most of the room to the words beside them.
    const most = Math.min(LANES, this.hasWords ? fitting : Math.max(3, Math.floor(room / 4 / DOT_LANE)));
    this.lanes = Math.min(threads.length, most);
    this.laneWidth = this.hasWords ? Math.min(room / this.lanes, 420) : DOT_LANE;
    this.element.classList.toggle("dots", !this.hasWords);
    this.element.classList.toggle("narrow", (this.hasWords ? 2 * this.laneWidth : room) < ROOMY);
    this.drawHeads();
    this.drawn.forEach((block) => block.remove());
    this.drawn.clear();
    this.virtual.reset(this.rows.length);
    this.drawBehind();
  }

  laneOf(thread) {
    return Math.min(thread, this.lanes - 1);
  }

  /** Whether the thread has no lane of its own. */
  isShared(thread) {
    return this.view.picture.threads.length > this.lanes && thread >= this.lanes - 1;
  }

  colourOf(thread) {
    return `lane-${Math.min(this.laneOf(thread), 6)}`;
  }

  leftOf(lane) {
    return NUMBERS + lane * this.laneWidth;
  }

  drawHeads() {
    const threads = this.view.picture.threads.map(text);
    const heads = threads.slice(0, this.lanes);
    if (threads.length > this.lanes) heads[this.lanes - 1] = `${threads.length - this.lanes + 1} other threads`;
    const head = (name, lane) => {
      const element = make("span", { class: `head lane-${Math.min(lane, 6)}`, title: name }, name);
      if (this.hasWords) {
        element.style.left = `${this.leftOf(lane)}px`;
        element.style.width = `${this.laneWidth}px`;
      }
      return element;
    };
    this.heads.replaceChildren(...heads.map(head));
  }

  /** Lanes, what hid the race, and where the two meet. */
  drawBehind() {
    this.body.querySelectorAll(".behind").forEach((old) => old.remove());
    const height = this.rows.length * ROW;
    for (let lane = 0; lane < this.lanes; lane++) {
      const line = make("div", { class: `behind lane lane-${Math.min(lane, 6)}` });
      line.style.left = `${this.leftOf(lane) + this.laneWidth / 2}px`;
      line.style.height = `${height}px`;
      this.body.prepend(line);
    }
    if (!this.isPredicted) this.drawLinks();
    this.drawRace();
  }

  /** The locks that are held in these rows; those of threads that share a lane, or inside of a fold, are not seen. */
  drawSections(from, to) {
    for (const section of this.sections) {
      if (this.isShared(section.thread)) continue;
      const first = section.from === null ? 0 : this.rowAt[section.from];
      const last = section.to === null ? this.rows.length - 1 : this.rowAt[section.to];
      const isSeen = last >= from && first < to && (first < last || this.rows[first]?.at !== undefined);
      const known = this.drawn.get(section);
      if (isSeen && !known) this.drawn.set(section, this.drawSection(section, first, last));
      else if (known && !isSeen) {
        known.remove();
        this.drawn.delete(section);
      }
    }
  }

  drawSection({ thread, lock, from, to, depth }, first, last) {
    const inset = Math.min(depth, 3) * 4 + (this.hasWords ? 3 : 1);
    const block = make("div", { class: `section lane-${Math.min(thread, 6)}`, title: `holds ${lock}` });
    if (from === null) block.classList.add("open-top");
    if (to === null) block.classList.add("open-bottom");
    block.style.left = `${this.leftOf(thread) + inset}px`;
    block.style.width = `${this.laneWidth - 2 * inset}px`;
    block.style.top = `${first * ROW + 1}px`;
    block.style.height = `${(last - first + 1) * ROW - 2}px`;
    this.body.prepend(block);
    return block;
  }

  /** An arrow for each synchronisation that made the two look ordered. */
  drawLinks() {
    for (const [from, to] of this.view.links) {
      const [start, end] = [from, to].map((at) => ({ row: this.rowAt[at], lane: this.laneOf(this.view.picture.lanes[at]) }));
      const [top, bottom] = [start.row * ROW + ROW / 2, end.row * ROW + ROW / 2];
      const [x, y] = [start.lane, end.lane].map((lane) => this.leftOf(lane) + this.laneWidth / 2);
      const drawing = draw("svg", { class: "behind link", width: this.leftOf(this.lanes), height: bottom - top + 12 });
      drawing.style.top = `${top - 6}px`;
      const [y0, y1] = [6 + (this.hasWords ? 11 : 0), bottom - top + 6 - (this.hasWords ? 12 : 5)];
      const middle = (y0 + y1) / 2;
      drawing.append(draw("path", { d: `M${x} ${y0} C${x} ${middle} ${y} ${middle} ${y} ${y1}` }));
      drawing.append(draw("path", { class: "tip", d: `M${y - 4} ${y1 - 6} L${y} ${y1} L${y + 4} ${y1 - 6}` }));
      this.body.append(drawing);
    }
  }

  /** A frame around the racing two where they meet. */
  drawRace() {
    const last = this.sequence.length - 1;
    if (!this.isPredicted || last < 1) return;
    const frame = make("div", { class: "behind meeting" });
    frame.style.top = `${this.rowAt[last - 1] * ROW}px`;
    frame.style.height = `${2 * ROW}px`;
    this.body.prepend(frame);
  }

  row(index) {
    const row = this.rows[index];
    if (row.fold) return this.foldRow(row);
    if (row.waits !== undefined) return this.waitRow(row.waits);
    return this.stepRow(row, index);
  }

  foldRow({ fold: [from, to], hidden }) {
    const steps = count(hidden, this.isPredicted ? "step" : "event");
    if (to === from) {
      return make("div", { class: "row fold" }, make("span", {}, `⋯ ${steps} not part of this diagram`));
    }
    const open = () => this.unfold([from, to]);
    return make("div", { class: "row fold" }, make("button", { type: "button", onclick: open }, `⋯ ${steps} folded`));
  }

  waitRow(at) {
    const { picture } = this.view;
    const [thread, lane] = [text(picture.threads[picture.lanes[at]]), picture.lanes[at]];
    const words = [this.hasWords ? "" : `${thread} `, "waits", make("span", { class: "where" }, ` before event ${picture.events[at]}`)];
    return make("div", { class: `row wait ${this.colourOf(lane)}` }, this.placed(make("span", { class: "chip" }, words), lane));
  }

  stepRow({ at, position }, index) {
    const { view } = this;
    const { picture } = view;
    const lane = picture.lanes[at];
    const moved = this.isPredicted ? picture.moved.get(position) : picture.moved.get(picture.ranks[at]);
    const isIn = picture.ranks[at] >= 0 || picture.order.length === 0;
    const classes = ["row", "step", this.colourOf(lane), picture.kind(at)];
    if (picture.races(at)) classes.push("racing");
    if (moved) classes.push("moved");
    if (!isIn) classes.push("absent");
    if (view.selected === at) classes.push("selected");
    const what = view.deed(this, at);
    const chip = make(
      "span",
      { class: "chip" },
      moved && make("span", { class: "way" }, moved > 0 ? "↓" : "↑"),
      (!this.hasWords || this.isShared(lane)) && make("b", {}, `${text(picture.threads[lane])} `),
      make("span", { class: "what" }, what),
      make("span", { class: "where" }, shortPlace(text(picture.places[at]))),
      picture.races(at) && make("b", { class: "tag" }, "race"),
    );
    const button = make(
      "button",
      {
        type: "button",
        class: classes.join(" "),
        tabindex: view.current(this) === position ? "0" : "-1",
        "data-at": at,
        "aria-label": view.sentence(this, at, moved, isIn),
        onclick: () => view.select(at, this),
        onmouseenter: () => view.hover(at, this),
        onmouseleave: () => view.hover(null, this),
        onfocus: () => view.focus(this, position, at),
        onkeydown: (event) => view.key(event, this, index),
      },
      make("span", { class: "event" }, String(picture.events[at])),
    );
    button.append(this.placed(chip, lane));
    return button;
  }

  /** Puts words where their lane is; with narrow lanes, a dot there and the words beside. */
  placed(chip, lane) {
    if (this.hasWords) {
      // Nothing else is in this row, so long words may reach into the next lane, or from the last one into that before.
      const own = this.laneOf(lane);
      const reach = Math.min(2, this.lanes) * this.laneWidth - 16;
      if (own > 0 && own === this.lanes - 1) chip.style.right = `calc(100% - ${this.leftOf(own + 1) - 8}px)`;
      else chip.style.left = `${this.leftOf(own) + 8}px`;
      chip.style.maxWidth = `${reach}px`;
      chip.style.minWidth = `${Math.min(reach, this.laneWidth - 16)}px`;
      return chip;
    }
    const dot = make("span", { class: "dot" });
    dot.style.left = `${this.leftOf(this.laneOf(lane)) + this.laneWidth / 2}px`;
    chip.style.left = `${this.leftOf(this.lanes) + 4}px`;
    chip.style.right = "4px";
    const both = document.createDocumentFragment();
    both.append(dot, chip);
    return both;
  }

  /** The next step from a row on, in a direction. */
  stepFrom(index, direction) {
    for (let row = index + direction; row >= 0 && row < this.rows.length; row += direction) {
      if (this.rows[row].at !== undefined) return row;
    }
    return -1;
  }

  focusRow(row) {
    this.virtual.reveal(row)?.focus({ preventScroll: true });
  }
}

/** The picture of one race, with its controls and what is told of the step that one points at. */
class PictureView {
  constructor(item, sources) {
    this.item = item;
    this.picture = pictureOf(item);
    this.sources = sources;
    this.links = (item.pair.observed || []).map(([from, to]) => [from, to].map(([event]) => this.picture.find(event)));
    this.links = this.links.filter((link) => link.every((at) => at >= 0));
    this.selected = null;
    this.currents = new Map();
    this.panels = [new Panel(this, false)];
    if (this.picture.order.length) this.panels.push(new Panel(this, true));
    this.ties = draw("svg", { class: "ties", "aria-hidden": "true" });
    const [recorded, predicted] = this.panels.map((panel) => panel.element);
    this.stage = make("div", { class: "stage" }, recorded, predicted && make("div", { class: "gutter" }, this.ties), predicted);
    this.dock = make("div", { class: "dock", role: "status", "aria-live": "polite" });
    this.all = make("button", { type: "button", "aria-pressed": "false", onclick: () => this.toggleAll() });
    this.element = make("div", { class: "picture" }, make("div", { class: "controls" }, this.all, legend(this.picture)), this.stage, this.dock);
    this.observer = new ResizeObserver(() => this.layOut());
    this.tell(null);
    this.nameToggle();
  }

  /** To be called once the element is in the page. */
  start() {
    for (const panel of this.panels) panel.refresh();
    this.layOut();
    this.observer.observe(this.stage);
  }

  end() {
    this.observer.disconnect();
    for (const panel of this.panels) panel.virtual.end();
  }

  layOut() {
    const width = this.stage.clientWidth;
    const longest = Math.max(...this.panels.map((panel) => panel.rows.length));
    const shape = `${width} ${longest}`;
    if (shape === this.shape) return;
    this.shape = shape;
    const isBeside = this.panels.length > 1 && width >= BESIDE;
    this.stage.classList.toggle("beside", isBeside);
    const isLong = longest > 60;
    this.stage.classList.toggle("long", isLong);
    // What scrolls: both orders together if they stand side by side, otherwise each of them.
    this.stage.toggleAttribute("data-scroller", isBeside);
    for (const panel of this.panels) {
      panel.scroller.toggleAttribute("data-scroller", !isBeside);
      panel.layOut();
    }
    this.drawTies();
  }

  nameToggle() {
    const [recorded, predicted] = this.panels;
    const steps = (predicted || recorded).sequence.length;
    this.all.textContent = recorded.isAll ? "Fold what does not matter" : `Show all ${count(steps, "step")}`;
    this.all.setAttribute("aria-pressed", String(recorded.isAll));
  }

  toggleAll() {
    for (const panel of this.panels) {
      panel.isAll = !panel.isAll;
      panel.unfolded = [];
      panel.refresh();
    }
    this.layOut();
    this.nameToggle();
  }

  /** Lines between the two orders, from each step to itself. */
  drawTies() {
    const [recorded, predicted] = this.panels;
    if (!predicted?.rows || !this.stage.classList.contains("beside")) {
      this.ties.replaceChildren();
      return;
    }
    const height = Math.max(recorded.rows.length, predicted.rows.length) * ROW;
    const top = recorded.body.offsetTop - this.ties.parentElement.offsetTop;
    this.ties.setAttribute("width", GUTTER);
    this.ties.setAttribute("height", height + top);
    const [from, to] = predicted.virtual.range();
    const ties = [];
    for (let row = from; row < to && ties.length < TIES; row++) {
      const { at, position } = predicted.rows[row];
      if (at === undefined || !recorded.isShown(at)) continue;
      const [y0, y1] = [recorded.rowAt[at], row].map((line) => top + line * ROW + ROW / 2);
      const moved = this.picture.moved.has(position);
      const classes = ["tie", moved && "moved", this.picture.races(at) && "racing", at === this.pointed && "pointed"];
      const middle = GUTTER / 2;
      ties.push(
        draw("path", {
          class: classes.filter(Boolean).join(" "),
          d: `M0 ${y0} C${middle} ${y0} ${middle} ${y1} ${GUTTER} ${y1}`,
        }),
      );
    }
    this.ties.replaceChildren(...ties);
  }

  /** What an event does in an order: values may differ. */
  deed(panel, at) {
    const { instead, ranks, deeds } = this.picture;
    const other = panel.isPredicted ? instead.get(ranks[at]) : undefined;
    return text(other ?? deeds[at]);
  }

  sentence(panel, at, moved, isIn) {
    const { picture } = this;
    const parts = [`event ${picture.events[at]}: ${text(picture.threads[picture.lanes[at]])} ${this.deed(panel, at)} at ${text(picture.places[at])}`];
    if (picture.races(at)) parts.push("one of the racing accesses");
    if (moved) parts.push(moved > 0 ? "comes later in the predicted order" : "comes earlier in the predicted order");
    if (!isIn) parts.push("not needed in the predicted order");
    return parts.join(", ");
  }

  /** Tells about a step below the picture. */
  tell(at, panel) {
    const { picture } = this;
    if (at === null) {
      this.dock.classList.add("idle");
      this.dock.replaceChildren("Point at a step to see its source; click it to go there.");
      return;
    }
    this.dock.classList.remove("idle");
    const lane = picture.lanes[at];
    const moved = picture.moved.get(picture.ranks[at]);
    const line = oneLine(text(picture.places[at]));
    this.dock.replaceChildren();
    fill(this.dock, [
      make(
        "div",
        { class: "who" },
        make("b", { class: `lane-${Math.min(lane, 6)} thread` }, text(picture.threads[lane])),
        ` ${this.deed(panel, at)} `,
        make("span", { class: "dim" }, `at ${text(picture.places[at])} · event ${picture.events[at]}`),
        picture.races(at) && make("b", { class: "tag" }, "race"),
        moved && make("span", { class: "moved-note" }, moved > 0 ? "↓ later than recorded" : "↑ earlier than recorded"),
        picture.order.length > 0 && picture.ranks[at] < 0 && make("span", { class: "dim" }, " · not needed in the predicted order"),
      ),
      line ? make("div", { class: "one-line" }, line) : make("div", { class: "dim" }, doubtOf(text(picture.places[at])) || "no source is known for this step"),
    ]);
  }

  /** Tells about the step that is pointed at, and shows it in both orders. */
  hover(at, panel) {
    this.pointed = at ?? this.selected;
    this.tell(this.pointed, panel);
    for (const button of this.stage.querySelectorAll(".step")) {
      button.classList.toggle("pointed", at !== null && Number(button.dataset.at) === at);
    }
    this.drawTies();
  }

  /** The step of a panel that the tab key leads to, by its position. */
  current(panel) {
    if (!this.currents.has(panel)) {
      const last = panel.sequence.length - 1;
      const racing = panel.sequence.findIndex((at) => this.picture.races(at));
      this.currents.set(panel, panel.isPredicted ? last : Math.max(racing, 0));
    }
    return this.currents.get(panel);
  }

  focus(panel, position, at) {
    this.currents.set(panel, position);
    for (const button of panel.body.querySelectorAll(".step")) {
      button.tabIndex = Number(button.dataset.at) === at ? 0 : -1;
    }
    this.hover(at, panel);
  }

  select(at, panel) {
    this.selected = at;
    for (const button of this.stage.querySelectorAll(".step")) {
      button.classList.toggle("selected", Number(button.dataset.at) === at);
    }
    this.hover(at, panel);
    this.sources.goTo(text(this.picture.places[at]));
  }

  /** Shows a step that something else on the page is about. */
  point(event) {
    const at = this.picture.find(event);
    if (at >= 0) this.hover(at, this.panels[this.panels.length - 1]);
  }

  /** Goes to a step that something else on the page is about. */
  reveal(event) {
    const at = this.picture.find(event);
    const panel = [...this.panels].reverse().find((candidate) => at >= 0 && (!candidate.isPredicted || this.picture.ranks[at] >= 0));
    if (!panel) return;
    const position = panel.isPredicted ? this.picture.ranks[at] : at;
    if (!panel.isShown(position)) panel.unfold([position, position + 1]);
    bringIntoSight(panel.element, "nearest");
    panel.focusRow(panel.rowAt[position]);
  }

  key(event, panel, index) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const direction = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const at = panel.rows[index].at;
    if (direction) {
      const row = panel.stepFrom(index, direction);
      if (row >= 0) panel.focusRow(row);
    } else if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
      const other = this.panels[event.key === "ArrowLeft" ? 0 : 1];
      const position = other?.isPredicted ? this.picture.ranks[at] : at;
      if (!other || other === panel || position < 0) return;
      if (!other.isShown(position)) other.unfold([position, position + 1]);
      other.focusRow(other.rowAt[position]);
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }
}

/** What the marks mean. */
function legend(picture) {
  const entry = (className, words) => make("span", { class: `key ${className}` }, make("i", {}), words);
  return make(
    "div",
    { class: "legend" },
    entry("racing", "racing access"),
    picture.moved.size > 0 && entry("moved", "moved"),
    picture.sections.size > 0 && entry("section", "lock held"),
    picture.order.length > 0 && entry("absent", "not needed for the race"),
  );
}
