// SPDX-License-Identifier: MIT
// Sweeps: a curve for each column, or for two options a map.

const LABELS = { e_prob: "prob", e_raw_prob: "raw prob", e_greedy: "greedy", kl_raw: "KL to raw", same: "same as base",
  js: "JS", kl: "KL", kl_inf: "KL infinite", top1: "same top token", eps_ppl: "eps ppl" };
const labelOf = (column) => LABELS[column] || column;

const startSweep = () => {
  const swept = variants.filter((v) => Object.keys(v.swept).length);
  if (!swept.length) return;
  const options = Object.keys(swept[0].swept), [last, second] = [...options].reverse();
  const none = /^(name|options|swept|of_the_draw|rows)$|_se$|_diff$/;
  const all = Object.keys(variants[0]).filter((c) => !none.test(c));
  // What tells lines, or maps, apart: the variant of --vs and the values of the options before.
  const own = (word) => ![last, second].some((option) => option && word.startsWith(option + "="));
  const group = (v) => v.name.split(" ").filter(own).join(" ");
  const groups = distinct(swept.map(group)).slice(0, 12);
  const sweep = { swept, group, groups, all, across: last, down: second };
  const head = options.length > 1 ? `${second} and ${last}` : `By ${last}`;
  byId("stages").before(make("section.wide", { id: "sweep", "aria-labelledby": "sweep-head" },
    make("h2", { id: "sweep-head" }, head), ...(options.length === 1 ? curves(sweep) : maps(sweep))));
};

const curves = ({ swept, groups, group, all, across }) => {
  const values = distinct(swept.map((v) => v.swept[across])), numbers = values.every(isNumber);
  const along = (v) => numbers ? v.swept[across] : values.indexOf(v.swept[across]);
  const some = values.length > 8 ? [0, values.length - 1] : values.map((_, i) => i); // labels that fit
  const x = numbers ? axisOf(values, { show: String })
    : { low: -0.5, high: values.length - 0.5, ticks: some.map((i) => [i, String(values[i])]) };
  const figureOf = (column) => {
    const points = swept.filter((v) => isNumber(v[column])), base = variants[0][column];
    const error = (v) => v[column + "_se"] || 0, log = column === "kept";
    const edge = (v, sign) => log ? Math.max(1, v[column] + sign * error(v)) : v[column] + sign * error(v);
    const edges = points.flatMap((v) => [edge(v, -1), edge(v, 1)]), y = axisOf([...edges, base], { log });
    const faint = isNumber(base) ? [{ kind: "line", tone: "faint", points: [[x.low, base], [x.high, base]] }] : [];
    const seriesOf = (g, i) => {
      const line = points.filter((v) => group(v) === g), tone = "c" + i % 4;
      const drawn = line.map((v) => [along(v), v[column]]);
      const band = line.map((v) => [along(v), edge(v, -1), edge(v, 1)]);
      const joined = numbers ? [{ kind: "band", tone, points: band }, { kind: "line", tone, points: drawn }] : [];
      return [...joined, { kind: "dots", tone, points: drawn }];
    };
    const said = (v) => `${v.name}: ${short(v[column])}` + (error(v) ? ` ±${short(error(v))}` : "");
    return points.length ? [plot({ label: labelOf(column), unit: log ? "log scale" : "", x, y, keys: true,
      series: [...faint, ...groups.flatMap(seriesOf)], points: points.map((v) => [along(v), v[column]]),
      say: (i) => said(points[i]), rest: `${short(y.low)} – ${short(y.high)}` })] : [];
  };
  const keys = groups.length > 1 ? groups.map((g, i) => make("span.key.c" + i % 4, {}, g || "the base, swept")) : [];
  return [make("p.legend", {}, ...keys, "grey: the base"), make("div.panels", {}, ...all.flatMap(figureOf))];
};

const maps = ({ swept, groups, group, all, across, down }) => {
  const legend = make("div.legend", { role: "radiogroup", "aria-label": "Column" }), room = make("div.maps");
  const [rowsOf, colsOf] = [down, across].map((option) => distinct(swept.map((v) => v.swept[option])));
  const draw = (column) => {
    const scale = onAxis(axisOf(swept.map((v) => v[column])));
    const cellOf = (v) => {
      if (!isNumber(v?.[column])) return make("td", {}, "–");
      const act = () => openChain(variants.indexOf(v)), text = short(v[column]);
      const level = Math.min(5, Math.floor(scale(v[column]) * 6));
      const button = make("button", { type: "button", title: v.name, onclick: act }, text);
      const cell = make("td.h" + level, {}, canOpen(v) ? button : text);
      cell.exact = v[column];
      return cell;
    };
    room.replaceChildren(...groups.map((g) => {
      const find = (d, c) => swept.find((v) => group(v) === g && v.swept[down] === d && v.swept[across] === c);
      const table = make("table.map", {}, make("caption", {}, `${g ? g + ": " : ""}${down} down, ${across} across `),
        make("thead", {}, make("tr", {}, make("td"), ...colsOf.map((c) => make("th", { scope: "col" }, String(c))))),
        make("tbody", {}, ...rowsOf.map((d) => make("tr", {}, make("th", { scope: "row" }, String(d)),
          ...colsOf.map((c) => cellOf(find(d, c)))))));
      table.caption.append(csvButton(`${labelOf(column)}-map`, () => table));
      return scrollBox(`${labelOf(column)} by ${down} and ${across}`, table);
    }));
    markWide();
  };
  const input = (column, i) =>
    make("input", { type: "radio", name: "column", checked: i === 1, onchange: () => draw(column) });
  legend.append(...all.map((column, i) => make("label", {}, input(column, i), labelOf(column))));
  draw(all[1]);
  return [legend, room];
};
