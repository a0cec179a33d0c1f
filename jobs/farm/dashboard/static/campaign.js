// The page of one campaign.

import { ask, follow } from "./connection.js";
import { announce, byId, element, figure, keyed, plain, timeElement, write, writeWords } from "./dom.js";
import { duration, grouped, percent, quantity, since, time, timeLeft, whole } from "./words.js";
import { Timeline } from "./timeline.js";
import { showWorkers, state } from "./workers.js";

const name = decodeURIComponent(location.pathname.split("/").at(-2));
const timeline = new Timeline();
let announced = null;

function show(status) {
  const { tasks } = status;
  heading(status);
  progress(status);
  eta(status);
  figure(byId("legend"), [
    { term: "done", dot: "done", value: whole(tasks.done) },
    { term: "leased", dot: "leased", value: whole(tasks.leased) },
    { term: "ready", dot: "ready", value: whole(tasks.ready) },
    ...(tasks.set_aside ? [{ term: "set aside", dot: "set-aside", value: whole(tasks.set_aside) }] : []),
    ...(tasks.recheck ? [{ term: "to recheck", dot: "recheck", value: whole(tasks.recheck) }] : []),
    { term: "all tasks", className: "all", value: whole(tasks.total) },
  ]);
  count(status);
  warnings(status);
  tiles(status);
  timeline.show(status);
  showWorkers(status);
  log(status);
  byId("main").removeAttribute("aria-busy");
}

/** A kind that the style sheet may know. */
const className = (kind) => (/^[a-z_-]+$/.test(kind) ? kind : "");

function heading(status) {
  const seed = status.seed ? `, seed ${status.seed}` : "";
  write(byId("name"), status.campaign);
  write(byId("plan"), `${status.title} by ${status.method}, depth ${status.depth}${seed}, since ${time(status.created)}`);
  write(byId("uuid"), `Campaign ${status.uuid}`);
  document.title = `${percent(status.work.done, 0)} · ${status.campaign} · Langford`;
}

function progress({ work, tasks }) {
  const share = percent(work.done, 2);
  write(byId("share"), share.slice(0, -1));
  write(byId("share-note"), "% of the work");  // in smaller letters
  for (const part of ["done", "leased", "set_aside"]) {
    byId(`bar-${part.replace("_", "-")}`).style.width = `${100 * work[part]}%`;
  }
  const bar = byId("bar");
  bar.ariaValueNow = share.slice(0, -1);
  bar.ariaValueText = `${share} of the work, ${whole(tasks.done)} of ${whole(tasks.total)} tasks`;
}

function eta(status) {
  if (status.finished) {
    write(byId("eta"), "Done");
    write(byId("eta-range"), `at ${time(status.finished)}, after ${duration(since(status.created, status.finished))}`);
  } else if (status.eta) {
    write(byId("eta"), `${timeLeft(status.eta.seconds)} left`);
    const [earliest, latest] = [time(status.eta.earliest), time(status.eta.latest)];
    write(byId("eta-range"), earliest === latest ? `ends at about ${latest}` : `ends between ${earliest} and ${latest}`);
  } else if (isStill(status)) {
    write(byId("eta"), status.tasks.done || status.workers.length ? "Paused" : "New");
    write(byId("eta-range"), "no worker is active: langford work starts one");
  } else {
    write(byId("eta"), "No estimate yet");
    write(byId("eta-range"), "there is one when 2% of the work is done");
  }
}

/** Whether an unfinished campaign has no workers although nothing is wrong (jobs/show/wording.py). */
function isStill({ tasks, workers: all, warnings: said }) {
  const here = all.some((worker) => ["working", "idle"].includes(worker.state));
  return !here && tasks.ready + tasks.leased + tasks.recheck > 0 && !said.some((warning) => warning.kind === "no_workers");
}

function count(status) {
  byId("count-card").hidden = status.count === null;
  if (status.count !== null) {
    const groups = grouped(status.count);
    if (byId("count").textContent !== groups) {
      // A long number may be broken after a comma.
      byId("count").replaceChildren(...groups.split(/(?<=,)/).flatMap((group) => [group, element("wbr")]));
    }
    const words = { true: "as published", false: "NOT as published", null: "no published value" };
    write(byId("agrees"), words[String(status.agrees)]);
    byId("count-card").classList.toggle("wrong", status.agrees === false);
  }
}

function warnings({ warnings: said }) {
  byId("warnings-section").hidden = said.length === 0;
  keyed(
    byId("warnings"),
    said.map((warning, place) => ({ ...warning, key: `${warning.kind} ${place}` })),
    (warning) => warning.key,
    (warning) => element("li", { className: className(warning.kind) }, element("span")),
    (item, warning) => writeWords(item.firstElementChild, warning.text),
  );
  if (announced !== null) {
    const fresh = said.filter((warning) => !announced.has(warning.kind));
    if (fresh.length) {
      announce(`New warning: ${fresh.map((warning) => warning.text).join("; ")}`);
    }
  }
  announced = new Set(said.map((warning) => warning.kind));
}

function tiles(status) {
  const { speed, workers: all } = status;
  const working = all.filter((worker) => state(worker, status) === "working").length;
  const here = all.filter((worker) => worker.state !== "ended").length;
  const unit = `${speed.unit} per s`;
  figure(byId("tiles"), [
    { term: "Speed now", value: quantity(speed.now), note: speed.now === null ? "no result in the last minutes" : unit },
    { term: "Speed since the start", value: quantity(speed.average), note: speed.average === null ? "" : unit },
    { term: "Tasks per minute", value: quantity(speed.tasks_per_minute_now), note: speed.tasks_per_minute_now === null ? "" : "now" },
    { term: "Workers at work", value: whole(working), note: here ? `of ${whole(here)}` : "" },
  ]);
}

function log({ events }) {
  byId("log-empty").hidden = events.length > 0;
  const seen = new Map();
  const newest = [...events].sort((a, b) => Date.parse(b.at) - Date.parse(a.at)).map((event) => {
    const base = `${event.at} ${event.kind} ${event.text}`;
    seen.set(base, (seen.get(base) ?? 0) + 1);
    return { ...event, key: `${base} ${seen.get(base)}` };
  });
  keyed(
    byId("log"),
    newest,
    (event) => event.key,
    (event) => element("li", {}, timeElement(event.at, time(event.at, true)),
      element("span", { className: `kind ${className(event.kind)}` }), element("span", { className: "words" })),
    (item, event) => {
      write(item.children[1], event.kind.replaceAll("-", " "));
      writeWords(item.children[2], event.text);
    },
  );
}

/** Why workers have no task, or what the task in the field waits for. */
async function why() {
  const task = byId("why-task").value.trim();
  const path = `campaigns/${encodeURIComponent(name)}/why`;
  const answer = await ask(task ? `${path}?task=${encodeURIComponent(task)}` : path);
  const said = [answer?.body.error ?? answer?.body ?? "There is no answer now: ask again."].flat();
  byId("why").replaceChildren(...said.map((reason) => element("li", {}, plain(reason))));
}

byId("why-details").addEventListener("toggle", () => byId("why-details").open && why());
byId("why-task").addEventListener("change", why);
follow(`campaigns/${encodeURIComponent(name)}/status`, show);
