// The index: the campaigns that this browser's tokens open.

import { ROOT, follow } from "./connection.js";
import { byId, element, keyed, write } from "./dom.js";
import { percent, time, whole } from "./words.js";

function show(campaigns) {
  keyed(
    byId("campaigns"),
    campaigns,
    (one) => one.campaign,
    (one) => {
      const link = element("a", { href: new URL(`${encodeURIComponent(one.campaign)}/`, ROOT), textContent: one.campaign });
      const track = element("span", { className: "track", ariaHidden: "true" }, element("span", { className: "part done" }));
      return element("li", { className: "card" }, element("h2", {}, link), element("p", { className: "muted" }), track,
        element("p", { className: "figure" }));
    },
    (item, one) => {
      const share = one.tasks.total ? one.tasks.done / one.tasks.total : 0;
      const [, problem, track, text] = item.children;
      write(problem, one.title);
      track.firstElementChild.style.width = `${100 * share}%`;
      const end = one.finished ? `, done ${time(one.finished)}` : "";
      write(text, `${percent(share)}: ${whole(one.tasks.done)} of ${whole(one.tasks.total)} tasks${end}`);
    },
  );
  byId("main").removeAttribute("aria-busy");
}

follow("campaigns", show);
