// SPDX-License-Identifier: MIT
// The part of WASI (preview 1) that sampl calls, with files in memory.
"use strict";

// Runs a WebAssembly module once: args has the words of the command line, files maps names to Uint8Array. Returns the
// exit status, and what the program wrote to standard output (bytes) and standard error (text). Files that the program
// writes are added to files.
function runWasi(module, args, files) {
  const STATUS = { badf: 8, inval: 28, noent: 44, nosys: 52, spipe: 70 };
  const KIND = { character: 2, folder: 3, file: 4 };
  const encoder = new TextEncoder(), decoder = new TextDecoder();
  const words = args.map((word) => encoder.encode(word + "\0"));
  const printed = { 1: [], 2: [] };
  const open = [{ file: { data: new Uint8Array(0) }, at: 0, pipe: true }, { parts: printed[1] }, { parts: printed[2] }, { folder: true }];
  const names = new Map(Object.entries(files).map(([name, data]) => [name, { data }]));
  let memory;

  // Memory may grow between two calls, which detaches its views: they are made for each use.
  const bytes = () => new Uint8Array(memory.buffer);
  const view = () => new DataView(memory.buffer);
  const u32 = (at, value) => view().setUint32(at, value, true);
  const u64 = (at, value) => view().setBigUint64(at, BigInt(value), true);
  const path = (at, length) => decoder.decode(bytes().subarray(at, at + length)).replace(/^(\.?\/)+/, "");
  const kind = (f) => f.folder ? KIND.folder : f.file && !f.pipe ? KIND.file : 0;

  const read = (f, list, n, at, got) => {
    let done = 0;
    for (let i = 0; i < n; i++) {
      const to = view().getUint32(list + 8 * i, true), length = view().getUint32(list + 8 * i + 4, true);
      const part = f.file.data.subarray(at + done, at + done + length);
      bytes().set(part, to);
      done += part.length;
    }
    u32(got, done);
    return done;
  };
  const write = (f, list, n, at, got) => {
    let done = 0;
    for (let i = 0; i < n; i++) {
      const from = view().getUint32(list + 8 * i, true), length = view().getUint32(list + 8 * i + 4, true);
      const part = bytes().slice(from, from + length), end = at + done + length;
      if (f.parts) {
        f.parts.push(part);
      } else {
        if (end > f.file.data.length) {
          const longer = new Uint8Array(end);
          longer.set(f.file.data);
          f.file.data = longer;
        }
        f.file.data.set(part, at + done);
      }
      done += length;
    }
    u32(got, done);
    return done;
  };
  const stat = (f, to) => {
    bytes().fill(0, to, to + 64);
    view().setUint8(to + 16, kind(f));
    u64(to + 32, f.file ? f.file.data.length : 0);
    return 0;
  };
  class Exit { constructor(status) { this.status = status; } }

  const calls = {
    args_sizes_get: (count, size) => { u32(count, words.length); u32(size, words.reduce((sum, w) => sum + w.length, 0)); return 0; },
    args_get: (list, at) => { for (const word of words) { u32(list, at); list += 4; bytes().set(word, at); at += word.length; } return 0; },
    environ_sizes_get: (count, size) => { u32(count, 0); u32(size, 0); return 0; },
    environ_get: () => 0,
    clock_time_get: (clock, precision, to) => { u64(to, Math.round((clock ? performance.now() : Date.now()) * 1e6)); return 0; },
    random_get: (to, n) => { const random = new Uint8Array(n); crypto.getRandomValues(random); bytes().set(random, to); return 0; },
    proc_exit: (status) => { throw new Exit(status); },
    fd_prestat_get: (fd, to) => { if (!open[fd] || !open[fd].folder) return STATUS.badf; u32(to, 0); u32(to + 4, 1); return 0; },
    fd_prestat_dir_name: (fd, to) => { bytes()[to] = 47; return 0; },
    fd_fdstat_get: (fd, to) => {
      if (!open[fd]) return STATUS.badf;
      bytes().fill(0, to, to + 24);
      view().setUint8(to, kind(open[fd]));
      u64(to + 8, 0x1fffffff);
      u64(to + 16, 0x1fffffff);
      return 0;
    },
    fd_fdstat_set_flags: () => 0,
    fd_filestat_get: (fd, to) => open[fd] ? stat(open[fd], to) : STATUS.badf,
    fd_read: (fd, list, n, got) => { const f = open[fd]; if (!f || !f.file) return STATUS.badf; f.at += read(f, list, n, f.at, got); return 0; },
    fd_pread: (fd, list, n, at, got) => { const f = open[fd]; if (!f || !f.file) return STATUS.badf; read(f, list, n, Number(at), got); return 0; },
    fd_write: (fd, list, n, got) => {
      const f = open[fd];
      if (!f || f.folder) return STATUS.badf;
      const done = write(f, list, n, f.at, got);
      if (f.file) f.at += done;
      return 0;
    },
    fd_pwrite: (fd, list, n, at, got) => { const f = open[fd]; if (!f || !f.file) return STATUS.spipe; write(f, list, n, Number(at), got); return 0; },
    fd_seek: (fd, by, from, to) => {
      const f = open[fd];
      if (!f || !f.file || f.pipe) return f ? STATUS.spipe : STATUS.badf;
      f.at = Number(by) + (from === 1 ? f.at : from === 2 ? f.file.data.length : 0);
      u64(to, f.at);
      return 0;
    },
    fd_tell: (fd, to) => { const f = open[fd]; if (!f || !f.file || f.pipe) return STATUS.spipe; u64(to, f.at); return 0; },
    fd_close: (fd) => { if (!open[fd]) return STATUS.badf; open[fd] = undefined; return 0; },
    fd_renumber: (from, to) => { open[to] = open[from]; open[from] = undefined; return 0; },
    fd_readdir: (fd, at, n, cookie, got) => { u32(got, 0); return 0; },
    path_open: (folder, follow, at, n, how, rights, inherited, flags, to) => {
      const name = path(at, n), CREATE = 1, TRUNCATE = 8;
      if (!names.has(name) && !(how & CREATE)) return STATUS.noent;
      if (!names.has(name) || how & TRUNCATE) names.set(name, { data: new Uint8Array(0) });
      let fd = 4;
      while (open[fd]) fd++;
      open[fd] = { file: names.get(name), at: 0 };
      u32(to, fd);
      return 0;
    },
    path_filestat_get: (folder, follow, at, n, to) => { const file = names.get(path(at, n)); return file ? stat({ file }, to) : STATUS.noent; },
    path_readlink: (folder, at, n) => names.has(path(at, n)) ? STATUS.inval : STATUS.noent,
    path_rename: (folder, at, n, folder2, at2, n2) => {
      const file = names.get(path(at, n));
      if (!file) return STATUS.noent;
      names.delete(path(at, n));
      names.set(path(at2, n2), file);
      return 0;
    },
    path_unlink_file: (folder, at, n) => names.delete(path(at, n)) ? 0 : STATUS.noent,
  };
  const whole = (parts) => {
    const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
    let at = 0;
    for (const part of parts) { all.set(part, at); at += part.length; }
    return all;
  };

  const imports = new Proxy(calls, { get: (all, name) => all[name] || (() => STATUS.nosys) });
  const instance = new WebAssembly.Instance(module, { wasi_snapshot_preview1: imports });
  let status = 0;
  memory = instance.exports.memory;
  try {
    instance.exports._start();
  } catch (error) {
    if (!(error instanceof Exit)) throw error;
    status = error.status;
  }
  for (const [name, file] of names) files[name] = file.data;
  return { status, stdout: whole(printed[1]), stderr: decoder.decode(whole(printed[2])) };
}
