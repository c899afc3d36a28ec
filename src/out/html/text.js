// SPDX-License-Identifier: MIT
// The text, or two of them beside each other: tints, search, and steps from row to row.

// ---- tints

// Each way has limits: a number at or over (or if `down` is set, below) k of them has the tint k.
const tints = [
  { key: "surprise", says: "the model's probability", of: (t) => t.rawProb, down: true,
    limits: [0.5, 0.2, 0.08, 0.03, 0.01] },
  { key: "after the chain", says: "the probability after the chain", of: (t) => t.prob, down: true,
    limits: [0.5, 0.2, 0.08, 0.03, 0.01] },
  { key: "entropy", says: "entropy after the chain, in nats", of: (t) => t.entropy, limits: [0.5, 1, 1.5, 2, 3] },
  { key: "rank", says: "rank by the model; unlisted tokens have the last tint", of: (t) => t.rawRank ?? Infinity,
    limits: [2, 4, 11, 41, 101] },
  { key: "kept", says: "candidates that the chain keeps", of: (t) => t.kept, limits: [2, 5, 11, 41, 101] },
  { key: "overlap", says: "overlap with the base", of: (t) => t.overlap, down: true,
    limits: [0.9, 0.7, 0.5, 0.3, 0.1] },
];
let tint = tints[0];
const levelOf = (token) => {
  const x = tint.of(token);
  return tint.limits.filter((limit) => tint.down ? x < limit : x >= limit).length;
};

const drawScale = (scale) => {
  const text = (x) => String(x).replace(/^0/, ""), sign = tint.down ? "<" : "≥";
  const first = tint.down ? "≥" + text(tint.limits[0]) : "<" + text(tint.limits[0]);
  scale.setAttribute("aria-label", `Tint: ${tint.says}`);
  scale.replaceChildren(...[first, ...tint.limits.map((x) => sign + text(x))].map((x, i) => make("span.t" + i, {}, x)));
};

const startTints = () => {
  const ways = tints.filter((way) => rows.some((row) => row.good && isNumber(way.of(tokenIn(row, ACCEPTED)))));
  const select = make("select", { "aria-label": "Tint" }, ...ways.map((way) => make("option", {}, way.key)));
  const scale = make("div.scale", { role: "img" });
  const draw = () => {
    tint = ways[select.selectedIndex] || tints[0];
    drawScale(scale);
    for (const column of columns) column.draw();
  };
  select.addEventListener("change", draw);
  byId("texts").before(make("div.legend", {}, make("label", {}, "Tint: ", select), scale, ...drawnToo()));
  draw();
};

// The switch for the drawn tokens behind accepted ones. If most tokens differ, they begin switched off.
const drawnToo = () => {
  const others = links.filter((link) => link.dataset.drawn !== undefined).length;
  const draw = () => byId("text").classList.toggle("bare", !input.checked);
  const input = make("input", { type: "checkbox", onchange: draw });
  if (!others) return [];
  input.checked = others * 2 < links.length;
  draw();
  return [make("label", {}, input, "drawn tokens, where they differ")];
};

// ---- columns of text

const columns = [];
let active = 0; // the column that was used last: the row is about its token
const asked = (row) => tokenIn(row, columns[active].text);

// A column shows a text: the accepted one or a chain's. Links are options of a list box.
const columnOf = (box, ownLinks, text) => {
  const column = { box, links: ownLinks, text, place: columns.length };
  box.setAttribute("role", "listbox");
  box.setAttribute("aria-label", "Tokens; the arrow keys choose one");
  box.setAttribute("aria-orientation", "horizontal");
  for (const link of ownLinks) {
    link.setAttribute("role", "option");
    link.setAttribute("aria-selected", "false");
    link.tabIndex = -1;
  }
  // The glance at other candidates is there only while a pointer asks: a title would be read out.
  box.addEventListener("pointerover", ({ target }) => {
    const row = rows[ownLinks.indexOf(target)];
    if (row && row.good) target.title = glance(row, Math.max(0, column.text));
  });
  box.addEventListener("pointerout", ({ target }) => target.removeAttribute("title"));
  box.addEventListener("click", (event) => {
    const at = ownLinks.indexOf(event.target.closest("a"));
    if (at < 0) return;
    event.preventDefault();
    use(column.place);
    choose(at, true);
  });
  column.show = (chain) => {
    column.text = chain;
    if (column.select) column.select.value = chain;
    for (const each of columns) each.draw();
    redraw();
  };
  column.draw = () => {
    for (const row of rows) drawToken(column, row, ownLinks[row.at]);
  };
  column.point = (before, focus) => {
    for (const [at, on] of [[before, false], [now, true]]) {
      if (at < 0) continue;
      ownLinks[at].setAttribute("aria-selected", String(on));
      ownLinks[at].tabIndex = on ? 0 : -1;
    }
    if (focus && column.place === active) ownLinks[now].focus({ preventScroll: true });
    reveal(box, ownLinks[now], column.place === active);
  };
  columns.push(column);
};
const use = (place) => {
  const other = place !== active;
  active = place;
  if (other) redraw();
};

const glance = (row, chain) => {
  const last = row.stages.length ? row.stages.at(-1).place : 0;
  const of = row.tokens.length ? row.tokens.map((t) => [t.id, t.probs[chain]])
    : row.followed.map((f) => [f.id, f.p[last]]);
  const best = of.filter(([, p]) => isNumber(p)).sort((a, b) => b[1] - a[1]).slice(0, 5);
  return best.map(([id, p]) => `${nameOf(id)}  ${prob(p)}`).join("\n");
};

// Writes a token of a column: its tint; underlined, where the other column has another token; struck through, where
// the chain of the other column removes it.
const drawToken = (column, row, link) => {
  const token = tokenIn(row, column.text), other = columns[1 - column.place];
  if (!token) {
    link.textContent = "[bad row]";
    link.className = "bad";
    return;
  }
  const text = texts.get(token.id);
  const classes = ["t" + levelOf(token)];
  if (link.dataset.drawn !== undefined) classes.push("other");
  if (!text) classes.push("id");
  if (other) {
    const theirs = tokenIn(row, other.text);
    if (theirs && theirs.id !== token.id) classes.push("differs");
    if (other.text !== ACCEPTED && theirs && removes(row, token.id, other.text)) classes.push("lost");
  }
  if (columns.length > 1) link.textContent = text ? text.replace(/\n/g, "↵\n") : String(token.id);
  link.className = classes.join(" ");
  link.setAttribute("aria-label", `row ${row.row}, "${link.textContent}", ${prob(token.prob)}` +
    (classes.includes("lost") ? ", removed by the other chain" : ""));
};

// Scrolls the text, where it has a height of its own, so that the token shows; then the page, if it has begun. Never
// scrollIntoView, which would also scroll the page that holds this one in a frame.
const reveal = (box, link, page) => {
  const top = link.offsetTop - box.offsetTop, EDGE = 48;
  if (box.scrollHeight > box.clientHeight + 1 && (top < box.scrollTop || top > box.scrollTop + box.clientHeight - 40))
    box.scrollTop = top - box.clientHeight / 2;
  const { top: high, bottom: low } = link.getBoundingClientRect();
  if (started && page && !document.body.matches(".embed"))
    scrollBy(0, Math.min(0, high - EDGE) || Math.max(0, low - innerHeight + EDGE));
};

const startText = () => {
  columnOf(byId("text"), links, accepts ? ACCEPTED : 0);
  document.addEventListener("keydown", (event) => {
    const steps = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -1, ArrowDown: 1, PageUp: -20, PageDown: 20,
      Home: -Infinity, End: Infinity };
    const inText = columns.some((column) => column.box.contains(event.target));
    const sideways = event.key === "ArrowLeft" || event.key === "ArrowRight";
    if (!(event.key in steps) || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    if (!inText && (!sideways || event.target !== document.body)) return;
    event.preventDefault();
    choose(now + steps[event.key], true);
  });
};

// Two texts beside each other, each with a choice of what it shows.
const startTwoTexts = () => {
  const twins = links.map((link) => link.cloneNode(true)), box = make("div.text", { id: "other-text" });
  for (const node of byId("text").childNodes) {
    const at = links.indexOf(node);
    if (at >= 0) box.append(twins[at]);
    else if (node.nodeName !== "SCRIPT") box.append(node.cloneNode(true));
  }
  columnOf(box, twins, Math.min(1, shown.length - 1));
  const choice = (column) => {
    const select = make("select", { "aria-label": column.place ? "Second text" : "First text" },
      ...(accepts ? [make("option", { value: ACCEPTED }, "the accepted text")] : []),
      ...shown.map((v, i) => make("option", { value: i }, v.name)));
    select.value = column.text;
    select.addEventListener("change", () => {
      active = column.place;
      column.show(Number(select.value));
      remember();
    });
    column.select = select;
    return make("label.choice", {}, make("span.hidden", {}, "Text of "), select);
  };
  const [first, second] = columns, grid = byId("texts");
  grid.replaceChildren(choice(first), choice(second), first.box, second.box);
  scrollTogether(first, second);
  grid.after(make("p.note", {}, make("u", {}, "underlined"), ": the other text has another token; ",
    make("s", {}, "struck through"), ": the other chain removes the token"));
};

// When one text scrolls, the other one follows: the first row that shows is at the same height in both.
const scrollTogether = (first, second) => {
  let following = null;
  const follow = (from, to) => () => {
    if (following === from) { following = null; return; }
    const topIn = (column, at) => column.links[at].offsetTop - column.box.offsetTop;
    let low = 0, high = rows.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (topIn(from, middle) < from.box.scrollTop) low = middle + 1; else high = middle;
    }
    const before = to.box.scrollTop;
    to.box.scrollTop = from.box.scrollTop + topIn(to, low) - topIn(from, low);
    following = to.box.scrollTop === before ? null : to;
  };
  first.box.addEventListener("scroll", follow(first, second));
  second.box.addEventListener("scroll", follow(second, first));
};

// Shows a chain's text in the second column.
const openChain = (chain) => {
  if (chain < 0 || chain >= shown.length || !columns[1]) return;
  columns[1].show(chain);
  use(1);
  remember();
  scrollBy(0, byId("reading").getBoundingClientRect().top - 16);
  columns[1].select.focus({ preventScroll: true });
};
const canOpen = (v) => variants.indexOf(v) < shown.length && columns.length > 1;

// ---- search, and steps from row to row

const startTools = () => {
  const beside = columns.length > 1, bad = (row) => !row.good;
  const differs = beside ? (row) => columns[0].links[row.at].matches(".differs")
    : accepts ? (row) => row.accepted?.id !== row.of[0].id : (row) => row.of[0].rawRank !== 1;
  const likely = (row) => tokenIn(row, columns[0].text)?.rawProb ?? 2; // one that is not known comes last
  const lost = beside ? (row) => row.accepted && shown.some((_, i) => row.of[i] && removes(row, row.accepted.id, i))
    : (row) => row.accepted?.removed;
  const next = (by, step) => {
    for (let i = now + step; i >= 0 && i < rows.length; i += step)
      if (!bad(rows[i]) && by(rows[i])) return choose(i, true);
    return null;
  };
  let least = -1; // the row that the last step of this kind chose
  const leastLikely = () => {
    const order = rows.filter((row) => !bad(row)).sort((a, b) => likely(a) - likely(b));
    if (!order.length) return;
    least = order[now === least ? (order.indexOf(rows[now]) + 1) % order.length : 0].at;
    choose(least, true);
  };
  const field = make("input", { type: "search", "aria-label": "Search the text", placeholder: "search" });
  const found = make("output", { "aria-label": "Matches" });
  const search = (step) => {
    const own = columns[active].links.map((link) => link.textContent), starts = [];
    own.reduce((length, text, i) => { starts[i] = length; return length + text.length; }, 0);
    const all = own.join("").toLowerCase(), sought = field.value.toLowerCase(), hits = [];
    for (let i = all.indexOf(sought); sought && i >= 0; i = all.indexOf(sought, i + 1))
      hits.push(starts.findLastIndex((start) => start <= i));
    const at = step > 0 ? hits.findIndex((hit) => hit > now) : hits.findLastIndex((hit) => hit < now);
    const hit = at >= 0 ? at : step > 0 ? 0 : hits.length - 1;
    found.textContent = !sought ? "" : hits.length ? `${hit + 1} of ${hits.length}` : "not found";
    if (hits.length) choose(hits[hit]);
  };
  field.addEventListener("keydown", ({ key, shiftKey }) => {
    if (key === "Enter") search(shiftKey ? -1 : 1);
    if (key === "Escape") columns[active].links[now].focus();
  });
  const where = beside ? "where the two texts differ" : accepts ? "where the drawn token is not the accepted one"
    : "where the drawn token is not the likeliest";
  const removed = `next accepted token that ${beside ? "a" : "the"} chain removed`;
  const keys = [["n", "next difference", `next row ${where}`, () => next(differs, 1)],
    ["p", "previous", `previous row ${where}`, () => next(differs, -1)],
    ["l", "least likely", "the least likely token by the model, then the next one", leastLikely],
    ...(accepts ? [["r", "removed", removed, () => next(lost, 1)]] : [])];
  const help = make("p.help", { hidden: true }, [...keys.map(([key, , why]) => `${key}: ${why}`),
    "/: search; Enter: next match, Shift+Enter: previous",
    "arrow keys, Page Up, Page Down, Home, End: another row", "?: this help"].join(" · "));
  const all = [...keys, ["?", "keys", "show the keys", () => { help.hidden = !help.hidden; }]];
  document.addEventListener("keydown", (event) => {
    const key = all.find(([name]) => name === event.key), typing = event.target.matches("input[type=search], select");
    if (event.ctrlKey || event.metaKey || event.altKey || typing || (!key && event.key !== "/")) return;
    event.preventDefault();
    if (key) key[3](); else field.focus();
  });
  byId("reading-head").after(make("div.tools", {}, field, found, ...all.map(([key, label, why, act]) =>
    make("button", { type: "button", title: `${why} (${key})`, onclick: act }, label))), help);
};
