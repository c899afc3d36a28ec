// SPDX-License-Identifier: MIT
// Several chains: the table that tells which one to take, a figure for each over the rows, and all of them as points.

// Does a chain gain more than the base at an equal loss? Only this is ever marked: nll and ppl count only the text that
// a chain keeps, and eps_ppl has a constant of ours. Decimal numbers that are .01 apart are less or more apart as
// binary ones.
const gainsMore = ({ lost, gain_diff, gain_diff_se }) => {
  const all = [lost, variants[0].lost, gain_diff, gain_diff_se].every(isNumber);
  return all && Math.abs(lost - variants[0].lost) <= 0.01 + 1e-12 && gain_diff > 2 * gain_diff_se;
};

// The meaning of each column.
const meaning = {
  kept: "candidates that the chain keeps",
  entropy: "entropy after the chain, in nats",
  e_prob: "expected probability, after the chain, of the drawn token",
  e_raw_prob: "expected probability, by the model, of the drawn token",
  e_greedy: "probability after the chain of the model's likeliest token",
  kl_raw: "divergence of the chain's distribution from the model's, in nats",
  same: "fraction of rows whose chosen token is the base's",
  overlap: "overlap of the distribution with the base's: 1 is equal",
  js: "Jensen-Shannon divergence from the base, in nats",
  kl: "divergence from the base, in nats, over the rows where it is finite",
  kl_inf: "rows whose divergence from the base is infinite",
  top1: "fraction of rows whose likeliest token is the base's",
  mass: "probability, by the model, of the kept candidates together",
  nll: "mean -ln of the accepted token's probability over the rows where the chain keeps it; a chain that loses more " +
    "rows can have a lower nll",
  ppl: "exponential of nll, over the rows where the chain keeps the accepted token",
  lost: "fraction of rows whose accepted token the chain removes or the row masks",
  gain: "fraction of the model's probability that the chain removes, minus lost: larger is better among chains with " +
    "equal lost; below it the difference from the base",
  unlisted: "fraction of the top-k lists that lack the accepted token and leave open whether the chain removes it",
  exact: "fraction of the top-k lists whose result equals the full row's",
  eps_ppl: "perplexity of the accepted tokens, after mixing in a little of the uniform distribution",
  rows: "good rows",
};
const meaningOf = (key) => {
  const [suffix = ""] = key.match(/_diff_se$|_diff$|_se$/) || [], own = key.slice(0, key.length - suffix.length);
  const of = { _diff: "difference from the base: ", _se: "standard error: ",
    _diff_se: "standard error of the difference: " };
  return meaning[key] || (of[suffix] || "") + (meaning[own] || "mean of a number of the chain's samplers");
};
const VERDICT = ["lost", "gain", "kept", "mass", "same"]; // the columns that are always there

// A number with its error.
const withError = (text, error) => [text, ...(error > 0 ? [make("small", {}, ` ±${short(error)}`)] : [])];
const signed = (x) => (x > 0 ? "+" : "") + short(x);

const startMeans = () => {
  const section = byId("means"), table = section.querySelector("table"), [body] = table.tBodies;
  if (!table.matches(".given")) reorder(table);
  const heads = [...table.tHead.rows[0].cells], keys = heads.map((head) => head.textContent), lines = [...body.rows];
  const all = make("input", { type: "checkbox" }), differences = make("input", { type: "checkbox" });
  const apart = () => differences.checked, draws = [];
  const valueOf = (i, key) => variants[i][apart() && key + "_diff" in variants[i] ? key + "_diff" : key];
  lines.forEach((line, i) => {
    const v = variants[i], [name] = line.cells, options = v.options.replace(/--/g, "") === v.name ? "" : v.options;
    const title = "shows the text of this chain beside the first one";
    const open = make("button.open", { type: "button", title, onclick: () => openChain(i) }, name.textContent);
    if (canOpen(v)) name.replaceChildren(open);
    name.append(make("small.options", {}, options));
    name.exact = v.name;
  });
  heads.forEach((head, k) => {
    const key = keys[k], title = k ? meaningOf(key) : "name of the chain, and the options that differ from the base";
    const sort = () => {
      const up = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
      const place = (line) => k ? valueOf(lines.indexOf(line), key) ?? Infinity : lines.indexOf(line);
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", up > 0 ? "ascending" : "descending");
      body.append(...[...lines].sort((a, b) => up * (place(a) < place(b) ? -1 : place(a) > place(b) ? 1 : 0)));
    };
    head.replaceChildren(make("button", { type: "button", title, onclick: sort }, key));
    head.exact = key;
    if (k) lines.forEach((line, i) => startMean(line.cells[k], variants[i], key, apart, draws));
  });
  const draw = () => { for (const each of draws) each(); };
  differences.addEventListener("change", draw);
  draw();
  const fold = () => {
    for (const line of table.rows)
      keys.forEach((key, k) => { line.cells[k].hidden = k > 0 && !all.checked && !VERDICT.includes(key); });
    markWide();
  };
  const rest = keys.some((key, k) => k && !VERDICT.includes(key)), folds = rest && !table.matches(".given");
  const legend = make("p.legend");
  all.addEventListener("change", fold);
  if (folds) {
    legend.append(make("label", {}, all, "all columns"));
    fold();
  }
  if (variants.some((v) => Object.keys(v).some((key) => key.endsWith("_diff"))))
    legend.append(make("label", { title: "mean over the rows of the chain's number minus the base's" }, differences,
      "differences from the base, where a column has them"));
  legend.append(csvButton("chains", () => table));
  byId("means-head").after(legend);
  if (section.querySelector(".more"))
    section.querySelector(".scroll").after(make("p.note", {}, make("span.more"), ": the chain gains more than the " +
      "base; its lost differs by at most .01, and gain_diff exceeds twice its error."));
  section.append(make("details", {}, make("summary", {}, "What the columns say"), make("dl.removed", {},
    ...keys.flatMap((key, k) => k ? [make("dt", {}, key), make("dd", {}, meaningOf(key))] : []),
    make("dt", {}, "differences"), make("dd", {}, "mean over the rows of the chain's number minus the base's, row by " +
      "row; ± is the standard error of that mean"))));
};

// Puts the columns of the verdict behind the names.
const reorder = (table) => {
  const keys = [...table.tHead.rows[0].cells].map((head) => head.textContent), rest = keys.map((_, k) => k);
  const first = ["chain", ...VERDICT].map((key) => keys.indexOf(key)).filter((k) => k >= 0);
  for (const row of table.rows) row.append(...distinct([...first, ...rest]).map((k) => row.cells[k]));
};

// A mean of a chain with its error, or the difference from the base. Behind a gain, the difference is always there.
const startMean = (cell, v, key, apart, draws) => {
  const { [key + "_diff"]: diff, [key + "_diff_se"]: error, [key + "_se"]: ownError } = v, known = isNumber(diff);
  const text = isNumber(v[key]) ? short(v[key]) : cell.textContent;
  cell.exact = v[key] ?? "";
  if (key === "gain" && gainsMore(v)) cell.classList.add("more");
  draws.push(() => {
    cell.replaceChildren(...(apart() && known ? withError(signed(diff), error) : withError(text, ownError)));
    if (key === "gain" && (diff || error) && !apart())
      cell.append(make("small.apart", {}, signed(diff), ...(error > 0 ? [` ±${short(error)}`] : [])));
    if (cell.matches(".more")) cell.append(make("span.hidden", {}, " more than the base, and loses about as much"));
  });
};

// ---- over the rows

const startPanels = () => {
  const ways = [
    { label: "entropy", show: fixed(3), axis: { low: 0 } },
    { label: "kept", unit: "log scale", show: whole, axis: { log: true, low: 1 } },
    { label: "prob", show: prob, axis: { low: 0, high: 1 } },
    { label: "overlap", says: "overlap with the base", show: fixed(4), axis: { low: 0, high: 1 } }];
  const grid = make(rows.length > STRIPS ? "div.strips" : "div.panels");
  const legend = make("div.legend", { role: "radiogroup", "aria-label": "What the figures show" });
  const draw = ({ label, show, unit, axis }) => {
    const values = shown.map((_, i) => rows.map((row) => row.of[i] ? row.of[i][label] : null));
    const { low, high } = axisOf(values.flat(), axis); // one scale for all chains
    grid.replaceChildren(...shown.map((v, i) => overRows({ label: v.name, unit, values: values[i], show,
      axis: { ...axis, low, high }, behind: i && label !== "overlap" ? values[0] : undefined })));
    if (now >= 0) for (const figure of grid.children) figure.follow(now);
  };
  ways.forEach((way, i) => legend.append(make("label", {},
    make("input", { type: "radio", name: "panels", checked: !i, onchange: () => draw(way) }), way.says || way.label)));
  byId("stages").before(make("section.wide", { id: "panels", "aria-labelledby": "panels-head" },
    make("h2", { id: "panels-head" }, "Over the rows"), legend, grid));
  listeners.push((row) => { for (const figure of grid.children) figure.follow(row.at); });
  draw(ways[0]);
};

// ---- the chains as points: gain against lost if tokens are accepted, else entropy against mass

const startScatter = () => {
  const [across, up] = variants.some((v) => v.lost > 0 && v.gain !== null) ? ["lost", "gain"] : ["entropy", "mass"];
  const points = variants.filter((v) => isNumber(v[across]) && isNumber(v[up]));
  if (points.length < 3) return;
  const axis = (key) => { // a little wider than the points
    const exact = axisOf(points.map((v) => v[key])), more = (exact.high - exact.low || 1) / 18;
    return { ...exact, low: exact.low - more, high: exact.high + more };
  };
  const section = make("section.wide", { id: "scatter", "aria-labelledby": "scatter-head" },
    make("h2", { id: "scatter-head" }, `${up} against ${across}`));
  byId("stages").before(section);
  const spots = points.map((v) => ({ x: v[across], y: v[up], name: v.name, tone: v === variants[0] ? "base" : "",
    title: `${v.name}: ${across} ${short(v[across])}, ${up} ${short(v[up])}`,
    act: canOpen(v) ? () => openChain(variants.indexOf(v)) : null }));
  section.append(plot({ label: `${up} ↑, ${across} →`, x: axis(across), y: axis(up), spots }));
};
