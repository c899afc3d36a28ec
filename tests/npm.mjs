// SPDX-License-Identifier: MIT
// Tests the interface of the npm package for programs, in a folder where npm.sh has installed it: node npm.mjs ROOT.
import assert from "node:assert/strict";
import { readFileSync, existsSync } from "node:fs";
import { createRequire } from "node:module";
import { test } from "node:test";
import { sampl } from "sampl";

const require = createRequire(import.meta.url), root = process.argv[2];
const austen = readFileSync(`${root}/samples/austen.f16`), ids = readFileSync("ids", "utf8"), run = ["-n", "4096", "-s", "1"];

test("stdin, files and the disk give the same ids", async () => {
  const results = await Promise.all([
    sampl([...run, "-f", "f16"], { stdin: austen }),
    sampl([...run, "-f", "f16", "/dev/stdin"], { stdin: austen }),
    sampl([...run, "a/../rows.f16"], { files: { "rows.f16": austen } }),
    sampl([...run, `${root}/samples/austen.f16`]),
  ]);
  for (const { status, stdout, stderr } of results)
    assert.deepEqual([status, stdout.toString(), stderr.toString()], [0, ids, ""]);
  assert.ok(Buffer.isBuffer(results[0].stdout));
});

test("texts are given as they are, and messages come with the status", async () => {
  const good = await sampl(["-s", "1", "--temp", "0", "--vocab", "v.txt", "--emit", "text"],
    { stdin: "[1, 3, 2] [3, 1, 2]", files: { "v.txt": "a\nb\u00fc\nc\n" } });
  assert.equal(good.stdout.toString(), "b\u00fca");
  const bad = await sampl(["none.f16", "-n", "3"]);
  assert.deepEqual([bad.status, bad.stderr.toString()],
    [3, "sampl: none.f16: cannot open: No such file or directory\n"]);
});

test("-o writes a file, and an empty standard input ends the run", async () => {
  assert.equal((await sampl(["-n", "3"])).status, 0);
  assert.equal((await sampl([...run, "-f", "f16", "-o", "out"], { stdin: austen })).status, 0);
  assert.equal(readFileSync("out", "utf8"), ids);
  assert.ok(!existsSync(".out"));
});

test("require works, and a module of another version is not meant", () => {
  assert.equal(require("sampl").sampl, sampl);
  assert.equal(require("sampl/package.json").version, readFileSync("version", "utf8").trim());
});

test("paths of Windows", () => {
  const source = readFileSync(`${root}/packaging/npm/disk_files.js`, "utf8");
  const path = new Function("require", `${source}; return windowsPath;`)(require);
  for (const [given, wanted] of [["/C:/a b/rows.f16", "C:/a b/rows.f16"], ["/C:/a/sub\\rows", "C:/a/sub\\rows"],
    ["/C:/a/d:\\x\\y", "d:\\x\\y"], ["/C:/a/\\\\host\\share/x", "\\\\host\\share/x"], ["/dev/null", "\\\\.\\nul"]])
    assert.equal(path(given), wanted);
});
