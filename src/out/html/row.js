// SPDX-License-Identifier: MIT
// One row: the tokens on their way through the stages, the draw, and what each stage removed; or its candidates in
// each of several chains.

// A name that may be broken behind its signs.
const parts = (name) => name.split(/(?<=[_=])/).flatMap((part) => [part, make("wbr")]);

// A cell with a number over its bar; `most` has the longest bar.
const barCell = (p, most, text = prob(p)) => {
  const cell = make("td", { "--p": Math.min(1, p / most).toFixed(4) }, text);
  cell.exact = p;
  return cell;
};
const numberCell = (x, show) => {
  const cell = make("td", {}, show(x));
  cell.exact = x ?? "";
  return cell;
};
const scrollBox = (label, table) =>
  make("div.scroll", { tabindex: "0", role: "region", "aria-label": label }, table);
const tableOf = (steps, label, head, body, foot) => scrollBox(label,
  make(steps > 7 ? "table.bars.dense" : "table.bars", { "--steps": steps },
    make("thead", {}, head), make("tbody", {}, ...body), make("tfoot", {}, ...foot)));
const footLine = (label, ...cells) => make("tr", {}, make("th", { scope: "row" }, label), ...cells);

// ---- one chain

// What a stage does to the unlisted tokens of a row, in words.
const EFFECTS = { gone: "removed", unknown: "depends on them" };
const stageTable = (row) => {
  const { followed } = row, enabled = row.stages;
  const steps = [0, ...enabled.map((s) => s.place)];
  const at = (f, i) => f.p[steps[i]];
  const rest = steps.map((_, i) => Math.max(0, 1 - followed.reduce((sum, f) => sum + (at(f, i) || 0), 0)));
  const kept = [enabled.length ? enabled[0].before : row.of[0].kept, ...enabled.map((s) => s.after)];
  const others = kept.map((all, i) => all - followed.filter((f) => isNumber(at(f, i))).length);
  const listed = followed.flatMap((f) => f.p.filter(isNumber));
  const most = Math.max(1e-9, ...listed, ...rest.filter((_, i) => others[i] > 0));
  const head = make("tr", {}, make("td.who"), make("th.step", { scope: "col" }, make("b", {}, "row"), "as read"),
    ...enabled.map((s) => make("th.step", { scope: "col" }, make("b", {}, ...parts(s.name)),
      String(Object.values(s.params)[0] ?? ""))));
  const gone = (i) => make("td.gone", {}, "×", make("span.hidden", {},
    i ? ` removed by ${enabled[i - 1].name}` : row.rest > 0 ? " " + UNLISTED : " masked in the row"));
  const lineOf = (f) => {
    const chosen = f.id === row.id, name = (chosen ? "▸ " : "") + nameOf(f.id);
    return make(chosen ? "tr.chosen" : "tr", {}, make("th", { scope: "row", title: `id ${f.id}` }, name),
      ...steps.map((_, i) => isNumber(at(f, i)) ? barCell(at(f, i), most)
        : i && !isNumber(at(f, i - 1)) ? make("td") : gone(i)));
  };
  const body = followed.map(lineOf);
  if (others[0] > 0)
    body.push(make("tr.rest", {}, make("th", { scope: "row" }, "all others"),
      ...steps.map((_, i) => others[i] > 0 ? barCell(rest[i], most) : make("td"))));
  const foot = [
    ...(row.rest === undefined ? [] : [footLine("unlisted tokens", numberCell(row.rest, prob),
      ...enabled.map((s) => make("td", {}, EFFECTS[s.rest] || s.rest || "")))]),
    footLine("kept", ...kept.map((n) => numberCell(n, whole))),
    footLine("mass kept", make("td"), ...enabled.map((s) => numberCell(s.mass, prob))),
    footLine("entropy", ...[entropyBefore(row), ...enabled.map((s) => s.entropy)].map((x) => numberCell(x, fixed(3))))];
  return tableOf(steps.length, "The stages", head, body, foot);
};

// The entropy of the model's distribution; null for a row that lists only a part of it.
const entropyBefore = (row) => row.rest === undefined ? row.entropyBefore : null;

// The draw: each token's share of the unit interval.
const drawOf = ({ draw, id, followed }) => {
  if (!isNumber(draw)) return [];
  const percent = (x) => x * 100 + "%", mine = followed.find((f) => f.id === id);
  const share = ({ id: other, low, high }) => {
    const name = nameOf(other), fits = high - low > 0.014 * name.length;
    return make(other === id ? "span.chosen" : "span", { "--left": percent(low), "--width": percent(high - low),
      title: `${name} ${prob(low)} to ${prob(high)}` }, fits ? name : "");
  };
  const unit = make("div.unit", { "aria-hidden": "true" }, ...followed.filter((f) => f.high > f.low).map(share),
    make(draw > 0.75 ? "i.left" : "i", { "--left": percent(draw) }, "draw " + prob(draw)));
  const says = mine && mine.high > mine.low
    ? `The draw ${prob(draw)} falls into the share of ${nameOf(id)}, ${prob(mine.low)} to ${prob(mine.high)}.`
    : `The draw is ${prob(draw)}.`;
  return [make("div", {}, unit, make("p.note", {}, says))];
};

const removedBy = (row) => {
  const list = make("dl.removed");
  const line = (name, said) => list.append(make("dt", {}, name), make("dd", {}, said));
  if (row.grammar) line("grammar", row.grammar);
  for (const s of row.stages) {
    const likeliest = s.likeliest.map((t) => `${nameOf(t.id)} ${prob(t.prob)}`).join(", ");
    const more = s.removed > s.likeliest.length ? ", …" : "", [first] = Object.values(s.params);
    const notes = s.notes.map((key, i) => [key, s.noted[i]]).filter(([key, x]) => isNumber(x) && key !== "draw");
    const said = [...(s.removed ? [`removed ${whole(s.removed)}: ${likeliest}${more}`] : []),
      ...(s.says ? [s.says] : []), // in place of the numbers, which it tells
      ...(s.says && s !== row.stages.at(-1) ? [] : notes).map(([key, x]) => `${key} ${Number(x.toPrecision(4))}`)];
    if (said.length) line(s.name + (first === undefined ? "" : " " + first), said.join("; "));
  }
  return list;
};

// What a partial row leaves open.
const partial = (row) => row.rest === undefined ? [] : [make("p.note", {},
  `The row is a list of the likeliest tokens; the unlisted tokens have ${prob(row.rest)} of the probability. ` +
  (row.exact ? "The chain removes them, as it does in the full row: the result is exact."
    : "The full row can give another result: below, the probabilities of the listed tokens add up to 1."))];

const leadOfStages = (row) => {
  const [{ prob: after, rawProb, rawRank }] = row.of, { accepted } = row;
  const rank = rawRank === null ? "its rank is below the list" : `its rank ${whole(rawRank)}`;
  return make("p.lead", {}, make("b", {}, nameOf(row.id)), " ",
    make("span", {}, `${prob(after)} after the chain,`), " ", make("span", {}, `${prob(rawProb)} by the model,`), " ",
    make("span", {}, rank),
    accepted ? make("span", {}, `; accepted ${nameOf(accepted.id)}`) : "");
};
const bodyOfStages = (row) => [leadOfStages(row), ...partial(row), stageTable(row), ...drawOf(row), removedBy(row)];

// ---- several chains

// The fate of the token that was clicked, in words.
const fateOf = (row) => {
  const token = asked(row), found = token && row.tokens.find((t) => t.id === token.id);
  if (!found) return make("p.lead");
  const there = shown.map((_, i) => i).filter((i) => row.of[i]);
  const keep = there.filter((i) => isNumber(found.probs[i])), chose = there.filter((i) => row.of[i].id === token.id);
  const share = ({ length: n }) => n === there.length ? "all" : n ? `${n} of ${there.length}` : "none";
  const open = there.filter((i) => found.probs[i] === UNLISTED);
  return make("p.lead", {}, make("b", {}, nameOf(token.id)), token.id === row.accepted?.id ? " was accepted. " : ". ",
    `Chains that keep it: ${share(keep)}; that chose it: ${share(chose)}` +
    (open.length ? `; not known, as the list lacks it: ${share(open)}.` : "."));
};

const bodyOfChains = (row) => {
  const most = Math.max(1e-9, ...row.tokens.flatMap((t) => t.probs.filter(isNumber))), token = asked(row);
  const head = make("tr", {}, make("td.who"), ...shown.map((v, i) => make("th.step", { scope: "col" },
    make("b", {}, ...parts(v.name)), row.of[i] ? make("span.chose", {}, nameOf(row.of[i].id)) : "bad row")));
  const cellOf = (id, p, i) => {
    if (!isNumber(p)) return make("td.gone", {}, p === "-" ? "" : p);
    const chosen = row.of[i] && row.of[i].id === id, cell = barCell(p, most, (chosen ? "▸ " : "") + prob(p));
    if (chosen) cell.classList.add("chosen");
    return cell;
  };
  const body = row.tokens.map(({ id, probs }) => make(token && id === token.id ? "tr.asked" : "tr", {},
    make("th", { scope: "row", title: `id ${id}` }, nameOf(id)), ...probs.map((p, i) => cellOf(id, p, i))));
  const foot = (label, key, show) => footLine(label, ...row.of.map((v) => v ? numberCell(v[key], show) : make("td")));
  const note = "Below each chain the token that it chose; in place of a probability the stage that removed the token.";
  return [fateOf(row), make("p.note", {}, note), tableOf(shown.length, "The candidates in each chain", head, body,
    [foot("kept", "kept", whole), foot("entropy", "entropy", fixed(3)), foot("overlap", "overlap", fixed(4))])];
};

// ---- the section

// The text before a row, for a row that stands alone.
const contextOf = (row) => {
  const before = rows.slice(Math.max(0, row.at - 12), row.at);
  return make("p.context", {}, "… ", before.map((r) => links[r.at].textContent.replace(/↵/g, "")).join(""),
    make("b", {}, links[row.at].textContent.replace(/↵/g, "")));
};

const startRow = (bodyOf) => {
  const section = make("section", { id: "row", "aria-live": "off", "aria-labelledby": "row-head" });
  byId(byId("means") ? "means" : "reading").after(section);
  listeners.push((row) => {
    const table = () => section.querySelector("table");
    const head = make("h2", { id: "row-head" }, `Row ${row.row}` + (row.seq ? `, sequence ${row.seq}` : ""));
    if (row.error) section.replaceChildren(head, make("p", {}, row.error));
    else section.replaceChildren(head, csvButton(`row-${row.row}`, table), contextOf(row), ...bodyOf(row));
    markWide();
  });
};

// Marks the tables that are wider than their place.
const markWide = () => {
  for (const box of document.querySelectorAll(".scroll"))
    box.classList.toggle("over", box.scrollWidth > box.clientWidth + 1);
};
