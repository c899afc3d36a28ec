// SPDX-License-Identifier: MIT
// Files of the disk, for runWasi (src/explorer/wasi.js) in a worker of Node.
"use strict";
const fs = require("node:fs");
const { resolve } = require("node:path");

// Repeats a call while a descriptor that does not wait has no data, or no room.
const again = (act) => {
  for (;;) {
    try { return act(); } catch (error) {
      if (error.code === "EOF") return 0; // on Windows, the end of a pipe
      if (error.code !== "EAGAIN" && error.code !== "EINTR") throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    }
  }
};

const kindOf = (stat) =>
  stat.isFile() ? "file" : stat.isDirectory() ? "folder" : stat.isCharacterDevice() ? "device" : "pipe";

// A file with a descriptor, whose own offset is `at`. Reads and writes there move the offset of the descriptor, which
// other programs may share.
const descriptorFile = (fd, kind, at, appends, close) => {
  const plain = kind !== "file" || appends;
  const transfer = (act) => (from, bytes) => {
    const here = plain || from === at, n = again(() => act(fd, bytes, 0, bytes.length, here ? null : from));
    if (here) at += n;
    return n;
  };
  return { kind, appends, at, size: () => fs.fstatSync(fd).size, read: transfer(fs.readSync),
    write: transfer(fs.writeSync), close };
};

// A standard stream. Linux tells the offset in a file that the shell opened; elsewhere the file is read as a pipe is.
const streamFile = (fd) => {
  let kind = kindOf(fs.fstatSync(fd)), at = 0, appends = false;
  if (kind === "device" && require("node:tty").isatty(fd)) kind = "terminal";
  if (kind === "file") {
    try {
      const info = fs.readFileSync(`/proc/self/fdinfo/${fd}`, "latin1");
      at = Number(/^pos:\s*(\d+)/m.exec(info)[1]);
      appends = (parseInt(/^flags:\s*(\d+)/m.exec(info)[1], 8) & fs.constants.O_APPEND) !== 0;
    } catch { kind = "pipe"; }
  }
  return descriptorFile(fd, kind, at, appends);
};

// The path of Windows for a path of the program, in which a drive may stand behind the folder of the run.
const windowsPath = (path) => path === "/dev/null" ? "\\\\.\\nul" : path.replace(/^.*\/(?=[A-Za-z]:|\\\\)/, "");

// Keeps the name of the new file that the run has not finished, for the main thread: its length, and its bytes.
const unfinishedName = (shared) => {
  const length = new Int32Array(shared, 0, 1), bytes = new Uint8Array(shared, 4);
  return { set: (path) => Atomics.store(length, 0, Buffer.from(bytes.buffer, 4).write(path)),
    clear: () => Atomics.store(length, 0, 0) };
};

// A store: `given` maps absolute paths to files, which hide those of the disk.
const diskFiles = ({ environment, streams, given, shared }) => {
  const windows = process.platform === "win32", unfinished = unfinishedName(shared);
  const { O_RDONLY, O_WRONLY, O_RDWR, O_APPEND, O_CREAT, O_EXCL, O_TRUNC } = fs.constants;
  const folder = (path) => ({ kind: "folder", size: () => 0, names: () => fs.readdirSync(path),
    read: () => { throw { code: "EISDIR" }; } });
  const open = (path, how) => {
    const found = fs.statSync(path, { throwIfNoEntry: false });
    if (found?.isDirectory() && !how.write) return folder(path);
    if (how.folder) throw { code: found ? "ENOTDIR" : "ENOENT" };
    const flags = (how.write ? how.only ? O_WRONLY : O_RDWR : O_RDONLY) | (how.append && O_APPEND) |
      (how.create && O_CREAT) | (how.fresh && O_EXCL) | (how.empty && O_TRUNC);
    if (how.fresh) unfinished.set(path);
    try {
      const fd = fs.openSync(path, flags);
      return descriptorFile(fd, kindOf(fs.fstatSync(fd)), 0, how.append, () => fs.closeSync(fd));
    } catch (error) {
      if (how.fresh) unfinished.clear();
      throw error;
    }
  };
  const stat = (path) => {
    const found = fs.statSync(path);
    return { kind: kindOf(found), size: found.size };
  };
  // The new file gets the permissions of the file that it replaces.
  const rename = (from, to) => {
    const old = fs.statSync(to, { throwIfNoEntry: false });
    if (old) {
      fs.accessSync(to, fs.constants.W_OK);
      fs.chmodSync(from, old.mode & 0o777);
    }
    fs.renameSync(from, to);
    unfinished.clear();
  };
  const remove = (path) => {
    fs.unlinkSync(path);
    unfinished.clear();
  };
  const path = (name) => {
    const plain = name.replace(/\/(\.?\/)*/g, "/");
    return windows ? windowsPath(plain) : plain;
  };
  if (windows && !given.has(resolve("/dev/stdin"))) given.set(resolve("/dev/stdin"), streams[0]);
  const found = (name) => given.get(resolve(path(name)));
  return {
    environment, streams,
    open: (name, how) => found(name) || open(path(name), how),
    stat: (name) => found(name) ? { kind: found(name).kind, size: found(name).size() } : stat(path(name)),
    link: (name) => fs.readlinkSync(path(name)),
    rename: (from, to) => rename(path(from), path(to)),
    remove: (name) => remove(path(name)),
  };
};
