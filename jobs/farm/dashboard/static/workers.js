// The table of workers: sorted by any column, filtered by a text, the first ones or all.

import { byId, element, keyed, write } from "./dom.js";
import { NONE, duration, percent, quantity, several, since, whole } from "./words.js";

const NARROW = matchMedia("(max-width: 1000px)");
const few = () => (NARROW.matches ? 10 : 25);
const ORDER = ["distrusted", "silent", "working", "idle", "ended"];

function device(worker) {
  const model = worker.device_model ?? (worker.device_kind === "cuda" ? "GPU" : "processor");
  return model.replace(/\((R|TM)\)/g, "").replace(/ \d+-Core Processor$/, "");
}

function size(worker) {
  const cores = worker.cores ? several(worker.cores, "core") : "";
  const processes = worker.processes && worker.processes !== worker.cores
    ? several(worker.processes, "process", "processes") : "";
  return [cores, processes].filter(Boolean).join(", ");
}

/** A smaller line below the number of lost attempts: what they cost, and of how many others nothing is known. */
function lost(worker) {
  const { attempts, seconds, unknown } = worker.lost;
  const cost = attempts ? duration(seconds) : "";
  return [cost, unknown ? `${whole(unknown)} unknown` : ""].filter(Boolean).join(", ");
}

// A worker that holds tasks makes a request every 30 s, one that waits every 60 s (jobs/show/wording.py).
const UNSEEN_SECONDS = { working: 70, idle: 90 };

/** What it does as far as is known, or how long it was not seen. */
export function state(worker, status) {
  const unseen = worker.last_seen ? since(worker.last_seen, status.now) : 0;
  return unseen >= (UNSEEN_SECONDS[worker.state] ?? Infinity) ? `not seen for ${duration(unseen)}` : worker.state;
}

// title, number?, what is shown, a smaller line below it, what it is sorted by
const COLUMNS = {
  host: ["Host", false, (w) => w.host, (w) => `${w.id}, ${w.slurm ? `job ${w.slurm}` : `process ${w.process.split("@")[0]}`}`, (w) => w.host],
  state: ["State", false, state, (w) => (w.state === "ended" ? w.ending ?? "" : ""), (w) => ORDER.indexOf(w.state)],
  device: ["Device", false, device, size, device],
  leased: ["Leased", true, (w) => whole(w.leased), () => "", (w) => -w.leased],
  done: ["Done", true, (w) => whole(w.done), () => "", (w) => -w.done],
  speed: ["Speed", true, (w) => quantity(w.speed), () => "",
    (w) => -(w.speed ?? -1)],
  peers: ["Compared with others of its kind", true, (w) => (w.against_peers === null ? NONE : percent(w.against_peers, 0)),
    () => "", (w) => w.against_peers ?? Infinity],
  lost: ["Lost", true, (w) => (w.lost.attempts ? whole(w.lost.attempts) : NONE), lost, (w) => -w.lost.attempts],
  seen: ["Last seen", true, (w, s) => (w.last_seen ? `${duration(since(w.last_seen, s.now))} ago` : NONE), () => "",
    (w) => -(Date.parse(w.last_seen ?? "") || 0)],
};

export class Workers {
  #status = null;
  #column = "state";
  #reversed = false;
  #all = false;

  constructor() {
    for (const [key, [title, number]] of Object.entries(COLUMNS)) {
      const button = element("button", { type: "button", textContent: title });
      button.addEventListener("click", () => this.#sort(key));
      const head = element("th", { scope: "col", className: number ? "number" : "" }, button);
      head.setAttribute("role", "columnheader");
      head.dataset.column = key;
      byId("workers-head").append(head);
    }
    NARROW.addEventListener("change", () => this.#fill());
    byId("find").addEventListener("input", () => this.#fill());
    byId("more").addEventListener("click", () => {
      this.#all = !this.#all;
      this.#fill();
    });
  }

  show(status) {
    this.#status = status;
    this.#fill();
  }

  #sort(column) {
    this.#reversed = column === this.#column && !this.#reversed;
    this.#column = column;
    this.#fill();
  }

  #chosen() {
    const wanted = byId("find").value.toLowerCase().split(/\s+/);
    const words = (w) => [w.host, w.id, w.slurm, device(w), w.state, w.ending, w.process].join(" ").toLowerCase();
    const by = COLUMNS[this.#column][4];
    const turn = this.#reversed ? -1 : 1;
    return this.#status.workers
      .filter((worker) => wanted.every((word) => words(worker).includes(word)))
      .sort((a, b) => turn * compare(by(a), by(b)) || compare(a.host, b.host) || compare(a.id, b.id));
  }

  #fill() {
    if (this.#status === null) {
      return;
    }
    const [status, chosen] = [this.#status, this.#chosen()];
    const sum = (numbers) => numbers.reduce((all, number) => all + number, 0);
    const number = (devices) => sum(Object.values(devices ?? {}));
    const all = sum(Object.values(status.workers_by_state).map(number));
    const gone = number(status.workers_by_state.ended);
    const here = all - gone;
    const more = all - status.workers.length;
    const others = more ? `, ${whole(more)} of them not shown` : "";
    write(byId("workers-count"), `${whole(here)} present${gone ? `, ${whole(gone)} ended` : ""}${others}`);
    for (const head of byId("workers-head").children) {
      if (head.dataset.column === "speed") {
        write(head.firstElementChild, `Speed now, ${status.speed.unit}/s`);
      }
      if (head.dataset.column === this.#column) {
        head.ariaSort = this.#reversed ? "descending" : "ascending";
      } else {
        head.removeAttribute("aria-sort");
      }
    }
    byId("workers").hidden = chosen.length === 0;
    byId("workers-empty").hidden = chosen.length > 0;
    write(byId("workers-empty"), status.workers.length ? "No worker fits." : "No worker has come yet.");
    byId("find").parentElement.hidden = status.workers.length < 2;
    byId("more").hidden = chosen.length <= few();
    write(byId("more"), this.#all ? `Show ${few()}` : `Show all ${whole(chosen.length)}`);
    keyed(byId("workers-rows"), this.#all ? chosen : chosen.slice(0, few()), (worker) => `${worker.id} ${worker.host} ${worker.process}`, newRow,
      (row, worker) => fillRow(row, worker, status));
  }
}

function newRow() {
  const row = element("tr");
  row.setAttribute("role", "row");
  for (const [key, [title, number]] of Object.entries(COLUMNS)) {
    const cell = element(key === "host" ? "th" : "td", { className: `${key}${number ? " number" : ""}` },
      element("span", { className: "shown" }), element("small"));
    cell.setAttribute("role", key === "host" ? "rowheader" : "cell");
    if (key === "host") {
      cell.scope = "row";
    }
    cell.dataset.title = key === "peers" ? "vs peers" : title;
    row.append(cell);
  }
  return row;
}

function fillRow(row, worker, status) {
  row.dataset.state = worker.state;
  Object.values(COLUMNS).forEach(([, , shown, below], place) => {
    const cell = row.children[place];
    write(cell.firstElementChild, shown(worker, status));
    write(cell.lastElementChild, below(worker));
  });
}

function compare(a, b) {
  return a < b ? -1 : a > b ? 1 : 0;
}
