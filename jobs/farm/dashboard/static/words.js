// Numbers, shares, durations and times as text.  All texts are English, so the numbers are written as there.
// langford/words.py says the same; tests/cli/test_words.py compares the two.

const WHOLE = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const DAY = { day: "numeric", month: "short" };
const CLOCK = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" };
const SECONDS = { ...CLOCK, second: "2-digit" };
const PREFIXES = ["", "k", "M", "G", "T", "P", "E", "Z", "Y"];
const UNITS = [[86400, "d"], [3600, "h"], [60, "min"], [1, "s"]];
const YEAR_SECONDS = 31557600;
export const NONE = "–";

const missing = (value) => value === null || value === undefined;
const significant = (value, digits) => String(Number(value.toPrecision(digits)));

export const whole = (value) => (missing(value) ? NONE : WHOLE.format(value));

/** A number of things: 1 task, 1,200 tasks. */
export const several = (count, noun, plural = `${noun}s`) => `${WHOLE.format(count)} ${count === 1 ? noun : plural}`;

/** Decimal text of any length with commas between groups of three digits. */
export const grouped = (digits) => digits.replace(/\B(?=(\d{3})+$)/g, ",");

/** A share in percent, rounded down: 100% means all. */
export function percent(share, digits = 1) {
  const scale = 100 * 10 ** digits;
  return `${(Math.floor(share * scale + 1e-9) / (scale / 100)).toFixed(digits)}%`;
}

/** A number with up to three digits and a prefix: 12.3 M. */
export function quantity(value) {
  if (missing(value)) {
    return NONE;
  }
  if (value >= 999.5 * 1000 ** (PREFIXES.length - 1)) {
    return value.toExponential(2);
  }
  if (value < 0.001) {
    return value ? "<0.001" : "0";
  }
  let power = 0;
  while (value >= 999.5) {
    value /= 1000;
    power += 1;
  }
  return `${significant(value, 3)} ${PREFIXES[power]}`.trimEnd();
}

/** A duration in the unit that suits it, and in two units where one would hide much: 2 d 4 h. */
export function duration(seconds) {
  if (missing(seconds)) {
    return NONE;
  }
  if (seconds < 9.5) {
    return seconds <= 0 ? "0 s" : `${seconds < 0.001 ? "<0.001" : significant(seconds, 2)} s`;
  }
  if (seconds < 99.5) {
    return `${Math.round(seconds)} s`;
  }
  if (seconds >= 3 * YEAR_SECONDS) {
    const years = seconds / YEAR_SECONDS;
    return `${years < 1e15 ? WHOLE.format(Math.round(years)) : years.toExponential(2)} years`;
  }
  for (const [place, [size, unit]] of UNITS.entries()) {
    const [smallerSize, smaller] = UNITS[place + 1];
    const parts = Math.round(seconds / smallerSize);
    const [number, rest] = [Math.floor(parts / (size / smallerSize)), parts % (size / smallerSize)];
    if (number >= 100) {
      return `${WHOLE.format(Math.round(seconds / size))} ${unit}`;
    }
    if (number) {
      return `${number} ${unit}${rest ? ` ${rest} ${smaller}` : ""}`;
    }
  }
  throw new RangeError(String(seconds));
}

/** How long something still takes, to the second: it is an estimate. */
export const timeLeft = (seconds) => (seconds < 1 ? "less than 1 s" : duration(Math.max(1, Math.round(seconds))));

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
