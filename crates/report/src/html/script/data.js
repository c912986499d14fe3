// What was embedded, made easy to use.

const data = JSON.parse(byId("data").textContent);
const text = (position) => data.texts[position];

/** A place in a source file, or null: `bank.c:12:3`, `bank.c:12`. */
function placeOf(location) {
  const found = /^(.*?):(\d+)(?::(\d+))?$/s.exec(location);
  return found && { file: found[1], line: Number(found[2]), column: Number(found[3] || 0) };
}

/** A place without its folders. */
function shortPlace(location) {
  return location.slice(location.lastIndexOf("/") + 1);
}

/** Source files by their names. */
const files = new Map(data.files.map((file) => [text(file.name), file]));

/** From which letter to which the thing goes that stands at a column of a line: both counted from 0; null if not known. */
function tokenAt(file, number, column) {
  file.tokenMap ??= new Map(file.tokens.map(([line, at, from, to]) => [`${line}:${at}`, [from, to]]));
  return file.tokenMap.get(`${number}:${column}`) || null;
}

/** The text of a line, or undefined. */
function lineOf(file, number) {
  for (const [first, lines] of file.pieces) {
    if (number >= first && number < first + lines.length) return text(lines[number - first]);
  }
  return undefined;
}

/** What is not to be relied on in what is shown of a place; null if there is nothing. */
function doubtOf(location) {
  const place = placeOf(location);
  const file = place && files.get(place.file);
  if (!file) return null;
  const doubt = file.doubt || (lineOf(file, place.line) === undefined ? data.no_such_line : null);
  return doubt && `${place.file} ${doubt}`;
}

/** All that is listed: races, what is not proven, and what is suppressed. Numbers count within each of these. */
const KINDS = { race: "races", open: "open", suppressed: "suppressed" };
const items = { race: [], open: [], suppressed: [] };
for (const report of data.reports) {
  for (const [kind, field] of Object.entries(KINDS)) {
    for (const pair of report[field]) {
      items[kind].push({ kind, report, pair, number: items[kind].length + 1 });
    }
  }
}

/** All causes, and that of each race; races of one cause stand together. */
const causes = [];
{
  let before = 0;
  for (const report of data.reports) {
    for (const cause of report.causes) {
      const races = cause.races.map((number) => items.race[before + number - 1]);
      causes.push({ ...cause, number: causes.length + 1, races });
      for (const race of races) race.cause = causes[causes.length - 1];
    }
    before += report.races.length;
  }
}
/** The races in the order of the list. */
const listed = { ...items, race: causes.flatMap((cause) => cause.races) };

const idOf = (item) => `${item.kind === "open" ? "candidate" : item.kind}-${item.number}`;

function itemOf(id) {
  const found = /^#?(race|candidate|suppressed)-(\d+)$/.exec(id);
  const kind = found && (found[1] === "candidate" ? "open" : found[1]);
  return (found && items[kind][Number(found[2]) - 1]) || null;
}

/** The files that a pair is about. */
function filesOf(item) {
  const places = [item.pair.first, item.pair.second].map((access) => placeOf(text(access.place))?.file);
  return [...new Set(places.filter(Boolean))];
}

/** All words that one might look for. */
function wordsOf(item) {
  if (item.words === undefined) {
    const access = ({ thread, deed, place, target, function: name, stack }) => [
      [thread, deed, place, target, name].map(text),
      stack === undefined ? [] : data.stacks[stack].flat().map(text),
    ];
    const { first, second, reason, fingerprint } = item.pair;
    const about = [text(item.report.technique), text(item.report.file), text(reason), fingerprint];
    item.words = [access(first), access(second), about].flat(Infinity).filter(Boolean).join("\n").toLowerCase();
  }
  return item.words;
}

/** What a picture is made of: columns, with numbers instead of how much they grow. */
function pictureOf(item) {
  const raw = item.pair.picture;
  if (!raw || item.picture) return item.picture || null;
  const sums = (growth) => {
    let sum = 0;
    return Int32Array.from(growth, (more) => (sum += more));
  };
  const order = sums(raw.order);
  const picture = {
    ...raw,
    events: sums(raw.events),
    order,
    moved: new Map(raw.moved),
    instead: new Map(raw.instead),
    gaps: new Map(raw.gaps),
    sections: new Map(raw.sections.map(([at, lock, begins]) => [at, { lock: text(lock), begins }])),
    ranks: new Int32Array(raw.events.length).fill(-1),
  };
  order.forEach((at, rank) => (picture.ranks[at] = rank));
  picture.races = (at) => (raw.marks[at] & 4) !== 0;
  picture.isKey = (at) => (raw.marks[at] & 8) !== 0;
  picture.kind = (at) => ["contested", "access", "sync", "silent"][raw.marks[at] & 3];
  picture.find = (event) => picture.events.indexOf(event);
  return (item.picture = picture);
}
