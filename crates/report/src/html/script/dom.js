// Elements are made of text alone: whatever a name contains, it never becomes markup.

/** An element with attributes, handlers (`onclick`) and children (elements or texts; what is empty is left out). */
function make(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  fill(element, children);
  return element;
}

function fill(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : document.createTextNode(child));
  }
}

/** The same for drawings. */
function draw(tag, attributes) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

const byId = (id) => document.getElementById(id);
const count = (number, noun) => `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : noun.endsWith("ss") ? "es" : "s"}`;
const isCalm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
const bringIntoSight = (element, block) => element.scrollIntoView({ block, behavior: isCalm() ? "auto" : "smooth" });

/** So many rows are not worth looking after which of them are in sight; while a page is printed, even more are not. */
const SHORT = 120;
const PRINTED = 1000;
let isPrinting = false;

/** All lists of which only the rows in sight exist. */
const virtuals = new Set();

/**
 * Rows of one height in `body`, of which only those exist that are in sight. `row(index)` makes one. An element around it with
 * `data-scroller` may scroll, otherwise the page does.
 */
class Virtual {
  constructor(body, height, row) {
    Object.assign(this, { body, height, row, count: 0, rows: new Map(), onupdate: null });
    body.style.position = "relative";
    virtuals.add(this);
  }

  /** Begins anew with so many rows. */
  reset(count) {
    this.count = count;
    for (const row of this.rows.values()) row.remove();
    this.rows.clear();
    this.body.style.height = `${count * this.height}px`;
    this.update();
  }

  /** The first row in sight, and the first one that no longer is. */
  range() {
    if (this.count <= (isPrinting ? PRINTED : SHORT)) return [0, this.count];
    const box = this.body.getBoundingClientRect();
    const around = this.body.closest("[data-scroller]")?.getBoundingClientRect();
    const top = Math.max(around?.top ?? 0, 0) - box.top;
    const bottom = Math.min(around?.bottom ?? innerHeight, innerHeight) - box.top;
    const margin = 12;
    return [
      Math.max(0, Math.floor(top / this.height) - margin),
      Math.min(this.count, Math.ceil(bottom / this.height) + margin),
    ];
  }

  update() {
    const [from, to] = this.range();
    for (const [index, row] of this.rows) {
      if (index < from || index >= to) {
        row.remove();
        this.rows.delete(index);
      }
    }
    for (let index = from; index < to; index++) {
      if (this.rows.has(index)) continue;
      const row = this.row(index);
      row.style.top = `${index * this.height}px`;
      this.rows.set(index, row);
      this.body.append(row);
    }
    this.onupdate?.(from, to);
  }

  /** Brings a row into sight and returns it. */
  reveal(index) {
    const scroller = this.body.closest("[data-scroller]");
    const [top, margin] = [index * this.height, 2 * this.height];
    const box = this.body.getBoundingClientRect();
    if (scroller && scroller.scrollHeight > scroller.clientHeight) {
      const at = box.top - scroller.getBoundingClientRect().top + top;
      if (at < margin) scroller.scrollTop += at - margin;
      else if (at + margin > scroller.clientHeight) scroller.scrollTop += at + margin - scroller.clientHeight;
    } else if (box.top + top < margin || box.top + top + margin > innerHeight) {
      window.scrollBy({ top: box.top + top - innerHeight / 2, behavior: "instant" });
    }
    this.update();
    return this.rows.get(index);
  }

  end() {
    virtuals.delete(this);
  }
}

let isUpdateDue = false;
function updateSoon() {
  if (isUpdateDue) return;
  isUpdateDue = true;
  requestAnimationFrame(() => {
    isUpdateDue = false;
    for (const virtual of virtuals) virtual.update();
  });
}
addEventListener("scroll", updateSoon, { capture: true, passive: true });
addEventListener("resize", updateSoon);
