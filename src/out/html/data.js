// SPDX-License-Identifier: MIT
// The rows and the chains of the page. C writes numbers in lists; here each gets its name.

const main = document.querySelector("main");
const links = [...document.querySelectorAll("#text a")];
const variants = byId("variants") ? JSON.parse(byId("variants").textContent) : []; // lines of the table of means
const ACCEPTED = -1; // in place of a chain's number: the text that was accepted

// Tokens, stages and the names of what removes tokens stand in the first row that has them.
const texts = new Map(), reasons = [];
let stages = [];
const nameOf = (id) => texts.get(id) ? quoted(texts.get(id)) : String(id);

// place: of the probability after the stage in those of a followed token
const stageOf = ([after, mass, entropy, removed, likeliest, noted, rest, says, before], i) => {
  const [place, stage] = [...stages.entries()].filter(([, s]) => s.enabled)[i];
  const pairs = likeliest.flatMap((id, k) => k % 2 ? [] : [{ id, prob: likeliest[k + 1] }]);
  return { ...stage, place: place + 1, before, after, mass, entropy, removed, noted, rest, says, likeliest: pairs };
};
const chainOf = ([id, prob_, kept, entropy, overlap, rawProb, rawRank]) =>
  ({ id, prob: prob_, kept, entropy, overlap, rawProb, rawRank });

const rowOf = ({ record, texts: more, reasons: others, stages: changed, ...data }, at) => {
  for (const [id, text] of Object.entries(more || {})) texts.set(Number(id), text);
  reasons.push(...(others || []));
  stages = changed || stages;
  const of = (data.of || []).map((chain) => chain && chainOf(chain));
  const [id, rawProb, rawRank, after, removed] = data.accepted || [];
  return { ...record, at, link: links[at], of, good: Boolean(of[0]), entropyBefore: data.entropy_raw, draw: data.draw,
    accepted: data.accepted && { id, rawProb, rawRank, prob: after, removed },
    stages: (data.by || []).map(stageOf), grammar: data.grammar,
    followed: (data.followed || []).map(([id, low, high, ...p]) => ({ id, low, high, p })),
    // in each chain a probability, or the name of what removed the token, or UNLISTED
    tokens: (data.tokens || []).map(([id, ...p]) => ({ id, probs: p.map((x) => x < 0 ? reasons[-x - 1] : x) })) };
};
const rows = [...document.querySelectorAll("#text script")].map((s, at) => rowOf(JSON.parse(s.textContent), at));
const shown = rows.length ? variants.slice(0, rows[0].of.length) : variants; // the chains that rows have
const accepts = rows.some((row) => row.accepted);

// A token that a list lacks may be kept or removed: its probability in a chain is this text.
const UNLISTED = "not listed";
// Does a chain remove a token of the row? One that it keeps may have a probability of 0: too small for a number.
const removes = (row, id, chain) => {
  const p = row.tokens.find((t) => t.id === id)?.probs[chain];
  return p !== undefined && !isNumber(p) && p !== UNLISTED;
};

// The token of a row in a text, with its numbers: the accepted one, or that of a chain. Null for a bad row.
const tokenIn = (row, text) => {
  if (text !== ACCEPTED || !row.accepted) return row.of[Math.max(0, text)];
  const { kept, entropy, overlap } = row.of[0] || {};
  return { kept, entropy, overlap, ...row.accepted };
};

// ---- the row that is chosen

let now = -1;
let started = false;  // the first choice does not scroll the page
const listeners = []; // who draws when another row is chosen
const redraw = () => { for (const listen of listeners) if (now >= 0) listen(rows[now]); };

const choose = (at, focus = false, quiet = false) => {
  if (!rows.length) return;
  const before = now;
  now = Math.max(0, Math.min(rows.length - 1, at));
  if (before !== now) redraw();
  for (const column of columns) column.point(before, focus);
  if (before !== now && !quiet) remember();
};

// ---- the address: #row=40&variant=greedy&embed; other keys are ignored

const address = () => {
  const parts = location.hash.slice(1).replace(/^r(?:ow-)?(?=\d)/, "row=").split("&").map((part) => part.split("="));
  const decoded = (text = "") => { try { return decodeURIComponent(text); } catch { return text; } };
  return new Map(parts.map(([key, value]) => [key, decoded(value)]));
};
const restore = (state, quiet) => {
  const chain = shown.findIndex((v) => v.name === state.get("variant"));
  const at = rows.findIndex((row) => String(row.row) === state.get("row"));
  document.body.classList.toggle("embed", state.has("embed"));
  if (chain >= 0 && columns[1]) columns[1].show(chain);
  choose(Math.max(0, at), false, quiet);
};

// Puts the state into the address, or tells it to the page that holds this one: a frame of srcdoc has no address.
const remember = () => {
  if (!started) return;
  const { variant } = placeNow(), part = variant === null ? "" : `&variant=${encodeURIComponent(variant)}`;
  const hash = `#row=${rows[now].row}${part}${document.body.matches(".embed") ? "&embed" : ""}`;
  if (location.protocol !== "about:") history.replaceState(null, "", hash);
  if (parent !== window) parent.postMessage({ sampl: placeNow(), moved: true }, "*");
};

// A frame: the page that holds it asks for the place by a message, and gives it to the next frame. A page that may call
// into the frame sets window.sampl = { place } before these scripts run, so that they begin there, and calls
// sampl.placeNow() later.
const placeNow = () => ({ row: now < 0 ? null : rows[now].row, variant: shown[columns[1]?.text]?.name ?? null,
  top: scrollY, text: byId("text") ? byId("text").scrollTop : 0 });
const goTo = (place) => {
  const known = Object.entries(place).filter(([, value]) => value !== null && value !== undefined);
  const state = new Map(known.map(([key, value]) => [key, String(value)]));
  if (document.body.matches(".embed")) state.set("embed", "");
  if (!started || rows.some((row) => String(row.row) === state.get("row"))) restore(state, true);
  if (byId("text") && isNumber(place.text)) byId("text").scrollTop = place.text;
  if (isNumber(place.top)) scrollTo(0, place.top);
};
const listenToHolder = () => addEventListener("message", ({ data, source }) => {
  const place = data && data.sampl;
  if (place === "place?") source.postMessage({ sampl: placeNow() }, "*");
  else if (place && typeof place === "object") goTo(place);
});
