// SPDX-License-Identifier: MIT
// How numbers and tokens are shown, and what is saved as a file.

const distinct = (list) => [...new Set(list)];
const isNumber = (x) => typeof x === "number";

// ---- numbers and tokens as they are shown

// A probability with four decimals, so that columns stand under each other.
const prob = (p) => !isNumber(p) ? "–" : p > 0 && p < 0.00005 ? p.toExponential(0)
  : p >= 0.99995 ? "1.0000" : p.toFixed(4).slice(1);
const fixed = (digits) => (x) => isNumber(x) ? x.toFixed(digits) : "–";
const whole = (n) => isNumber(n) ? String(n).replace(/\B(?=(\d{3})+$)/g, "\u202f") : "–";
const short = (v) => {
  const size = Math.abs(v);
  if (!isNumber(v)) return "–";
  return size < 1e-12 ? "0" : size < 0.001 ? v.toExponential(0) : v.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : 3);
};

// A token in quotes, never broken over lines, with what cannot be seen as an escape; without a vocabulary its id.
const HIDDEN =
  /[\0-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;
const ESCAPES = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };
const escaped = (c) => ESCAPES[c] || "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0");
const quoted = (text) => `"${text.replace(HIDDEN, escaped).replace(/ /g, "\u00a0")}"`;

// ---- files to save

const save = (name, type, content) => {
  const url = URL.createObjectURL(new Blob([content], { type }));
  make("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
};

// A table as CSV. If a cell has a property `exact`, this number stands in place of what the cell shows.
const csvOf = (table) => [...table.rows].map((row) => [...row.cells].map((cell) => {
  const text = String(cell.exact ?? cell.textContent.replace(/\u00a0/g, " "));
  return /[",\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
}).join(",") + "\n").join("");
const csvButton = (name, table) => make("button.export",
  { type: "button", title: "save the table", onclick: () => save(`${name}.csv`, "text/csv", csvOf(table())) }, "CSV");
