// Lines of the program.

/** The line without its first letters, and with what stands from one letter to another marked, if that is known. */
function markedLine(line, indent, token) {
  const characters = Array.from(line.slice(indent));
  if (!token || token[0] < indent) return [line.slice(indent)];
  const [start, end] = token.map((at) => at - indent);
  const part = (from, to) => characters.slice(from, to).join("");
  return [part(0, start), make("mark", {}, part(start, end)), part(end)];
}

/** How many spaces or tabs all lines begin with: that tells nothing. */
function commonIndent(lines) {
  const indents = lines.filter((line) => line.trim()).map((line) => /^[ \t]*/.exec(line)[0]);
  if (!indents.length) return 0;
  let common = indents[0];
  for (const indent of indents) while (!indent.startsWith(common)) common = common.slice(0, -1);
  return common.length;
}

/** Lines of one file as a listing. `marks` maps lines to the place there: its column and what to call it. */
function listing(file, numbers, marks, label) {
  const indent = commonIndent(numbers.map((number) => lineOf(file, number)));
  const rows = [];
  numbers.forEach((number, at) => {
    if (at > 0 && numbers[at - 1] !== number - 1) rows.push(make("div", { class: "cut" }, "⋯"));
    const mark = marks.get(number);
    const line = lineOf(file, number);
    rows.push(
      make(
        "div",
        { class: mark ? `line ${mark.class}` : "line", "data-line": number },
        make("span", { class: "number" }, String(number)),
        make("code", {}, mark ? markedLine(line, indent, tokenAt(file, number, mark.column)) : line.slice(indent)),
        mark?.note && make("span", { class: "note-of-line" }, mark.note),
      ),
    );
  });
  return make("div", { class: "source", role: "group", "aria-label": label, tabindex: "0" }, rows);
}

/** Scrolls listings sideways so that what is marked is in sight; to be called once they are in the page. */
function showMarks(element) {
  for (const source of element.querySelectorAll(".source")) {
    const mark = source.querySelector("mark");
    if (!mark) continue;
    const [box, there] = [source.getBoundingClientRect(), mark.getBoundingClientRect()];
    const beyond = there.right - box.right + 24;
    if (beyond > 0) source.scrollLeft += Math.min(beyond + box.width / 3, there.left - box.left - 80);
  }
}

/** The numbers of the lines that are known around one. */
function linesAround(file, line, around) {
  const numbers = [];
  for (let number = line - around; number <= line + around; number++) {
    if (lineOf(file, number) !== undefined) numbers.push(number);
  }
  return numbers;
}

/** What a file shows around a place, with the doubts about it; null if nothing is known of the place. */
function excerpt(location, className) {
  const place = placeOf(location);
  const file = place && files.get(place.file);
  if (!file) return null;
  const doubt = doubtOf(location);
  const numbers = linesAround(file, place.line, 3);
  const marks = new Map([[place.line, { column: place.column, class: `here ${className}` }]]);
  return [
    doubt && make("p", { class: "doubt" }, doubt),
    numbers.length > 0 && listing(file, numbers, marks, `Source around ${location}`),
  ];
}

/** The line of a place alone, without what it begins with. */
function oneLine(location) {
  const place = placeOf(location);
  const file = place && files.get(place.file);
  const line = file && lineOf(file, place.line);
  if (line === undefined || line === null) return null;
  const indent = commonIndent([line]);
  return make("code", {}, markedLine(line, indent, tokenAt(file, place.line, place.column)));
}

/** All lines that the steps of a race are about, file by file. */
class Sources {
  constructor() {
    this.element = make("div", { class: "sources" });
    this.places = new Map();
  }

  /** Adds a place; `note` says who is there. */
  add(location, note, className) {
    const place = placeOf(location);
    const file = place && files.get(place.file);
    if (!file || lineOf(file, place.line) === undefined) return false;
    const lines = this.places.get(place.file) || new Map();
    this.places.set(place.file, lines);
    const known = lines.get(place.line) || { notes: new Set(), class: "step-line", column: place.column };
    if (note) known.notes.add(note);
    if (className) known.class = className;
    lines.set(place.line, known);
    return true;
  }

  show() {
    this.element.replaceChildren();
    for (const [name, lines] of this.places) {
      const file = files.get(name);
      const numbers = new Set([...lines.keys()].flatMap((line) => linesAround(file, line, 2)));
      const marks = new Map(
        [...lines].map(([line, { notes, class: className, column }]) => [
          line,
          { class: className, column: notes.size > 1 ? 0 : column, note: [...notes].join(", ") },
        ]),
      );
      const sorted = [...numbers].sort((one, other) => one - other);
      fill(this.element, [
        make("h4", { class: "file" }, name),
        file.doubt && make("p", { class: "doubt" }, `${name} ${file.doubt}`),
        Object.assign(listing(file, sorted, marks, `Source of ${name}`), { file: name }),
      ]);
    }
    return this.places.size > 0;
  }

  /** Shows the line of a place and marks it. Returns whether there is one. */
  goTo(location) {
    const place = placeOf(location);
    if (!this.add(location)) return false;
    this.show();
    for (const source of this.element.querySelectorAll(".source")) {
      if (source.file !== place.file) continue;
      const line = source.querySelector(`[data-line="${place.line}"]`);
      line.classList.add("selected");
      bringIntoSight(line, "center");
    }
    return true;
  }
}
