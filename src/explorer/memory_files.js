// SPDX-License-Identifier: MIT
// Files in memory, and files that a person gave to the page, for runWasi (wasi.js) in a worker.
"use strict";

// A file of bytes that stand in memory.
const bytesFile = (data) => ({
  kind: "file",
  size: () => data.length,
  read: (at, into) => {
    const part = data.subarray(at, at + into.length);
    into.set(part);
    return part.length;
  },
  write: (at, bytes) => {
    if (at + bytes.length > data.length) {
      const longer = new Uint8Array(at + bytes.length);
      longer.set(data);
      data = longer;
    }
    data.set(bytes, at);
    return bytes.length;
  },
});

// A pipe that keeps what is written to it: whole() returns the bytes.
const keptPipe = () => {
  const parts = [];
  const whole = () => {
    const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
    let at = 0;
    for (const part of parts) { all.set(part, at); at += part.length; }
    return all;
  };
  return { kind: "pipe", size: () => 0, read: () => 0, write: (at, bytes) => parts.push(bytes.slice()) && bytes.length,
    whole };
};

// A file on the disk, as the browser hands it out. Only the parts that the program reads are loaded, AHEAD bytes or
// more at a time.
const blobFile = (blob) => {
  const AHEAD = 1 << 20;
  let from = 0, part = new Uint8Array(0);
  return {
    kind: "file",
    size: () => blob.size,
    read: (at, into) => {
      if (at < from || Math.min(at + into.length, blob.size) > from + part.length) {
        const slice = blob.slice(at, at + Math.max(into.length, AHEAD));
        try { part = new Uint8Array(new FileReaderSync().readAsArrayBuffer(slice)); } catch { throw { code: "EIO" }; }
        from = at;
      }
      const found = part.subarray(at - from, at - from + into.length);
      into.set(found);
      return found.length;
    },
    write: () => { throw { code: "EIO" }; },
  };
};

// A store of files; names maps their names, without a slash at the start, to files.
const memoryFiles = (names) => {
  const bare = (path) => path.replace(/^(\.?\/)+/, "");
  const found = (path) => names.get(bare(path)) || (() => { throw { code: "ENOENT" }; })();
  return {
    environment: [],
    streams: [keptPipe(), keptPipe(), keptPipe()],
    open: (path, how) => {
      if (how.empty || (how.create && !names.has(bare(path)))) names.set(bare(path), bytesFile(new Uint8Array(0)));
      return found(path);
    },
    stat: (path) => ({ kind: "file", size: found(path).size() }),
    link: (path) => { throw { code: found(path) && "EINVAL" }; },
    rename: (from, to) => {
      names.set(bare(to), found(from));
      names.delete(bare(from));
    },
    remove: (path) => {
      found(path);
      names.delete(bare(path));
    },
  };
};
