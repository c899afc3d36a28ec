// SPDX-License-Identifier: MIT
// Files that a person opens: what each one is, by its content, and how much of it is read.

const PAGE_ROWS = 2000;  // rows that a page shows
const READ = 1 << 26;    // bytes of a file that a run reads, unless more rows are asked for
const HEAD = 1 << 20;    // bytes at the start of a file that tell what it is
const WIDE = 4 * 131072; // bytes of a row of a binary file whose width is not known
const rowsOf = new Map(); // file -> the rows that are read at first, if it has too many

const setRole = (name, role) => {
  const before = roles.get(name), path = `./${name}`;
  if (!["preset", "unused"].includes(role)) for (const other of named(role)) roles.set(other, "unused");
  roles.set(name, role);
  if (role === "rows") {
    const raw = /\.(f16|f32|bf16|bin)$/.test(name);
    width = name === SAMPLE ? "4096" : raw ? rawWidth : "";
    rows = name === SAMPLE ? ":64" : rowsOf.get(name) || ""; // the sample has 64 rows of the file of this name
    const ours = name === SAMPLE || name === SAMPLE_REPLY;
    if (!ours && roles.get(SAMPLE_VOCAB) === "vocab") roles.set(SAMPLE_VOCAB, "unused");
    if (name !== SAMPLE && roles.get(SAMPLE_TEXT) === "accept") roles.set(SAMPLE_TEXT, "unused");
  }
  if (role === "preset") usePreset(path);
  else if (before === "preset" && options.get("preset") === path) options.delete("preset");
};

const drawFiles = () => byId("files").replaceChildren(...[...roles].map(([name, role]) => {
  const use = make("select", { "aria-label": `use of ${name}` });
  use.addEventListener("change", () => { setRole(name, use.value); update(); });
  const drop = () => {
    setRole(name, "unused");
    roles.delete(name);
    forgetFile(name);
    update();
  };
  choices(use, Object.entries(ROLES), role);
  return make("li", {}, make("span", {}, name), use,
    make("button", { "aria-label": `remove ${name}`, onclick: drop }, "×"));
}));

// Finds what a file is by its content, and by its name only if the content leaves it open. Returns a role, or null and
// why sampl does not read it as rows.
const roleOf = async (name, blob) => {
  const head = new Uint8Array(await blob.slice(0, HEAD).arrayBuffer()), start = decoder.decode(head.subarray(0, 4096));
  const ids = /^\s*\d+([\s,]+\d+)*[\s,]*\d*$/.test(start) && !/\.(csv|tsv)$/.test(name);
  if (!blob.size) return { why: "it is empty" };
  if (ids) return { role: "accept" };
  if (start.startsWith("GGUF")) return { role: "vocab" };
  keepFile(`new/${name}`, blob);
  const reads = (...args) => sampl("-s", "1", ...named("vocab").flatMap((vocab) => ["--vocab", vocab]), ...args);
  const raw = /\.(f16|f32|bf16|bin)$/.test(name), asRows = await reads("--rows", ":1", `new/${name}`);
  const why = asRows.stderr.split("\n")[0].replace(/^sampl: (.*new\/[^:]*: )?/, "");
  if (raw || asRows.status === 0) return { role: "rows" };
  const small = blob.size < HEAD, asPreset = small && await reads("--preset", `./new/${name}`, "--print-chain");
  if (small && asPreset.status === 0) return { role: "preset" };
  return await isVocabulary(name, blob) ? { role: "vocab" } : { why };
};
const isVocabulary = async (name, blob) => {
  const result = await sampl("--vocab", `new/${name}`, "--rows", ":1", "-n", "1", "-f", "f32", "new/empty");
  if (result.stderr.includes(name) || blob.size > READ) return false;
  if (!/\.json$/.test(name)) return /\.(txt|vocab)$/.test(name);
  const found = JSON.parse(await blob.text()), ids = Object.values(found.model?.vocab ?? found.vocab ?? found);
  return ids.length >= 100; // else any object with numbers would be one
};

// Whether a file of rows is to be compared with one that a person opened before: sampl can compare their first rows.
const isSecond = async (name) => {
  const [first] = named("rows");
  if (!first || first === SAMPLE || first === SAMPLE_REPLY || first === name) return false;
  const words = width ? ["-n", width] : [];
  return (await sampl(...words, "-s", "1", "--rows", ":1", "--against", name, first)).status === 0;
};

// The rows of a file that a run reads at first; "": all.
const firstRows = async (name, blob) => {
  const head = new Uint8Array(await blob.slice(0, HEAD).arrayBuffer());
  const number = { f32: 4, f16: 2, bf16: 2 }[name.split(".").pop()];
  const lines = head.reduce((n, byte) => n + (byte === 10), 0);
  const bytes = number ? number * rawWidth : head.includes(0) ? WIDE : head.length / (lines || 1); // of a row, about
  const n = Math.max(1, Math.min(PAGE_ROWS, Math.floor(READ / bytes)));
  return blob.size / bytes > n ? `:${n}` : "";
};

const take = async (list) => {
  const said = [];
  let taken = 0;
  taking = true;
  for (const file of list) {
    const name = file.name.replace(/[^\w.,+-]/g, "_");
    const { role, why } = awaited.has(name) ? { role: awaited.get(name) }
      : await roleOf(name, file).catch((error) => ({ why: error.message }));
    forgetFile(`new/${name}`);
    if (!role) {
      said.push(`${file.name} is not used: it has no logits, recorded text, vocabulary or preset that sampl reads` +
        ` (${why})`);
      continue;
    }
    keepFile(name, file);
    rowsOf.set(name, await firstRows(name, file));
    if (!takeAwaited(name)) setRole(name, role === "rows" && await isSecond(name) ? "against" : role);
    taken++;
  }
  taking = false;
  if (taken) update();
  refused = said.join("\n");
  if (busyWith.page) return;
  say("");
  settle();
};
