// SPDX-License-Identifier: MIT
// Checks functions of src/explorer/cards.js without a browser: the value of a dragged cut keeps as many candidates in sampl, and a caption
// says what the stage did. usage: cards.mjs SAMPL
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";

const [sampl] = process.argv.slice(2), source = readFileSync(new URL("../../src/explorer/cards.js", import.meta.url), "utf8");
const between = (from, to) => source.slice(source.indexOf(from), source.indexOf(to));
const parts = between("const CUTS", "// ---- figures") + between("const percent", "// The figure of the stage");
const make = new Function("SHOWN", "samplerOf", "named", `${parts}; return { CUTS, valueAt, caption, alone };`);
const { samplers } = JSON.parse(spawnSync(sampl, ["--generate=json"], { encoding: "utf8" }).stdout);
let recorded = [];
const { CUTS, valueAt, caption, alone } = make(400, (name) => samplers.find((s) => s.name === name), () => recorded);

const candidates = (row, ...options) => {
  const words = ["-s", "1", "--neutral", ...options, "-O", "json", "--dump-probs=400"];
  return JSON.parse(spawnSync(sampl, words, { input: JSON.stringify(row), encoding: "utf8" }).stdout).top_probs;
};
let state = 7;
const random = () => (state = (state * 1103515245 + 12345) % 2 ** 31) / 2 ** 31;
for (let turn = 0; turn < 20; turn++) {
  const row = [...Array(5 + Math.floor(random() * 40))].map(() => Number(((random() + random() - 1) * 8).toFixed(3)));
  const list = candidates(row).map(({ id, prob }) => ({ name: String(id), before: prob, after: prob }));
  const mean = row.reduce((sum, x) => sum + x) / row.length;
  const deviation = Math.sqrt(row.reduce((sum, x) => sum + (x - mean) ** 2, 0) / row.length);
  for (const [name, flag] of Object.entries(CUTS).filter(([name]) => name !== "xtc")) {
    const place = 0.6 + random() * (row.length - 0.2), value = valueAt(name, list, place, deviation);
    const kept = candidates(row, "--samplers", name, `--${flag}=${value}`).length;
    assert.equal(kept, Math.min(list.length, Math.round(place)), `${flag} ${value} of ${row}`);
  }
}

const listOf = (...pairs) => pairs.map(([before, after], i) => ({ name: `t${i}`, before, after }));
const xtc = { name: "xtc", xtc_probability: 0.5, xtc_threshold: 0.25, min_keep: 4 }, two = listOf([0.4, 0.4], [0.3, 0.3], [0.2, 0.2]);
assert.equal(caption(xtc, { list: two }), "Too few would stay for min-keep: it removes none.");
assert.equal(caption({ ...xtc, xtc_threshold: 0.35 }, { list: two }), "Fewer than two reach the threshold: it removes none.");
assert.equal(caption(xtc, { list: listOf([0.4, 0], [0.3, 0.6]) }), "In 50 % of the rows: removes the 1 likeliest, “t0” first.");
const all = Array(400).fill([0.001, 0]);
assert.equal(caption(xtc, { list: listOf(...all) }), "In 50 % of the rows: removes at least the 400 likeliest, “t0” first.");

// The row is sampled alone: a card says so if earlier rows would act.
const of = (...names) => names.map((name) => ({ name, enabled: true })), before = "Without the rows before: ";
assert.equal(alone(of("top_k", "mirostat_v2"), 1, 8), before);
assert.equal(alone(of("top_k", "mirostat_v2"), 0, 8), "");
assert.equal(alone(of("top_k", "mirostat_v2"), 1, 0), "");
assert.equal(alone(of("xtc", "dist"), 1, 8), ""); // a figure shows xtc as it acts
assert.equal(alone(of("penalties", "top_k"), 1, 8), before);
recorded = ["text"];
assert.equal(alone(of("penalties", "top_k"), 1, 8), "");
assert.equal(alone(of("adaptive_p"), 0, 8), before);
const cut = { before: 3, after: 1, removed: 2, mass: 0.9995, likeliest_removed: [{ id: 3, prob: 0 }] };
assert.equal(caption({ name: "top_k" }, { list: two, trace: cut }), "3 → 1 token, more than 99.9 % of the probability. First out: “3” 0.");

// The reason of a stage that left the row as it was, in its sampler's words; what a stage saw follows what it did.
const traceOf = (row, ...options) => JSON.parse(spawnSync(sampl, ["-s", "1", ...options, "--trace", "-O", "json"],
  { input: JSON.stringify(row), encoding: "utf8" }).stdout).stages[0];
const captionOf = (name, ...rest) => caption({ name }, { list: [], trace: traceOf(...rest) });
assert.equal(captionOf("min_p", [1, 2], "--samplers", "min_p", "--min-p", "0.05"),
  "Kept all: the least likely has .368 of the largest probability, at least .05.");
assert.equal(captionOf("dry", [1, 2, 3], "--samplers", "dry", "--dry-multiplier", "1", "--prompt-tokens", "1"),
  "Did not act: its window has 1 token.");
assert.equal(captionOf("penalties", [1, 2, 3], "--samplers", "penalties", "--presence-penalty", "1", "--prompt-tokens", "1"),
  "1 repeated: 1 x1 -1.");
