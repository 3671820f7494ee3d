"use strict";
// How amounts are written, as in the rest of the report.
const POWERS = { B: 0, KiB: 1, MiB: 2, GiB: 3, TiB: 4, PiB: 5, EiB: 6 };

// Bytes in the largest unit that gives at least one.
function size(bytes) {
  const power = bytes >= 1 ? Math.min(6, Math.floor(Math.log2(bytes) / 10)) : 0;
  const scaled = bytes / 1024 ** power;
  return `${scaled.toFixed(scaled < 10 && power ? 2 : scaled < 100 && power ? 1 : 0)} ${Object.keys(POWERS)[power]}`;
}

// Seconds in the unit that suits them, with as many digits as tell them from others that are `step` seconds away.
function span(seconds, step = seconds / 100) {
  const [name, unit] = [["h", 3600], ["s", 1], ["ms", 1e-3]].find(([, one]) => Math.abs(seconds) >= one) ?? ["us", 1e-6];
  if (!seconds) return "0 s";
  const digits = Math.min(9, Math.max(0, -Math.floor(Math.log10(Math.abs(step) / unit))));
  return `${(seconds / unit).toFixed(digits)} ${name}`;
}

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}
