// Workers that were present over time, as steps in an SVG.

import { byId, element, keyed, timeElement, write } from "./dom.js";
import { time, whole } from "./words.js";

const HEIGHT = 190;
const MARGIN = { top: 10, right: 4, bottom: 24, left: 40 };
const STEPS = [5, 10, 15, 30].map((k) => k * 1e3)
  .concat([1, 2, 5, 10, 15, 30].map((k) => k * 60e3))
  .concat([1, 2, 3, 6, 12].map((k) => k * 3600e3), [1, 2, 7, 14, 28, 56, 112, 224].map((k) => k * 86400e3));

function svg(tag, attributes, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) {
    made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

/** A round number of about a third of the largest value, so that the axis has few lines. */
export function gap(most) {
  const wanted = Math.max(1, most / 3);
  const power = 10 ** Math.floor(Math.log10(wanted));
  return [1, 2, 5, 10].map((k) => k * power).find((step) => step >= wanted);
}

/** The times at which the axis has marks: round ones by the reader's clock. */
export function marks(from, to, most) {
  const step = STEPS.find((each) => (to - from) / each <= most) ?? STEPS.at(-1);
  const shift = new Date(from).getTimezoneOffset() * 60e3;
  const found = [];
  for (let at = Math.ceil((from - shift) / step) * step + shift; at <= to; at += step) {
    found.push(at);
  }
  return { step, found };
}

export class Timeline {
  #points = [];
  #now = 0;
  #finished = false;

  constructor() {
    new ResizeObserver(() => this.#draw()).observe(byId("plot"));
    byId("timeline-details").addEventListener("toggle", () => this.#table());
  }

  show(status) {
    this.#points = status.timeline.map(([iso, workers]) => ({ iso, at: Date.parse(iso), workers }));
    this.#finished = status.finished !== null;
    this.#now = Date.parse(status.finished ?? status.now);
    byId("timeline-empty").hidden = this.#points.length > 0;
    byId("timeline-details").hidden = this.#points.length === 0;
    byId("plot").hidden = this.#points.length === 0;
    this.#draw();
    this.#table();
    this.#read();
  }

  #table() {
    if (byId("timeline-details").open) {
      keyed(
        byId("timeline-rows"),
        [...this.#points].reverse(),
        (point) => point.iso,
        (point) => element("tr", {}, element("td", {}, timeElement(point.iso, time(point.iso))),
          element("td", { className: "number" })),
        (row, point) => write(row.lastElementChild, whole(point.workers)),
      );
    }
  }

  #read() {
    const last = this.#points.at(-1);
    const most = Math.max(0, ...this.#points.map((point) => point.workers));
    const reading = this.#finished ? "" : `${whole(last?.workers)} now · `;
    write(byId("timeline-reading"), last ? `${reading}at most ${whole(most)}` : "");
  }

  #scale() {
    const width = byId("plot").clientWidth;
    const from = this.#points[0].at;
    const end = Math.max(this.#now, this.#points.at(-1).at);
    const to = Math.max(end, from + 10e3);
    const most = Math.max(1, ...this.#points.map((point) => point.workers));
    const step = gap(most);
    const top = Math.ceil(most / step) * step;
    const inner = { width: width - MARGIN.left - MARGIN.right, height: HEIGHT - MARGIN.top - MARGIN.bottom };
    return {
      width, from, end, to, step, top,
      x: (at) => MARGIN.left + (inner.width * (at - from)) / (to - from),
      y: (workers) => MARGIN.top + inner.height * (1 - workers / top),
    };
  }

  #draw() {
    const plot = byId("plot");
    if (!this.#points.length || plot.clientWidth < 100) {
      return;
    }
    const { width, from, end, to, step, top, x, y } = this.#scale();
    const lines = [];
    for (let value = 0; value <= top; value += step) {
      lines.push(svg("line", { class: "grid", x1: MARGIN.left, x2: width - MARGIN.right, y1: y(value), y2: y(value) }));
      const label = svg("text", { class: "tick", x: MARGIN.left - 8, y: y(value) + 4, "text-anchor": "end" });
      label.textContent = whole(value);
      lines.push(label);
    }
    const { step: apart, found } = marks(from, to, Math.max(2, Math.floor(width / 130)));
    for (const at of found) {
      const near = x(at) > width - 40 ? "end" : x(at) < MARGIN.left + 20 ? "start" : "middle";
      const label = svg("text", { class: "tick", x: x(at), y: HEIGHT - 6, "text-anchor": near });
      label.textContent = axisText(at, apart);
      lines.push(svg("line", { class: "mark", x1: x(at), x2: x(at), y1: y(0), y2: y(0) + 4 }), label);
    }
    let path = `M${x(this.#points[0].at)},${y(this.#points[0].workers)}`;
    for (const point of this.#points.slice(1)) {
      path += `H${x(point.at).toFixed(1)}V${y(point.workers).toFixed(1)}`;
    }
    path += `H${x(end).toFixed(1)}`;
    const area = `${path}V${y(0)}H${x(from)}Z`;
    const picture = svg(
      "svg",
      { width, height: HEIGHT, viewBox: `0 0 ${width} ${HEIGHT}`, role: "img", "aria-labelledby": "timeline-title timeline-reading" },
      ...lines, svg("path", { class: "area", d: area }), svg("path", { class: "curve", d: path }),
    );
    plot.replaceChildren(picture);
  }
}

function axisText(at, apart) {
  const date = new Date(at);
  const midnight = date.getHours() === 0 && date.getMinutes() === 0;
  const seconds = apart < 60e3 ? { second: "2-digit" } : {};
  return apart >= 86400e3 || midnight
    ? date.toLocaleDateString("en-GB", { day: "numeric", month: "short" })
    : date.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit", ...seconds });
}
