// Numbers, times and durations as text.  All texts are English, so the numbers are written as there.

const WHOLE = new Intl.NumberFormat("en");
const DAY = { day: "numeric", month: "short" };
const CLOCK = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" };
const SECONDS = { ...CLOCK, second: "2-digit" };
const PREFIXES = ["", "k", "M", "G", "T", "P", "E", "Z", "Y"];
const UNITS = [[86400, "d"], [3600, "h"], [60, "min"], [1, "s"]];
export const NONE = "–";

export const whole = (value) => (value === null || value === undefined ? NONE : WHOLE.format(value));

/** Decimal text of any length with commas between groups of three digits. */
export const grouped = (digits) => digits.replace(/\B(?=(\d{3})+$)/g, ",");

/** A share of 1 in per cent; rounded down, so that 100 means all. */
export function percent(share, digits = 1) {
  const scale = 100 * 10 ** digits;
  return (Math.floor(share * scale + 1e-9) / (scale / 100)).toFixed(digits);
}

/** A number with three digits and a prefix: 12.3 M. */
export function quantity(value) {
  if (value === null || value === undefined) {
    return NONE;
  }
  let power = 0;
  while (Math.abs(value) >= 999.5 && power < PREFIXES.length - 1) {
    value /= 1000;
    power += 1;
  }
  const digits = value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  const text = power || !Number.isInteger(value) ? value.toFixed(digits) : String(value);
  return PREFIXES[power] ? `${text} ${PREFIXES[power]}` : text;
}

/** Seconds in the two largest units: 2 d 4 h. */
export function duration(seconds) {
  if (seconds === null || seconds === undefined) {
    return NONE;
  }
  let rest = Math.max(0, Math.round(seconds));
  if (rest >= 7200) {
    rest = Math.round(rest / 60) * 60;
  }
  if (rest >= 10 * 86400) {
    return `${WHOLE.format(Math.round(rest / 86400))} d`;
  }
  const first = UNITS.findIndex(([size]) => rest >= size);
  if (first === -1) {
    return "0 s";
  }
  const [[size, unit], next] = [UNITS[first], UNITS[first + 1]];
  const more = next ? Math.floor((rest % size) / next[0]) : 0;
  return `${Math.floor(rest / size)} ${unit}${more ? ` ${more} ${next[1]}` : ""}`;
}

/** A time of the server, without the day when that is today. */
export function time(iso, withSeconds = false) {
  if (!iso) {
    return NONE;
  }
  const at = new Date(iso);
  const clock = at.toLocaleTimeString("en-GB", withSeconds ? SECONDS : CLOCK);
  const today = new Date();
  if (at.toDateString() === today.toDateString()) {
    return clock;
  }
  const year = at.getFullYear() === today.getFullYear() ? {} : { year: "numeric" };
  return `${at.toLocaleDateString("en-GB", { ...DAY, ...year })}, ${clock}`;
}

/** Seconds from one time of the server to another. */
export const since = (from, to) => (Date.parse(to) - Date.parse(from)) / 1000;
