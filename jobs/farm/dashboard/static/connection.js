// What the server shows, asked for again and again; the page says since when there is no answer.

import { announce, byId, write } from "./dom.js";
import { time } from "./words.js";

const FIRST_WAIT = 1000;
const MAX_WAIT = 30000;
const MAX_SILENCE = 30000;
const EVERY = 2000;
const EVERY_HIDDEN = 60000;

export const ROOT = new URL("..", import.meta.url);

/** Shows whether the figures are live. */
class Sign {
  #lost = null;

  connected() {
    if (this.#lost !== null) {
      announce("Connected again");
    }
    this.#lost = null;
    this.#show("live", "live");
    byId("banner").hidden = true;
  }

  lost(since) {
    if (this.#lost === null) {
      this.#lost = since;
      announce("Not connected");
    }
    this.#show("lost", "not connected");
    write(byId("banner"), `Not connected since ${time(this.#lost, true)}. Trying again …`);
    byId("banner").hidden = false;
  }

  #show(state, text) {
    document.body.dataset.link = state;
    write(byId("link-text"), text);
  }
}

/** The answer to a GET, {status, body}; null when there is none now. */
export async function ask(path) {
  const silence = new AbortController();
  const timer = setTimeout(() => silence.abort(), MAX_SILENCE);
  try {
    const answer = await fetch(new URL(path, ROOT), { cache: "no-store", signal: silence.signal });
    if (answer.ok || [400, 401, 403].includes(answer.status)) {
      return { status: answer.status, body: await answer.json() };
    }
  } catch {
    // away, or no JSON: both may pass
  } finally {
    clearTimeout(timer);
  }
  return null;
}

/** Ask for a document as long as the page is open: `show(body)` gets each answer.  A hidden page asks rarely. */
export function follow(path, show) {
  const sign = new Sign();
  let heard = new Date().toISOString();
  let wait = FIRST_WAIT;
  let timer = null;
  let questions = 0;

  async function look() {
    clearTimeout(timer);
    const question = ++questions;
    const answer = await ask(path);
    if (question !== questions) {
      return; // asked again meanwhile
    }
    if (answer?.status === 200) {
      heard = new Date().toISOString();
      wait = FIRST_WAIT;
      sign.connected();
      show(answer.body);
      timer = setTimeout(look, document.hidden ? EVERY_HIDDEN : EVERY);
    } else if (answer !== null) {
      location.reload(); // the server shows the form to log in
    } else {
      const pause = wait * (0.75 + Math.random() / 2);
      wait = Math.min(2 * wait, MAX_WAIT);
      sign.lost(heard);
      timer = setTimeout(look, pause);
    }
  }

  window.addEventListener("online", look);
  document.addEventListener("visibilitychange", () => document.hidden || look());
  look();
}
