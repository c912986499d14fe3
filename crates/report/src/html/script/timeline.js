// The whole run in one strip, down to the two accesses: where in it the picture is.

/** Heights of a lane and of what is below all of them, widths, and how far ticks are apart at least. */
const TIMELINE = { lane: 16, foot: 18, wide: 1000, left: 4, tick: 4 };

class Timeline {
  /** `total` is how many events the run has; `reveal(event)` shows one of them in the picture. */
  constructor(picture, total, reveal) {
    Object.assign(this, { picture, reveal });
    this.last = Math.max(total, picture.events[picture.events.length - 1] || 1);
    const racing = [...picture.events].filter((_, at) => picture.races(at));
    const [from, to] = [Math.min(...racing), Math.max(...racing)];
    const margin = Math.max(2, (to - from) * 0.08);
    this.near = [Math.max(1, from - margin), Math.min(this.last, to + margin)];
    this.slider = make("input", { type: "range", min: "0", max: "100", value: "0", "aria-label": "Zoom from the whole run to the two accesses", oninput: () => this.draw() });
    const go = (value) => () => {
      this.slider.value = value;
      this.draw();
    };
    this.range = make("span", { class: "dim" });
    this.box = make("div", { class: "strip" });
    this.element = make(
      "div",
      { class: "timeline" },
      make("div", { class: "zoom" }, make("button", { type: "button", onclick: go("0") }, "Whole run"), this.slider, make("button", { type: "button", onclick: go("100") }, "The two accesses"), this.range),
      this.box,
    );
    this.draw();
  }

  /** The first and the last event in sight: each step of the slider shows the same part less. */
  window() {
    const share = Number(this.slider.value) / 100;
    const whole = Math.max(this.last - 1, 1);
    const span = whole * Math.pow(Math.max(this.near[1] - this.near[0], 1) / whole, share);
    const middle = (this.near[0] + this.near[1]) / 2;
    const centre = 1 + whole / 2 + (middle - 1 - whole / 2) * (1 - Math.pow(1 - share, 3));
    const from = Math.min(Math.max(1, centre - span / 2), this.last - span);
    return [Math.max(1, from), Math.max(1, from) + span];
  }

  draw() {
    const [from, to] = this.window();
    const { lane, foot, wide, left, tick: apart } = TIMELINE;
    const { picture } = this;
    const height = picture.threads.length * lane + foot;
    const x = (event) => left + ((event - from) / Math.max(to - from, 1)) * (wide - 2 * left);
    const y = (number) => number * lane + lane / 2;
    const svg = draw("svg", { viewBox: `0 0 ${wide} ${height}`, role: "img", "aria-label": `Events ${Math.round(from)} to ${Math.round(to)} of ${this.last}`, preserveAspectRatio: "none" });
    svg.style.height = `${height}px`;
    picture.threads.forEach((_, number) => svg.append(draw("line", { class: `axis lane-${Math.min(number, 6)}`, x1: left, x2: wide - left, y1: y(number), y2: y(number) })));
    // Of events that would cover each other one is enough: a run may have millions.
    const drawn = new Set();
    picture.events.forEach((event, at) => {
      if (event < from - 1 || event > to + 1) return;
      const number = picture.lanes[at];
      const isRacing = picture.races(at);
      const spot = number * wide + Math.round(x(event) / apart);
      if (drawn.has(spot) && !isRacing) return;
      drawn.add(spot);
      const tick = draw("rect", { class: `tick lane-${Math.min(number, 6)} ${isRacing ? "racing" : `of-${picture.kind(at)}`}`, x: x(event) - (isRacing ? 3 : 1), y: y(number) - (isRacing ? 7 : 4), width: isRacing ? 6 : 2, height: isRacing ? 14 : 8 });
      const title = draw("title", {});
      title.textContent = `${text(picture.threads[number])} ${text(picture.deeds[at])} · event ${event}`;
      tick.append(title);
      tick.addEventListener("click", () => this.reveal(event));
      svg.append(tick);
    });
    this.box.replaceChildren(svg);
    this.range.textContent = `events ${Math.round(from).toLocaleString("en")} to ${Math.round(to).toLocaleString("en")} of ${this.last.toLocaleString("en")}`;
  }
}
