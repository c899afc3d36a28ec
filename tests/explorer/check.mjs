// SPDX-License-Identifier: MIT
// Tests the explorer in a browser: node check.mjs SAMPL PAGE DIR, where DIR has node_modules. node check.mjs SAMPL PAGE DIR PICTURE
// makes the README's picture instead. CHROMIUM in the environment names the browser.
import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import assert from "node:assert/strict";

const [sampl, file, dir, picture] = process.argv.slice(2);
const only = process.env.ONLY; // a part of the name of a check
const require = createRequire(resolve(dir, "here.js"));
const { chromium } = require("playwright-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
const url = `file://${resolve(file)}`;
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM || ["/usr/bin/chromium", "/usr/bin/chromium-browser"].find(existsSync),
  args: ["--no-sandbox", "--disable-gpu", "--disable-lcd-text"] });

// ---- the page, which must send no request and write nothing on the console

const open = async ({ width = 1400, height = 1000, scheme = "light", hash = "" } = {}) => {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: scheme, acceptDownloads: true });
  const page = await context.newPage();
  page.wrong = [];
  page.on("console", (message) => page.wrong.push(`console: ${message.text()}`));
  page.on("pageerror", (error) => page.wrong.push(`error: ${error.message}`));
  page.on("request", (request) => { if (!/^(blob:|about:)/.test(request.url()) && request.url().split("#")[0] !== url) page.wrong.push(`request: ${request.url()}`); });
  await page.addInitScript(() => {
    window.settled = 0;
    document.addEventListener("settled", () => window.settled++);
  });
  await page.goto(url + hash);
  await rest(page);
  return page;
};
// Waits until nothing runs and the page of sampl is shown.
const rest = (page) => page.waitForFunction(() => window.settled > 0 && !document.body.hasAttribute("aria-busy") &&
  [...document.querySelectorAll("iframe:not(.behind)")].length === 1, null, { timeout: 120000 });
const close = async (page) => {
  assert.deepEqual(page.wrong, []);
  await page.context().close();
};
const command = (page) => page.$eval("#command", (node) => node.textContent);
const messages = (page) => page.$eval("#messages", (node) => node.textContent);
const stages = (page) => page.$$eval("#chain > li", (items) => items.map((item) => item.dataset.stage));
const shownFrame = async (page) => (await page.$("iframe:not(.behind)")).contentFrame();

// The ids of the rows in the frame.
const ids = async (page) => {
  await rest(page);
  return (await shownFrame(page)).$$eval("#text script", (scripts) => scripts.map((s) => JSON.parse(s.textContent).record).map((r) => r.base ? r.base.id : r.id));
};

// The ids that the pasted command prints; the shell's sampl is the native program.
const native = (line) => {
  const done = spawnSync("bash", ["-c", `sampl() { "${resolve(sampl)}" "$@"; }\n${line}`], { encoding: "utf8", env: { ...process.env, XDG_CONFIG_HOME: "/nonexistent" } });
  assert.equal(done.status, 0, `${line}\n${done.stderr}`);
  return done.stdout.trim().split("\n").map(Number);
};
let states = 0;
const same = async (page) => {
  const got = await ids(page), line = await command(page);
  assert.deepEqual(got, native(line), line);
  assert.ok(got.length > 0);
  states++;
};
const change = async (page, act) => {
  const before = await page.evaluate(() => window.settled);
  await act();
  await page.waitForFunction((n) => window.settled > n, before, { timeout: 120000 });
  await rest(page);
};
const slide = (page, flag, position) => change(page, () => page.$eval(`[data-flag="${flag}"] input[type=range]`, (node, value) => {
  node.value = value;
  node.dispatchEvent(new Event("input", { bubbles: true }));
  node.dispatchEvent(new Event("change", { bubbles: true }));
}, position));
const number = (page, flag, value) => change(page, async () => {
  const field = `[data-flag="${flag}"] input[type=number]`;
  await page.$eval(field, (node) => { const more = node.closest("details"); if (more) more.open = true; });
  await page.fill(field, value);
  await page.press(field, "Enter");
});
const drop = (page, files) => change(page, () => page.setInputFiles("#open", files));
const accessible = async (page) => {
  await page.evaluate(axe);
  const found = await page.evaluate(async () => (await axe.run(document, { resultTypes: ["violations"], iframes: false })).violations);
  assert.deepEqual(found.map((v) => `${v.id}: ${v.nodes.slice(0, 3).map((n) => n.html.slice(0, 120)).join(" | ")}`), []);
};
const fits = async (page) => {
  const [width, window] = await page.evaluate(() => [document.scrollingElement.scrollWidth, innerWidth]);
  assert.ok(width <= window, `${width} pixels wide in ${window}`);
};

if (picture) {
  const page = await open({ width: 1200, height: 760 });
  await number(page, "temp", "1.1");
  await change(page, () => page.click("#pin"));
  await slide(page, "min-p", "0.1");
  await page.$eval('[data-stage="top_k"]', (node) => node.scrollIntoView());
  await page.screenshot({ path: picture });
  await close(page);
  await browser.close();
  process.exit(0);
}

const checks = {
  "the sample: the ids are those of the native program": async () => {
    const page = await open();
    assert.equal((await ids(page)).length, 64);
    await same(page);
    await fits(page);
    await accessible(page);
    await close(page);
  },
  "30 states: sliders, numbers, presets, engines and seeds": async () => {
    const page = await open();
    for (const [flag, position] of [["temp", 1.25], ["top-p", 0.8], ["min-p", 0.2], ["top-k", 300], ["repeat-penalty", 1.2], ["xtc-probability", 0.5], ["dry-multiplier", 0.8], ["dynatemp-range", 0.5], ["typical", 0.7]]) {
      await slide(page, flag, position);
      await same(page);
    }
    for (const [flag, value] of [["temp", "0.33"], ["top-k", "0"], ["presence-penalty", "-0.5"], ["top-nsigma", "1.5"]]) {
      await number(page, flag, value);
      await same(page);
    }
    for (const preset of ["chat", "min-p", "mirostat", "scatter-creative", "greedy", "akunu-code"]) {
      await change(page, () => page.selectOption("#preset", preset));
      await same(page);
    }
    await change(page, () => page.click("#reset"));
    await change(page, () => page.selectOption("#preset", ""));
    for (const engine of ["ollama", "batch", "transformers", "vllm", "mlx", "akunu", "llama"]) {
      await change(page, () => page.selectOption("#engine", engine));
      await same(page);
    }
    for (const seed of ["7", "99", "4294967294"]) {
      await change(page, async () => { await page.fill("#seed", seed); await page.press("#seed", "Enter"); });
      await same(page);
    }
    await change(page, async () => { await page.fill("#more", "--logit-bias 13-inf --dry-sequence-breaker 'it'\"'\"'s \"x\"'"); await page.press("#more", "Enter"); });
    await same(page);
    assert.ok(states >= 30, String(states));
    await close(page);
  },
  "order: keys, removal, addition": async () => {
    const page = await open();
    const before = await stages(page), at = before.indexOf("min_p");
    await change(page, () => page.click('[aria-label="min_p up"]'));
    const after = await stages(page);
    assert.deepEqual([after[at - 1], after[at]], ["min_p", before[at - 1]]);
    assert.equal(await page.evaluate(() => document.activeElement.getAttribute("aria-label")), "min_p up");
    await same(page);
    await change(page, () => page.keyboard.press("Enter"));
    assert.equal((await stages(page))[at - 2], "min_p");
    await change(page, () => page.click('[aria-label="top_k remove"]'));
    assert.ok(!(await stages(page)).includes("top_k"));
    await same(page);
    await change(page, () => page.selectOption("#add", "top_a"));
    assert.ok((await stages(page)).includes("top_a"));
    await slide(page, "top-a", 0.3);
    await same(page);
    await change(page, () => page.dragAndDrop('[data-stage="top_a"] .name strong', '[data-stage="temperature"] .name strong'));
    await same(page);
    await change(page, () => page.click("#reset"));
    assert.deepEqual(await stages(page), before);
    await close(page);
  },
  "pins and sweeps become variants": async () => {
    const page = await open();
    await change(page, () => page.click("#pin"));
    await slide(page, "temp", 1.5);
    assert.match(await command(page), /--vs 'pin1: /);
    assert.ok(await (await shownFrame(page)).$("#variants"));
    await change(page, () => page.click('[aria-label="sweep min-p"]'));
    assert.match(await command(page), /--sweep min-p=/);
    await change(page, () => page.click('[aria-label="remove the sweep of min-p"]'));
    await change(page, () => page.click('[aria-label="use pin1"]'));
    await change(page, () => page.click('[aria-label="remove pin1"]'));
    assert.doesNotMatch(await command(page), /--vs/);
    await same(page);
    await close(page);
  },
  "files: a reply, presets of other programs, a broken file": async () => {
    const page = await open();
    const good = await ids(page);
    await drop(page, [{ name: "broken.json", mimeType: "application/json", buffer: Buffer.from('{"logits": [1, 2') }]);
    assert.match(await messages(page), /broken\.json/);
    assert.deepEqual(await ids(page), good); // the last page stays
    await drop(page, [{ name: "tavern.json", mimeType: "application/json", buffer: Buffer.from(JSON.stringify({ temp: 1.3, top_p: 0.9, min_p: 0.1, top_k: 0, rep_pen: 1.05, typical_p: 1, tfs: 1, top_a: 0 })) }]);
    assert.match(await command(page), /--preset \.\/tavern\.json/);
    const reply = readFileSync("samples/reply.json");
    await drop(page, [{ name: "reply.json", mimeType: "application/json", buffer: reply }]);
    assert.match(await command(page), / reply\.json$/);
    writeFileSync(resolve(dir, "tavern.json"), JSON.stringify({ temp: 1.3, top_p: 0.9, min_p: 0.1, top_k: 0, rep_pen: 1.05, typical_p: 1, tfs: 1, top_a: 0 }));
    const line = (await command(page)).replace("./tavern.json", resolve(dir, "tavern.json")).replace(/ reply\.json$/, " samples/reply.json");
    assert.deepEqual(await ids(page), native(line));
    await close(page);
  },
  "a wrong option gives sampl's message, and the page works on": async () => {
    const page = await open();
    await change(page, async () => { await page.fill("#more", "--top-p x"); await page.press("#more", "Enter"); });
    assert.match(await messages(page), /^sampl: --top-p: 'x' is not a number/);
    await change(page, async () => { await page.fill("#more", ""); await page.press("#more", "Enter"); });
    assert.equal(await messages(page), "");
    await same(page);
    await close(page);
  },
  "the address holds the chain; Save writes preset and page": async () => {
    const page = await open();
    await slide(page, "temp", 1.5);
    const hash = await page.evaluate(() => location.hash), line = await command(page);
    const again = await open({ hash });
    assert.equal(await command(again), line);
    await close(again);
    const [preset] = await Promise.all([page.waitForEvent("download"), page.click("#save-preset")]);
    const path = resolve(dir, "saved.preset");
    await preset.saveAs(path);
    assert.deepEqual(native(`sampl -n 4096 --rows :64 --preset ${path} samples/austen.f16`), native(line));
    const [html] = await Promise.all([page.waitForEvent("download"), page.click("#save-page")]);
    await html.saveAs(resolve(dir, "saved.html"));
    assert.match(readFileSync(resolve(dir, "saved.html"), "utf8"), /^<!DOCTYPE html>[^]*<\/html>\n?$/);
    await close(page);
  },
  "the chosen row stays chosen": async () => {
    const page = await open();
    const frame = await shownFrame(page);
    await frame.evaluate(() => { document.querySelectorAll("#text a")[20].click(); });
    await frame.waitForFunction(() => document.querySelectorAll("#text a")[20].getAttribute("aria-selected") === "true");
    await slide(page, "temp", 0.5);
    assert.equal(await (await shownFrame(page)).$eval('#text a[aria-selected="true"]', (node) => [...document.querySelectorAll("#text a")].indexOf(node)), 20);
    await close(page);
  },
  "a long run can be stopped, and a link that is none is ignored": async () => {
    const page = await open({ hash: "#{%22options%22:[[%22temp%22,%220.1%22]]}" });
    assert.doesNotMatch(await command(page), /--temp/);
    await change(page, async () => {
      await page.fill("#more", "--top-k 0 --typical 0.9 --sweep temp=0.1:2:0.1 --sweep top-p=0.05:1:0.05 --sweep min-p=0.01:0.1:0.01");
      await page.press("#more", "Enter");
      await page.click("#state button"); // comes after two seconds
    });
    assert.equal(await messages(page), "stopped");
    await change(page, async () => { await page.fill("#more", ""); await page.press("#more", "Enter"); });
    await same(page);
    await close(page);
  },
  "400 pixels, dark": async () => {
    const page = await open({ width: 400, scheme: "dark" });
    await fits(page);
    await accessible(page);
    await page.screenshot({ path: resolve(dir, "explorer-400.png"), fullPage: true });
    await close(page);
  },
};
let failed = 0;
for (const [name, check] of Object.entries(checks)) {
  if (only && !name.includes(only)) continue;
  const begun = Date.now();
  try {
    await check();
    console.log(`ok ${name} (${Date.now() - begun} ms)`);
  } catch (error) {
    failed++;
    console.log(`not ok ${name}\n${error.stack}`);
  }
}
console.log(`${Object.keys(checks).length - failed} passed, ${failed} failed; ${states} states equal to the native program`);
await browser.close();
process.exit(failed ? 1 : 0);
