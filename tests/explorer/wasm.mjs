// SPDX-License-Identifier: MIT
// Runs a program for WebAssembly with the explorer's WASI and files in memory: node wasm.mjs PROGRAM ARG...
import { readFileSync } from "node:fs";
import { runInThisContext } from "node:vm";

const [program, ...args] = process.argv.slice(2);
const source = (name) => readFileSync(new URL(`../../src/explorer/${name}`, import.meta.url), "utf8");
const both = `${source("wasi.js")}${source("memory_files.js")}`;
const { run, store } = runInThisContext(`${both}({ run: runWasi, store: memoryFiles })`);
const done = run(new WebAssembly.Module(readFileSync(program)), [program, ...args], store(new Map()));
process.stdout.write(done.stdout);
process.stderr.write(done.stderr);
process.exitCode = done.status;
