// SPDX-License-Identifier: MIT
// Draws what the records of the page say. Without it the text and the tables still read.
(() => {
const main = document.querySelector("main");

// ---- numbers and tokens as they are shown

// A probability with four decimals, so that columns stand under each other.
const prob = (p) => p === null ? "–" : p > 0 && p < 0.00005 ? p.toExponential(0) : p >= 0.99995 ? "1.0000" : p.toFixed(4).slice(1);
const fixed = (x, digits) => x === null || x === undefined ? "–" : x.toFixed(digits);
const whole = (n) => String(n).replace(/\B(?=(\d{3})+$)/g, "\u202f");

// A token in quotes, never broken over lines, with what cannot be seen as an escape; without a vocabulary its id.
const hidden = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;
const named = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };
const quote = (text) => `"${text.replace(hidden, (c) => named[c] || "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0")).replace(/ /g, "\u00a0")}"`;
const name = (id, text) => text ? quote(text) : String(id);

// A name that may be broken behind its signs.
const parts = (name_) => name_.split(/(?<=[_=])/).flatMap((part) => [part, make("wbr")]);

// ---- the rows

const links = [...document.querySelectorAll("#text a")];
const data = [...document.querySelectorAll("#text script")].map((s) => JSON.parse(s.textContent));
const rows = links.map((link, i) => ({ link, ...data[i], at: i, good: data[i].of ? data[i].of[0] !== null : !data[i].record.error }));
const variants = byId("variants") ? JSON.parse(byId("variants").textContent) : [];
const shown = rows.length && rows[0].of ? variants.slice(0, rows[0].of.length) : variants; // the chains that rows have
let now = -1;
let started = false; // the first choice does not scroll the page
const listeners = []; // who draws when another row is chosen

const choose = (at, focus) => {
  if (!rows.length) return;
  at = Math.max(0, Math.min(rows.length - 1, at));
  if (at !== now) {
    if (now >= 0) {
      rows[now].link.setAttribute("aria-selected", "false");
      rows[now].link.tabIndex = -1;
    }
    now = at;
    rows[now].link.setAttribute("aria-selected", "true");
    rows[now].link.tabIndex = 0;
    for (const listen of listeners) listen(rows[now]);
    remember();
  }
  if (focus) rows[now].link.focus({ preventScroll: true });
  reveal(rows[now].link);
};

// Puts the row in the address. No element has that name: nothing jumps. A frame of srcdoc has no address of its own.
const remember = () => {
  if (location.protocol !== "about:") history.replaceState(null, "", `#row-${rows[now].record.row}`);
};

// Scrolls the text, where it has a height of its own, so that the token shows.
const reveal = (link) => {
  const box = byId("text"), top = link.offsetTop - box.offsetTop;
  if (box.scrollHeight > box.clientHeight + 1 && (top < box.scrollTop || top > box.scrollTop + box.clientHeight - 40))
    box.scrollTop = top - box.clientHeight / 2;
  // not scrollIntoView, which would also scroll the page that holds this one in a frame
  const { top: high, bottom: low } = link.getBoundingClientRect(), EDGE = 48;
  if (started) scrollBy(0, Math.min(0, high - EDGE) || Math.max(0, low - innerHeight + EDGE));
};

// Names a row for screen readers by what its link shows.
const nameLink = (row, p) =>
  row.link.setAttribute("aria-label", `row ${row.record.row}, "${row.link.textContent}"` + (p === undefined ? "" : `, ${prob(p)}`));

const startText = () => {
  const text = byId("text");
  text.setAttribute("role", "listbox");
  text.setAttribute("aria-label", "Tokens; the arrow keys choose one");
  text.setAttribute("aria-orientation", "horizontal");
  for (const row of rows) {
    const r = row.record;
    row.link.setAttribute("role", "option");
    row.link.setAttribute("aria-selected", "false");
    row.link.tabIndex = -1;
    nameLink(row, row.good ? row.of ? row.of[0][0] : r.prob : undefined);
  }
  // a glance at what else there was; only where a pointer asks, as it would be read out
  text.addEventListener("pointerover", (event) => {
    const row = rows[links.indexOf(event.target)];
    if (row && row.good)
      row.link.title = row.record.top_probs.slice(0, 5).map((t) => `${name(t.id, t.token)}  ${prob(t.probs ? Number(t.probs[shown[0].name]) || 0 : t.prob)}`).join("\n");
  });
  text.addEventListener("pointerout", (event) => event.target.removeAttribute("title"));
  text.addEventListener("click", (event) => {
    const at = links.indexOf(event.target.closest("a"));
    if (at < 0) return;
    event.preventDefault();
    choose(at, true);
  });
  document.addEventListener("keydown", (event) => {
    const steps = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -1, ArrowDown: 1, PageUp: -20, PageDown: 20, Home: -Infinity, End: Infinity };
    const inText = text.contains(event.target);
    const sideways = event.key === "ArrowLeft" || event.key === "ArrowRight";
    if (!(event.key in steps) || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    if (!inText && (!sideways || event.target !== document.body)) return;
    event.preventDefault();
    choose(now + steps[event.key], true);
  });
};

// ---- the tint of the text

const limits = [0.5, 0.2, 0.08, 0.03, 0.01];
const tint = (p) => limits.filter((limit) => p < limit).length;

// The switch for the drawn tokens behind accepted ones. If most tokens differ, they begin switched off.
const drawnToo = () => {
  const others = links.filter((link) => link.dataset.drawn !== undefined).length, input = make("input", { type: "checkbox" });
  const draw = () => byId("text").classList.toggle("bare", !input.checked);
  if (!others) return [];
  input.checked = others * 2 < links.length;
  input.addEventListener("change", draw);
  draw();
  return [make("label", {}, input, "drawn tokens, where they differ")];
};

const startLegend = () => {
  const accepted = (row) => row.followed.find((f) => f[0] === row.stats.accepted)?.[4];
  const ways = [["the model's probability", (row) => accepted(row)?.[0] ?? row.stats.raw_prob],
    ["that after the chain", (row) => row.stats.accepted >= 0 ? row.stats.accepted_prob : row.record.prob]];
  const legend = make("div.legend", { role: "radiogroup", "aria-label": "Tint of the text" });
  ways.forEach(([label, of], i) => {
    const input = make("input", { type: "radio", name: "tint", ...(i ? {} : { checked: "" }) });
    input.addEventListener("change", () => {
      for (const row of rows)
        if (row.good) row.link.className = row.link.className.replace(/t\d/, "t" + tint(of(row)));
    });
    legend.append(make("label", {}, input, label));
  });
  const scale = make("div.scale", { role: "img", "aria-label": "the darker, the less likely" });
  for (const [i, limit] of [1, ...limits].entries()) scale.append(make("span.t" + i, {}, (i ? "<" : "≤") + String(limit).replace(/^0/, "")));
  legend.append(scale, ...drawnToo());
  byId("text").before(legend);
};

// ---- search, and steps from row to row

const startTools = () => {
  const beside = main.matches(".beside");
  const known = rows.some((row) => row.good && (beside ? row.accepted !== undefined : row.stats.accepted >= 0));
  const differs = beside ? (row) => row.of.some((v) => v && row.of[0] && v[4] !== row.of[0][4])
    : known ? (row) => row.stats.accepted !== row.record.id : (row) => row.stats.raw_rank !== 1;
  const likely = (row) => beside ? probIn(row, tokenOf(row), 0) : row.stats.raw_prob;
  const order = rows.filter((row) => row.good).sort((a, b) => likely(a) - likely(b));
  const next = (by, from, step) => {
    for (let i = from + step; i >= 0 && i < rows.length; i += step) if (rows[i].good && by(rows[i])) return choose(i, true);
  };
  let least = -1; // the row that the last step of this kind chose
  const leastLikely = () => {
    if (!order.length) return;
    least = order[now === least ? (order.indexOf(rows[now]) + 1) % order.length : 0].at;
    choose(least, true);
  };
  const lost = (row) => beside ? shown.some((_, i) => row.of[i] && !probIn(row, row.accepted, i))
    : row.stats.accepted >= 0 && row.stats.accepted_prob === 0;
  const field = make("input", { type: "search", "aria-label": "Search the text", placeholder: "search" });
  const found = make("output", { "aria-label": "Matches" });
  const search = (step) => {
    const starts = [], texts = rows.map((row) => { starts.push(starts.length ? starts.at(-1) + length : 0); length = row.link.textContent.length; return row.link.textContent; });
    const all = texts.join("").toLowerCase(), wanted = field.value.toLowerCase(), hits = [];
    for (let i = all.indexOf(wanted); wanted && i >= 0; i = all.indexOf(wanted, i + 1)) hits.push(starts.findLastIndex((start) => start <= i));
    const at = step > 0 ? hits.findIndex((hit) => hit > now) : hits.findLastIndex((hit) => hit < now);
    const hit = at >= 0 ? at : step > 0 ? 0 : hits.length - 1;
    found.textContent = !wanted ? "" : hits.length ? `${hit + 1} of ${hits.length}` : "not found";
    if (hits.length) choose(hits[hit], false);
  };
  let length = 0;
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter") search(event.shiftKey ? -1 : 1);
    if (event.key === "Escape") rows[now].link.focus();
  });
  const what = beside ? "where a variant chose otherwise" : known ? "where the drawn token is not the accepted one" : "where the drawn token is not the likeliest";
  const keys = [["n", "next difference", `next row ${what}`, () => next(differs, now, 1)], ["p", "previous", `previous row ${what}`, () => next(differs, now, -1)],
    ["l", "least likely", "the least likely token, then the next one", leastLikely], ...(known ? [["r", "removed", `next accepted token that ${beside ? "a" : "the"} chain removed`, () => next(lost, now, 1)]] : [])];
  const help = make("p.help", { hidden: "" }, [...keys.map(([key, , why]) => `${key}: ${why}`), "/: search; Enter: next match, Shift+Enter: previous", "arrow keys, Page Up, Page Down, Home, End: another row", "?: this help"].join(" · "));
  const showHelp = () => { help.hidden = !help.hidden; };
  const button = ([key, label, why, act]) => {
    const node = make("button", { type: "button", title: `${why} (${key})` }, label);
    node.addEventListener("click", act);
    return node;
  };
  const all = [...keys, ["?", "keys", "show the keys", showHelp]];
  document.addEventListener("keydown", (event) => {
    const key = all.find(([name_]) => name_ === event.key);
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input[type=search], select") || (!key && event.key !== "/")) return;
    event.preventDefault();
    if (key) key[3](); else field.focus();
  });
  byId("reading-head").after(make("div.tools", {}, field, found, ...all.map(button)), help);
};

// Marks the tables that are wider than their place.
const markWide = () => {
  for (const box of document.querySelectorAll(".scroll")) box.classList.toggle("over", box.scrollWidth > box.clientWidth + 1);
};

// ---- lines over the rows

const WIDTH = 1000, HEIGHT = 50;
const x = (i, n) => ((i + 0.5) / n * WIDTH).toFixed(1);
const path = (values, top) => {
  let d = "", pen = false;
  values.forEach((v, i) => {
    if (v === null || v === undefined) { pen = false; return; }
    d += `${pen ? "L" : "M"}${x(i, values.length)} ${(HEIGHT - 2 - v / top * (HEIGHT - 5)).toFixed(1)}`;
    pen = true;
  });
  return d;
};
const stems = (values, top) => {
  const half = Math.min(6, 0.4 / values.length * WIDTH);
  return values.map((v, i) => v === null ? "" : `M${(x(i, values.length) - half).toFixed(1)} ${HEIGHT}v${(-v / top * (HEIGHT - 3)).toFixed(1)}h${(2 * half).toFixed(1)}V${HEIGHT}z`).join("");
};

// The row under a click, and the line that stands at a row.
const chooseAt = (svg, event) => {
  const box = svg.getBoundingClientRect();
  choose(Math.floor((event.clientX - box.left) / box.width * rows.length), true);
};
const place_ = (cursor, row) => {
  for (const end of ["x1", "x2"]) cursor.setAttribute(end, x(row.at, rows.length));
};

const startStrips = () => {
  const pick = (of) => rows.map((row) => row.good ? of(row) : null);
  const log = (n) => Math.log10(n);
  const strips = [
    { label: "prob", unit: "after the chain", values: pick((r) => r.record.prob), show: (v) => prob(v), top: 1, area: true },
    { label: "kept", unit: "log scale", values: pick((r) => r.record.n), show: whole, scale: (n) => log(n) },
    { label: "entropy", unit: rows.some((r) => r.good && entropyBefore(r) !== null) ? "nats; grey: before" : "nats", values: pick((r) => r.record.entropy), show: (v) => fixed(v, 3), behind: pick(entropyBefore) },
  ];
  const section = make("section.wide", { id: "lines", "aria-label": "Over the rows" });
  for (const strip of strips) {
    const scale = strip.scale || ((v) => v), scaled = strip.values.map((v) => v === null ? null : scale(v));
    const top = strip.top || Math.max(1e-9, ...scaled, ...(strip.behind || []));
    const svg = make("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", "aria-hidden": "true" });
    const cursor = make("line", { y1: 0, y2: HEIGHT });
    const now_ = make("output", { "aria-label": strip.label });
    if (strip.behind) svg.append(make("path.faint", { d: path(strip.behind, top) }));
    svg.append(strip.area ? make("path.area", { d: stems(scaled, top) }) : make("path", { d: path(scaled, top) }), cursor);
    svg.addEventListener("click", (event) => chooseAt(svg, event));
    const values = strip.values.filter((v) => v !== null);
    const range = values.length ? `${strip.show(Math.min(...values))} to ${strip.show(Math.max(...values))}` : "";
    section.append(make("div.strip", {}, make("div.what", {}, strip.label, make("small", {}, strip.unit), make("span.range", {}, range)), svg, now_));
    listeners.push((row) => {
      place_(cursor, row);
      now_.textContent = row.good ? strip.show(strip.values[row.at]) : "–";
    });
  }
  main.prepend(section);
};

// ---- one row: the tokens on their way through the stages

// The entropy of the model's distribution; null for a row that lists only a part of it.
const entropyBefore = (row) => row.record.rest === undefined ? row.stats.entropy_raw : null;

const bar = (p, scale, ...inside) => make("td", { "--p": Math.min(1, p * scale).toFixed(4) }, ...inside);

const stageTable = (row) => {
  const r = row.record, stages = r.stages.filter((s) => s.enabled);
  const steps = [null, ...r.stages.map((s, i) => s.enabled ? i : -1).filter((i) => i >= 0)]; // places in the probabilities
  const place = (step) => step === null ? 0 : step + 1;
  const rest = steps.map((step) => Math.max(0, 1 - row.followed.reduce((sum, f) => sum + (f[4][place(step)] || 0), 0)));
  const head = make("tr", {}, make("td.who"), make("th.step", { scope: "col" }, make("b", {}, "row"), "as read"));
  for (const s of stages) {
    const main = Object.values(s.params)[0];
    head.append(make("th.step", { scope: "col" }, make("b", {}, ...parts(s.name)), main === undefined ? "" : String(main)));
  }
  const n = [stages.length ? stages[0].before : r.n, ...stages.map((s) => s.after)];
  const others = n.map((all, i) => all - row.followed.filter((f) => f[4][place(steps[i])] !== null).length);
  const most = Math.max(1e-9, ...row.followed.flatMap((f) => f[4]), ...rest.filter((_, i) => others[i] > 0)); // the longest bar
  const body = make("tbody");
  for (const [id, text, , , p] of row.followed) {
    const chosen = id === r.id;
    const line = make(chosen ? "tr.chosen" : "tr", {}, make("th", { scope: "row", title: `id ${id}` }, (chosen ? "▸ " : "") + name(id, text)));
    let gone = false;
    for (const [i, step] of steps.entries()) {
      const value = p[place(step)];
      if (value !== null) line.append(bar(value, 1 / most, prob(value)));
      else if (gone) line.append(make("td"));
      else line.append(make("td.gone", {}, "×", make("span.hidden", {}, i ? ` removed by ${stages[i - 1].name}` : r.rest > 0 ? " not listed" : " masked in the row")));
      gone = value === null;
    }
    body.append(line);
  }
  if (others[0] > 0)
    body.append(make("tr.rest", {}, make("th", { scope: "row" }, "all others"), ...steps.map((_, i) => others[i] > 0 ? bar(rest[i], 1 / most, prob(rest[i])) : make("td"))));
  const foot = (label, first, of) => make("tr", {}, make("th", { scope: "row" }, label), make("td", {}, first), ...stages.map((s) => make("td", {}, of(s))));
  return make("div.scroll", { tabindex: "0", role: "region", "aria-label": "The stages" }, make(steps.length > 7 ? "table.bars.dense" : "table.bars", { "--steps": steps.length }, make("thead", {}, head), body,
    make("tfoot", {}, ...(r.rest === undefined ? [] : [foot("outside the list", prob(r.rest), (s) => s.rest || "")]), foot("kept", whole(n[0]), (s) => whole(s.after)), foot("mass kept", "", (s) => prob(s.mass)),
      foot("entropy", fixed(entropyBefore(row), 3), (s) => fixed(s.entropy, 3)))));
};

const drawn = (row) => {
  const draw = row.stats.draw, r = row.record;
  if (draw === null || draw === undefined) return [];
  const unit = make("div.unit", { "aria-hidden": "true" });
  for (const [id, text, low, high] of row.followed)
    if (high > low) unit.append(make(id === r.id ? "span.chosen" : "span", { "--left": low * 100 + "%", "--width": (high - low) * 100 + "%", title: `${name(id, text)} ${prob(low)} to ${prob(high)}` }, high - low > 0.014 * name(id, text).length ? name(id, text) : ""));
  unit.append(make(draw > 0.75 ? "i.left" : "i", { "--left": draw * 100 + "%" }, "draw " + prob(draw)));
  const mine = row.followed.find((f) => f[0] === r.id);
  return [make("div", {}, unit, make("p.note", {}, mine && mine[3] > mine[2] ? `The draw ${prob(draw)} falls into the share of ${name(r.id, r.token)}, ${prob(mine[2])} to ${prob(mine[3])}.` : `The draw is ${prob(draw)}.`))];
};

const removed = (row) => {
  const list = make("dl.removed");
  for (const s of row.record.stages.filter((s) => s.enabled)) {
    const main = Object.entries(s.params)[0], said = [];
    if (s.removed) said.push(`removed ${whole(s.removed)}: ` + s.likeliest_removed.map((t) => `${name(t.id, t.token)} ${prob(t.prob)}`).join(", ") + (s.removed > s.likeliest_removed.length ? ", …" : ""));
    for (const [key, value] of Object.entries(s.notes)) if (value !== null && key !== "draw") said.push(`${key} ${Number(value.toPrecision(4))}`);
    if (said.length) list.append(make("dt", {}, s.name + (main ? " " + main[1] : "")), make("dd", {}, said.join("; ")));
  }
  return list;
};

// What a partial row leaves open.
const partial = (r) => r.rest === undefined ? [] : [make("p.note", {}, `The row lists a part of the vocabulary; ${prob(r.rest)} of the probability lies outside of the list. ` +
  (r.exact ? "The chain removes all of that, as it does in the full row: the result is exact." : "The full row can give another result: below, the probabilities of the listed tokens add up to 1."))];

const startRow = () => {
  const section = make("section", { id: "row", "aria-live": "off" });
  byId("reading").after(section);
  section.setAttribute("aria-labelledby", "row-head");
  listeners.push((row) => {
    const r = row.record, head = make("h2", { id: "row-head" }, `Row ${r.row}` + (r.seq ? `, sequence ${r.seq}` : ""));
    if (!row.good) { section.replaceChildren(head, make("p", {}, r.error)); return; }
    const s = row.stats, accepted = row.followed.find((f) => f[0] === s.accepted);
    section.replaceChildren(head, make("p.lead", {}, make("b", {}, name(r.id, r.token)), " ", make("span", {}, `${prob(r.prob)} after the chain,`), " ",
      make("span", {}, `${prob(s.raw_prob)} by the model,`), " ", make("span", {}, s.raw_rank === null ? "its rank is below the list" : `its rank ${whole(s.raw_rank)}`),
      accepted ? make("span", {}, `; accepted ${name(accepted[0], accepted[1])}`) : ""), ...partial(r), stageTable(row), ...drawn(row), removed(row));
  });
};

// ---- several chains: the table, a panel each, and one row

// Does a chain gain more than the base at an equal loss? Only this is ever marked: nll and ppl count only the text that a chain keeps, and
// eps_ppl has a constant of ours. Decimal numbers that are .01 apart are less or more apart as binary ones.
const gainsMore = (v) => [v.lost, variants[0].lost, v.gain_diff, v.gain_diff_se].every((x) => typeof x === "number") &&
  Math.abs(v.lost - variants[0].lost) <= 0.01 + 1e-12 && v.gain_diff > 2 * v.gain_diff_se;

// The meaning of each column.
const meaning = {
  kept: "candidates that the chain keeps",
  entropy: "entropy after the chain, in nats",
  e_prob: "expected probability, after the chain, of the drawn token",
  e_raw_prob: "expected probability, by the model, of the drawn token",
  e_greedy: "probability after the chain of the model's likeliest token",
  kl_raw: "divergence of the chain's distribution from the model's, in nats",
  same: "share of rows whose chosen token is the base's",
  overlap: "overlap of the distribution with the base's: 1 is equal",
  js: "Jensen-Shannon divergence from the base, in nats",
  kl: "divergence from the base, in nats, over the rows where it is finite",
  kl_inf: "rows whose divergence from the base is infinite",
  top1: "share of rows whose likeliest token is the base's",
  mass: "probability, by the model, of the kept candidates together",
  nll: "mean -ln of the accepted token's probability over the rows where the chain keeps it; a chain that loses more " +
    "rows can have a lower nll",
  ppl: "exponential of nll, over the rows where the chain keeps the accepted token",
  lost: "share of rows whose accepted token the chain removes",
  gain: "share of the model's probability that the chain forbids, less lost: larger is better among chains that lose an equal share",
  unlisted: "share of the partial rows whose accepted token the list does not name, and the chain does not remove for certain",
  exact: "share of the partial rows whose outcome is that of the full row",
  eps_ppl: "perplexity of the accepted tokens, after mixing in a little of the uniform distribution",
  rows: "rows that count",
};

const startMeans = () => {
  const section = byId("means"), heads = [...section.querySelectorAll("thead th")], body = section.querySelector("tbody"), lines = [...body.rows];
  section.classList.add("wide");
  lines.forEach((line, i) => { line.cells[0].append(make("small.options", {}, variants[i].options === "--" + variants[i].name ? "" : variants[i].options)); });
  const notes = make("dl.removed"), differences = make("input", { type: "checkbox" }), shows = [];
  heads.forEach((head, k) => {
    const key = head.textContent, other = k ? "mean of a number of the chain's samplers" : "name of the chain, and the options that differ from the base";
    const suffix = key.match(/_diff_se$|_diff$|_se$/)?.[0] || "", of = { _diff: "difference from the base: ", _se: "standard error: ", _diff_se: "standard error of the difference: " };
    const what = meaning[key] || (of[suffix] || "") + (meaning[key.slice(0, key.length - suffix.length)] || other);
    const value = (i) => k ? variants[i][key + (differences.checked && key + "_diff" in variants[i] ? "_diff" : "")] : i, button = make("button", { type: "button", title: what }, key);
    head.replaceChildren(button);
    notes.append(make("dt", {}, key), make("dd", {}, what));
    button.addEventListener("click", () => {
      const up = head.getAttribute("aria-sort") === "ascending" ? -1 : 1, place = (i) => value(i) ?? Infinity;
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", up > 0 ? "ascending" : "descending");
      body.append(...lines.map((line, i) => [line, place(i)]).sort((a, b) => a[1] < b[1] ? -up : a[1] > b[1] ? up : 0).map(([line]) => line));
    });
    if (!k) return;
    lines.forEach((line, i) => {
      const cell = line.cells[k], error = variants[i][key + "_se"];
      if (key === "gain" && gainsMore(variants[i])) {
        cell.classList.add("more");
        cell.append(make("span.hidden", {}, " more than the base at an equal loss"));
      }
      if (error > 0 && !/[±(]/.test(cell.textContent)) cell.append(make("small", {}, ` ±${short(error)}`));
      const means = [...cell.childNodes], { [key + "_diff"]: apart, [key + "_diff_se"]: apartError } = variants[i];
      const said = typeof apart !== "number" ? [] : [`${apart > 0 ? "+" : ""}${short(apart)}`, ...(apartError > 0 ? [make("small", {}, ` ±${short(apartError)}`)] : [])];
      shows.push(() => cell.replaceChildren(...(differences.checked && said.length ? said : means)));
    });
  });
  differences.addEventListener("change", () => { for (const show of shows) show(); });
  if (variants.some((v) => Object.keys(v).some((key) => key.endsWith("_diff")))) {
    byId("means-head").after(make("p.legend", {}, make("label", { title: "mean over the rows of the chain's number minus the base's, with its standard error" }, differences, "differences from the base, where a column has them")));
    notes.append(make("dt", {}, "differences"), make("dd", {}, "mean over the rows of the chain's number minus the base's, row by row; ± is the standard error of that mean"));
  }
  if (section.querySelector(".more"))
    section.append(make("p.note", {}, make("span.more", {}), ": the chain gains more than the base; its lost differs by at most .01, and gain_diff exceeds twice its error."));
  section.append(make("details", {}, make("summary", {}, "What the columns say"), notes));
  main.prepend(section);
};

// Plots the chains by two columns: gain against lost if tokens are accepted, else entropy against mass.
const startScatter = () => {
  const [across, up] = variants.some((v) => v.lost > 0 && v.gain !== null) ? ["lost", "gain"] : ["entropy", "mass"];
  const points = variants.filter((v) => v[across] !== null && v[up] !== null);
  if (points.length < 3) return;
  const ends = (key) => [Math.min(...points.map((v) => v[key])), Math.max(...points.map((v) => v[key]))];
  const [[left, right], [low, high]] = [ends(across), ends(up)], share = (v, a, b) => (5 + 90 * (v - a) / (b - a || 1)).toFixed(2) + "%";
  const plot = make("div.plot", { role: "img", "aria-label": `Chains by ${across} and ${up}; the table has the numbers` }, ...points.map((v) =>
    make(v === variants[0] ? "span.dot.base" : "span.dot", { "--x": share(v[across], left, right), "--y": share(v[up], low, high), title: `${v.name}: ${across} ${short(v[across])}, ${up} ${short(v[up])}` },
      make("span", {}, v.name))));
  byId("means").after(make("section.wide", { id: "scatter", "aria-labelledby": "scatter-head" }, make("h2", { id: "scatter-head" }, `${up} against ${across}`), plot,
    make("div.ends", {}, make("span", {}, short(left)), make("span", {}, `${across} →; upwards: ${up}, ${short(low)} to ${short(high)}`), make("span", {}, short(right)))));
  placeNames(plot);
  addEventListener("resize", () => placeNames(plot));
};

// Puts each point's name to its right, left, top or bottom, where it lies in the plot and on no other name or point.
// A name without such a place is hidden; its point still has it as a title.
const placeNames = (plot) => {
  const room = plot.getBoundingClientRect(), dots = [...plot.children], taken = dots.map((dot) => dot.getBoundingClientRect());
  const meets = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
  dots.forEach((dot, i) => {
    const name_ = dot.firstChild;
    const fits = ["", "before", "above", "below", "gone"].some((side) => {
      name_.className = side;
      const box = name_.getBoundingClientRect();
      return side === "gone" || (box.left >= room.left && box.right <= room.right && box.top >= room.top - 10 && box.bottom <= room.bottom + 10 && taken.every((other, k) => k === i || !meets(box, other)));
    });
    if (fits && name_.className !== "gone") taken.push(name_.getBoundingClientRect());
  });
};

// The token of a row that the text shows: that of the chain whose text it is, or the accepted one.
let textOf = 0;
const tokenOf = (row) => textOf || row.accepted === undefined ? row.of[textOf] && row.of[textOf][4] : row.accepted;
// Its probability in a chain; 0 if the chain removed it.
const probIn = (row, id, i) => {
  const p = row.record.top_probs.find((t) => t.id === id)?.probs[shown[i].name];
  return typeof p === "number" ? p : 0;
};

// The text of a chain, tinted by a probability or by the overlap with the base.
const startDiffering = () => {
  const others = (row) => row.of.filter((v) => v && row.of[0] && v[4] !== row.of[0][4]).length;
  for (const row of rows) Object.assign(row, { text: row.link.textContent, was: row.link.className });
  const chain = make("select", { "aria-label": "Text of" }, make("option", { value: 0 }, rows.some((row) => row.accepted !== undefined) ? "base, or accepted" : "base"), ...shown.slice(1).map((v, i) => make("option", { value: i + 1 }, v.name)));
  const by = make("select", { "aria-label": "Tint" }, make("option", { value: 0 }, "probability"), make("option", { value: 3 }, "overlap with the base"));
  const note = make("p.note");
  const draw = () => {
    const i = Number(chain.value), place = Number(by.value);
    for (const row of rows) {
      const v = row.of[i], differs = i ? v && row.of[0] && v[4] !== row.of[0][4] : others(row) * 2 > shown.length - 1;
      row.link.textContent = i && v ? v[5] ? v[5].replace(/\n/g, "↵\n") : String(v[4]) : i ? "[bad row]" : row.text;
      row.link.className = row.was;
      if (v && (i || place)) row.link.className = `t${tint(v[place])}${v[5] ? "" : " id"}`;
      if (differs) row.link.classList.add("differs");
      nameLink(row, v ? v[0] : undefined);
    }
    byId("text").classList.toggle("variant", i > 0);
    textOf = i;
    if (now >= 0) for (const listen of listeners) listen(rows[now]);
    note.replaceChildren(make("u", {}, "underlined"), i ? ": the base chose another token" : ": more than half of the variants chose another token");
  };
  for (const node of [chain, by]) node.addEventListener("change", draw);
  byId("text").before(make("div.legend", {}, make("label", {}, "Text of ", chain), make("label", {}, "Tint: ", by), ...drawnToo()), note);
  draw();
};

const startPanels = () => {
  const ways = [["entropy", 2, 0, 3], ["kept", 1, 0, 0], ["prob", 0, 1, 4], ["overlap with the base", 3, 1, 4]];
  const section = make("section.wide", { id: "panels", "aria-labelledby": "panels-head" }), grid = make("div.panels");
  const legend = make("div.legend", { role: "radiogroup", "aria-label": "What the lines show" });
  const draw = ([label, place, most, digits]) => {
    const values = shown.map((_, i) => rows.map((row) => row.of[i] ? row.of[i][place] : null));
    const log = label === "kept", of = (v) => v === null ? null : log ? Math.log10(v) : v;
    const top = most || Math.max(1e-9, ...values.flat().map(of));
    grid.replaceChildren(...shown.map((v, i) => {
      const svg = make("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", "aria-hidden": "true" });
      const cursor = make("line.cursor", { y1: 0, y2: HEIGHT });
      if (i && place !== 3) svg.append(make("path.faint", { d: path(values[0].map(of), top) }));
      svg.append(make("path", { d: path(values[i].map(of), top) }), cursor);
      svg.addEventListener("click", (event) => chooseAt(svg, event));
      const now_ = make("output", { "aria-label": `${v.name}, ${label}` });
      const figure = make("figure", {}, make("figcaption", {}, v.name, now_), svg);
      const said = values[i].filter((v) => v !== null);
      if (said.length) figure.append(make("div.ends", {}, make("span", {}, `${fixed(Math.min(...said), digits)} to ${fixed(Math.max(...said), digits)}`), log ? make("span", {}, "log scale") : ""));
      figure.follow = (row) => {
        place_(cursor, row);
        now_.textContent = row.of[i] ? fixed(row.of[i][place], digits) : "–";
      };
      return figure;
    }));
    if (now >= 0) for (const figure of grid.children) figure.follow(rows[now]);
  };
  ways.forEach((way, i) => {
    const input = make("input", { type: "radio", name: "panels", ...(i ? {} : { checked: "" }) });
    input.addEventListener("change", () => draw(way));
    legend.append(make("label", {}, input, way[0]));
  });
  section.append(make("h2", { id: "panels-head" }, "Over the rows"), legend, grid);
  byId("reading").before(section);
  listeners.push((row) => { for (const figure of grid.children) figure.follow(row); });
  draw(ways[0]);
};

// The fate of the token that the text shows, in words.
const leadOf = (row) => {
  const id = tokenOf(row), token = row.record.top_probs.find((t) => t.id === id);
  if (!token) return [];
  const there = shown.filter((_, i) => row.of[i]), keep = there.filter((v) => typeof token.probs[v.name] === "number");
  const chose = shown.filter((_, i) => row.of[i] && row.of[i][4] === id);
  const share = (list) => list.length === there.length ? "all" : list.length ? `${list.length} of ${there.length}` : "none";
  return [make("p.lead", {}, make("b", {}, name(id, token.token)), id === row.accepted ? " was accepted. " : ". ",
    `Chains that keep it: ${share(keep)}; that chose it: ${share(chose)}.`)];
};

const startBeside = () => {
  const section = make("section", { id: "row", "aria-labelledby": "row-head" });
  byId("reading").after(section);
  listeners.push((row) => {
    const r = row.record, probs = r.top_probs.flatMap((t) => Object.values(t.probs).filter((p) => typeof p === "number"));
    const most = Math.max(1e-9, ...probs), head = make("tr", {}, make("td.who")), body = make("tbody"), asked = tokenOf(row);
    shown.forEach((v, i) => head.append(make("th.step", { scope: "col" }, make("b", {}, ...parts(v.name)),
      row.of[i] ? make("span.chose", {}, name(row.of[i][4], row.of[i][5])) : "bad row")));
    for (const t of r.top_probs)
      body.append(make(t.id === asked ? "tr.asked" : "tr", {}, make("th", { scope: "row", title: `id ${t.id}` }, name(t.id, t.token)),
        ...shown.map((v, i) => {
          const p = t.probs[v.name], chosen = row.of[i] && row.of[i][4] === t.id;
          if (typeof p !== "number") return make("td.gone", {}, p === "-" ? "" : p);
          const cell = bar(p, 1 / most, (chosen ? "▸ " : "") + prob(p));
          if (chosen) cell.classList.add("chosen");
          return cell;
        })));
    const foot = (label, place, show) => make("tr", {}, make("th", { scope: "row" }, label),
      ...shown.map((_, i) => make("td", {}, row.of[i] ? show(row.of[i][place]) : "")));
    const feet = [foot("kept", 1, whole), foot("entropy", 2, (v) => fixed(v, 3)), foot("overlap", 3, (v) => fixed(v, 4))];
    const table = make(shown.length > 7 ? "table.bars.dense" : "table.bars", { "--steps": shown.length },
      make("thead", {}, head), body, make("tfoot", {}, ...feet));
    section.replaceChildren(make("h2", { id: "row-head" }, `Row ${r.row}`), ...leadOf(row),
      make("p.note", {}, "Below each chain the token that it chose; in place of a probability the stage that removed the token."),
      make("div.scroll", { tabindex: "0", role: "region", "aria-label": "The candidates in each chain" }, table));
  });
};

// ---- sweeps: a curve for each column, or for two options a map

const label = (column) => ({ kept: "kept", entropy: "entropy", e_prob: "prob", e_raw_prob: "raw prob", e_greedy: "greedy", kl_raw: "KL to raw", same: "same as base", overlap: "overlap", js: "JS", kl: "KL", kl_inf: "KL infinite", top1: "same top token", mass: "mass", gain: "gain", eps_ppl: "eps ppl", nll: "nll", ppl: "ppl", lost: "lost" })[column] || column;
const short = (v) => v === null || v === undefined ? "–" : v === 0 ? "0" : Math.abs(v) >= 100 ? v.toFixed(0) : Math.abs(v) >= 10 ? v.toFixed(1) : Math.abs(v) < 0.001 ? v.toExponential(0) : v.toFixed(3);
const distinct = (list) => [...new Set(list)];

const startSweep = () => {
  const swept = variants.filter((v) => Object.keys(v.swept).length);
  if (!swept.length) return;
  const options = Object.keys(swept[0].swept), columns = Object.keys(variants[0]).filter((c) => !/^(name|options|swept|of_the_draw|rows)$|_se$|_diff$/.test(c));
  const last = options[options.length - 1], second = options[options.length - 2];
  // what tells lines, or maps, apart: the variant of --vs and the values of the options before
  const group = (v) => v.name.split(" ").filter((word) => ![last, second].some((o) => o && word.startsWith(o + "="))).join(" ");
  const groups = distinct(swept.map(group)).slice(0, 12);
  const section = make("section.wide", { id: "sweep", "aria-labelledby": "sweep-head" });
  section.append(make("h2", { id: "sweep-head" }, options.length > 1 ? `${second} and ${last}` : `By ${last}`));
  byId("means").before(section);
  if (options.length === 1) curves(section, swept, groups, group, columns, last);
  else maps(section, swept, groups, group, columns, second, last);
};

const curves = (section, swept, groups, group, columns, option) => {
  const values = distinct(swept.map((v) => v.swept[option])), numbers = values.every((v) => typeof v === "number");
  const low = Math.min(...(numbers ? values : [0])), high = Math.max(...(numbers ? values : [0]));
  const along = (v) => numbers && high > low ? 12 + (v - low) / (high - low) * (WIDTH - 24) : x(values.indexOf(v), values.length);
  const grid = make("div.panels");
  for (const column of columns) {
    const error = (v) => v[column + "_se"] || 0;
    const all = swept.filter((v) => v[column] !== null).flatMap((v) => [v[column] - error(v), v[column] + error(v)]), base = variants[0][column];
    if (!all.length) continue;
    const bottom = Math.min(...all, base ?? Infinity), top = Math.max(...all, base ?? -Infinity), span = top - bottom || 1;
    const up = (v) => (HEIGHT - 4 - (v - bottom) / span * (HEIGHT - 8)).toFixed(1);
    const svg = make("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", role: "img", "aria-label": `${label(column)} from ${short(bottom)} to ${short(top)}` });
    if (base !== null && base !== undefined) svg.append(make("path.faint", { d: `M0 ${up(base)}H${WIDTH}` }));
    groups.forEach((g, i) => {
      const line = swept.filter((v) => group(v) === g && v[column] !== null);
      const edge = (sign) => (v) => `${along(v.swept[option])} ${up(v[column] + sign * error(v))}`;
      if (numbers && line.length) svg.append(make("path.band.c" + i % 4, { d: `M${[...line.map(edge(1)), ...line.map(edge(-1)).reverse()].join("L")}z` }));
      if (numbers) svg.append(make("path.c" + i % 4, { d: line.map((v, k) => `${k ? "L" : "M"}${along(v.swept[option])} ${up(v[column])}`).join("") }));
      svg.append(make("path.dots.c" + i % 4, { d: line.map((v) => `M${along(v.swept[option])} ${up(v[column])}h0`).join("") }));
    });
    const ends = make(numbers ? "div.ends" : "div.ends.each", { "aria-hidden": "true" }, ...(numbers ? [low, high] : values).map((v) => make("span", {}, String(v))));
    const range = `${short(bottom)} – ${short(top)}`, said = make("span", {}, range), points = swept.filter((v) => v[column] !== null);
    let at = -1;
    const say = (i) => {
      at = Math.max(0, Math.min(points.length - 1, i));
      said.textContent = `${points[at].name}: ${short(points[at][column])}` + (error(points[at]) ? ` ±${short(error(points[at]))}` : "");
    };
    const far = (v, box, event) => Math.hypot(along(v.swept[option]) / WIDTH * box.width - event.clientX + box.left, up(v[column]) / HEIGHT * box.height - event.clientY + box.top);
    svg.setAttribute("tabindex", "0");
    svg.addEventListener("pointermove", (event) => {
      const box = svg.getBoundingClientRect(), distances = points.map((v) => far(v, box, event));
      say(distances.indexOf(Math.min(...distances)));
    });
    svg.addEventListener("focus", () => say(Math.max(0, at)));
    svg.addEventListener("keydown", (event) => {
      if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
      event.preventDefault();
      say(at + (event.key === "ArrowLeft" ? -1 : 1));
    });
    for (const end of ["pointerleave", "blur"]) svg.addEventListener(end, () => { said.textContent = range; });
    said.setAttribute("aria-live", "polite");
    grid.append(make("figure", {}, make("figcaption", {}, make("b", {}, label(column)), said), svg, ends));
  }
  section.append(make("p.legend", {}, ...(groups.length > 1 ? groups.map((g, i) => make("span.key.c" + i % 4, {}, g || "the base, swept")) : []), "grey: the base"), grid);
};

const maps = (section, swept, groups, group, columns, down, across) => {
  const legend = make("div.legend", { role: "radiogroup", "aria-label": "Column" }), room = make("div.maps");
  const rowsOf = distinct(swept.map((v) => v.swept[down])), colsOf = distinct(swept.map((v) => v.swept[across]));
  const draw = (column) => {
    const all = swept.map((v) => v[column]).filter((v) => v !== null), low = Math.min(...all), span = Math.max(...all) - low || 1;
    room.replaceChildren(...groups.map((g) => {
      const head = make("tr", {}, make("td", {}, ""), ...colsOf.map((c) => make("th", { scope: "col" }, String(c)))), body = make("tbody");
      for (const d of rowsOf)
        body.append(make("tr", {}, make("th", { scope: "row" }, String(d)), ...colsOf.map((c) => {
          const v = swept.find((v) => group(v) === g && v.swept[down] === d && v.swept[across] === c)?.[column];
          return v === null || v === undefined ? make("td", {}, "–") : make("td.h" + Math.min(5, Math.floor((v - low) / span * 6)), {}, short(v));
        })));
      return make("div.scroll", { tabindex: "0", role: "region", "aria-label": `${label(column)} by ${down} and ${across}` }, make("table.map", {}, make("caption", {}, `${g ? g + ": " : ""}${down} down, ${across} across`), make("thead", {}, head), body));
    }));
  };
  columns.forEach((column, i) => {
    const input = make("input", { type: "radio", name: "column", ...(i === 1 ? { checked: "" } : {}) });
    input.addEventListener("change", () => draw(column));
    legend.append(make("label", {}, input, label(column)));
  });
  section.append(legend, room);
  draw(columns[1]);
};

// ---- a frame: the page that holds it asks for the place, and restores it in the next frame

const listenToHolder = () => addEventListener("message", (event) => {
  const box = byId("text"), place = event.data && event.data.sampl;
  if (place === "place?")
    event.source.postMessage({ sampl: { row: now < 0 ? null : rows[now].record.row, top: scrollY, text: box ? box.scrollTop : 0 } }, "*");
  else if (place && typeof place === "object") {
    const at = rows.findIndex((row) => row.record.row === place.row);
    if (at >= 0) choose(at, false);
    if (box) box.scrollTop = place.text;
    scrollTo(0, place.top);
  }
});

// ---- begin

const start = (...parts) => {
  main.classList.add("alive");
  startText();
  for (const part of parts) part();
  startTools();
  listeners.push(markWide);
  addEventListener("resize", markWide);
  // #r9 is a line of the table, #row-9 the same for those who have the script
  const asked = () => Math.max(0, rows.findIndex((row) => "#row-" + row.record.row === location.hash.replace(/^#r(?=\d)/, "#row-")));
  choose(asked(), false);
  started = true;
  addEventListener("hashchange", () => choose(asked(), false));
};

// On paper the table of all rows is open.
const listenToPrinter = () => {
  const all = byId("all"), was = { open: false };
  if (!all) return;
  addEventListener("beforeprint", () => { was.open = all.open; all.open = true; });
  addEventListener("afterprint", () => { all.open = was.open; });
};

listenToHolder();
listenToPrinter();
if (main.matches(".plain") && rows.length) {
  byId("all").open = false;
  start(startLegend, startStrips, startRow);
}
if (main.matches(".beside")) {
  startMeans();
  startSweep();
  startScatter();
  markWide();
  if (rows.length) start(startDiffering, startPanels, startBeside);
}
})();
