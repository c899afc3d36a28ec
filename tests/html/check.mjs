// SPDX-License-Identifier: MIT
// Tests pages of -O html in a browser: node check.mjs SAMPL DIR, where DIR has node_modules. node check.mjs SAMPL DIR PICTURES makes the
// README's pictures instead. CHROMIUM in the environment names the browser.
import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { deflateSync } from "node:zlib";
import assert from "node:assert/strict";

const [sampl, dir, pictures] = process.argv.slice(2);
const require = createRequire(resolve(dir, "here.js"));
const { chromium } = require("playwright-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM || ["/usr/bin/chromium", "/usr/bin/chromium-browser"].find(existsSync),
  args: ["--no-sandbox", "--disable-gpu", "--disable-lcd-text"] });

// Bad rows make the status 1; the page is complete.
const run = (...args) => spawnSync(sampl, args, { encoding: "utf8", maxBuffer: 1 << 28 }).stdout;
const make = (name, ...args) => {
  const path = resolve(dir, `${name}.html`);
  writeFileSync(path, run("-s", "1", "-O", "html", ...args));
  return path;
};
const AUSTEN = ["--vocab", "samples/austen.gguf", "samples/austen.f16"];
const VS = ["chat", "min-p", "mirostat", "scatter-creative", "greedy"].flatMap((name) => ["--vs", name]);
const long = "--preset scatter-creative --top-nsigma 2 --repeat-penalty 1.1 --xtc-probability 0.5 --prompt-tokens @samples/austen.prompt".split(" ");

// ---- pages: no request, no message on the console, no overflow, no finding of axe-core

const open = async (path, { scheme = "light", width = 1400, hash = "", script = true } = {}) => {
  const context = await browser.newContext({ viewport: { width, height: 1000 }, colorScheme: scheme, javaScriptEnabled: script });
  const page = await context.newPage();
  page.wrong = [];
  page.on("console", (message) => page.wrong.push(`console: ${message.text()}`));
  page.on("pageerror", (error) => page.wrong.push(`error: ${error.message}`));
  page.on("dialog", (dialog) => { page.wrong.push(`dialog: ${dialog.message()}`); dialog.dismiss(); });
  page.on("request", (request) => { if (request.url().split("#")[0] !== `file://${path}`) page.wrong.push(`request: ${request.url()}`); });
  await page.goto(`file://${path}${hash}`);
  return page;
};
const close = async (page) => {
  assert.deepEqual(page.wrong, []);
  await page.context().close();
};
const fits = async (page) => {
  const [width, window] = await page.evaluate(() => [document.scrollingElement.scrollWidth, innerWidth]);
  assert.ok(width <= window, `${width} pixels wide in ${window}`);
};
const accessible = async (page) => {
  await page.evaluate(axe);
  const found = await page.evaluate(async () => (await axe.run(document, { resultTypes: ["violations"] })).violations);
  assert.deepEqual(found.map((v) => `${v.id}: ${v.nodes.slice(0, 3).map((n) => n.html.slice(0, 120)).join(" | ")}`), []);
};
const text = (page, selector) => page.$eval(selector, (node) => node.textContent.replace(/\u00a0/g, " "));
const texts = (page, selector) => page.$$eval(selector, (nodes) => nodes.map((node) => node.textContent.replace(/\u00a0/g, " ")));
const quoted = (s) => `"${s.replace(/\n/g, "\\n")}"`;
const four = (p) => p > 0 && p < 0.00005 ? p.toExponential(0) : p >= 0.99995 ? "1.0000" : p.toFixed(4).slice(1);

// ---- the checks

const checks = [];
const check = (name, body) => checks.push([name, body]);

const shown = { plain: AUSTEN, long: [...AUSTEN, ...long, "--rows", ":40"], variants: [...AUSTEN, ...VS], sweep: [...AUSTEN, "--sweep", "temp=0.5:1.5:0.1", "--vs", "chat"],
  map: [...AUSTEN, "--sweep", "temp=0.5:1.5:0.1", "--sweep", "min-p=0,0.02,0.05,0.1,0.2"], ids: ["-n", "4096", "samples/austen.f16", "--rows", ":30"] };

for (const [name, args] of Object.entries(shown))
  check(`${name}: the page fits the window and passes axe-core, light and dark, narrow and wide`, async () => {
    const path = make(name, ...args);
    for (const [scheme, width] of [["light", 400], ["dark", 1400], ["dark", 400], ["light", 1400]].slice(0, ["long", "ids"].includes(name) ? 2 : 4)) {
      const page = await open(path, { scheme, width });
      await fits(page);
      await accessible(page);
      await close(page);
    }
  });

check("plain: clicks and keys select rows, and the page shows the numbers of -O json", async () => {
  const records = run("-s", "1", "-O", "json", "--dump-probs=8", "--trace", ...AUSTEN).trim().split("\n").map((line) => JSON.parse(line));
  const page = await open(resolve(dir, "plain.html"));
  const shows = async (n) => {
    const r = records[n];
    assert.equal(await text(page, "#row-head"), `Row ${n}`);
    assert.equal(await text(page, "#row .lead b"), quoted(r.token));
    assert.deepEqual((await texts(page, "#row thead b")).slice(1), r.stages.map((s) => s.name));
    const kept = (await texts(page, "#row tfoot tr:first-child td")).map((s) => Number(s.replace(/\D/g, "")));
    assert.deepEqual(kept, [4096, ...r.stages.map((s) => s.after)]);
    const ends = await page.$$eval("#row tbody tr:not(.rest)", (rows) => rows.map((row) => [row.firstChild.textContent, row.lastChild.textContent]));
    for (const t of r.top_probs)
      assert.ok(ends.some(([who, p]) => who.replace(/\u00a0/g, " ").replace("▸ ", "") === quoted(t.token) && p === four(t.prob)), `${quoted(t.token)} ${t.prob} of row ${n}`);
    assert.equal((await text(page, "#row tr.chosen th")), "▸ " + quoted(r.token));
    for (const s of r.stages.filter((s) => s.removed))
      assert.ok((await text(page, "#row .removed")).includes(quoted(s.likeliest_removed[0].token)));
    assert.equal(await page.$$eval("#text a[aria-selected=true]", (all) => all.length), 1);
  };
  await shows(0);
  await page.click("#text a:nth-of-type(100)");
  await shows(99);
  await page.keyboard.press("ArrowRight");
  await shows(100);
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("ArrowLeft");
  await shows(98);
  await page.keyboard.press("End");
  await shows(255);
  await page.keyboard.press("Home");
  await shows(0);
  assert.equal(await page.evaluate(() => document.activeElement.getAttribute("aria-label").replace(/\u00a0/g, " ")), `row 0, ${quoted(records[0].token)}, ${four(records[0].prob)}`);
  const box = await (await page.$("#lines svg")).boundingBox();
  await page.mouse.click(box.x + box.width * (200.5 / 256), box.y + box.height / 2);
  await shows(200);
  assert.deepEqual(await texts(page, "#lines output"), [four(records[200].prob), String(records[200].n), records[200].entropy.toFixed(3)]);
  // The tab key moves from the tint to one token, not through all tokens.
  await page.focus("#reading select");
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement.getAttribute("aria-selected")), "true");
  const classes = () => page.$$eval("#text a", (all) => all.map((a) => a.className));
  const before = await classes();
  await page.selectOption("#reading select", "entropy");
  assert.notDeepEqual(await classes(), before);
  await close(page);
});

check("plain: keys and the search find rows, and the text scrolls to them", async () => {
  const stats = run("-s", "1", "-O", "json", "--emit", "stats", ...AUSTEN).trim().split("\n").map((line) => JSON.parse(line));
  for (const width of [1400, 400]) {
    const page = await open(resolve(dir, "plain.html"), { width });
    const head = () => text(page, "#row-head");
    await page.keyboard.press("l");
    assert.equal(await head(), `Row ${stats.reduce((best, s) => (s.raw_prob < stats[best].raw_prob ? s.row : best), 0)}`);
    await page.keyboard.press("Home");
    await page.keyboard.press("n");
    assert.equal(await head(), `Row ${stats.find((s) => s.row > 0 && s.raw_rank > 1).row}`);
    await page.keyboard.press("End");
    await page.waitForFunction(() => {
      const box = document.querySelector("#text a[aria-selected=true]").getBoundingClientRect();
      return box.top >= 0 && box.bottom <= innerHeight;
    });
    await page.keyboard.press("Home");
    await page.keyboard.press("/");
    await page.keyboard.type((await text(page, "#text a:nth-of-type(90)")).trim() + (await text(page, "#text a:nth-of-type(91)")).trimEnd());
    for (let i = 0; i < 3 && (await head()) !== "Row 89"; i++) await page.keyboard.press("Enter");
    assert.equal(await head(), "Row 89");
    await page.click(".tools button:last-child");
    assert.ok(await page.isVisible(".tools + .help"));
    await close(page);
  }
});

check("plain: the hash of the address selects a row, also after going back", async () => {
  const page = await open(resolve(dir, "plain.html"), { hash: "#row-77" });
  assert.equal(await text(page, "#row-head"), "Row 77");
  await page.evaluate(() => { location.hash = "#r5"; });
  await page.waitForFunction(() => document.getElementById("row-head").textContent === "Row 5");
  await page.goBack();
  await page.waitForFunction(() => document.getElementById("row-head").textContent === "Row 77");
  await close(page);
});

check("frame: a page in srcdoc, sandboxed or not, answers with its place, and another frame restores it", async () => {
  const holder = resolve(dir, "holder.html");
  writeFileSync(holder, "<!DOCTYPE html><title>holder</title>");
  for (const sandbox of [null, "allow-scripts"]) {
    const page = await open(holder, { width: 400 });
    const frame = async () => {
      await page.evaluate(([html, sandbox]) => new Promise((done) => {
        const frame = document.createElement("iframe");
        if (sandbox) frame.setAttribute("sandbox", sandbox);
        Object.assign(frame, { srcdoc: html, onload: done, width: 390, height: 900 });
        document.body.replaceChildren(frame);
      }), [readFileSync(resolve(dir, "plain.html"), "utf8"), sandbox]);
      return page.frames()[1];
    };
    const place = () => page.evaluate(() => new Promise((done) => {
      addEventListener("message", (event) => done(event.data.sampl), { once: true });
      document.querySelector("iframe").contentWindow.postMessage({ sampl: "place?" }, "*");
    }));
    const first = await frame();
    await first.click("#text a:nth-of-type(9)");
    for (let i = 0; i < 150; i++) await page.keyboard.press("ArrowRight");
    await first.evaluate(() => scrollTo(0, 120));
    const left = await place();
    assert.equal(left.row, 158);
    assert.ok(left.text > 100 && left.top === 120);
    const second = await frame();
    await page.evaluate((left) => document.querySelector("iframe").contentWindow.postMessage({ sampl: left }, "*"), left);
    await second.waitForFunction(() => document.getElementById("row-head").textContent === "Row 158");
    assert.deepEqual(await place(), left);
    await close(page);
  }
});

check("without JavaScript the page shows the text and the tables", async () => {
  const plain = await open(resolve(dir, "plain.html"), { script: false });
  const said = run("-s", "1", "--emit", "text", ...AUSTEN);
  assert.equal((await plain.innerText("#text")).replace(/↵/g, "").replace(/\s+/g, " ").trim(), said.replace(/\s+/g, " ").trim());
  assert.ok(await plain.isVisible("#r200"));
  await plain.click("#text a:nth-of-type(201)");
  assert.ok(plain.url().endsWith("#r200"));
  await close(plain);
  const variants = await open(resolve(dir, "variants.html"), { script: false });
  assert.ok(await variants.isVisible("#means tr:nth-child(6)"));
  await close(variants);
});

check("variants: the page has the table, a panel for each chain, and a row's candidates in each", async () => {
  const dump = run("-s", "1", "-O", "json", "--dump-probs=8", ...AUSTEN, ...VS).trim().split("\n").map((line) => JSON.parse(line));
  const names = ["base", "chat", "min-p", "mirostat", "scatter-creative", "greedy"];
  const page = await open(resolve(dir, "variants.html"));
  const chains = () => page.$$eval("#means tbody th", (all) => all.map((th) => th.firstChild.textContent));
  assert.deepEqual(await chains(), names.map((n) => (["mirostat", "chat"].includes(n) ? `${n} (depends on the seed)` : n)));
  // A click on a column sorts by it, Enter sorts the other way; a mean has its error.
  const table = run("-s", "1", "-O", "json", ...AUSTEN, ...VS).trim().split("\n").map((line) => JSON.parse(line));
  await page.check("#means .legend label:text('all columns') input");
  const headed = await texts(page, "#means thead th"), place = (key) => headed.indexOf(key) + 1;
  await page.click(`#means thead th:nth-child(${place("entropy")}) button`);
  const sorted = [...table].sort((a, b) => a.entropy - b.entropy).map((v) => v.name);
  assert.deepEqual((await chains()).map((n) => n.split(" ")[0]), sorted);
  await page.keyboard.press("Enter");
  assert.deepEqual((await chains()).map((n) => n.split(" ")[0]), sorted.reverse());
  assert.ok((await texts(page, `#means tbody td:nth-child(${place("entropy")})`)).some((s) => s.includes(`±${table[0].entropy_se.toFixed(3)}`)));
  assert.equal((await page.$$("#scatter .dot")).length, names.length);
  // Names of points overlap neither each other nor points.
  assert.ok(await page.$$eval("#scatter .dot span:not(.gone)", (all) => all.map((node) => node.getBoundingClientRect()).every((a, i, boxes) =>
    boxes.every((b, k) => i === k || a.right <= b.left || b.right <= a.left || a.bottom <= b.top || b.bottom <= a.top))));
  assert.deepEqual(await texts(page, "#stages .chains dt"), names);
  // A switch shows the differences from the base, and a column sorts by them.
  await page.check("#means .legend label:text('differences') input");
  await page.click(`#means thead th:nth-child(${place("kept")}) button`);
  const apart = [...table].sort((a, b) => (a.kept_diff ?? Infinity) - (b.kept_diff ?? Infinity));
  assert.deepEqual((await chains()).map((n) => n.split(" ")[0]), apart.map((v) => v.name));
  assert.deepEqual((await texts(page, `#means tbody td:nth-child(${place("kept")})`)).slice(0, -1).map((s) => Number(s.split(" ")[0]).toFixed(0)), apart.slice(0, -1).map((v) => v.kept_diff.toFixed(0)));
  await page.uncheck("#means .legend label:text('differences') input");
  // The text of a variant replaces that of the base.
  await page.selectOption("#texts select >> nth=0", "5");
  assert.equal((await text(page, "#text a:nth-of-type(5)")).replace(/↵/, ""), run("-s", "1", ...AUSTEN, "--preset", "greedy", "--rows", "4", "--emit", "text"));
  await page.selectOption("#texts select >> nth=0", "0");
  assert.equal((await page.$$("#panels figure")).length, names.length);
  await page.click("#text a:nth-of-type(10)");
  await page.keyboard.press("ArrowRight");
  assert.equal(await text(page, "#row-head"), "Row 10");
  assert.deepEqual(await texts(page, "#row thead b"), names);
  const cells = await page.$$eval("#row tbody tr", (rows) => rows.map((row) => [...row.cells].map((cell) => cell.textContent.replace(/\u00a0/g, " ").replace("▸ ", ""))));
  assert.deepEqual(cells, dump[10].top_probs.map((t) => [quoted(t.token), ...names.map((n) => typeof t.probs[n] === "number" ? four(t.probs[n]) : t.probs[n])]));
  const line = () => page.$eval("#panels figure:nth-child(3) svg", (svg) => svg.innerHTML);
  const entropy = await line();
  await page.click("#panels label:nth-of-type(2)");
  assert.notEqual(await line(), entropy);
  assert.equal(await text(page, "#panels figure:first-child output"), String(run("-s", "1", "--emit", "stats", "-O", "json", ...AUSTEN, "--rows", "10").match(/"n":(\d+)/)[1]));
  await close(page);
});

check("sweep: one option gives curves for each column and chain, two options give a map", async () => {
  const curves = await open(resolve(dir, "sweep.html"));
  assert.deepEqual(await texts(curves, "#sweep figcaption b"), ["kept", "entropy", "prob", "raw prob", "greedy", "KL to raw", "same as base", "overlap", "JS", "mass"]);
  assert.equal((await curves.$$("#sweep figure:first-of-type path.dots")).length, 2);
  assert.deepEqual(await texts(curves, "#sweep figure:first-of-type .ends span"), ["0.5", "1.5"]);
  await curves.focus("#sweep figure:nth-of-type(2) svg");
  await curves.keyboard.press("ArrowRight");
  assert.ok((await text(curves, "#sweep figure:nth-of-type(2) output")).startsWith("temp=0.6: "));
  // The pointer finds the nearest point.
  const box = await (await curves.$("#sweep figure:nth-of-type(2) svg")).boundingBox();
  await curves.mouse.move(box.x + box.width * 0.31, box.y + box.height * 0.9, { steps: 5 });
  assert.match(await text(curves, "#sweep figure:nth-of-type(2) output"), /temp=0.8: /);
  await close(curves);
  const table = run("-s", "1", "-O", "json", ...shown.map).trim().split("\n").map((line) => JSON.parse(line)).slice(1);
  const map = await open(resolve(dir, "map.html"));
  const read = () => map.$$eval("#sweep tbody tr", (rows) => rows.map((row) => [...row.cells].map((cell) => Number(cell.textContent))));
  const expected = (column, digits) => [...Array(11)].map((_, i) => [table[i * 5].swept.temp, ...table.slice(i * 5, i * 5 + 5).map((v) => Number(v[column].toFixed(digits)))]);
  assert.deepEqual(await read(), expected("entropy", 3));
  await map.click("#sweep label:nth-of-type(4)");
  assert.deepEqual(await read(), expected("e_raw_prob", 3));
  await close(map);
});

check("accepted: drawn tokens stand behind accepted ones, and the tint is that of the accepted ones", async () => {
  const page = await open(make("accepted", ...AUSTEN, "--accept", "@samples/austen.tokens"));
  const stats = run("-s", "1", "-O", "json", "--emit", "stats", "--accept", "@samples/austen.tokens", ...AUSTEN).trim().split("\n").map((line) => JSON.parse(line));
  const behind = () => page.$eval("#text a[data-drawn]", (a) => getComputedStyle(a, "::after").content);
  assert.equal((await page.$$("#text a[data-drawn]")).length, stats.filter((s) => s.accepted !== s.id).length);
  assert.equal(await behind(), "none");
  await page.check("#reading input[type=checkbox]");
  assert.ok((await behind()).includes("did"));
  // The ranks and the probabilities by the model are those of a chain that is neutral and chooses the accepted tokens.
  const raw = run("-s", "1", "-O", "json", "--neutral", "--dump-probs=4096", "--accept", "@samples/austen.tokens", ...AUSTEN).trim().split("\n").map((line, i) => {
    const { top_probs } = JSON.parse(line), at = top_probs.findIndex((t) => t.id === stats[i].accepted);
    return { p: top_probs[at].prob, rank: at + 1 };
  });
  const small = [0.5, 0.2, 0.08, 0.03, 0.01], below = (of) => stats.map((s, i) => small.filter((limit) => of(s, i) < limit).length);
  const over = (limits, of) => stats.map((s, i) => limits.filter((limit) => of(s, i) >= limit).length);
  const expected = { surprise: below((_, i) => raw[i].p), "after the chain": below((s) => s.accepted_prob), entropy: over([0.5, 1, 1.5, 2, 3], (s) => s.entropy),
    rank: over([2, 4, 11, 41, 101], (_, i) => raw[i].rank), kept: over([2, 5, 11, 41, 101], (s) => s.n) };
  assert.deepEqual(await texts(page, "#reading .legend option"), Object.keys(expected));
  for (const [way, levels] of Object.entries(expected)) {
    await page.selectOption("#reading .legend select", way);
    assert.deepEqual(await page.$$eval("#text a", (all) => all.map((a) => Number(a.className[1]))), levels, way);
    assert.ok(new Set(levels).size > 3);
  }
  await accessible(page);
  await close(page);
});

check("marks: only gain is marked, of chains that gain more than the base at an equal loss", async () => {
  const path = make("marks", ...AUSTEN, "--rows", ":20", "--neutral", "--accept", "@samples/austen.tokens", "--base", "top-k=20", "--sweep", "top-k=5:120:5");
  const page_ = readFileSync(path, "utf8"), [data] = page_.match(/(?<=id="variants">\n)\[[^]*?\](?=\n<\/script>)/), real = JSON.parse(data);
  const columns = Object.keys(real[0]).filter((key) => typeof real[0][key] === "number");
  let seed = 47, marked = 0;
  const random = () => (seed = (seed * 48271) % 2147483647) / 2147483647;
  const pick = (...values) => values[Math.floor(random() * values.length)];
  // Numbers near both limits, on them, missing ones, and large differences in every other column.
  const wild = () => real.map((v, i) => {
    const other = Object.fromEntries(columns.map((key) => [key, random() * 100 - 50])), error = pick(0, 0.001, 0.01);
    return { ...v, ...other, lost: i ? pick(0.04, 0.05, 0.0599, 0.06, 0.0601, 0.04999, 0.2, null) : 0.05, gain: random(),
      gain_diff: i ? pick(2 * error, 2 * error + 1e-6, -3 * error, 3 * error + 1e-9, 0.5, null) : null, gain_diff_se: i ? pick(error, error, error, null) : null };
  });
  const small = (x) => Math.round(x * 1e9);
  for (const table of [real, wild(), wild(), wild()]) {
    writeFileSync(path, page_.replace(data, () => JSON.stringify(table)));
    const page = await open(path);
    const expected = table.map((v) => v.lost !== null && v.gain_diff !== null && v.gain_diff_se !== null && Math.abs(small(v.lost) - small(table[0].lost)) <= 1e7 && v.gain_diff > 2 * v.gain_diff_se);
    const heads = await page.$$eval("#means thead th", (all) => all.map((th) => th.textContent));
    const looks = () => page.$$eval("#means tbody tr", (rows) => rows.map((row) => [...row.cells].slice(1).map((cell) =>
      ["::before", "::after"].map((part) => getComputedStyle(cell, part).content) + getComputedStyle(cell).color + getComputedStyle(cell).fontWeight + getComputedStyle(cell).backgroundColor)));
    const plain = (await looks())[0][0];
    for (const differences of [false, true]) {
      if (differences) await page.check("#means .legend label:text('differences') input");
      const found = await looks();
      found.forEach((row, i) => row.forEach((look, k) => assert.equal(look !== plain, heads[k + 1] === "gain" && expected[i], `${table[i].name}, ${heads[k + 1]}: ${JSON.stringify(table[i])}`)));
    }
    assert.doesNotMatch(await page.$eval("#means", (node) => node.textContent), /best|worst|winner/);
    assert.equal((await page.$$("#means > .note .more")).length, expected.some((mark) => mark) ? 1 : 0);
    marked += expected.filter((mark) => mark).length;
    await accessible(page);
    await close(page);
  }
  assert.ok(marked > 5);
});

check("accepted variants: nothing is crowned, and rows are about the token that the text shows", async () => {
  const args = [...AUSTEN, "--accept", "@samples/austen.tokens", ...VS], accepted = readFileSync("samples/austen.tokens", "utf8").trim().split("\n").map(Number);
  const dump = run("-s", "1", "-O", "json", "--dump-probs=8", ...args).trim().split("\n").map((line) => JSON.parse(line));
  const page = await open(make("accepted-variants", ...args));
  // min-p loses more of the text than the base does, and greedy most of it: no cell differs from the others in its looks.
  const looks = await page.$$eval("#means tbody td", (cells) => cells.map((cell) => ["::before", "::after"].map((part) => getComputedStyle(cell, part).content) +
    getComputedStyle(cell).color + getComputedStyle(cell).fontWeight + getComputedStyle(cell).backgroundColor));
  assert.deepEqual(new Set(looks).size, 1);
  assert.doesNotMatch(await page.$eval("#means", (node) => node.textContent), /best|worst/);
  const row = async () => Number((await text(page, "#row-head")).replace("Row ", ""));
  const probOf = (r, chain) => { const p = dump[r].top_probs.find((t) => t.id === accepted[r]).probs[chain]; return typeof p === "number" ? p : 0; };
  const names = Object.keys(dump[0].ids);
  // The button "removed" finds the accepted tokens that a chain removed, "least likely" the accepted token with the least probability in the base.
  await page.click(".tools button:text('removed')");
  const removed = accepted.findIndex((_, r) => r > 0 && names.some((name) => !probOf(r, name)));
  assert.equal(await row(), removed);
  assert.equal(await text(page, "#row .asked th"), quoted(dump[removed].top_probs.find((t) => t.id === accepted[removed]).token));
  assert.equal(await text(page, "#row .lead b"), await text(page, "#row .asked th"));
  const keep = names.filter((name) => probOf(removed, name)).length, chose = names.filter((name) => dump[removed].ids[name] === accepted[removed]).length;
  const share = (n) => n === names.length ? "all" : n ? `${n} of ${names.length}` : "none";
  assert.ok((await text(page, "#row .lead")).endsWith(` was accepted. Chains that keep it: ${share(keep)}; that chose it: ${share(chose)}.`));
  await page.click(".tools button:text('least likely')");
  const neutral = run("-s", "1", "-O", "json", "--neutral", "--emit", "stats", "--accept", "@samples/austen.tokens", ...AUSTEN).trim().split("\n").map((line) => JSON.parse(line));
  assert.equal(neutral[await row()].accepted_prob, Math.min(...neutral.map((s) => s.accepted_prob)));
  // Every row has the token of every chain, and the accepted one.
  for (const r of dump) for (const id of [...Object.values(r.ids), accepted[r.row]]) assert.ok(r.top_probs.some((t) => t.id === id), `row ${r.row}, ${id}`);
  // The text of another chain: the row is about that chain's token.
  await page.selectOption("#texts select >> nth=0", "5");
  const last = dump[await row()];
  assert.equal(await text(page, "#row .lead b"), quoted(last.top_probs.find((t) => t.id === last.ids.greedy).token));
  await accessible(page);
  await close(page);
});

// The texts of two chains: what a chain chose in each row, and its probabilities.
const accepted = ["--accept", "@samples/austen.tokens"];
const compared = () => run("-s", "1", "-O", "json", "--dump-probs=4096", ...AUSTEN, ...accepted, "--vs", "min-p", "--vs", "greedy").trim().split("\n").map((line) => JSON.parse(line));

check("two texts: differences and removed tokens are marked, and the texts scroll together", async () => {
  const path = make("two", ...AUSTEN, ...accepted, "--vs", "min-p", "--vs", "greedy"), dump = compared();
  const ids = readFileSync("samples/austen.tokens", "utf8").trim().split("\n").map(Number);
  const probOf = (r, id, chain) => dump[r].top_probs.find((t) => t.id === id)?.probs[chain];
  for (const [width, scheme] of [[1440, "light"], [400, "dark"]]) {
    const page = await open(path, { width, scheme });
    const marks = (box, mark) => page.$$eval(`${box} a`, (all, mark) => all.flatMap((a, i) => a.classList.contains(mark) ? [i] : []), mark);
    const where = (of) => dump.flatMap((_, r) => of(r) ? [r] : []);
    for (const chain of ["min-p", "greedy"]) {
      await page.selectOption("#texts select >> nth=1", { label: chain });
      const differs = where((r) => dump[r].ids[chain] !== ids[r]), lost = where((r) => typeof probOf(r, ids[r], chain) !== "number");
      assert.ok(differs.length > 50 && lost.length > 30);
      for (const box of ["#text", "#other-text"]) assert.deepEqual(await marks(box, "differs"), differs);
      assert.deepEqual(await marks("#text", "lost"), lost);
      assert.deepEqual(await marks("#other-text", "lost"), []); // nothing removes the accepted text's own tokens
    }
    // Between two chains, each text has the tokens struck through that the other chain removes.
    await page.selectOption("#texts select >> nth=0", { label: "min-p" });
    for (const [box, own, other] of [["#text", "min-p", "greedy"], ["#other-text", "greedy", "min-p"]])
      assert.deepEqual(await marks(box, "lost"), where((r) => typeof probOf(r, dump[r].ids[own], other) !== "number"));
    await page.selectOption("#texts select >> nth=0", { label: "the accepted text" });
    // The wheel over one text moves both: the first row in view is at the same height, to a line.
    for (const [from, to, by] of [["#text", "#other-text", 110], ["#other-text", "#text", 60], ["#text", "#other-text", -90]]) {
      const box = await (await page.$(from)).boundingBox(), before = await page.$eval(to, (node) => node.scrollTop);
      await page.mouse.move(box.x + box.width / 2, box.y + 50);
      await page.mouse.wheel(0, by);
      await page.waitForFunction(([to, before]) => document.querySelector(to).scrollTop !== before, [to, before]);
      await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
      const apart = await page.evaluate(([from, to]) => {
        const topOf = (box, i) => box.querySelectorAll("a")[i].offsetTop - box.offsetTop - box.scrollTop, [a, b] = [from, to].map((s) => document.querySelector(s));
        const first = [...a.querySelectorAll("a")].findIndex((_, i) => topOf(a, i) >= 0);
        return Math.abs(topOf(a, first) - topOf(b, first));
      }, [from, to]);
      assert.ok(apart < 40, `${apart} pixels apart`);
    }
    // A click in the second text chooses the row in both, and the row is about that chain's token.
    await page.click("#other-text a:nth-of-type(41)");
    assert.equal(await text(page, "#row-head"), "Row 40");
    assert.equal(await page.$eval("#text a[aria-selected=true]", (a) => [...document.querySelectorAll("#text a")].indexOf(a)), 40);
    assert.equal(await text(page, "#row .lead b"), quoted(dump[40].top_probs.find((t) => t.id === dump[40].ids.greedy).token));
    await fits(page);
    await accessible(page);
    await close(page);
  }
});

check("verdict: five columns, all on demand, names stay in place, and the CSV has every digit", async () => {
  const page = await open(resolve(dir, "two.html"), { width: 400 }), table = run("-s", "1", "-O", "json", ...AUSTEN, ...accepted, "--vs", "min-p", "--vs", "greedy");
  const lines = table.trim().split("\n").map((line) => JSON.parse(line)), heads = () => page.$$eval("#means thead th", (all) => all.filter((th) => th.checkVisibility()).map((th) => th.textContent));
  assert.deepEqual(await heads(), ["chain", "lost", "gain", "kept", "mass", "same"]);
  await page.check("#means .legend label:text('all columns') input");
  const all = await heads();
  assert.ok(["eps_ppl", "gain_diff", "entropy"].every((key) => all.includes(key)));
  const box = await (await page.$("#means .scroll")).boundingBox(), left = () => page.$eval("#means tbody th", (th) => th.getBoundingClientRect().left);
  const before = await left();
  await page.mouse.move(box.x + box.width / 2, box.y + 60);
  await page.mouse.wheel(300, 0);
  await page.waitForFunction(() => document.querySelector("#means .scroll").scrollLeft > 100);
  assert.equal(await left(), before);
  const [file] = await Promise.all([page.waitForEvent("download"), page.click("#means .export")]);
  assert.equal(file.suggestedFilename(), "chains.csv");
  const [head, ...rest] = readFileSync(await file.path(), "utf8").trim().split("\n").map((line) => line.split(","));
  rest.forEach((cells, i) => head.forEach((key, k) => { if (k) assert.equal(cells[k], String(lines[i][key] ?? ""), key); }));
  assert.equal(rest.length, 3);
  // The row's table, with the probabilities as they are in the page.
  await page.click("#text a:nth-of-type(10)");
  const [row] = await Promise.all([page.waitForEvent("download"), page.click("#row > .export")]);
  const said = readFileSync(await row.path(), "utf8").split("\n").map((line) => line.match(/("(?:[^"]|"")*"|[^,]*)(,|$)/g).map((cell) => cell.replace(/,$/, "")));
  const dump = compared()[9].top_probs.filter((t) => said.some(([name]) => name.replace(/""/g, "\"").slice(1, -1) === quoted(t.token)));
  assert.ok(dump.length >= 8);
  for (const t of dump) {
    const [, ...cells] = said.find(([name]) => name.replace(/""/g, "\"").slice(1, -1) === quoted(t.token));
    Object.values(t.probs).forEach((p, i) => assert.ok(typeof p === "number" ? Math.abs(cells[i] - p) <= 1e-5 * p : cells[i] === p, `${t.token}: ${cells[i]} is not ${p}`));
  }
  await close(page);
});

check("figures: each is saved as an SVG that stands alone, with its lines, colours and labels", async () => {
  for (const [name, selector, least] of [["plain", "#lines .plot", 3], ["two", "#scatter .plot, #panels .plot", 4], ["sweep", "#sweep .plot, #panels .plot", 11]]) {
    const page = await open(resolve(dir, `${name}.html`)), figures = await page.$$(selector);
    assert.ok(figures.length >= least);
    for (const figure of figures.slice(0, 4)) {
      const [file] = await Promise.all([page.waitForEvent("download"), figure.$(".export").then((button) => button.click())]);
      const svg = readFileSync(await file.path(), "utf8");
      assert.match(file.suggestedFilename(), /^[\w.-]+\.svg$/);
      assert.doesNotMatch(svg, /var\(|NaN|undefined|class="dot[ "]/);
      const found = await page.evaluate((svg) => {
        const doc = new DOMParser().parseFromString(svg, "image/svg+xml");
        return { root: doc.documentElement.nodeName, texts: [...doc.querySelectorAll("text")].map((node) => node.textContent),
          paints: [...doc.querySelectorAll("svg svg path")].map((node) => node.getAttribute("fill") + node.getAttribute("stroke")), spots: doc.querySelectorAll("circle").length };
      }, svg);
      assert.equal(found.root, "svg");
      assert.ok(found.texts[0].startsWith(await figure.$eval("figcaption b", (node) => node.textContent)));
      assert.ok(found.texts.length >= 3 && (found.spots || found.paints.every((paint) => /rgb/.test(paint))));
    }
    await close(page);
  }
});

check("figures: over 200 rows they are strips, and the pointer reads and chooses rows; points and maps open a text", async () => {
  const stats = run("-s", "1", "-O", "json", "--emit", "stats", ...AUSTEN).trim().split("\n").map((line) => JSON.parse(line));
  for (const [args, strips, n] of [[["--rows", ":200"], 0, 200], [["--rows", ":201"], 3, 201]]) {
    const page = await open(make("rows", ...AUSTEN, ...args));
    assert.equal((await page.$$("#lines .strip")).length, strips);
    const box = await (await page.$("#lines .plot:nth-child(3) svg")).boundingBox();
    for (const at of [17, 120, n - 1]) {
      await page.mouse.move(box.x + box.width * (at + 0.5) / n, box.y + box.height / 2, { steps: 12 });
      assert.equal(await text(page, "#lines .plot:nth-child(3) output"), `row ${at}: ${stats[at].entropy.toFixed(3)}`);
    }
    await page.mouse.down();
    await page.mouse.up();
    assert.equal(await text(page, "#row-head"), `Row ${n - 1}`);
    await page.mouse.move(1, 1);
    assert.equal(await text(page, "#lines .plot:nth-child(3) output"), stats[n - 1].entropy.toFixed(3));
    await close(page);
  }
  const second = async (page) => (await page.$$eval("#texts select", (all) => all.map((node) => node.selectedOptions[0].textContent)))[1];
  const two = await open(resolve(dir, "two.html"));
  await two.click("#scatter .dot:has-text('greedy')", { position: { x: 5, y: 5 } });
  assert.equal(await second(two), "greedy");
  await two.click("#means tbody tr:nth-child(2) .open");
  assert.equal(await second(two), "min-p");
  await close(two);
  const map = await open(resolve(dir, "map.html"));
  await map.click("#sweep tbody tr:nth-child(2) td:nth-child(3) button");
  assert.equal(await second(map), "temp=0.6 min-p=0.02");
  assert.equal((await map.$$("#sweep tbody tr:nth-child(9) td button")).length, 0); // the rows do not have this chain
  await close(map);
});

check("the address: row, variant and embed are restored and written, other keys are ignored", async () => {
  const path = resolve(dir, "two.html"), page = await open(path, { hash: "#future=1&variant=greedy&row=40&x" });
  const second = () => page.$$eval("#texts select", (all) => all[1].selectedOptions[0].textContent);
  assert.deepEqual([await text(page, "#row-head"), await second()], ["Row 40", "greedy"]);
  await page.click("#text a:nth-of-type(51)");
  assert.equal(await page.evaluate(() => location.hash), "#row=50&variant=greedy");
  await page.selectOption("#texts select >> nth=1", { label: "min-p" });
  assert.equal(await page.evaluate(() => location.hash), "#row=50&variant=min-p");
  await page.selectOption("#texts select >> nth=1", { label: "the accepted text" });
  assert.equal(await page.evaluate(() => location.hash), "#row=50"); // no chain
  await page.selectOption("#texts select >> nth=1", { label: "min-p" });
  const again = await open(path, { hash: await page.evaluate(() => location.hash) });
  assert.equal(await again.innerText("#row"), await page.innerText("#row"));
  await close(again);
  await close(page);
  for (const name of ["two", "plain"]) {
    const alone = await open(resolve(dir, `${name}.html`), { hash: "#row=40&embed", width: 600 });
    assert.equal(await text(alone, "#row-head"), "Row 40");
    const seen = await alone.$$eval("header, main > *", (all) => all.filter((node) => node.checkVisibility()).map((node) => node.id));
    assert.deepEqual(seen, ["row"]);
    assert.ok(await alone.isVisible("#row .context"));
    assert.ok(await alone.evaluate(() => document.documentElement.scrollHeight <= innerHeight));
    await fits(alone);
    await close(alone);
  }
});

check("frame: the page tells its holder the chosen row and variant, and takes both", async () => {
  const page = await open(resolve(dir, "holder.html"), { width: 900 });
  await page.evaluate((html) => new Promise((done) => {
    window.told = [];
    addEventListener("message", ({ data }) => { if (data.moved) window.told.push(data.sampl); });
    document.body.replaceChildren(Object.assign(document.createElement("iframe"), { srcdoc: html, onload: done, width: 880, height: 900 }));
  }), readFileSync(resolve(dir, "two.html"), "utf8"));
  const [, frame] = page.frames(), told = () => page.evaluate(() => window.told.map(({ row, variant }) => [row, variant]));
  assert.deepEqual(await told(), []);
  await frame.click("#text a:nth-of-type(9)");
  await frame.selectOption("#texts select >> nth=1", { label: "greedy" });
  await page.waitForFunction(() => window.told.length === 2);
  assert.deepEqual(await told(), [[8, "min-p"], [8, "greedy"]]);
  await page.evaluate(() => document.querySelector("iframe").contentWindow.postMessage({ sampl: { row: 30, variant: "min-p" } }, "*"));
  await frame.waitForFunction(() => document.getElementById("row-head").textContent === "Row 30");
  assert.equal(await frame.$$eval("#texts select", (all) => all[1].selectedOptions[0].textContent), "min-p");
  assert.equal((await told()).length, 2); // what the holder sets is not told back
  await close(page);
});

check("plain: the longest bar is the largest share, also that of all others", async () => {
  const page = await open(resolve(dir, "plain.html"), { hash: "#row-9" });
  const cells = await page.$$eval("#row tbody td:not(.gone)", (all) => all.filter((cell) => cell.textContent).map((cell) => [Number(cell.textContent), Number(cell.style.getPropertyValue("--p"))]));
  const most = Math.max(...cells.map(([p]) => p));
  for (const [p, bar] of cells) assert.ok(Math.abs(bar - p / most) < 0.001, `${p} has a bar of ${bar}`);
  assert.ok(most > 0.4); // all others before the chain
  await close(page);
});

check("on paper: no buttons, every row of the table, and nothing cut off", async () => {
  for (const name of ["plain", "variants"]) {
    const page = await open(resolve(dir, `${name}.html`), { width: 720 });
    await page.evaluate(() => addEventListener("beforeprint", () => { document.title = document.getElementById("all")?.open ? "open" : "closed"; }));
    const pdf = await page.pdf({ path: resolve(dir, `${name}.pdf`), format: "A4" });
    assert.ok(pdf.length > 50000);
    if (name === "plain") assert.deepEqual([await page.title(), await page.$eval("#all", (node) => node.open)], ["open", false]);
    await page.emulateMedia({ media: "print" });
    const seen = (selector) => page.$$eval(selector, (nodes) => nodes.filter((node) => node.checkVisibility()).length);
    assert.equal(await seen(".tools, .legend input, select, input, summary"), 0);
    assert.equal(await seen("button"), await seen("th button, .dot")); // the heads and names of the table, and points
    await fits(page);
    await close(page);
  }
});

check("partial: the page says what lies outside of the list", async () => {
  const page = await open(make("partial", "samples/reply.json"));
  const [first] = run("-s", "1", "-O", "json", "--dump-probs=1", "samples/reply.json").split("\n").map((line) => line && JSON.parse(line));
  assert.equal(await text(page, "#row tfoot tr:first-child"), `unlisted tokens${four(first.rest)}depends on them`);
  assert.ok((await text(page, "#row .note")).includes("The full row can give another result"));
  // The entropy of a row whose rest is not known is not computed.
  assert.equal((await texts(page, "#row tfoot tr:last-child td"))[0], "–");
  assert.equal((await page.$$eval("#lines path.faint", (all) => all.map((path) => path.getAttribute("d")))).join(""), "");
  await accessible(page);
  await close(page);
  // A token that the list lacks is not masked.
  const other = await open(make("unlisted", "--accept", "1", "--vs", "chat", "--rows", ":1", "samples/reply.json"));
  assert.match(await text(other, "#row tbody"), /not listed/);
  assert.doesNotMatch(await text(other, "#row tbody"), /masked/);
  // A chain may keep it: no text strikes it through, and no row has an accepted token that a chain removed.
  assert.equal(await text(other, "#row .lead"), '1 was accepted. Chains that keep it: none; that chose it: none; not known, as the list lacks it: all.');
  await other.click(".tools button:text('removed')");
  assert.deepEqual(await texts(other, "#texts .lost"), []);
  await close(other);
});

check("a kept token whose probability is too small for a number is not called removed", async () => {
  const rows = resolve(dir, "cold.json"), cold = ["--samplers", "temperature", "--temp", "0.01", "--accept", "0,1,0", rows];
  writeFileSync(rows, "[9,1,2]\n[0,-20,-1]\n[9,1,2]\n");
  const row = (page) => text(page, "#row-head");
  for (const [more, struck, found] of [[[], 0, "Row 0"], [["--vs", "warm: --temp 1"], 0, "Row 0"], [["--vs", "greedy: --temp 0"], 1, "Row 1"]]) {
    const page = await open(make("cold", ...cold, ...more));
    await page.click(".tools button:text('removed')");
    assert.equal(await row(page), found);
    if (more.length) assert.equal((await texts(page, "#text .lost")).length, struck);
    await close(page);
  }
  // The other way round: the accepted text stands beside the base.
  const page = await open(make("cold", ...cold, "--vs", "greedy: --temp 0"));
  await page.selectOption("#texts select >> nth=1", { label: "base" });
  assert.deepEqual(await texts(page, "#text .lost"), []);
  await close(page);
});

check("ids: an id is never broken over lines, and the page asks for --vocab", async () => {
  const page = await open(resolve(dir, "ids.html"), { width: 400 });
  assert.ok((await text(page, "#reading .note")).includes("--vocab"));
  assert.ok((await page.$$eval("#text a", (all) => all.map((a) => a.getClientRects().length))).every((n) => n === 1));
  await close(page);
});

check("hostile texts of tokens are shown as text", async () => {
  const vocab = resolve(dir, "hostile.txt"), rows = resolve(dir, "hostile.f32");
  const said = ["</script><script>alert(1)</script>", "<img src=x onerror=alert(2)>", "a\u2028b\u202ec", "\"'&amp;<!-- <script>"];
  writeFileSync(vocab, said.join("\n") + "\n");
  writeFileSync(rows, Buffer.from(new Float32Array([9, 1, 2, 3, 1, 9, 2, 3, 1, 2, 9, 3, 1, 2, 3, 9]).buffer));
  for (const [name, more] of [["hostile", []], ["hostile-variants", ["--vs", "a: --temp 2", "--vs", "--samplers top_k;temperature"]]]) {
    const page = await open(make(name, "-f", "f32", "--vocab", vocab, rows, "--temp", "0.1", ...more));
    for (let i = 0; i < 4; i++) await page.keyboard.press("ArrowRight");
    await page.click("#text a:nth-of-type(2)");
    assert.equal(await page.textContent("#text a:nth-of-type(2)"), said[1]);
    assert.ok((await text(page, "#row")).includes(said[0]));
    assert.equal((await page.$$("img, script:not([type])")).length, 1);
    await accessible(page);
    await close(page);
  }
});

check("pages of 2000 rows, of no rows and of bad rows are complete", async () => {
  const many = resolve(dir, "many.f32");
  writeFileSync(many, Buffer.from(new Float32Array(2100 * 16).map((_, i) => (i * 7919) % 13).buffer));
  let page = await open(make("many", "-n", "16", many));
  await page.focus("#text a[aria-selected=true]");
  await page.keyboard.press("End");
  assert.equal(await text(page, "#row-head"), "Row 1999");
  assert.ok((await text(page, "#reading .note")).startsWith("The first 2000 of 2100 rows"));
  await close(page);
  page = await open(make("none", "-f", "f32", "-n", "16", "/dev/null"));
  assert.equal(await text(page, "#reading .note"), "There are no rows.");
  await accessible(page);
  await close(page);
  const bad = resolve(dir, "nan.f32");
  writeFileSync(bad, Buffer.from(new Float32Array([NaN, 1, 2, 3, 1, 9, 2, 3]).buffer));
  for (const more of [[], ["--vs", "a: --temp 2"]]) {
    page = await open(make("bad", "-n", "4", "--temp", "0", "--on-error", "skip", bad, ...more));
    assert.equal(await page.textContent("#text a:first-child"), "[bad row]");
    assert.equal(await text(page, "#row-head"), "Row 0");
    await page.hover("#text a:nth-of-type(2)");
    assert.equal(await page.getAttribute("#text a:nth-of-type(2)", "title").then((title) => title.split("\n")[0]), "1  1.0000");
    await page.click("#text a:nth-of-type(2)");
    assert.equal(await text(page, "#row-head"), "Row 1");
    await accessible(page);
    await close(page);
  }
});

// ---- pictures, or checks

// Converts a PNG to at most 256 colours: the most frequent ones, and for other pixels the nearest of them. This saves two thirds of the size.
const fewColours = async (page, png) => {
  const { width, height, rgba } = await page.evaluate(async (base64) => {
    const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0)), image = await createImageBitmap(new Blob([bytes]));
    const canvas = new OffscreenCanvas(image.width, image.height).getContext("2d");
    canvas.drawImage(image, 0, 0);
    const { data } = canvas.getImageData(0, 0, image.width, image.height);
    let text = "";
    for (let i = 0; i < data.length; i += 30000) text += String.fromCharCode(...data.subarray(i, i + 30000));
    return { width: image.width, height: image.height, rgba: btoa(text) };
  }, png.toString("base64"));
  const data = Buffer.from(rgba, "base64"), count = new Map(), place = new Map();
  const colour = (i) => data[i] << 16 | data[i + 1] << 8 | data[i + 2];
  for (let i = 0; i < data.length; i += 4) count.set(colour(i), (count.get(colour(i)) || 0) + 1);
  const palette = [...count.keys()].sort((a, b) => count.get(b) - count.get(a) || a - b).slice(0, 256);
  const apart = (a, b) => [16, 8, 0].reduce((sum, s) => sum + ((a >> s & 255) - (b >> s & 255)) ** 2, 0);
  for (const c of count.keys()) place.set(c, palette.reduce((best, p, i) => apart(p, c) < apart(palette[best], c) ? i : best, 0));
  const lines = Buffer.alloc((width + 1) * height);
  for (let y = 0, i = 0; y < height; y++)
    for (let x = 0; x < width; x++, i += 4) lines[y * (width + 1) + 1 + x] = place.get(colour(i));
  const crc = (bytes) => ~bytes.reduce((c, b) => { c ^= b; for (let k = 0; k < 8; k++) c = c >>> 1 ^ (c & 1 ? 0xedb88320 : 0); return c; }, ~0) >>> 0;
  const word = (n) => { const b = Buffer.alloc(4); b.writeUInt32BE(n); return b; };
  const chunk = (name, body) => { const inner = Buffer.concat([Buffer.from(name), body]); return Buffer.concat([word(body.length), inner, word(crc(inner))]); };
  return Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), chunk("IHDR", Buffer.concat([word(width), word(height), Buffer.from([8, 3, 0, 0, 0])])),
    chunk("PLTE", Buffer.from(palette.flatMap((c) => [c >> 16, c >> 8 & 255, c & 255]))), chunk("IDAT", deflateSync(lines, { level: 9 })), chunk("IEND", Buffer.alloc(0))]);
};

if (pictures) {
  const take = async (name, args, hash, scheme, height) => {
    const page = await open(make(name, ...args), { scheme, hash, width: 1200 });
    await page.setViewportSize({ width: 1200, height });
    const path = resolve(pictures, `${name}.png`), png = await fewColours(page, await page.screenshot());
    writeFileSync(path, png);
    console.log(`${path}: ${png.length} bytes`);
    assert.ok(png.length < 150000);
    await close(page);
  };
  await take("page", [...AUSTEN, ...accepted], "#row=8", "light", 880);
  await take("variants", [...AUSTEN, ...accepted, ...VS], "#row=9&variant=min-p", "light", 990);
} else {
  const { ONLY = "" } = process.env, chosen = checks.filter(([name]) => name.includes(ONLY)); // ONLY: a part of a name
  let failed = 0;
  for (const [name, body] of chosen) {
    try {
      await body();
      console.log(`ok ${name}`);
    } catch (error) {
      failed++;
      console.log(`not ok ${name}\n${String(error.stack || error).replace(/^/gm, "    ")}`);
    }
  }
  console.log(`${chosen.length - failed} passed, ${failed} failed`);
  process.exitCode = failed ? 1 : 0;
}
await browser.close();
