// SPDX-License-Identifier: MIT
// The part of WASI (preview 1) that sampl calls. A store has the files: memory_files.js has one of memory,
// packaging/npm/disk_files.js one of the disk.
"use strict";

// Runs a WebAssembly module once: args has the words of the command line. Returns the exit status. The store has:
//   environment  a list of NAME=VALUE
//   streams      the files of standard input, output and error
//   open(path, how)  returns a file; how has write, append, create, fresh (the file must be new), empty, folder
//   stat(path)  returns { kind, size }; kind is a key of KIND
//   link(path)  returns the path that a symbolic link holds
//   rename(from, to), remove(path)
// Paths begin with a slash. A file has:
//   kind; size, a function; appends
//   read(at, into)    fills the bytes `into` from the offset on; returns how many it read
//   write(at, bytes)  returns how many bytes it wrote
//   names(), of a folder; close(), if the file needs it
// A function that fails throws an object whose `code` is a key of STATUS; any other code counts as EIO.
function runWasi(module, args, store) {
  const STATUS = { EACCES: 2, EBADF: 8, EDQUOT: 19, EEXIST: 20, EFBIG: 22, EINVAL: 28, EIO: 29, EISDIR: 31, ELOOP: 32,
    EMFILE: 33, ENAMETOOLONG: 37, ENODEV: 43, ENOENT: 44, ENOSPC: 51, ENOSYS: 52, ENOTDIR: 54, ENXIO: 60, EPERM: 63,
    EPIPE: 64, EROFS: 69, ESPIPE: 70, ETXTBSY: 74, EXDEV: 75 };
  const KIND = { pipe: 0, terminal: 2, device: 2, folder: 3, file: 4 };
  const ROOT = 3, READ = 0x2n, SEEK_AND_TELL = 0x24n, WRITE = 0x40n; // a descriptor, and rights
  const encoder = new TextEncoder(), decoder = new TextDecoder();
  const open = [...store.streams, { kind: "folder", size: () => 0 }].map((file) => ({ file, at: file.at || 0 }));
  let memory;

  // Memory may grow between two calls, which detaches its views: they are made for each use.
  const bytes = (at, length) => new Uint8Array(memory.buffer, at, length);
  const view = () => new DataView(memory.buffer);
  const u32 = (at, value) => view().setUint32(at, value, true);
  const u64 = (at, value) => view().setBigUint64(at, BigInt(value), true);
  const path = (at, length) => `/${decoder.decode(bytes(at, length))}`;
  const fail = (code) => { throw { code }; };
  const opened = (fd) => open[fd] || fail("EBADF");
  const seekable = (fd) => ["pipe", "terminal"].includes(opened(fd).file.kind) ? fail("ESPIPE") : open[fd];

  // The buffers of a list, as bytes.
  const buffers = (list, n) => [...Array(n).keys()].map((i) =>
    bytes(view().getUint32(list + 8 * i, true), view().getUint32(list + 8 * i + 4, true)));
  // Reads or writes buffers from an offset on, until the file has no more or takes no more. Returns the bytes done.
  const transfer = (act, list, n, at, got) => {
    let done = 0;
    for (const part of buffers(list, n)) {
      const now = act(at + done, part);
      done += now;
      if (now < part.length) break;
    }
    u32(got, done);
    return done;
  };
  const read = (f, ...rest) => transfer((at, into) => into.length ? f.file.read(at, into) : 0, ...rest);
  const write = (f, ...rest) => transfer((at, from) => from.length ? f.file.write(at, from) : 0, ...rest);
  const stat = ({ kind, size }, to) => {
    bytes(to, 64).fill(0);
    view().setUint8(to + 16, KIND[kind]);
    u64(to + 32, size);
  };
  // Lists of words: their number and bytes, and the words with an address for each.
  const listOf = (words) => {
    const parts = words.map((word) => encoder.encode(`${word}\0`));
    return [(count, size) => {
      u32(count, parts.length);
      u32(size, parts.reduce((sum, part) => sum + part.length, 0));
    }, (list, at) => {
      for (const part of parts) {
        u32(list, at);
        list += 4;
        bytes(at, part.length).set(part);
        at += part.length;
      }
    }];
  };
  const [argsSizes, argsGet] = listOf(args), [environSizes, environGet] = listOf(store.environment);
  class Exit { constructor(status) { this.status = status; } }

  const calls = {
    args_sizes_get: argsSizes,
    args_get: argsGet,
    environ_sizes_get: environSizes,
    environ_get: environGet,
    clock_time_get: (clock, precision, to) => u64(to, Math.round((clock ? performance.now() : Date.now()) * 1e6)),
    random_get: (to, n) => {
      const random = new Uint8Array(n);
      crypto.getRandomValues(random);
      bytes(to, n).set(random);
    },
    proc_exit: (status) => { throw new Exit(status); },
    fd_prestat_get: (fd, to) => {
      if (fd !== ROOT) fail("EBADF");
      u32(to, 0);
      u32(to + 4, 1);
    },
    fd_prestat_dir_name: (fd, to) => { bytes(to, 1)[0] = 47; },
    fd_fdstat_get: (fd, to) => {
      const { kind, appends } = opened(fd).file, ALL = 0x1fffffffn;
      bytes(to, 24).fill(0);
      view().setUint8(to, KIND[kind]);
      view().setUint16(to + 2, appends ? 1 : 0, true);
      u64(to + 8, kind === "terminal" ? ALL & ~SEEK_AND_TELL : ALL);
      u64(to + 16, ALL);
    },
    fd_fdstat_set_flags: () => {},
    fd_filestat_get: (fd, to) => { const { file } = opened(fd); stat({ kind: file.kind, size: file.size() }, to); },
    fd_read: (fd, list, n, got) => { const f = opened(fd); f.at += read(f, list, n, f.at, got); },
    fd_pread: (fd, list, n, at, got) => { read(seekable(fd), list, n, Number(at), got); },
    fd_write: (fd, list, n, got) => { const f = opened(fd); f.at += write(f, list, n, f.at, got); },
    fd_seek: (fd, by, from, to) => {
      const f = seekable(fd), at = Number(by) + (from === 1 ? f.at : from === 2 ? f.file.size() : 0);
      if (at < 0) fail("EINVAL");
      f.at = at;
      u64(to, at);
    },
    fd_tell: (fd, to) => u64(to, seekable(fd).at),
    fd_close: (fd) => {
      opened(fd).file.close?.();
      open[fd] = undefined;
    },
    fd_renumber: (from, to) => {
      open[to] = opened(from);
      open[from] = undefined;
    },
    // An entry is the cookie of the next one, an unknown file number, the length and the kind, and the name.
    fd_readdir: (fd, to, n, cookie, got) => {
      const f = opened(fd);
      f.names ||= f.file.names().map((name) => encoder.encode(name));
      let done = 0;
      for (let i = Number(cookie); i < f.names.length && done < n; i++) {
        const entry = new Uint8Array(24 + f.names[i].length), head = new DataView(entry.buffer);
        head.setBigUint64(0, BigInt(i + 1), true);
        head.setBigUint64(8, 1n, true);
        head.setUint32(16, f.names[i].length, true);
        entry.set(f.names[i], 24);
        const part = entry.subarray(0, n - done);
        bytes(to + done, part.length).set(part);
        done += part.length;
      }
      u32(got, done);
    },
    path_open: (folder, follow, at, n, how, rights, inherited, flags, to) => {
      const file = store.open(path(at, n), { write: (rights & WRITE) !== 0n, only: (rights & READ) === 0n,
        append: (flags & 1) !== 0, create: (how & 1) !== 0, folder: (how & 2) !== 0, fresh: (how & 4) !== 0,
        empty: (how & 8) !== 0 });
      let fd = ROOT + 1;
      while (open[fd]) fd++;
      open[fd] = { file, at: 0 };
      u32(to, fd);
    },
    path_filestat_get: (folder, follow, at, n, to) => stat(store.stat(path(at, n)), to),
    path_readlink: (folder, at, n, to, most, got) => {
      const text = encoder.encode(store.link(path(at, n))).subarray(0, most);
      bytes(to, text.length).set(text);
      u32(got, text.length);
    },
    path_rename: (folder, at, n, folder2, at2, n2) => store.rename(path(at, n), path(at2, n2)),
    path_unlink_file: (folder, at, n) => store.remove(path(at, n)),
  };

  // A call returns 0, or the status of the error that its function throws.
  const call = (act) => (...words) => {
    try {
      act(...words);
      return 0;
    } catch (error) {
      if (error instanceof Exit || !error || !error.code) throw error;
      return STATUS[error.code] || STATUS.EIO;
    }
  };
  const imports = new Proxy(calls, { get: (all, name) => call(all[name] || (() => fail("ENOSYS"))) });
  const instance = new WebAssembly.Instance(module, { wasi_snapshot_preview1: imports });
  memory = instance.exports.memory;
  try {
    instance.exports._start();
  } catch (error) {
    if (!(error instanceof Exit)) throw error;
    return error.status;
  }
  return 0;
}
