// The connection to the server: it is restored by itself, and the page shows since when it is lost.

import { announce, byId, write } from "./dom.js";
import { time } from "./words.js";

const FIRST_WAIT = 1000;
const MAX_WAIT = 30000;
const MAX_SILENCE = 30000;
const HIDDEN_POLL = 60000;
const CROWDED_POLL = 10000;

export const ROOT = new URL("..", import.meta.url);

/** Shows whether the figures are live. */
class Sign {
  #lost = null;
  #next = 0;
  #clock = null;

  connected() {
    clearInterval(this.#clock);
    if (this.#lost !== null) {
      announce("Connected again");
    }
    this.#lost = null;
    this.#show("live", "live");
    byId("banner").hidden = true;
  }

  lost(since, next) {
    if (this.#lost === null) {
      this.#lost = since;
      announce("Not connected");
    }
    this.#next = next;
    this.#show("lost", "not connected");
    clearInterval(this.#clock);
    this.#clock = setInterval(() => this.#count(), 1000);
    this.#count();
    byId("banner").hidden = false;
  }

  #count() {
    const seconds = Math.ceil((this.#next - Date.now()) / 1000);
    const then = seconds > 0 ? `Trying again in ${seconds} s.` : "Trying again …";
    write(byId("banner-text"), `Not connected since ${time(this.#lost, true)}. ${then}`);
  }

  #show(state, text) {
    document.body.dataset.link = state;
    write(byId("link-text"), text);
  }
}

/** Retries until an attempt succeeds, then waits for the next loss. */
export class Connection {
  #sign = new Sign();
  #wait = FIRST_WAIT;
  #timer = null;
  #heard = new Date().toISOString();

  /** `attempt()` starts to connect; `allowed(answer)` says whether GET /campaigns still opens this page. */
  constructor(attempt, allowed) {
    this.attempt = attempt;
    this.allowed = allowed;
    byId("try-now").addEventListener("click", () => this.retry());
    window.addEventListener("online", () => this.retry());
  }

  /** Something arrived. */
  heard() {
    this.#heard = new Date().toISOString();
    this.#wait = FIRST_WAIT;
    this.#sign.connected();
  }

  /** The connection failed: find out why, and try later. */
  async failed() {
    clearTimeout(this.#timer);
    const wait = this.#wait * (0.75 + Math.random() / 2);
    this.#wait = Math.min(2 * this.#wait, MAX_WAIT);
    this.#sign.lost(this.#heard, Date.now() + wait);
    this.#timer = setTimeout(() => this.retry(), wait);
    const answer = await ask("campaigns");
    if (answer !== null && (answer.status === 401 || answer.status === 403 || !this.allowed(answer.body))) {
      location.reload(); // the server shows the form to log in
    }
  }

  retry() {
    clearTimeout(this.#timer);
    this.attempt();
  }
}

/** The answer to a GET, {status, body}; null when there is none now. */
export async function ask(path) {
  try {
    const answer = await fetch(new URL(path, ROOT), { cache: "no-store" });
    if (answer.ok || answer.status === 401 || answer.status === 403) {
      return { status: answer.status, body: await answer.json() };
    }
  } catch {
    // away, or no JSON: both may pass
  }
  return null;
}

/** Follow a campaign: `show(status)` gets each new one.  A hidden page asks rarely. */
export function follow(name, show) {
  const path = `campaigns/${encodeURIComponent(name)}`;
  const version = document.querySelector("meta[name=version]").content;
  let source = null;
  let watchdog = null;
  let poll = null;
  let watched = false;

  const connection = new Connection(open, (campaigns) => campaigns.some((one) => one.campaign === name));

  function close() {
    clearTimeout(watchdog);
    clearInterval(poll);
    source?.close();
    source = null;
  }

  function heard() {
    connection.heard();
    clearTimeout(watchdog);
    watchdog = setTimeout(lose, MAX_SILENCE);
  }

  function lose() {
    close();
    connection.failed();
  }

  function open() {
    if (document.hidden) {
      return;
    }
    close();
    watchdog = setTimeout(lose, MAX_SILENCE);
    source = new EventSource(new URL(`${path}/stream`, ROOT));
    source.addEventListener("error", lose);
    source.addEventListener("alive", heard);
    source.addEventListener("crowded", () => {
      // A newer page has taken the stream of this one: connecting again would take that of another page.
      close();
      poll = setInterval(async () => await look() || lose(), CROWDED_POLL);
    });
    source.addEventListener("version", (event) => {
      if (event.data !== version) {
        location.reload(); // the server was upgraded
      }
    });
    source.addEventListener("message", (event) => {
      heard();
      show(JSON.parse(event.data));
    });
  }

  async function look() {
    const answer = await ask(`${path}/status`);
    if (answer?.status === 200) {
      connection.heard();
      show(answer.body);
    }
    return answer?.status === 200;
  }

  // Browsers open few connections to one server: pages in the background hold none.
  function turn() {
    close();
    if (document.hidden) {
      poll = setInterval(look, HIDDEN_POLL);
      if (!watched) {
        look();
      }
    } else {
      watched = true;
      connection.retry();
    }
  }

  document.addEventListener("visibilitychange", turn);
  turn();
}
