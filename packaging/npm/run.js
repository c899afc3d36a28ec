// SPDX-License-Identifier: MIT
// Starts runs of the program, each in a worker.
"use strict";
const { readFileSync } = require("node:fs");
const { join } = require("node:path");
const { Worker } = require("node:worker_threads");

const PATH_BYTES = 1 << 15; // of the name of an unfinished file
let compiled;

// Starts the program on words. keep: { stdin, files }, if the run has no standard streams. Returns the worker, and
// unfinished(), the name of the new file that the run has not finished, or "".
exports.start = (args, keep) => {
  const folder = process.cwd(), shared = new SharedArrayBuffer(4 + PATH_BYTES), windows = process.platform === "win32";
  const variables = { ...process.env, PWD: windows ? `/${folder.replace(/\\/g, "/")}` : folder };
  if (windows) variables.XDG_CONFIG_HOME ||= variables.APPDATA;
  if (!keep && require("node:tty").isatty(1)) variables.COLUMNS ||= String(process.stdout.columns);
  const environment = Object.entries(variables).map(([name, value]) => `${name}=${value}`);
  const worker = new Worker(join(__dirname, "worker.js"), { workerData: { args, keep, environment, shared } });
  compiled ||= WebAssembly.compile(readFileSync(join(__dirname, "sampl.wasm"))); // while the worker starts
  compiled.then((module) => worker.postMessage(module), (error) => {
    worker.emit("error", error);
    void worker.terminate();
  });
  return { worker, unfinished: () => Buffer.from(shared, 4).toString("utf8", 0, new Int32Array(shared, 0, 1)[0]) };
};
