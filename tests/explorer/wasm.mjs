// SPDX-License-Identifier: MIT
// Runs a program for WebAssembly with the explorer's WASI and files in memory: node wasm.mjs PROGRAM ARG...
import { readFileSync } from "node:fs";
import { runInThisContext } from "node:vm";

const [program, ...args] = process.argv.slice(2);
const source = (name) => readFileSync(new URL(`../../src/explorer/${name}`, import.meta.url), "utf8");
const both = `${source("wasi.js")}${source("memory_files.js")}`;
const { run, files } = runInThisContext(`${both}({ run: runWasi, files: memoryFiles })`);
const store = files(new Map()), [, out, err] = store.streams;
process.exitCode = run(new WebAssembly.Module(readFileSync(program)), [program, ...args], store);
process.stdout.write(out.whole());
process.stderr.write(err.whole());
