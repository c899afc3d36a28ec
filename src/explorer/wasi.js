// SPDX-License-Identifier: MIT
// The part of WASI (preview 1) that sampl calls. A store has the files, see memory_files.js.
"use strict";

// Runs a WebAssembly module once: args has the words of the command line. Returns the exit status, and what the program
// wrote to standard output (bytes) and standard error (text). The store has these functions:
//   find(name) returns a file, or undefined; make(name) returns a new, empty one; rename(from, to) and remove(name)
//   return false if there is no such file. A name has no slash at its start.
// A file has size(); read(at, n), which returns at most n bytes from there on; and write(at, bytes). If read or write
// fails, it throws.
function runWasi(module, args, store) {
  const STATUS = { badf: 8, inval: 28, io: 29, noent: 44, nosys: 52, spipe: 70 };
  const KIND = { character: 2, folder: 3, file: 4 };
  const encoder = new TextEncoder(), decoder = new TextDecoder();
  const words = args.map((word) => encoder.encode(word + "\0"));
  const printed = { 1: [], 2: [] };
  const nothing = { size: () => 0, read: () => new Uint8Array(0) };
  const open = [{ file: nothing, at: 0, pipe: true }, { parts: printed[1] }, { parts: printed[2] }, { folder: true }];
  let memory;

  // Memory may grow between two calls, which detaches its views: they are made for each use.
  const bytes = () => new Uint8Array(memory.buffer);
  const view = () => new DataView(memory.buffer);
  const u32 = (at, value) => view().setUint32(at, value, true);
  const u64 = (at, value) => view().setBigUint64(at, BigInt(value), true);
  const path = (at, length) => decoder.decode(bytes().subarray(at, at + length)).replace(/^(\.?\/)+/, "");
  const kind = (f) => f.folder ? KIND.folder : f.file && !f.pipe ? KIND.file : 0;

  // The buffers of a list, each [address, length].
  const buffers = (list, n) => [...Array(n).keys()].map((i) =>
    [view().getUint32(list + 8 * i, true), view().getUint32(list + 8 * i + 4, true)]);
  // Both return the number of bytes, or -1 if the store fails.
  const read = (f, list, n, at, got) => {
    let done = 0;
    for (const [to, length] of buffers(list, n)) {
      let part;
      try { part = f.file.read(at + done, length); } catch { return -1; }
      bytes().set(part, to);
      done += part.length;
    }
    u32(got, done);
    return done;
  };
  const write = (f, list, n, at, got) => {
    let done = 0;
    for (const [from, length] of buffers(list, n)) {
      const part = bytes().slice(from, from + length);
      try { if (f.parts) f.parts.push(part); else f.file.write(at + done, part); } catch { return -1; }
      done += length;
    }
    u32(got, done);
    return done;
  };
  const stat = (f, to) => {
    bytes().fill(0, to, to + 64);
    view().setUint8(to + 16, kind(f));
    u64(to + 32, f.file ? f.file.size() : 0);
    return 0;
  };
  class Exit { constructor(status) { this.status = status; } }

  const calls = {
    args_sizes_get: (count, size) => {
      u32(count, words.length);
      u32(size, words.reduce((sum, w) => sum + w.length, 0));
      return 0;
    },
    args_get: (list, at) => {
      for (const word of words) {
        u32(list, at);
        list += 4;
        bytes().set(word, at);
        at += word.length;
      }
      return 0;
    },
    environ_sizes_get: (count, size) => { u32(count, 0); u32(size, 0); return 0; },
    environ_get: () => 0,
    clock_time_get: (clock, precision, to) => {
      u64(to, Math.round((clock ? performance.now() : Date.now()) * 1e6));
      return 0;
    },
    random_get: (to, n) => {
      const random = new Uint8Array(n);
      crypto.getRandomValues(random);
      bytes().set(random, to);
      return 0;
    },
    proc_exit: (status) => { throw new Exit(status); },
    fd_prestat_get: (fd, to) => {
      if (!open[fd] || !open[fd].folder) return STATUS.badf;
      u32(to, 0);
      u32(to + 4, 1);
      return 0;
    },
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
    fd_read: (fd, list, n, got) => {
      const f = open[fd], done = f && f.file ? read(f, list, n, f.at, got) : 0;
      if (!f || !f.file || done < 0) return done < 0 ? STATUS.io : STATUS.badf;
      f.at += done;
      return 0;
    },
    fd_pread: (fd, list, n, at, got) => {
      const f = open[fd];
      if (!f || !f.file) return STATUS.badf;
      return read(f, list, n, Number(at), got) < 0 ? STATUS.io : 0;
    },
    fd_write: (fd, list, n, got) => {
      const f = open[fd];
      if (!f || f.folder) return STATUS.badf;
      const done = write(f, list, n, f.at, got);
      if (done >= 0 && f.file) f.at += done;
      return done < 0 ? STATUS.io : 0;
    },
    fd_pwrite: (fd, list, n, at, got) => {
      const f = open[fd];
      if (!f || !f.file) return STATUS.spipe;
      return write(f, list, n, Number(at), got) < 0 ? STATUS.io : 0;
    },
    fd_seek: (fd, by, from, to) => {
      const f = open[fd];
      if (!f || !f.file || f.pipe) return f ? STATUS.spipe : STATUS.badf;
      f.at = Number(by) + [0, f.at, f.file.size()][from];
      u64(to, f.at);
      return 0;
    },
    fd_tell: (fd, to) => {
      const f = open[fd];
      if (!f || !f.file || f.pipe) return STATUS.spipe;
      u64(to, f.at);
      return 0;
    },
    fd_close: (fd) => { if (!open[fd]) return STATUS.badf; open[fd] = undefined; return 0; },
    fd_renumber: (from, to) => { open[to] = open[from]; open[from] = undefined; return 0; },
    fd_readdir: (fd, at, n, cookie, got) => { u32(got, 0); return 0; },
    path_open: (folder, follow, at, n, how, rights, inherited, flags, to) => {
      const name = path(at, n), CREATE = 1, TRUNCATE = 8, found = store.find(name);
      if (!found && !(how & CREATE)) return STATUS.noent;
      let fd = 4;
      while (open[fd]) fd++;
      open[fd] = { file: found && !(how & TRUNCATE) ? found : store.make(name), at: 0 };
      u32(to, fd);
      return 0;
    },
    path_filestat_get: (folder, follow, at, n, to) => {
      const file = store.find(path(at, n));
      return file ? stat({ file }, to) : STATUS.noent;
    },
    path_readlink: (folder, at, n) => store.find(path(at, n)) ? STATUS.inval : STATUS.noent,
    path_rename: (folder, at, n, folder2, at2, n2) => store.rename(path(at, n), path(at2, n2)) ? 0 : STATUS.noent,
    path_unlink_file: (folder, at, n) => store.remove(path(at, n)) ? 0 : STATUS.noent,
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
  return { status, stdout: whole(printed[1]), stderr: decoder.decode(whole(printed[2])) };
}
