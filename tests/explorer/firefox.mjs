// SPDX-License-Identifier: MIT
// Tests the explorer and a page of -O html in Firefox: node firefox.mjs SAMPL PAGE DIR, where DIR has node_modules. FIREFOX in the
// environment names the browser. check.mjs has the tests of all controls, in Chromium; here are those of what browsers differ in.
import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { existsSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import assert from "node:assert/strict";

const [sampl, file, dir] = process.argv.slice(2);
const puppeteer = createRequire(resolve(dir, "here.js"))("puppeteer-core");
const browser = await puppeteer.launch({ browser: "firefox", headless: true,
  executablePath: process.env.FIREFOX || ["/usr/bin/firefox-esr", "/usr/bin/firefox"].find(existsSync) });
const AUSTEN = ["--vocab", "samples/austen.gguf", "samples/austen.f16"];

const open = async (path, width) => {
  const page = await browser.newPage();
  page.wrong = [];
  page.on("console", (message) => page.wrong.push(`console: ${message.text()}`));
  page.on("pageerror", (error) => page.wrong.push(`error: ${error.message}`));
  await page.setViewport({ width, height: 1000 });
  await page.evaluateOnNewDocument(() => {
    window.settled = 0;
    document.addEventListener("settled", () => window.settled++);
  });
  await page.goto(`file://${resolve(path)}`);
  return page;
};
const close = async (page) => {
  assert.deepEqual(page.wrong, []);
  const [width, window] = await page.evaluate(() => [document.scrollingElement.scrollWidth, innerWidth]);
  assert.ok(width <= window, `${width} pixels wide in ${window}`);
  await page.close();
};

// Waits until the explorer has run more often than `before`, and shows the page of the last run.
const rest = (page, before = 0) => page.waitForFunction((n) => window.settled > n && !document.body.hasAttribute("aria-busy") &&
  document.querySelectorAll("iframe:not(.behind)").length === 1, { timeout: 120000 }, before);
const change = async (page, act) => {
  const before = await page.evaluate(() => window.settled);
  await act();
  await rest(page, before);
};

// Drags the thumb of a slider to a position, with a mouse, by twelve moves. The order of the stages stays.
const drag = async (page, selector, position) => {
  const node = await page.$(selector), stages = () => page.$$eval("#chain > li, #off > li", (all) =>
    all.sort((a, b) => (a.dataset.at ?? 99) - (b.dataset.at ?? 99)).map((item) => item.dataset.stage));
  const order = await stages(), opens = await node.evaluateHandle((node) => node.closest("details:not([open])")?.querySelector("summary"));
  if (opens.asElement()) await opens.click();
  await node.scrollIntoView();
  const box = await node.boundingBox(), [low, high, value] = await node.evaluate((node) => [node.min, node.max, node.value].map(Number));
  const x = (v) => box.x + 8 + (v - low) / (high - low) * (box.width - 16), y = box.y + box.height / 2;
  await page.mouse.move(x(value), y);
  await page.mouse.down();
  await page.mouse.move(x(position), y + 20, { steps: 12 });
  await page.mouse.up();
  assert.deepEqual(await stages(), order);
};

// Compares the ids in the frame with those that the shown command prints in a shell, whose sampl is the native program.
const same = async (page) => {
  const frame = await (await page.$("iframe:not(.behind)")).contentFrame();
  const ids = await frame.$$eval("#text script", (all) => all.map((s) => JSON.parse(s.textContent).record).map((r) => r.ids ? r.ids.base : r.id));
  const line = await page.$eval("#command", (node) => node.textContent);
  const done = spawnSync("bash", ["-c", `sampl() { "${resolve(sampl)}" "$@"; }\n${line}`], { encoding: "utf8", env: { ...process.env, XDG_CONFIG_HOME: "/nonexistent" } });
  assert.equal(done.status, 0, `${line}\n${done.stderr}`);
  assert.deepEqual(ids, done.stdout.trim().split("\n").map(Number), line);
};

const checks = {
  "the explorer: sliders, presets and engines give the ids of the native program": async () => {
    const page = await open(file, 1400);
    await rest(page);
    await same(page);
    for (const [flag, position] of [["temp", 1.25], ["top-p", 0.8], ["xtc-probability", 0.5], ["typical", 0.7]]) {
      await change(page, () => drag(page, `[data-flag="${flag}"] input[type=range]`, position));
      await same(page);
    }
    for (const [menu, name] of [["#preset", "mirostat"], ["#preset", "scatter-creative"], ["#preset", ""], ["#engine", "vllm"], ["#engine", "akunu"]]) {
      await change(page, () => page.select(menu, name));
      await same(page);
    }
    await change(page, () => page.click("#pin"));
    assert.match(await page.$eval("#command", (node) => node.textContent), /--vs 'pin1: /);
    await close(page);
  },
  "the explorer: a broken file gives the message": async () => {
    const page = await open(file, 400), path = resolve(dir, "broken.json");
    await rest(page);
    writeFileSync(path, '{"logits": [1, 2');
    await change(page, async () => (await page.$("#open")).uploadFile(path));
    assert.match(await page.$eval("#messages", (node) => node.textContent), /broken\.json/);
    await close(page);
  },
  "a page of one chain, and one of several": async () => {
    const records = spawnSync(sampl, ["-s", "1", "-O", "json", ...AUSTEN], { encoding: "utf8" }).stdout.trim().split("\n").map((line) => JSON.parse(line));
    for (const [name, width, more] of [["plain", 1400, []], ["accepted", 400, ["--accept", "@samples/austen.tokens"]], ["variants", 400, ["--vs", "chat", "--vs", "min-p"]]]) {
      const path = resolve(dir, `firefox-${name}.html`);
      writeFileSync(path, spawnSync(sampl, ["-s", "1", "-O", "html", ...AUSTEN, ...more], { encoding: "utf8", maxBuffer: 1 << 28 }).stdout);
      const page = await open(path, width), head = () => page.$eval("#row-head", (node) => node.textContent);
      assert.equal(await head(), "Row 0");
      await page.click("#text a:nth-of-type(10)");
      await page.keyboard.press("ArrowRight");
      assert.equal(await head(), "Row 10");
      if (name === "plain") assert.ok((await page.$eval("#row .lead b", (node) => node.textContent)).replace(/\u00a0/g, " ").includes(records[10].token.trim()));
      await page.keyboard.press("End");
      assert.equal(await head(), "Row 255");
      await close(page);
    }
  },
};
let failed = 0;
for (const [name, check] of Object.entries(checks))
  try {
    await check();
    console.log(`ok ${name}`);
  } catch (error) {
    failed++;
    console.log(`not ok ${name}\n${String(error.stack || error).replace(/^/gm, "    ")}`);
  }
console.log(`${Object.keys(checks).length - failed} passed, ${failed} failed in ${await browser.version()}`);
await browser.close();
process.exitCode = failed ? 1 : 0;
