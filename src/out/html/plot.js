// SPDX-License-Identifier: MIT
// plot(): one figure with axes, a value that follows the pointer, and a button that saves it. Lines are stretched
// with the window; labels are not, so they stand beside the lines as elements.

const WIDTH = 1000, HEIGHT = 100;
const STRIPS = 200; // rows: with more of them a line is a strip of colours

// Returns where a number lies on an axis {low, high, log}, 0 to 1. A logarithmic axis begins at 1.
const onAxis = ({ low, high, log }) => {
  const of = log ? (v) => Math.log10(Math.max(1, v)) : (v) => v, span = of(high) - of(low);
  return (v) => span ? (of(v) - of(low)) / span : 0.5;
};

// An axis over numbers.
const axisOf = (values, { log = false, low, high, show = short } = {}) => {
  const known = values.filter(isNumber);
  const axis = { log, low: low ?? Math.min(...known, Infinity), high: high ?? Math.max(...known, -Infinity) };
  if (!(axis.low <= axis.high)) Object.assign(axis, { low: 0, high: 1 });
  return { ...axis, ticks: distinct([axis.low, axis.high]).map((v) => [v, show(v)]) };
};

// ---- shapes, of points [x, y] or null in 0 to 1

const px = (x) => (x * WIDTH).toFixed(1);
const py = (y) => (HEIGHT - 2 - y * (HEIGHT - 4)).toFixed(1);
const shapes = {
  line: (points) => points.map((p, i) => p ? `${points[i - 1] ? "L" : "M"}${px(p[0])} ${py(p[1])}` : "").join(""),
  area: (points) => points.map((p) => {
    const half = Math.min(0.006, 0.4 / points.length);
    return p ? `M${px(p[0] - half)} ${HEIGHT}V${py(p[1])}h${px(2 * half)}V${HEIGHT}z` : "";
  }).join(""),
  dots: (points) => points.map((p) => p ? `M${px(p[0])} ${py(p[1])}h0` : "").join(""),
  // [x, low, high]
  band: (points) => {
    const edge = (k) => points.filter(Boolean).map((p) => `${px(p[0])} ${py(p[k])}`);
    return points.some(Boolean) ? `M${[...edge(2), ...edge(1).reverse()].join("L")}z` : "";
  },
};
const LEVELS = 6;
const stripPaths = (points) => {
  const wide = px(1 / points.length), levelOf_ = (p) => Math.min(LEVELS - 1, Math.floor(p[1] * LEVELS));
  const cell = (p) => `M${px(p[0] - 0.5 / points.length)} 0h${wide}V${HEIGHT}h-${wide}z`;
  return [...Array(LEVELS)].map((_, level) => make("path.cell.f" + level,
    { d: points.map((p) => p && levelOf_(p) === level ? cell(p) : "").join("") }));
};

// ---- the figure

// Draws a figure.
//   label, unit    what it shows
//   x, y           axes, of axisOf
//   series         [{ kind: a key of shapes or "strip", tone: a class, points: [[x, y] or null] }]
//   spots          [{ x, y, name, act }]: points with a name each; act: opens what the point stands for, or null
//   points         [[x, y] or null]: what the pointer and, if `keys` is set, the arrow keys find
//   say(i)         the text for points[i]; rest: the text while nothing is pointed at
//   pick(i)        what a click on points[i] does, or undefined
// Returns the figure, with follow(i): points[i] is the chosen one.
const plot = (spec) => {
  const { label, unit = "", x, y, series = [], spots = [], points = [], say, pick, keys } = spec;
  const atX = onAxis(x), atY = onAxis(y), strip = series.some((s) => s.kind === "strip");
  const placed = (p) => p && [atX(p[0]), ...p.slice(1).map(atY)];
  const svg = make("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none" });
  if (keys) {
    for (const [name, value] of Object.entries({ role: "img", tabindex: "0", "aria-label": `${label}, ${unit}` }))
      svg.setAttribute(name, value);
  } else svg.setAttribute("aria-hidden", "true");
  for (const { kind, tone, points: own } of series)
    svg.append(...(kind === "strip" ? stripPaths(own.map(placed))
      : [make(["path", kind, tone].filter(Boolean).join("."), { d: shapes[kind](own.map(placed)) })]));
  const cursor = make("line", { x1: -9, x2: -9, y1: 0, y2: HEIGHT });
  if (pick) svg.append(cursor);
  const said = make("output", { "aria-label": label, "aria-live": keys ? "polite" : "off" });
  let chosen = -1, at = -1;
  const rest = () => { said.textContent = chosen >= 0 && say ? say(chosen) : spec.rest || ""; };
  const hover = (i) => {
    at = Math.max(0, Math.min(points.length - 1, i));
    said.textContent = say(at);
  };
  const nearest = ({ clientX, clientY }) => {
    const box = svg.getBoundingClientRect(), places = points.map(placed);
    const far = (p) => !p ? Infinity : Math.hypot(p[0] * box.width - clientX + box.left,
      pick ? 0 : (1 - p[1]) * box.height - clientY + box.top);
    return places.reduce((best, p, i) => far(p) < far(places[best]) ? i : best, 0);
  };
  if (points.length && say) {
    svg.addEventListener("pointermove", (event) => hover(nearest(event)));
    svg.addEventListener("focus", () => hover(at));
    for (const end of ["pointerleave", "blur"]) svg.addEventListener(end, rest);
    svg.addEventListener("keydown", (event) => {
      if (!keys || (event.key !== "ArrowLeft" && event.key !== "ArrowRight")) return;
      event.preventDefault();
      hover(at + (event.key === "ArrowLeft" ? -1 : 1));
    });
  }
  if (pick) svg.addEventListener("click", (event) => pick(nearest(event)));
  const dots = spots.map((spot) => {
    const place = { "--x": (atX(spot.x) * 100).toFixed(2) + "%", "--y": (atY(spot.y) * 100).toFixed(2) + "%" };
    const [what, type] = spot.act ? ["button.dot", "button"] : ["span.dot"];
    return make(what + (spot.tone ? "." + spot.tone : ""), { ...place, title: spot.title, type, onclick: spot.act },
      make("span", {}, spot.name));
  });
  const area = make("div.area", {}, svg, ...dots);
  const ticks = (axis) => axis.ticks.map(([, text]) => make("span", {}, text));
  const figure = make(strip ? "figure.plot.strip" : "figure.plot", {},
    make("figcaption", {}, make("b", {}, label), unit ? make("small", {}, unit) : "", said,
      make("button.export", { type: "button", title: "save the figure", onclick: () => saveFigure(spec, svg) }, "SVG")),
    make("div.up", { "aria-hidden": "true" }, ...ticks(y).reverse()), area,
    make("div.ends", { "aria-hidden": "true" }, ...ticks(x)));
  figure.follow = (i) => {
    chosen = points[i] ? i : -1;
    const place = chosen < 0 ? -9 : px(atX(points[i][0]));
    for (const end of ["x1", "x2"]) cursor.setAttribute(end, place);
    rest();
  };
  rest();
  if (spots.length) {
    placeNames(area, dots);
    new ResizeObserver(() => placeNames(area, dots)).observe(area);
  }
  return figure;
};

// Puts each point's name to its right, left, top or bottom, where it lies in the plot and on no other name or point.
// A name without such a place is hidden; its point still has it as a title.
const placeNames = (area, dots) => {
  const room = area.getBoundingClientRect(), taken = dots.map((dot) => dot.getBoundingClientRect());
  const meets = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
  const inside = (box) => box.left >= room.left && box.right <= room.right && box.top >= room.top - 10 &&
    box.bottom <= room.bottom + 10;
  dots.forEach((dot, i) => {
    const name = dot.firstChild;
    const side = ["", "before", "above", "below", "gone"].find((each) => {
      name.className = each;
      const box = name.getBoundingClientRect();
      return each === "gone" || (inside(box) && taken.every((other, k) => k === i || !meets(box, other)));
    });
    if (side !== "gone") taken.push(name.getBoundingClientRect());
  });
};

// Saves a figure as an SVG that stands alone: the lines with the colours that they have on the page, and the labels.
const saveFigure = ({ label, unit, x, y, spots = [], series = [] }, svg) => {
  const [wide, high, left, top] = [800, series.some((s) => s.kind === "strip") ? 40 : 200, 70, 36];
  const style = getComputedStyle(document.body), ink = style.color, atX = onAxis(x), atY = onAxis(y);
  const lines = svg.cloneNode(true);
  [...svg.children].forEach((node, i) => {
    const look = getComputedStyle(node);
    for (const name of ["fill", "stroke", "stroke-width", "opacity", "stroke-linecap"])
      lines.children[i].setAttribute(name, look.getPropertyValue(name));
    lines.children[i].setAttribute("vector-effect", "non-scaling-stroke");
  });
  for (const line of lines.querySelectorAll("line")) line.remove();
  const place = Object.entries({ x: left, y: top, width: wide, height: high });
  for (const [name, value] of place) lines.setAttribute(name, value);
  const write = (across, down, text, anchor = "start") =>
    make("text", { x: across, y: down, "text-anchor": anchor, fill: ink }, text);
  const [endX, endY] = [(v) => left + wide * atX(v), (v) => top + high * (1 - atY(v))];
  const anchors = ["start", "middle", "end"], anchorOf = (v) => anchors[Math.round(atX(v) * 2)] || "middle";
  const box = `0 0 ${left + wide + 30} ${top + high + 30}`;
  const drawing = make("svg", { viewBox: box, "font-family": "sans-serif", "font-size": 13 },
    make("rect", { width: "100%", height: "100%", fill: style.backgroundColor }),
    write(left, 22, [label, unit].filter(Boolean).join(", ")), lines,
    make("path", { d: `M${left} ${top}v${high}h${wide}`, fill: "none", stroke: ink, "stroke-width": 0.5 }),
    ...y.ticks.map(([v, text]) => write(left - 8, endY(v) + 4, text, "end")),
    ...x.ticks.map(([v, text]) => write(endX(v), top + high + 18, text, anchorOf(v))),
    ...spots.flatMap((s) => [make("circle", { cx: endX(s.x), cy: endY(s.y), r: 4, fill: ink }),
      write(endX(s.x) + 7, endY(s.y) + 4, s.name)]));
  save(`${label.replace(/[^\w.-]+/g, "-")}.svg`, "image/svg+xml", new XMLSerializer().serializeToString(drawing));
};

// ---- figures over the rows

const rowAxis = () => ({ low: -0.5, high: rows.length - 0.5, ticks: distinct([0, rows.length - 1])
  .map((i) => [i, rows.length ? `row ${rows[i].row}` : ""]) });

// A figure over the rows: a line, or with many rows a strip. Values are numbers or null, one a row; behind: others.
const overRows = ({ label, unit, values, behind, axis, show, area }) => {
  const y = axisOf([...values, ...(behind || [])], { show, ...axis });
  const at = (list) => list.map((v, i) => isNumber(v) ? [i, v] : null), points = values.map((v, i) => [i, v ?? y.low]);
  const strip = rows.length > STRIPS, known = values.filter(isNumber);
  const range = known.length ? `${show(Math.min(...known))} to ${show(Math.max(...known))}` : "";
  return plot({ label, unit: strip ? [range, unit].filter(Boolean).join(", ") : unit, x: rowAxis(), y, points,
    series: strip ? [{ kind: "strip", points: at(values) }]
      : [...(behind ? [{ kind: "line", tone: "faint", points: at(behind) }] : []),
        { kind: area ? "area" : "line", points: at(values) }],
    say: (i) => i === now ? show(values[i]) : `row ${rows[i].row}: ${show(values[i])}`, pick: (i) => choose(i, true) });
};

const startLines = () => {
  const of = (key) => rows.map((row) => row.good ? row.of[0][key] : null), before = rows.map(entropyBefore);
  const known = before.some(isNumber);
  const figures = [
    { label: "probability", unit: "after the chain", values: of("prob"), show: prob, axis: { low: 0, high: 1 },
      area: true },
    { label: "kept", unit: "log scale", values: of("kept"), show: whole, axis: { log: true, low: 1 } },
    { label: "entropy", unit: known && rows.length <= STRIPS ? "nats; grey: before" : "nats", values: of("entropy"),
      show: fixed(3), axis: { low: 0 }, behind: known ? before : undefined },
  ].map(overRows);
  main.prepend(make("section.wide", { id: "lines", "aria-label": "Over the rows" }, ...figures));
  listeners.push((row) => { for (const figure of figures) figure.follow(row.at); });
};
