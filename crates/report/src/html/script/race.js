// One race, told to somebody who has never heard of it.

/** The two threads of a pair have the colours of their lanes. */
const lanes = ["lane-0", "lane-1"];

/** A place, in full; the file is what one looks for first. */
const placeText = (position) => make("span", { class: "place" }, text(position));

/** So many callers are shown at once. */
const FRAMES = 6;
/** Names are shown whole up to this length. */
const NAME = 60;

/** A function; what a long name is instantiated with is left out, and shown when asked for. */
function functionName(name) {
  const short = name.length > NAME ? withoutArguments(name) : name;
  if (short === name) return make("code", {}, name);
  return make("details", { class: "name" }, make("summary", {}, make("code", {}, short)), make("code", {}, name));
}

/** A name without what stands between angle brackets; operators and arrows are no brackets. */
function withoutArguments(name) {
  let [depth, short] = [0, ""];
  for (let at = 0; at < name.length; at++) {
    const isOperator = /operator\s*[<>=-]*$/.test(name.slice(0, at)) || name[at - 1] === "-";
    if (name[at] === "<" && !isOperator && at > 0) {
      if (depth++ === 0) short += "<…>";
    } else if (name[at] === ">" && !isOperator && depth > 0) depth--;
    else if (depth === 0) short += name[at];
  }
  return depth === 0 ? short : name;
}

/** The frames of a stack below the first one; functions of libraries that call each other are only counted. */
function stackList(stack, skip) {
  const frames = stack === undefined || stack === null ? [] : data.stacks[stack].slice(skip);
  const isOfLibrary = ([, place]) => files.get(placeOf(text(place))?.file)?.library ?? /^\?$|^\/(usr|rustc)\/|\/rustlib\/src\//.test(text(place));
  const entries = [];
  for (let at = 0; at < frames.length; ) {
    let end = at + 1;
    const isSame = ([name, place]) => name === frames[at][0] && place === frames[at][1];
    const goesOn = isOfLibrary(frames[at]) ? isOfLibrary : isSame;
    while (end < frames.length && goesOn(frames[end])) end++;
    const item = ([name, place]) => make("li", {}, functionName(text(name)), " at ", placeText(place));
    const run = frames.slice(at, end);
    if (!isOfLibrary(run[0]) || run.length === 1) {
      const entry = item(run[0]);
      if (run.length > 1) entry.append(`, ${run.length} times`);
      entries.push(entry);
    } else {
      const inner = make("ol", {}, run.map(item));
      entries.push(make("li", {}, make("details", {}, make("summary", {}, `${run.length} functions of libraries`), inner)));
    }
    at = end;
  }
  if (!entries.length) return null;
  const rest = entries.splice(FRAMES);
  if (rest.length === 1) entries.push(rest[0]);
  else if (rest.length) entries.push(make("li", {}, make("details", {}, make("summary", {}, `${rest.length} more callers`), make("ol", {}, rest))));
  return make("ol", { class: "stack" }, entries);
}

/** A fact about an access: what it is about, and what is known; more of it on demand. */
function fact(name, value, stack, skip = 0) {
  const frames = stackList(stack, skip);
  const more = frames && make("details", {}, make("summary", {}, "calls"), frames);
  return make("div", { class: "fact" }, make("dt", {}, name), make("dd", {}, value, more));
}

/** Who called the function of the access. */
function callers(access) {
  const frames = stackList(access.stack, 1);
  return frames && make("div", { class: "fact" }, make("dt", {}, "called from"), make("dd", {}, frames));
}

function locksFact({ locks }) {
  if (!locks) return null;
  if (!locks.length) return fact("holds", "no lock");
  return locks.map(([lock, isShared, place, stack]) =>
    fact("holds", [make("code", {}, text(lock)), isShared ? " as a reader" : "", " (locked at ", placeText(place), ")"], stack),
  );
}

function originFact(name, origin) {
  if (!origin) return null;
  const [event, thread, place, stack] = origin;
  return fact(name, [make("b", {}, text(thread)), " at ", placeText(place), make("span", { class: "dim" }, ` · event ${event}`)], stack);
}

/** One of the two accesses, with its source and all that is around it. */
function accessCard(access, which) {
  const title = [make("b", { class: `thread ${lanes[which]}` }, text(access.thread)), ` ${text(access.deed)}`];
  const place = [placeText(access.place), access.function !== undefined && [" in ", functionName(text(access.function))]];
  return make(
    "article",
    { class: `access ${lanes[which]}`, "aria-label": which ? "The other access" : "One access" },
    make("h3", {}, title),
    make("p", { class: "at" }, place, make("span", { class: "dim" }, ` · event ${access.event}`)),
    excerpt(text(access.place), lanes[which]),
    make(
      "dl",
      {},
      callers(access),
      locksFact(access),
      originFact("thread started by", access.started),
      originFact("memory allocated by", access.allocated),
    ),
  );
}

const bold = (position) => make("b", {}, text(position));

/** Which kind of proof there is, in words. */
function proofText(pair) {
  if (pair.proof === "unordered") {
    return (
      "In the recorded run itself, nothing that the programming language guarantees orders these two accesses: no lock, " +
      "no start or end of a thread, no release and acquire of an atomic. By the rules of the language that is a data race, in whatever order " +
      "the two happened to run. An independent referee has checked it on the recording."
    );
  }
  return (
    `There is an order of ${count(pair.length, "recorded step")} that ends with the two accesses adjacent, with ` +
    "nothing in between that could order them. An independent referee has replayed it step by step: each thread does " +
    "its own steps in their order, each lock is free when it is acquired, each thread is started before it runs, and each " +
    "necessary read sees what it saw in the recorded run."
  );
}

/** Whether the recorded run itself leaves the two unordered. */
function isObserved({ observed, proof }) {
  return proof === "unordered" || (observed && !observed.length);
}

/** What the recorded run had between the two. */
function observedPart(item, view) {
  const { observed } = item.pair;
  if (isObserved(item.pair)) {
    return make("p", {}, "By the rules of the language nothing there orders the two accesses. That they did not meet was not guaranteed.");
  }
  if (!observed) {
    return make("p", {}, "What ordered the two in the recorded run has no short explanation; the recorded order below shows it.");
  }
  const deed = ([event, thread, what]) =>
    make("button", { class: "link", type: "button", onclick: () => view?.reveal(event) }, bold(thread), ` ${text(what)}`, make("span", { class: "dim" }, ` (event ${event})`));
  const link = ([from, to, isAccident]) =>
    make("li", {}, deed(from), " came before ", deed(to), isAccident ? ", by accident: nothing in the program forces that order" : null);
  return [
    make("p", {}, "In the recorded run the two accesses looked ordered, because there"),
    make("ul", { class: "links" }, observed.map(link)),
  ];
}

/** Which reads matter, and what for. */
function readsPart({ pair: { reads } }, view) {
  const line = ([event, words]) =>
    make("li", {}, make("button", { class: "link", type: "button", onclick: () => view?.reveal(event) }, text(words)));
  return [
    make("p", {}, reads.introduction),
    make("ul", { class: "links" }, reads.lines.map(line)),
    reads.more ? make("p", { class: "dim" }, `… and ${count(reads.more, "more read")}.`) : null,
  ];
}

/** How it happens, step by step. */
function storyPart(item, view) {
  const { story } = item.pair;
  if (!story) return null;
  const laneOf = (thread) => {
    const { first, second } = item.pair;
    const at = [first.thread, second.thread].indexOf(story.threads[thread]);
    return at < 0 ? "" : lanes[at];
  };
  const who = (thread) => make("b", { class: `thread ${laneOf(thread)}` }, text(story.threads[thread]));
  let number = 0;
  const row = (entry) => {
    if (entry.skipped) {
      const [thread, steps] = entry.skipped;
      return make("li", { class: "skipped" }, `⋯ ${count(steps, "more step")} of ${thread === null ? "several threads" : text(story.threads[thread])}`);
    }
    const [thread, event, what, place, races] = entry.step || entry.waits;
    if (entry.waits) {
      return make("li", { class: "waits" }, who(thread), ` waits here; in the recorded run it continued to event ${event}`);
    }
    return make(
      "li",
      { class: races ? "races" : "", value: ++number },
      make(
        "button",
        { class: "link", type: "button", onclick: () => view?.reveal(event), onmouseenter: () => view?.point(event) },
        who(thread),
        ` ${text(what)}`,
      ),
      " ",
      make("span", { class: "place dim" }, text(place)),
      races && make("b", { class: "tag" }, "race"),
    );
  };
  return make("ol", { class: "story" }, story.rows.map(row));
}

/** Why there is no picture, or not all of it. */
function pictureNote(item, picture) {
  const { pair } = item;
  if (!picture) {
    return "There is no diagram of this race: the recording was not held in memory, or the report has too many races.";
  }
  if (pair.proof === "unordered") return "The proof is about the recorded order itself, so there is no other order to show. This is what was recorded around the two accesses.";
  if (!picture.order.length) return "The witness was checked but not kept, as all witnesses together are long (--witness all keeps them). This is what was recorded around the two accesses.";
  if (!picture.whole) return `The whole order has ${count(pair.length, "step")}. The picture has those that matter most: how threads wait for each other, and who touches what is raced for.`;
  return null;
}

function section(title, ...children) {
  return make("section", {}, make("h3", {}, title), children);
}

/** Everything about one race. Returns the element, what to call once it is in the page, and what to call when it is left. */
function raceView(item) {
  const { pair, report } = item;
  const { first, second } = pair;
  const picture = pictureOf(item);
  const sources = new Sources();
  const view = picture && new PictureView(item, sources);
  if (picture) addKeyPlaces(picture, sources);
  const hasSources = sources.show();
  const note = pictureNote(item, picture);
  const timeline = picture && new Timeline(picture, report.events, (event) => view.reveal(event));
  const element = make(
    "article",
    { class: "race", "data-item": idOf(item) },
    make(
      "header",
      {},
      make("p", { class: "crumb" }, make("b", { class: "word race" }, "Race"), ` ${item.number} of ${items.race.length}`, dots([text(report.technique), text(report.file), pair.fingerprint])),
      make("h2", {}, make("code", {}, text(first.target))),
      causePart(item),
      make(
        "p",
        { class: "verdict" },
        make("b", { class: "thread lane-0" }, text(first.thread)), ` ${text(first.deed)} at `, placeText(first.place), ", and ",
        make("b", { class: "thread lane-1" }, text(second.thread)), ` ${text(second.deed)} at `, placeText(second.place),
        ". Nothing in the program keeps them from doing so at the same time.",
      ),
      pair.hunted && make("p", { class: "dim" }, `It was ${pair.hunted}.`),
      pair.path && make("p", {}, `Path: ${pair.path}.`),
      pair.values && make("p", {}, "With values that the recorded run did not have there:"),
      pair.values && make("ul", {}, ...pair.values.map((value) => make("li", {}, text(value)))),
      pair.processes && make("p", { class: "dim" }, `Found in ${pair.processes} processes; this is how the first of them shows it.`),
      pair.confirmation && make("p", { class: pair.confirmation[0] ? "proven" : "dim" }, text(pair.confirmation[1])),
    ),
    section("Diagram", note && make("p", { class: "dim" }, note), timeline?.element, view?.element),
    make("div", { class: "accesses" }, accessCard(first, 0), accessCard(second, 1)),
    make("div", { class: "telling" }, section(isObserved(pair) ? "The recorded run shows it as well" : "Why the recorded run did not show it", observedPart(item, view)), section("How sure is this?", make("p", {}, make("b", { class: "proven" }, "Proven. "), proofText(pair)))),
    pair.story && section("How it happens", storyPart(item, view)),
    pair.reads && section("Which reads matter", readsPart(item, view)),
    view && section("The source of these steps", sources.element, !hasSources && make("p", { class: "dim" }, "The source files of these steps are not here.")),
  );
  const start = () => {
    view?.start();
    showMarks(element);
  };
  return { element, view, start, end: () => view?.end() };
}

/** What the race comes from, what would mend it, and which other races come from the same. */
function causePart({ number, cause }) {
  if (!cause) return null;
  const others = cause.races.filter((race) => race.number !== number);
  const link = (race) => [" ", make("button", { class: "link", type: "button", onclick: () => open(race) }, String(race.number))];
  const more = others.length > MORE ? ` and ${others.length - MORE} more` : "";
  return [
    make("p", { class: "cause" }, quoted(text(cause.sentence)), "."),
    cause.fix !== undefined && make("p", { class: "fix" }, make("b", {}, "Proposed fix: "), quoted(text(cause.fix)), "."),
    others.length > 0 && make("p", { class: "dim" }, others.length === 1 ? "The same cause has race" : "The same cause have races", others.slice(0, MORE).map(link), more, "."),
  ];
}

/** So many races of one cause are named. */
const MORE = 12;

/** Words in which what stands between backquotes is code. */
function quoted(words) {
  return words.split("`").map((part, at) => (at % 2 ? make("code", {}, part) : part));
}

/** Who is where, for those steps that have to be seen. */
function addKeyPlaces(picture, sources) {
  const most = 60;
  let added = 0;
  for (let at = 0; at < picture.events.length && added < most; at++) {
    if (!picture.isKey(at)) continue;
    const thread = text(picture.threads[picture.lanes[at]]);
    const className = picture.races(at) ? "racing-line" : null;
    if (sources.add(text(picture.places[at]), thread, className)) added++;
  }
}

/** A pair that is not proven, or not wanted. */
function pairView(item) {
  const { pair, report, kind } = item;
  const isOpen = kind === "open";
  const element = make(
    "article",
    { class: "race", "data-item": idOf(item) },
    make(
      "header",
      {},
      make("p", { class: "crumb" }, make("b", { class: "word open" }, isOpen ? "Not proven" : "Suppressed"), ` ${item.number} of ${items[kind].length}`, dots([text(report.technique), text(report.file), pair.fingerprint])),
      make("h2", {}, make("code", {}, text(pair.first.target))),
      make(
        "p",
        { class: "verdict" },
        isOpen ? "This pair is not proven to race. Reason: " : "This pair is suppressed by the rule: ",
        make("b", {}, text(pair.reason)),
      ),
      pair.more > 0 && make("p", { class: "dim" }, `${count(pair.more, "more pair")} of these two places ${pair.more === 1 ? "is" : "are"} undecided, too.`),
    ),
    make("div", { class: "accesses" }, accessCard(pair.first, 0), accessCard(pair.second, 1)),
  );
  return { element, view: null, start: () => showMarks(element), end: () => {} };
}

/** Small facts one after the other; those that are not there are left out. */
function dots(facts) {
  return facts.filter(Boolean).map((part) => [" · ", make("span", { class: "dim" }, part)]);
}
