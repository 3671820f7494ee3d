"use strict";
// How amounts are written, as in the rest of the report.
const POWERS = { B: 0, KiB: 1, MiB: 2, GiB: 3, TiB: 4, PiB: 5, EiB: 6 };

// Bytes in the largest unit that gives at least one.
function size(bytes) {
  const power = bytes >= 1 ? Math.min(6, Math.floor(Math.log2(bytes) / 10)) : 0;
  const scaled = bytes / 1024 ** power;
  return `${Number(scaled.toFixed(scaled < 10 && power ? 2 : scaled < 100 && power ? 1 : 0))} ${Object.keys(POWERS)[power]}`;
}

// Seconds in the unit that suits them, with as many digits as tell them from others that are `step` seconds away.
function span(seconds, step = seconds / 100) {
  const [name, unit] = [["h", 3600], ["s", 1], ["ms", 1e-3]].find(([, one]) => Math.abs(seconds) >= one) ?? ["us", 1e-6];
  if (!seconds) return "0 s";
  const digits = Math.min(9, Math.max(0, -Math.floor(Math.log10(Math.abs(step) / unit))));
  return `${(seconds / unit).toFixed(digits)} ${name}`;
}

// Ranks such as "0-3, 8" as pairs of the first and the last one, of so many; null for all of them, undefined where the
// text names none.
function rangesOf(text, ranks) {
  if (!text.trim()) return null;
  const found = [];
  for (const part of text.split(/[\s,;]+/).filter(Boolean)) {
    const ends = /^(\d+)(?:[-–](\d+))?$/.exec(part);
    if (!ends) return undefined;
    const first = Number(ends[1]), last = Math.min(Number(ends[2] ?? first), ranks - 1);
    if (first <= last) found.push([first, last]);
  }
  return found.length ? found : undefined;
}

// A text that may be broken after the slashes in it.
function breakable(text) {
  return text.split(/(?<=[^/]\/)(?=[^/])/).flatMap((part, i) => i ? [element("wbr"), part] : [part]);
}

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}
