// SPDX-License-Identifier: MIT
// The explorer is a command line with controls: its state is a list of options, and files in memory. A worker runs
// sampl; a frame shows the page that sampl writes.
"use strict";
(() => {
const SAMPLE = "samples/austen.f16", SAMPLE_VOCAB = "samples/austen-vocab.json", SAMPLE_REPLY = "samples/reply.json";
const STOP_AFTER = 2000; // milliseconds after which a run can be stopped
const SLOW = 300;        // milliseconds: if a run takes longer, only rows near the chosen one run while a slider moves
const PAGE_ROWS = 2000;  // rows that a page shows
const READ = 1 << 26;    // bytes of a file that a run reads, unless more rows are asked for
const HEAD = 1 << 20;    // bytes at the start of a file that tell what it is
const WIDE = 4 * 131072; // bytes of a row of a binary file whose width is not known
const byId = (id) => document.getElementById(id);
const decoder = new TextDecoder();
const make = (tag, attributes = {}, ...inside) => {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== false && value !== undefined) node.setAttribute(name, value);
  }
  node.append(...inside);
  return node;
};

// ---- the state

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
const seed = () => options.get("seed") || "1";
const samplerOf = (name) => table.samplers.find((s) => s.name === name);

const named = (role) => [...roles].filter(([, r]) => r === role).map(([name]) => name);

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
const fileOf = (pin) => `${pin.name}.json`;
const compared = () => [
  ...pins.filter((pin) => pin.compared)
    .flatMap((pin) => ["--vs", `${pin.name}: --preset ./${fileOf(pin)} --seed ${seed()}`]),
  ...[...sweeps].flatMap(([flag, list]) => ["--sweep", `${flag}=${list}`])];
const inputWords = (only) => {
  const words = [], wanted = only || rows;
  const [[vocab], [accept], [other]] = ["vocab", "accept", "against"].map(named);
  if (width) words.push("-n", width);
  if (vocab) words.push("--vocab", vocab);
  if (wanted) words.push(...given("rows", wanted));
  if (accept) words.push("--accept", `@${accept}`);
  if (other) words.push("--against", other);
  return words;
};
const wholeCommand = (only) => [...inputWords(only), ...chainWords(), ...compared(), ...named("rows")];

// ---- the program

const unpack = async (id) => { // base64 of gzip
  const text = atob(byId(id).textContent.trim()), packed = Uint8Array.from(text, (c) => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
};
let module, worker, waiting;
const startWorker = () => {
  const code = `${byId("wasi").textContent}
    let module; const files = new Map();
    onmessage = ({ data }) => {
      if (data.module) module = data.module;
      for (const [name, content] of Object.entries(data.files || {}))
        files.set(name, content instanceof Blob ? blobFile(content) : bytesFile(content));
      for (const name of data.forget || []) files.delete(name);
      if (!data.args) return;
      const store = memoryFiles(new Map(files)), [, out, err] = store.streams;
      let status = 70, why = "";
      try { status = runWasi(module, ["sampl", ...data.args], store); } catch (error) { why = "sampl ended: " + error; }
      postMessage({ status, stdout: out.whole(), stderr: new TextDecoder().decode(err.whole()) + why });
    };`;
  worker = new Worker(URL.createObjectURL(new Blob([code], { type: "text/javascript" })));
  const end = (result) => {
    const done = waiting;
    waiting = null;
    if (done) done(result);
  };
  worker.onmessage = ({ data }) => end(data);
  worker.onerror = (event) => end({ status: 70, stdout: new Uint8Array(0), stderr: event.message });
  worker.postMessage({ module, files });
};
// Runs sampl once; a call waits until earlier calls are over.
let queue = Promise.resolve();
const sampl = (...args) => queue = queue.then(() => new Promise((done) => {
  waiting = done;
  worker.postMessage({ args });
}));
const stop = () => {
  worker.terminate();
  const done = waiting;
  waiting = null;
  startWorker();
  if (done) done({ status: 130, stdout: new Uint8Array(0), stderr: "stopped" });
};
const text = (result) => decoder.decode(result.stdout);
const keepFile = (name, data) => {
  files[name] = data;
  worker.postMessage({ files: { [name]: data } });
};
const forgetFile = (name) => {
  delete files[name];
  worker.postMessage({ forget: [name] });
};

// ---- runs: the newest state replaces one that waits

let running = false, wanted = null, took = 0, idle = 0;
const update = (moving = false) => {
  wanted = { moving };
  refused = "";
  pins = pins.filter((pin) => pin.compared || options.get("preset") === `./${fileOf(pin)}`);
  clearTimeout(idle);
  if (!running) void loop();
};
const loop = async () => {
  running = true;
  document.body.setAttribute("aria-busy", "true");
  while (wanted) {
    const { moving } = wanted, near = moving && took > SLOW && !rows.includes(",");
    wanted = null;
    const at = (await view.place()).row || 0;
    const begun = performance.now();
    const offer = () => byId("state").replaceChildren("Running… ", make("button", { onclick: stop }, "Stop"));
    const late = setTimeout(offer, STOP_AFTER);
    const chain = await sampl(...inputWords(), ...chainWords(), "--print-chain=json");
    let page = null;
    if (chain.status === 0) stages = JSON.parse(text(chain)); // else "More options" has an error, or options of a run
    const only = near ? `${Math.max(0, at - 8)}:${at + 24}` : "";
    if (named("rows").length) page = await sampl(...wholeCommand(only), "-O", "html");
    clearTimeout(late);
    const time = performance.now() - begun;
    if (!near) took = time;
    drawControls(chain.status === 0);
    await show(page, page ? page.stderr : chain.stderr, time);
    if (near && !wanted) idle = setTimeout(() => update(), 400);
  }
  running = false;
  document.body.removeAttribute("aria-busy");
  document.dispatchEvent(new Event("settled"));
};
const say = (messages) => {
  byId("messages").textContent = [refused, messages].map((part) => part.trim()).filter(Boolean).join("\n");
  byId("messages").hidden = !byId("messages").textContent;
};
// Ends when the page of sampl is shown.
const show = async (page, messages, time) => {
  byId("command").textContent = ["sampl", ...wholeCommand()].map(quote).join(" ");
  say(messages);
  byId("state").textContent = !page ? "Open a file with logits."
    : page.status === 0 ? `Ran in ${Math.round(time)} ms.` : `sampl ended with status ${page.status}.`;
  const state = { options: [...options], more, pins, sweeps: [...sweeps], rows };
  history.replaceState(null, "", `#${encodeURIComponent(JSON.stringify(state))}`);
  if (page && text(page).includes("\n{\"record\":")) await view.show(text(page)); // else no row could be read
};

// ---- the page of -O html in two frames: one is shown while the next one loads

// Each frame's page tells the chosen row and how far it is scrolled, and goes to such a place.
const view = (() => {
  const frame = () => make("iframe", { title: "The page of sampl", class: "behind", tabindex: "-1" });
  let [shown, next] = [frame(), frame()], place = { row: 0, top: 0, text: 0 };
  byId("view").append(shown, next);
  const once = (target, name) => new Promise((done) => target.addEventListener(name, done, { once: true }));
  const post = (to, message) => to.contentWindow.postMessage({ sampl: message }, "*");
  const placeOf = async (of) => {
    if (!of.srcdoc) return place; // no page yet
    const answer = once(window, "message");
    post(of, "place?");
    return place = (await answer).data.sampl;
  };
  const show = async (html) => {
    const loaded = once(next, "load");
    next.srcdoc = html.replace("<head>", '<head><base href="about:srcdoc">'); // so that #links stay in the frame
    await loaded;
    post(next, await placeOf(shown));
    await placeOf(next); // the answer comes when the page is there
    next.classList.remove("behind");
    next.removeAttribute("tabindex");
    shown.classList.add("behind");
    shown.setAttribute("tabindex", "-1");
    [shown, next] = [next, shown];
  };
  return { place: () => placeOf(shown), show };
})();

// ---- controls of the chain

const set = (flag, value, moving) => {
  options.set(flag, value);
  update(moving);
};

// Positions of a slider for a value, and back. Positions are 0 to 1000 on a logarithmic scale, values on a linear one.
const STEPS = 1000;
const toPosition = (s, value) => s.scale !== "log" ? value
  : Math.round(STEPS * Math.log(Math.max(value, s.low) / s.low) / Math.log(s.high / s.low));
const toValue = (s, position) => {
  const exact = s.scale === "log" ? s.low * (s.high / s.low) ** (position / STEPS) : Number(position);
  return String(Number((Math.round(exact / s.step) * s.step).toPrecision(6)));
};

// Five values over the slider's range, for --sweep.
const sweepOf = (s) => {
  const [low, high] = s.scale === "log" ? [0, STEPS] : [s.low, s.high];
  return [0, 1, 2, 3, 4].map((i) => toValue(s, low + (high - low) * i / 4)).join(",");
};

const inChain = (stage) => samplerOf(stage.name) && !samplerOf(stage.name).internal;
const samplersNow = () => stages.chain.filter(inChain);
const memberOf = (flag) => flag.replace(/-/g, "_");

// Writes the chain's order to --samplers. A stage with a value of its own keeps it.
const reorder = (list, moving) => {
  const names = list.map((stage) => {
    const first = samplerOf(stage.name).params[0];
    return stage.own ? `${stage.name}=${stage[memberOf(first)]}` : stage.name;
  });
  if (names[names.length - 1] === "dist") names.pop(); // the chain ends with it anyway
  options.delete("sampler-seq");
  set("samplers", names.join(";"), moving);
};
const move = (from, to) => {
  const list = samplersNow();
  if (to < 0 || to >= list.length || from === to) return;
  list.splice(to, 0, ...list.splice(from, 1));
  focusAfter = `${list[to].name} ${to < from ? "up" : "down"}`;
  reorder(list);
};
const remove = (at) => reorder(samplersNow().filter((stage, i) => i !== at));
let focusAfter = "";

// The controls of a parameter of the stage with this index in the chain.
const paramOf = (stage, flag, place, at) => {
  const row = optionOf(flag), value = stage[memberOf(flag)];
  if (!row || value === undefined) return [];
  const id = `${flag}-${at}`, s = row.slider;
  const give = (typed, moving) => {
    if (!stage.own || place) return set(flag, typed, moving);
    stages.chain[at][memberOf(flag)] = typed;
    reorder(samplersNow(), moving);
  };
  const label = make("label", { for: id, title: row.help, class: options.has(flag) ? "given" : undefined }, flag);
  const line = (...inputs) => [make("div", { class: "param", "data-flag": flag }, label, ...inputs)];
  if (row.type === "flag") {
    const box = make("input", { type: "checkbox", id, onchange: () => give(String(box.checked)) });
    box.checked = value;
    return line(box);
  }
  const number = make("input", { type: "number", id, value, step: "any" });
  number.addEventListener("change", () => {
    number.defaultValue = number.value; // it is no longer being typed
    if (number.value !== "") give(number.value);
  });
  if (!s) return line(number);
  const range = s.scale === "log" ? { min: 0, max: STEPS, step: 1 } : { min: s.low, max: s.high, step: s.step };
  const slider = make("input", { type: "range", ...range, value: toPosition(s, value),
    "aria-label": `${stage.name}: ${flag}`, onchange: () => update() });
  slider.addEventListener("input", () => {
    number.value = number.defaultValue = toValue(s, slider.value);
    give(number.value, true);
  });
  const sweep = () => {
    if (!sweeps.delete(flag)) sweeps.set(flag, sweepOf(s));
    update();
  };
  return line(slider, number, make("button", { title: `Compare five values of --${flag} (--sweep)`,
    "aria-label": `sweep ${flag}`, "aria-pressed": String(sweeps.has(flag)), onclick: sweep }, "≋"));
};

// What a stage has besides parameters: biases, breakers, bans.
const listsOf = (stage) => {
  const { eog_tokens: ends, dry_sequence_breakers: texts } = stages;
  const ids = (lists) => (lists || []).map((list) => list.join(" "));
  if (stage.name === "dry") return [...(texts || []).map((s) => JSON.stringify(s)), ...ids(stages.dry_breaker_tokens)];
  if (stage.name.startsWith("bans")) return [...ids(stages.bad_words_ids), ...(ends || []).map((id) => `end ${id}`)];
  const signed = (bias) => bias === false ? "-inf" : bias < 0 ? String(bias) : `+${bias}`;
  return (stage.logit_bias || []).map(([id, bias]) => id + signed(bias));
};
const listOf = (label, list) => !list.length ? []
  : [make("p", { class: "list" }, `${label}: `, make("code", {}, list.join(", ")))];

// A stage is dragged by its name, with a mouse, a pen or a finger. If a finger scrolls the page instead, the drag is
// cancelled.
const listenToDrag = (handle, at) => {
  let over = null;
  const mark = (item) => {
    if (over) over.classList.remove("over");
    over = item;
    if (over) over.classList.add("over");
  };
  handle.addEventListener("pointerdown", (event) => { if (!event.button) handle.setPointerCapture(event.pointerId); });
  handle.addEventListener("pointermove", (event) => {
    if (!handle.hasPointerCapture(event.pointerId)) return;
    const item = document.elementFromPoint(event.clientX, event.clientY)?.closest("#chain > [data-at]");
    mark(item && Number(item.dataset.at) !== at ? item : null);
    if (over) over.scrollIntoView({ block: "nearest" });
  });
  handle.addEventListener("pointerup", () => { if (over) move(at, Number(over.dataset.at)); });
  handle.addEventListener("lostpointercapture", () => mark(null)); // after pointerup, too
};

const opened = new Set(); // the stages of which all parameters are shown
// at: the place among the stages that can be moved; -1: it cannot.
const stageItem = (stage, at, index) => {
  const sampler = samplerOf(stage.name), key = (what) => `${stage.name} ${what}`;
  const button = (what, sign, act) => make("button", { "aria-label": key(what), title: what, onclick: act }, sign);
  const params = sampler ? sampler.params.flatMap((flag, place) => paramOf(stage, flag, place, index)) : [];
  const [first, ...others] = params, summary = others.map((param) => param.dataset.flag).join(", ");
  const turn = () => rest.open ? opened.add(stage.name) : opened.delete(stage.name);
  const rest = make("details", { open: opened.has(stage.name), ontoggle: turn },
    make("summary", { id: key("more") }, summary), ...others);
  const name = make("strong", {}, stage.name), off = make("small", {}, stage.enabled ? "" : "off");
  const line = make("div", { class: "name" }, name, off), item = make("li", { "data-stage": stage.name }, line);
  if (!stage.enabled) item.className = "off";
  if (at >= 0) {
    item.dataset.at = at;
    name.prepend(make("span", { class: "grip", "aria-hidden": "true" }, "⠿"));
    line.append(button("up", "↑", () => move(at, at - 1)), button("down", "↓", () => move(at, at + 1)),
      button("remove", "×", () => remove(at)));
    listenToDrag(name, at);
  }
  const label = { dry: "breakers", logit_bias: "biases" }[stage.name] || "bans";
  item.append(...(first ? [first] : []), ...listOf(label, listsOf(stage)),
  ...(others.length ? [rest] : []));
  return item;
};

const choices = (select, list, value) => {
  select.replaceChildren(...list.map(([name, label]) => make("option", { value: name }, label)));
  select.value = value;
};

// While a pointer is down on the chain, or a number is being typed, the controls stay: a new element would take over
// neither the drag nor the text.
let held = false, late = false;
const busy = () => held || (document.activeElement.matches("#chain input[type=number]") &&
  document.activeElement.value !== document.activeElement.defaultValue);
const release = (event) => {
  if (event.type !== "focusout") held = false;
  setTimeout(() => { if (late && !busy()) drawControls(); }); // behind the click that follows
};

let touched = null; // the control that was used last
const drawChain = () => {
  const chain = byId("chain"), keyOf = (node) => node.getAttribute("aria-label") || node.id;
  const key = focusAfter || (chain.contains(touched) ? keyOf(touched) : "");
  const focused = chain.contains(document.activeElement);
  const movable = stages.engine === "llama" && samplersNow().length > 0;
  let n = 0;
  const place = (stage) => movable && inChain(stage) && stage.name !== "dist" ? n++ : -1;
  const items = stages.chain.map((stage, index) => stageItem(stage, place(stage), index));
  if (stages.grammar)
    items.unshift(make("li", { "data-stage": "grammar" }, make("div", { class: "name" }, make("strong", {}, "grammar")),
      make("pre", { class: "list", tabindex: "0" }, stages.grammar)));
  chain.replaceChildren(...items);
  const again = key && [...chain.querySelectorAll("button, input, summary")].find((node) => keyOf(node) === key);
  if (again) touched = again;
  if (again && focused) again.focus({ preventScroll: true });
  focusAfter = "";
  const here = new Set(samplersNow().map((stage) => stage.name));
  const free = table.samplers.filter((s) => !s.internal && !here.has(s.name));
  choices(byId("add"), [["", "a sampler…"], ...free.map((s) => [s.name, s.name])], "");
  byId("add").disabled = !movable;
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

const drawPins = () => {
  const button = (name, act, sign) => make("button", { "aria-label": name, onclick: act }, sign);
  byId("pins").replaceChildren(
    ...pins.filter((pin) => pin.compared).map((pin) => make("li", {}, make("span", {}, pin.name),
      button(`use ${pin.name}`, () => usePreset(`./${fileOf(pin)}`), "Use"),
      button(`save ${pin.name}`, () => save(fileOf(pin), pin.json, "application/json"), "Save"),
      button(`remove ${pin.name}`, () => { pin.compared = false; update(); }, "×"))),
    ...[...sweeps].map(([flag, list]) => make("li", {}, make("span", {}, `sweep ${flag}: ${list}`),
      button(`remove the sweep of ${flag}`, () => { sweeps.delete(flag); update(); }, "×"))));
};

// Draws the controls anew. The one that was used last stays where it is on the screen.
const drawControls = (valid = true) => {
  const topOf = () => touched && touched.isConnected ? touched.getBoundingClientRect().top : null, before = topOf();
  const files = [...named("preset"), ...pins.map(fileOf)].map((name) => [`./${name}`, name]);
  const shipped = presets.map(({ name, about }) => [name, about ? `${name}: ${about}` : name]);
  choices(byId("preset"), [["", "none"], ...shipped, ...files], options.get("preset") || "");
  const engines = optionOf("engine").choices.map((name) => [name, name]);
  choices(byId("engine"), engines, stages.engine || "llama");
  byId("seed").value = seed();
  byId("rows").value = rows;
  byId("width").value = width;
  if (document.activeElement !== byId("more")) byId("more").value = more;
  drawFiles();
  drawPins();
  late = busy();
  if (valid && !late) drawChain();
  if (before === null || topOf() === null) return;
  document.querySelector("aside").scrollTop += topOf() - before;
  scrollBy(0, topOf() - before);
};

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
  }
  if (role === "preset") usePreset(path);
  else if (before === "preset" && options.get("preset") === path) options.delete("preset");
};

// Begins a chain with a preset, a name or a file. Of the options that were typed, those of the input stay.
const usePreset = (preset) => {
  const words = split(more), kept = [];
  for (let i = 0, option; i < words.length; i++) {
    if (words[i].startsWith("-")) option = optionOf(words[i].replace(/^-+/, "").split("=")[0]);
    if (option && option.group !== "chain") kept.push(words[i]);
  }
  more = kept.map(quote).join(" ");
  options = new Map([["seed", seed()], ...(preset ? [["preset", preset]] : [])]);
  update();
};

// ---- pins

const pin = async () => {
  const result = await sampl(...inputWords(), ...chainWords(), "--print-chain=json");
  if (result.status !== 0) return update();
  let n = 1;
  while (pins.some(({ name }) => name === `pin${n}`)) n++;
  addPin({ name: `pin${n}`, json: text(result), compared: true });
  update();
};
const addPin = (made) => {
  pins.push(made);
  keepFile(fileOf(made), new TextEncoder().encode(made.json));
};

// ---- files

const rowsOf = new Map(); // file -> the rows that are read at first, if it has too many

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
  for (const file of list) {
    const name = file.name.replace(/[^\w.,+-]/g, "_");
    const { role, why } = await roleOf(name, file).catch((error) => ({ why: error.message }));
    forgetFile(`new/${name}`);
    if (!role) {
      said.push(`${file.name} is not used: it has no logits, recorded text, vocabulary or preset that sampl reads` +
        ` (${why})`);
      continue;
    }
    keepFile(name, file);
    rowsOf.set(name, await firstRows(name, file));
    setRole(name, role);
    taken++;
  }
  if (taken) update();
  refused = said.join("\n");
  if (running) return;
  say("");
  document.dispatchEvent(new Event("settled"));
};

const save = (name, content, type) => {
  const link = make("a", { href: URL.createObjectURL(new Blob([content], { type })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
};
const copy = async (content, done) => {
  try {
    await navigator.clipboard.writeText(content);
  } catch {
    const area = make("textarea", {}, content); // pages on disk may have no clipboard
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  byId("state").textContent = done;
};

// ---- the start

const restore = () => {
  try {
    const state = JSON.parse(decodeURIComponent(location.hash.slice(1)));
    const texts = (pin) => ({ name: String(pin.name), json: String(pin.json), compared: pin.compared === true });
    const pinned = state.pins.map(texts);
    const here = pinned.map((made) => `./${fileOf(made)}`);
    const known = ([flag, value]) =>
      optionOf(flag) && typeof value === "string" && (!value.startsWith("./") || here.includes(value));
    const swept = new Map(state.sweeps.filter(([flag]) => optionOf(flag)));
    options = new Map(state.options.filter(known));
    [sweeps, more, rows] = [swept, String(state.more), String(state.rows)];
    pins = [];
    pinned.forEach(addPin);
  } catch {
    byId("messages").textContent = ""; // no state, or one of another version
  }
};
const listen = () => {
  const on = (id, event, act) => byId(id).addEventListener(event, act);
  on("open", "change", () => { void take([...byId("open").files]); byId("open").value = ""; });
  on("rows", "change", () => { rows = byId("rows").value.trim(); update(); });
  on("width", "change", () => { width = rawWidth = byId("width").value.trim(); update(); });
  on("seed", "change", () => set("seed", byId("seed").value.trim() || "1"));
  on("more", "change", () => { more = byId("more").value; update(); });
  on("preset", "change", () => usePreset(byId("preset").value));
  on("engine", "change", () => { options.delete("samplers"); set("engine", byId("engine").value); });
  on("reset", "click", () => usePreset(options.get("preset")));
  on("add", "change", () => {
    const list = samplersNow(), ends = list.length && samplerOf(list[list.length - 1].name).selects;
    list.splice(ends ? list.length - 1 : list.length, 0, { name: byId("add").value });
    reorder(list);
  });
  on("pin", "click", () => void pin());
  on("copy", "click", () => void copy(byId("command").textContent, "The command is on the clipboard."));
  on("save-link", "click", () =>
    void copy(location.href, "The link is on the clipboard; it holds the chain, without the files."));
  on("save-preset", "click", async () => {
    const printed = await sampl(...inputWords(), ...chainWords(), "--print-chain=preset");
    if (printed.status === 0) save("chain.preset", text(printed), "text/plain");
  });
  on("save-page", "click", async () => {
    const page = await sampl(...wholeCommand(), "-O", "html");
    save("sampl.html", page.stdout, "text/html");
  });
  on("chain", "pointerdown", () => { held = true; });
  const touch = (event) => { touched = event.target.closest("button, input, select, summary") || touched; };
  for (const type of ["pointerdown", "focusin", "input"])
    document.querySelector("aside").addEventListener(type, touch, true);
  for (const end of ["pointerup", "pointercancel", "focusout"]) addEventListener(end, release, true);
  document.addEventListener("dragover", (event) => event.preventDefault());
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    if (event.dataTransfer.files.length) void take([...event.dataTransfer.files]);
  });
  addEventListener("hashchange", () => { restore(); update(); });
};
const start = async () => {
  module = await WebAssembly.compile(await unpack("wasm"));
  startWorker();
  table = JSON.parse(text(await sampl("--generate=json")));
  const list = text(await sampl("--list-presets")).trim().split("\n").map((line) => line.split("\t"));
  presets = list.map(([name, about]) => ({ name, about }));
  keepFile("new/empty", new Uint8Array(0));
  const sample = [[SAMPLE, "rows", "rows"], [SAMPLE_VOCAB, "vocab", "vocab"], [SAMPLE_REPLY, "reply", "unused"]];
  for (const [name, id, role] of sample) {
    keepFile(name, await unpack(`sample-${id}`));
    roles.set(name, role);
  }
  options.set("seed", "1");
  setRole(SAMPLE, "rows");
  restore();
  listen();
  update();
};
start().catch((error) => { byId("state").textContent = `The explorer cannot start: ${error.message}`; });
})();
