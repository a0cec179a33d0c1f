// What the pages do with their elements.  Whatever comes from the server becomes text, never markup.

export const byId = (id) => document.getElementById(id);

const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** A text without invisible characters, which may reverse the order of the others. */
export const plain = (text) => String(text).replace(INVISIBLE, "\ufffd");

/** Write a text, unless the element shows it already: selections and screen readers are left alone. */
export function write(element, text) {
  const shown = plain(text);
  if (element.textContent !== shown) {
    element.textContent = shown;
  }
}

/** Write a text with `commands` in backquotes. */
export function writeWords(element, text) {
  if (element.dataset.text !== text) {
    element.dataset.text = text;
    element.replaceChildren(...plain(text).split(/`([^`]+)`/).map((part, place) => {
      const made = document.createElement(place % 2 ? "code" : "span");
      made.textContent = part;
      return made;
    }));
  }
}

/** A new element; its properties come from the program, never from a server. */
export function element(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

export function timeElement(iso, text) {
  return element("time", { dateTime: iso, title: iso, textContent: text });
}

/** Announce a text once to screen readers. */
export function announce(text) {
  write(byId("announcement"), text);
}

/**
 * Make the children of a parent those of a list: one for each key, in their order; kept where they exist.
 * `make(item)` makes a child, `update(child, item)` writes into it.
 */
export function keyed(parent, items, keyOf, make, update) {
  const known = new Map([...parent.children].map((child) => [child.dataset.key, child]));
  const used = new Set();
  let place = parent.firstElementChild;
  for (const item of items) {
    const key = String(keyOf(item));
    let child = known.get(key);
    known.delete(key);
    if (child === undefined) {
      child = make(item);
      child.dataset.key = key;
    }
    if (child === place) {
      place = place.nextElementSibling;
    } else {
      parent.insertBefore(child, place);
    }
    used.add(child);
    update(child, item);
  }
  for (const child of [...parent.children]) {
    if (!used.has(child)) {
      child.remove();
    }
  }
}

/** Term and value of a list of figures. */
export function figure(parent, items) {
  keyed(
    parent,
    items,
    (item) => item.term,
    (item) => {
      const term = element("dt", { textContent: item.term });
      const made = element("div", { className: item.className ?? "" }, term, element("dd"));
      if (item.dot) {
        term.prepend(element("span", { className: `dot ${item.dot}`, ariaHidden: "true" }));
      }
      return made;
    },
    (child, item) => {
      const [value, note] = [item.value, item.note ?? ""];
      const shown = child.lastElementChild;
      if (!shown.firstElementChild) {
        shown.append(element("span", { className: "value" }), element("small"));
      }
      write(shown.firstElementChild, value);
      write(shown.lastElementChild, note);
    },
  );
}
