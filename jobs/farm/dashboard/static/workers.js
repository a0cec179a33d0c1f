// The table of workers: those that are present first.

import { byId, element, keyed, write } from "./dom.js";
import { NONE, duration, percent, quantity, several, since, whole } from "./words.js";

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

// title, number?, what is shown, a smaller line below it
const COLUMNS = {
  host: ["Host", false, (w) => w.host, (w) => `${w.id}, ${w.slurm ? `job ${w.slurm}` : `process ${w.process.split("@")[0]}`}`],
  state: ["State", false, state, (w) => (w.state === "ended" ? w.ending ?? "" : "")],
  device: ["Device", false, device, size],
  leased: ["Leased", true, (w) => whole(w.leased), () => ""],
  done: ["Done", true, (w) => whole(w.done), () => ""],
  speed: ["Speed", true, (w) => quantity(w.speed), () => ""],
  peers: ["Compared with others of its kind", true, (w) => (w.against_peers === null ? NONE : percent(w.against_peers, 0)), () => ""],
  lost: ["Lost", true, (w) => (w.lost.attempts ? whole(w.lost.attempts) : NONE), lost],
  seen: ["Last seen", true, (w, s) => (w.last_seen ? `${duration(since(w.last_seen, s.now))} ago` : NONE), () => ""],
};

for (const [key, [title, number]] of Object.entries(COLUMNS)) {
  const head = element("th", { scope: "col", className: number ? "number" : "", textContent: title });
  head.setAttribute("role", "columnheader");
  head.dataset.column = key;
  byId("workers-head").append(head);
}

export function showWorkers(status) {
  const { workers, workers_by_state: numbers } = status;
  const sum = (each) => each.reduce((all, number) => all + number, 0);
  const number = (devices) => sum(Object.values(devices ?? {}));
  const all = sum(Object.values(numbers).map(number));
  const gone = number(numbers.ended);
  const more = all - workers.length;
  const others = more ? `, ${whole(more)} of them not shown` : "";
  write(byId("workers-count"), `${whole(all - gone)} present${gone ? `, ${whole(gone)} ended` : ""}${others}`);
  write(byId("workers-head").querySelector("[data-column=speed]"), `Speed now, ${status.speed.unit}/s`);
  byId("workers").hidden = workers.length === 0;
  byId("workers-empty").hidden = workers.length > 0;
  keyed(byId("workers-rows"), workers, (worker) => `${worker.id} ${worker.host} ${worker.process}`, newRow,
    (row, worker) => fillRow(row, worker, status));
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
