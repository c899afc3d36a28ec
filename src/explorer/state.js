// SPDX-License-Identifier: MIT
// The state of the explorer is a command of sampl: files with their roles, and options. Here are both, and the words of
// the command.

const SAMPLE = "samples/austen.f16", SAMPLE_VOCAB = "samples/austen-vocab.json", SAMPLE_REPLY = "samples/reply.json",
  SAMPLE_TEXT = "samples/austen.tokens";
const files = {};         // name -> Uint8Array, or Blob: a file of the disk
const roles = new Map();  // name -> a key of ROLES
const ROLES = { rows: "logits", accept: "recorded text", vocab: "vocabulary", preset: "preset",
  against: "compare with", unused: "unused" };
let refused = "";         // what is said of the files that were opened last and have no role
let options = new Map();  // flag -> value (text), of the chain
let more = "";            // further options, as typed
let pins = [];            // {name, json, compared}: chains as --print-chain=json prints them
let sweeps = new Map();   // flag -> list of values
let rows = "", width = "", rawWidth = "4096"; // rawWidth: of files that do not say theirs
let table;                // what --generate=json prints
let stages = { chain: [] }; // what --print-chain=json prints of the present chain
let presets = [];         // {name, about}

const optionOf = (flag) => table.options.find((o) => o.flag === flag || o.aliases.includes(flag) || o.short === flag);
const samplerOf = (name) => table.samplers.find((s) => s.name === name);
const seed = () => options.get("seed") || "1";
const named = (role) => [...roles].filter(([, r]) => r === role).map(([name]) => name);
const fileOf = (pin) => `${pin.name}.json`;

// Splits a text into words, as a shell does without variables.
const split = (text) => {
  const WORD = /(?:'[^']*'|"(?:\\.|[^"\\])*"|\\.|[^\s'"\\])+/g, QUOTED = /'([^']*)'|"((?:\\.|[^"\\])*)"|\\(.)/g;
  const bare = (all, single, double, one) => single ?? double?.replace(/\\(["\\$`])/g, "$1") ?? one;
  return [...text.matchAll(WORD)].map(([word]) => word.replace(QUOTED, bare));
};
const quote = (word) => /^[\w.,/:=+@%-]+$/.test(word) ? word : `'${word.replace(/'/g, "'\\''")}'`;

// An option with its value, as words: a value that looks like an option stands in the same word.
const given = (flag, value) => value.startsWith("-") ? [`--${flag}=${value}`] : [`--${flag}`, value];

// The chain as options. The preset comes first, so that the other options change it.
const chainWords = () => {
  const preset = options.get("preset"), words = preset ? ["--preset", preset] : [];
  for (const [flag, value] of options) {
    if (flag === "preset") continue;
    if (optionOf(flag).type !== "flag") words.push(...given(flag, value));
    else words.push(value === "true" ? `--${flag}` : `--${flag}=false`);
  }
  return [...words, ...split(more)];
};
const compared = () => [
  ...pins.filter((pin) => pin.compared)
    .flatMap((pin) => ["--vs", `${pin.name}: --preset ./${fileOf(pin)} --seed ${seed()}`]),
  ...[...sweeps].flatMap(([flag, list]) => ["--sweep", `${flag}=${list}`])];
const inputWords = (only = rows) => {
  const words = [], [[vocab], [accept], [other]] = ["vocab", "accept", "against"].map(named);
  if (width) words.push("-n", width);
  if (vocab) words.push("--vocab", vocab);
  if (only) words.push(...given("rows", only));
  if (accept) words.push("--accept", `@${accept}`);
  if (other && only === rows) words.push("--against", other);
  return words;
};
const wholeCommand = () => [...inputWords(), ...chainWords(), ...compared(), ...named("rows")];

// Reads the words of options: yields [words, option, value] of each; option is undefined for other words.
const readOptions = function* (words) {
  for (let i = 0; i < words.length; i++) {
    const [, flag, joined] = /^--?([^=]+)(?:=([^]*))?$/.exec(words[i]) || [];
    const option = flag && optionOf(flag), alone = joined !== undefined || option?.type === "flag" || option?.optional;
    if (!option || alone) yield [[words[i]], option, joined ?? "true"];
    else yield [words.slice(i, i + 2), option, words[++i] ?? ""];
  }
};
// The words of the typed options that are none of the chain (a preset leaves them alone), or that are of a group.
const typed = (good) => [...readOptions(split(more))].filter(([, option]) => option && good(option.group))
  .flatMap(([words]) => words);
