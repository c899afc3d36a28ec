// SPDX-License-Identifier: MIT
// Runs a program for WebAssembly with the explorer's WASI: node wasm.mjs PROGRAM ARG...
import { readFileSync } from "node:fs";
import { runInThisContext } from "node:vm";

const [program, ...args] = process.argv.slice(2);
runInThisContext(readFileSync(new URL("../../src/explorer/wasi.js", import.meta.url), "utf8"));
const done = globalThis.runWasi(new WebAssembly.Module(readFileSync(program)), [program, ...args], {});
process.stdout.write(done.stdout);
process.stderr.write(done.stderr);
process.exitCode = done.status;
