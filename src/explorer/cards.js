// SPDX-License-Identifier: MIT
// The chosen row before and after each stage, and a figure of both with a cut that can be dragged. sampl computes the
// rows: the chain up to each stage is a variant of one run, in the form of --print-chain=json.

const SHOWN = 400; // candidates of a figure: the likeliest of the row
const FIGURE = { wide: 320, high: 76, low: 1e-5 }; // units of a figure; the least probability that it shows

// What was found last: row; stages: index in the chain -> {list: [{name, before, after}], trace}, the list sorted by
// the probability before the stage. After is 0 for what the stage removes.
let seen = { row: null, stages: new Map() };

// A chain that ends before stage `end`. xtc acts by chance: here it acts always if `acts`, else only if it always does.
const upTo = (printed, end, acts) => JSON.stringify({ ...printed, chain: printed.chain.slice(0, end).map((stage, i) =>
  stage.name !== "xtc" ? stage : { ...stage, xtc_probability: acts && i === end - 1 ? 1
    : Math.floor(Math.min(1, stage.xtc_probability)) }) });

const lookAt = async (printed, row) => {
  const found = { row, stages: new Map() }, chain = printed.chain, ours = printed.engine === "llama", variants = [];
  if (!named("rows").length) return found;
  const drawn = [...chain.keys()].filter((i) => chain[i].enabled || figures.has(i));
  const more = {}, keep = (name, json) => {
    more[`look/${name}.json`] = new TextEncoder().encode(json);
    return `--preset ./look/${name}.json --seed ${seed()}`;
  };
  const words = [...inputWords(String(row)), ...typed((group) => group === "input")];
  const end = ["--first", String(row), "-O", "json", ...named("rows")];
  const addTo = (name, json) => variants.push("--vs", `${name}: ${keep(name, json)}`);
  if (ours) {
    for (const i of drawn) {
      if (samplerOf(chain[i].name)?.selects) continue;
      addTo(`after${i}`, upTo(printed, i + 1, true));
      if (chain[i].name === "xtc") addTo(`past${i}`, upTo(printed, i + 1, false));
    }
    const none = split(keep("none", upTo(printed, 0))), all = split(keep("all", upTo(printed, chain.length)));
    const [probs, trace] = await Promise.all([
      looks.run([...words, ...none, ...variants, `--dump-probs=${SHOWN}`, ...end], more),
      traces.run([...words, ...all, "--trace", ...end], more)]);
    readStages(found.stages, chain, drawn, recordOf(probs)?.top_probs, recordOf(trace)?.stages);
  } else {
    const trace = await looks.run([...inputWords(String(row)), ...chainWords(), "--trace", ...end]);
    readStages(found.stages, chain, drawn, null, recordOf(trace)?.stages);
  }
  return found;
};
const recordOf = (result) => {
  const line = text(result).split("\n").find((line) => line.startsWith("{\"row\":"));
  return line && JSON.parse(line);
};
const readStages = (into, chain, drawn, candidates, traced = []) => {
  const numberOf = ({ prob, probs }, variant) => { // a chain without stages has no variants: one probability
    const p = probs ? probs[variant] : prob;
    return typeof p === "number" ? p : 0;
  };
  let from = "base";
  const left = [...traced];
  for (const i of drawn) {
    const { name, enabled } = chain[i], at = left.findIndex((stage) => enabled && stage.name === name);
    const trace = at >= 0 ? left.splice(0, at + 1)[at] : null, to = `after${i}`;
    const ends = samplerOf(name)?.selects, list = (candidates || []).map((one) => ({ name: one.token || String(one.id),
      before: numberOf(one, from), after: numberOf(one, ends ? from : to) }));
    into.set(i, { trace, list: list.filter((one) => one.before > 0).sort((a, b) => b.before - a.before) });
    if (!ends) from = name === "xtc" ? `past${i}` : to;
  }
};

// ---- where a cut is, and the value that puts it elsewhere

const CUTS = { top_k: "top-k", top_p: "top-p", min_p: "min-p", top_n_sigma: "top-nsigma", xtc: "xtc-threshold" };
const removedOf = (list) => list.filter((one) => !one.after).length;
// How many candidates are on the cut's left: those that stay; of xtc those that the threshold counts.
const cutOf = (stage, list) => stage.name === "xtc" ? list.filter((one) => one.before >= stage.xtc_threshold).length
  : list.findLastIndex((one) => one.after) + 1;

// The values (low, high] of a cut's parameter that leave n candidates on its left; deviation: of the logits.
const rangeOf = (name, list, n, deviation) => {
  const p = (rank) => list[rank - 1]?.before ?? 0;
  const sumTo = (rank) => list.slice(0, rank).reduce((sum, one) => sum + one.before, 0);
  const fall = (rank) => p(rank) ? Math.log(p(1) / p(rank)) / deviation : Infinity;
  if (name === "top_k") return [n - 1, n];
  if (name === "top_p") return [sumTo(n - 1), Math.min(1, sumTo(n))];
  if (name === "min_p") return [p(n + 1) / p(1), p(n) / p(1)];
  if (name === "xtc") return [Math.min(0.49, p(n + 1)), Math.min(0.5, p(n))];
  return [fall(n), Math.min(fall(n + 1), fall(n) * 1.1 + 0.01)];
};
// The value for a cut at a place between ranks: the shortest number near this share of the range.
const valueAt = (name, list, place, deviation) => {
  const n = Math.max(1, Math.min(list.length, Math.round(place))), [low, high] = rangeOf(name, list, n, deviation);
  if (name === "top_k") return String(n);
  const share = Math.max(0.05, Math.min(0.95, place - n + 0.5)), rises = name === "top_p" || name === "top_n_sigma";
  const [size, exact] = [high - low, low + (high - low) * (rises ? share : 1 - share)];
  for (let digits = 1; digits < 9; digits++) {
    const short = Number(exact.toPrecision(digits));
    if (Math.abs(short - exact) < 0.04 * size) return String(short);
  }
  return String(high);
};
// The deviation of the logits that top-nsigma counts in, from the cut that sampl made.
const deviationOf = (stage, list) => {
  const n = cutOf(stage, list), [last, first] = [list[n - 1], list[n]];
  if (!first || !(stage.top_nsigma > 0)) return 0;
  return Math.log(list[0].before / Math.sqrt(last.before * first.before)) / stage.top_nsigma;
};

// ---- figures: ranks from left to right, probabilities from 1 at the top, both logarithmic

const figures = new Map(); // index in the chain -> what draws its figure again
const drawFigures = () => { for (const draw of figures.values()) draw(); };

const xOf = (rank) => FIGURE.wide * Math.log(rank) / Math.log(SHOWN + 1); // the left edge of a rank's column
const yOf = (p) => FIGURE.high * Math.min(1, Math.log(Math.max(p, FIGURE.low)) / Math.log(FIGURE.low));
const rankAt = (x) => (SHOWN + 1) ** (x / FIGURE.wide);

// A path of columns, for the candidates that `heightOf` gives a probability.
const [edgeOf, heightAt] = [(rank) => xOf(rank).toFixed(1), (p) => yOf(p).toFixed(1)];
const columns = (list, heightOf) => list.map((one, i) => !heightOf(one) ? ""
  : `M${edgeOf(i + 1)} ${FIGURE.high}V${heightAt(heightOf(one))}H${edgeOf(i + 2)}V${FIGURE.high}z`).join("");
const outline = (list) => list.map((one, i) => !one.after ? ""
  : `${i && list[i - 1].after ? "L" : "M"}${edgeOf(i + 1)} ${heightAt(one.after)}H${edgeOf(i + 2)}`).join("");
// Bands behind what is removed.
const bands = (list) => list.flatMap((one, i) => {
  if (one.after || (i && !list[i - 1].after)) return [];
  const end = list.findIndex((other, j) => j > i && other.after), right = end < 0 ? FIGURE.wide : xOf(end + 1);
  return make("rect.shade", { x: xOf(i + 1), y: 0, width: right - xOf(i + 1), height: FIGURE.high });
});

const percent = (share) => share >= 0.9995 && share < 1 ? "more than 99.9 %"
  : `${Number((100 * share).toPrecision(3))} %`;
const wholeNumber = (n) => String(n).replace(/\B(?=(\d{3})+$)/g, "\u202f");
const inQuotes = (name) => `“${name.replace(/\n/g, "\\n").replace(/\t/g, "\\t").replace(/ /g, "\u00a0")}”`;
const counted = (n) => `${wholeNumber(n)} token${n === 1 ? "" : "s"}`;
const short = (p) => !p ? "0" : p >= 0.001 ? p.toPrecision(2).replace(/^0/, "") : p.toExponential(0);

// The row is sampled alone, as the first of a run: says so if tokens or a state of the rows before it act on this stage, or on one before.
const alone = (chain, index, row) => row > 0 && chain.slice(0, index + 1).some(({ name, enabled }) => {
  const { state, history } = samplerOf(name) || {};
  return enabled && name !== "xtc" && (state || (history && !named("accept").length));
}) ? "Without the rows before: " : "";

// What a stage did to the row, in a line.
const caption = (stage, { list, trace }) => {
  const best = list[0];
  if (stage.name === "xtc" && best) {
    const head = removedOf(list), chance = percent(Math.max(0, Math.min(1, stage.xtc_probability)));
    if (head) return `In ${chance} of the rows: removes ${head === SHOWN ? "at least " : ""}the ${head} likeliest, `
      + `${inQuotes(best.name)} first.`;
    return cutOf(stage, list) < 2 ? "Fewer than two reach the threshold: it removes none."
      : "Too few would stay for min-keep: it removes none.";
  }
  if (!trace) return "";
  const from = wholeNumber(trace.before), [first] = trace.likeliest_removed;
  const stay = `${counted(trace.before)} stay${trace.before === 1 ? "s" : ""}`;
  const out = first?.id === trace.top_before ? "The likeliest is removed:" : "First out:";
  const says = trace.says ? `${trace.says[0].toUpperCase()}${trace.says.slice(1)}.` : "";
  const told = (text) => says ? `${text} ${says}` : text;
  if (trace.removed > 0) return told(`${from} → ${counted(trace.after)}, ${percent(trace.mass)} of the probability.`
    + (first ? ` ${out} ${inQuotes(first.token || String(first.id))} ${short(first.prob)}.` : ""));
  if (samplerOf(stage.name)?.selects) return told(`${counted(trace.before)} to draw from`
    + (best ? `, ${inQuotes(best.name)} ${short(best.before)} first.` : "."));
  const moved = best && Math.abs(best.after - best.before) > 1e-6;
  return moved ? told(`${inQuotes(best.name)} ${short(best.before)} → ${short(best.after)}; ${stay}.`) : says || `${stay}.`;
};

// The figure of the stage with this index, and its line. give(flag, value, moving) takes the value of a dragged cut.
const figureOf = (index, give) => {
  const flag = CUTS[stages.chain[index].name], { wide, high } = FIGURE;
  const drawing = make("g"), line = make("p.caption");
  const edge = make("line", { y1: 0, y2: high }), dot = make("circle", { cy: high / 2, r: 5 });
  const grip = make("rect.hit", { y: 0, width: 32, height: high }), cut = make("g.cut", {}, grip, edge, dot);
  const svg = make("svg.figure", { viewBox: `0 -2 ${wide} ${high + 14}`, role: "img" }, drawing);
  const ticks = make("g.ticks", {}, make("line", { x1: 0, x2: wide, y1: high, y2: high }),
    ...[[1, "rank 1"], [10, "10"], [100, "100"]].map(([rank, name]) =>
      make("text", { x: xOf(rank) + 1, y: high + 10 }, name)),
    ...[0.1, 0.001].flatMap((p) => [make("line.grid", { x1: 0, x2: wide, y1: yOf(p), y2: yOf(p) }),
      make("text.right", { x: wide - 1, y: yOf(p) - 2 }, String(p).replace(/^0/, ""))]));
  svg.append(ticks);
  let held = false, deviation = 0;
  const place = (x) => {
    for (const name of ["x1", "x2"]) edge.setAttribute(name, Math.min(wide - 1, x));
    dot.setAttribute("cx", Math.min(wide - 6, x));
    grip.setAttribute("x", Math.min(wide - 32, x - 16));
  };
  const draw = () => {
    const stage = stages.chain[index], found = seen.stages.get(index), list = found?.list || [];
    svg.toggleAttribute("hidden", !list.length);
    line.textContent = found ? alone(stages.chain, index, seen.row) + caption(stage, found) : "";
    if (!list.length) return;
    const selects = samplerOf(stage.name)?.selects;
    svg.setAttribute("aria-label", `Row ${seen.row}, ${stage.name}: ${line.textContent}`);
    drawing.replaceChildren(...bands(list),
      make("path.gone", { d: columns(list, (one) => one.after ? 0 : one.before) }),
      make("path.kept", { d: columns(list, (one) => one.after && one.before) }),
      ...(selects ? [] : [make("path.after", { d: outline(list) })]));
    if (stage.name === "top_n_sigma") deviation = deviationOf(stage, list) || deviation;
    const movable = flag && (stage.name !== "top_n_sigma" || deviation);
    if (movable && !cut.isConnected) svg.append(cut); // an element that is appended again lets the pointer go
    if (!movable) cut.remove();
    if (!held) place(xOf(cutOf(stage, list) + 1));
    svg.dataset.cut = cutOf(stage, list);
  };
  cut.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    event.preventDefault();
    cut.setPointerCapture(event.pointerId);
    held = true;
  });
  cut.addEventListener("touchstart", (event) => event.preventDefault(), { passive: false }); // else the page scrolls
  cut.addEventListener("pointermove", (event) => {
    const box = svg.getBoundingClientRect(), list = seen.stages.get(index)?.list || [], { name } = stages.chain[index];
    if (!held || !list.length) return;
    const x = Math.max(xOf(1.5), Math.min(wide, (event.clientX - box.left) / box.width * wide));
    place(x);
    give(flag, valueAt(name, list, rankAt(x) - 1, deviation), true);
  });
  cut.addEventListener("lostpointercapture", () => {
    held = false;
    update();
  });
  figures.set(index, draw);
  draw();
  return [svg, line];
};
