// SPDX-License-Identifier: MIT
// The worker in which a run takes place. `make npm` puts the files that it uses before it.
"use strict";
const { parentPort, workerData: run } = require("node:worker_threads");

globalThis.crypto ??= require("node:crypto").webcrypto; // Node 18
const kept = run.keep && [bytesFile(run.keep.stdin), keptPipe(), keptPipe()];
if (kept) kept[0].kind = "pipe";
const given = new Map(run.keep?.files.map(([path, data]) => [path, bytesFile(data)]));
const store = diskFiles({ ...run, streams: kept || [0, 1, 2].map(streamFile), given });
parentPort.once("message", (module) => {
  const status = runWasi(module, ["sampl", ...run.args], store);
  if (kept) parentPort.postMessage({ status, stdout: kept[1].whole(), stderr: kept[2].whole() });
  else process.exit(status);
});
