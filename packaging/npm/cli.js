#!/usr/bin/env node
// SPDX-License-Identifier: MIT
// The command sampl. If a signal or a failure of the worker ends it, its unfinished file is removed.
"use strict";
const { unlinkSync } = require("node:fs");
const { start } = require("./run.js");

const { worker, unfinished } = start(process.argv.slice(2));
let ended = false;
const clean = () => {
  try { unlinkSync(unfinished()); } catch { /* there is no such file */ }
};
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.once(signal, async () => {
    ended = true;
    // A worker that waits for input ends later: it writes nothing then.
    await Promise.race([worker.terminate(), new Promise((done) => setTimeout(done, 100))]);
    clean();
    process.kill(process.pid, signal);
  });
}
worker.on("error", (error) => {
  process.exitCode = 70;
  clean();
  console.error(`sampl: the program ended: ${error.message}`);
});
worker.on("exit", (status) => { if (!ended) process.exit(process.exitCode || status); });
