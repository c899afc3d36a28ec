// SPDX-License-Identifier: MIT
// Tests the site in a browser: node check.mjs SAMPL SITE DIR, where DIR has node_modules. node check.mjs SAMPL SITE DIR PICTURES keeps screenshots.
import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { dirname, resolve } from "node:path";
import assert from "node:assert/strict";

const [sampl, site, dir, pictures] = process.argv.slice(2);
const require = createRequire(resolve(dir, "here.js"));
const { chromium } = require("playwright-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM || ["/usr/bin/chromium", "/usr/bin/chromium-browser"].find(existsSync),
  args: ["--no-sandbox", "--disable-gpu", "--disable-lcd-text"] });
const files = readdirSync(site).filter((name) => name.endsWith(".html") && name !== "explorer.html");
const address = (name) => `file://${resolve(site, name)}`;

const open = async (name, { scheme = "light", width = 1440 } = {}) => {
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme: scheme });
  const page = await context.newPage();
  page.wrong = [];
  page.on("console", (message) => page.wrong.push(`console: ${message.text()}`));
  page.on("pageerror", (error) => page.wrong.push(`error: ${error.message}`));
  page.on("request", (request) => { if (!request.url().startsWith("file://")) page.wrong.push(`request: ${request.url()}`); });
  await page.goto(address(name));
  return page;
};
const close = async (page) => {
  assert.deepEqual(page.wrong, []);
  await page.context().close();
};

// ---- every page: no error, no overflow, no finding of axe-core; its links and anchors

const anchors = new Map(), links = [], examples = new Map(); // of samplers
for (const [name, width, scheme] of files.flatMap((name) => [[name, 1440, "light"], [name, 400, "dark"]])) {
  const page = await open(name, { width, scheme });
  const [needs, has] = await page.evaluate(() => [document.scrollingElement.scrollWidth, innerWidth]);
  assert.ok(needs <= has, `${name}: ${needs} pixels wide in ${has}`);
  await page.evaluate(axe);
  const found = await page.evaluate(async () => (await axe.run(document, { preload: false, resultTypes: ["violations"] })).violations);
  assert.deepEqual(found.map((v) => `${name}: ${v.id}: ${v.nodes[0].html.slice(0, 120)}`), []);
  if (width === 1440) {
    anchors.set(name, new Set(await page.$$eval("[id]", (nodes) => nodes.map((node) => node.id))));
    for (const href of await page.$$eval("a[href], img[src]", (nodes) => nodes.map((node) => node.getAttribute("href") || node.getAttribute("src"))))
      links.push([name, href]);
    for (const [sampler, href] of await page.$$eval("h2 .try", (nodes) => nodes.map((node) => [node.parentNode.id, node.getAttribute("href")])))
      examples.set(sampler, href.split("#args=")[1].split("+").map(decodeURIComponent));
  }
  if (pictures)
    await page.screenshot({ path: `${pictures}/${name}-${width}-${scheme}.png` });
  await close(page);
}
assert.ok(links.length > 500);
const leads = ([name, href]) => {
  const [file, anchor] = href.split("#");
  return (!file || existsSync(resolve(site, file))) && (!anchor || file === "explorer.html" || anchors.get(file || name).has(decodeURIComponent(anchor)));
};
assert.deepEqual(links.filter((link) => !/^https?:/.test(link[1]) && !leads(link)), [], "links that lead nowhere");

// ---- every option, sampler, engine and column has an anchor; every sampler links to a chain in which it acts

const tables = JSON.parse(spawnSync(sampl, ["--generate=json"], { encoding: "utf8", maxBuffer: 1 << 24 }).stdout);
const every = new Set([...anchors.values()].flatMap((set) => [...set]));
const named = [...tables.options.map((o) => o.flag), ...tables.samplers.filter((s) => !s.internal).map((s) => s.name), ...tables.engines.map((e) => e.name),
  ...tables.columns.map((c) => c.name)];
assert.deepEqual(named.filter((name) => !every.has(name)), [], "names without an anchor");
for (const { name } of tables.samplers.filter((s) => !s.internal)) {
  const words = examples.get(name) || assert.fail(`${name} has no example`);
  const chain = JSON.parse(spawnSync(sampl, ["-s", "1", "-n", "4096", "--vocab", "samples/austen.gguf", ...words, "--print-chain=json"], { encoding: "utf8" }).stdout).chain;
  assert.ok(chain.find((stage) => stage.name === name).enabled, `${name} does not act with ${words.join(" ")}`);
}

// ---- the search: what people type, and the place that answers

const page = await open("index.html");
for (const [query, wanted] of [["nucleus", "top_p"], ["bfloat16", "bf16"], ["KL divergence", "kl"], ["tail mass", "rest"], ["min-p", "min_p"],
  ["exit status", "EXIT STATUS"], ["mirostat tau", "mirostat-ent"], ["vllm", "vllm"], ["lost", "lost"], ["repetition penalty", "repeat-penalty"]]) {
  await page.fill("input", "");
  await page.type("input", query);
  const found = await page.$$eval("form li a", (nodes) => nodes.map((node) => [node.textContent, node.getAttribute("href")]));
  assert.ok(found.some(([title, href]) => title.includes(wanted) || href.includes(`#${wanted}`)), `${query}: ${JSON.stringify(found)}`);
}
await page.keyboard.press("Enter");
await page.waitForURL(/#/);
await page.click("input");
await page.type("input", "zzzz");
assert.equal(await page.textContent("form li"), "nothing found");
if (pictures) {
  await page.fill("input", "nucleus");
  await page.screenshot({ path: `${pictures}/search.png` });
}
await close(page);
const explorer = await open("explorer.html");
await close(explorer);
await browser.close();
console.log(`site: ${files.length} pages, ${links.length} links, ${named.length} names`);
