// SPDX-License-Identifier: MIT
// Files in memory, and files that a person gave to the page, for runWasi (wasi.js) in a worker.
"use strict";

// A file of bytes that stand in memory.
const bytesFile = (data) => ({
  size: () => data.length,
  read: (at, n) => data.subarray(at, at + n),
  write: (at, bytes) => {
    if (at + bytes.length > data.length) {
      const longer = new Uint8Array(at + bytes.length);
      longer.set(data);
      data = longer;
    }
    data.set(bytes, at);
  },
});

// A file on the disk, as the browser hands it out. Only the parts that the program reads are loaded, AHEAD bytes or
// more at a time.
const blobFile = (blob) => {
  const AHEAD = 1 << 20;
  let from = 0, part = new Uint8Array(0);
  return {
    size: () => blob.size,
    read: (at, n) => {
      if (at < from || Math.min(at + n, blob.size) > from + part.length) {
        const slice = blob.slice(at, at + Math.max(n, AHEAD));
        part = new Uint8Array(new FileReaderSync().readAsArrayBuffer(slice));
        from = at;
      }
      return part.subarray(at - from, at - from + n);
    },
    write: () => { throw new Error("files of the disk are not written"); },
  };
};

// A store of files; names maps their names to files.
const memoryFiles = (names) => ({
  find: (name) => names.get(name),
  make: (name) => {
    names.set(name, bytesFile(new Uint8Array(0)));
    return names.get(name);
  },
  rename: (from, to) => {
    if (!names.has(from)) return false;
    names.set(to, names.get(from));
    return names.delete(from);
  },
  remove: (name) => names.delete(name),
});
