// SPDX-License-Identifier: MIT
// The interface for programs; index.d.ts describes it.
"use strict";
const { resolve } = require("node:path");
const { start } = require("./run.js");

exports.sampl = async (args, { stdin = "", files = {} } = {}) => {
  const input = Buffer.from(stdin), named = Object.entries({ "/dev/stdin": input, ...files });
  const inMemory = named.map(([name, data]) => [resolve(name), Buffer.from(data)]);
  const { worker } = start(args.map(String), { stdin: input, files: inMemory });
  return new Promise((done, failed) => {
    worker.on("error", failed);
    worker.on("message", ({ status, stdout, stderr }) =>
      done({ status, stdout: Buffer.from(stdout), stderr: Buffer.from(stderr) }));
  });
};
