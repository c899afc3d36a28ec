// SPDX-License-Identifier: MIT
// The explorer is a command line with controls: its state is a list of options, and files in memory. A worker runs
// sampl; a frame shows the page that sampl writes.
"use strict";
(() => {
const SAMPLE = "samples/austen.f16", SAMPLE_VOCAB = "samples/austen-vocab.json", SAMPLE_REPLY = "samples/reply.json";
const STOP_AFTER = 2000; // milliseconds after which a run can be stopped
const SLOW = 300;        // milliseconds: if a run takes longer, only rows near the chosen one run while a slider moves
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

const files = {};         // name -> Uint8Array
const roles = new Map();  // name -> "rows", "vocab", "preset" or "unused"
let options = new Map();  // flag -> value (text), of the chain
let more = "";            // further options, as typed
let pins = [];            // {name, words}: chains to compare with, their options as one text
let sweeps = new Map();   // flag -> list of values
let rows = "", width = "";
let table;                // what --generate=json prints
let stages = { chain: [] }; // what --print-chain=json prints of the present chain
let presets = [];         // {name, about}
const optionOf = (flag) => table.options.find((o) => o.flag === flag || o.aliases.includes(flag) || o.short === flag);
const samplerOf = (name) => table.samplers.find((s) => s.name === name);

const named = (role) => [...roles].filter(([, r]) => r === role).map(([name]) => name);

// Splits a text into words, as a shell does without variables.
const split = (text) => {
  const words = [];
  for (const [word] of text.matchAll(/(?:'[^']*'|"(?:\\.|[^"\\])*"|\\.|[^\s'"\\])+/g))
    words.push(word.replace(/'([^']*)'|"((?:\\.|[^"\\])*)"|\\(.)/g, (all, single, double, one) => single ?? (double !== undefined ? double.replace(/\\(["\\$`])/g, "$1") : one)));
  return words;
};
const quote = (word) => /^[\w.,/:=+@%-]+$/.test(word) ? word : `'${word.replace(/'/g, "'\\''")}'`;

// The chain as options. The preset comes first, so that the other options change it.
const chainWords = () => {
  const words = options.has("preset") ? ["--preset", options.get("preset")] : [];
  for (const [flag, value] of options) {
    if (flag === "preset") continue;
    const row = optionOf(flag);
    words.push(row.type === "flag" ? (value === "true" ? `--${flag}` : `--${flag}=false`) : value.startsWith("-") ? `--${flag}=${value}` : `--${flag}`);
    if (row.type !== "flag" && !value.startsWith("-")) words.push(value);
  }
  return [...words, ...split(more)];
};
const compared = () => [...pins.flatMap(({ name, words }) => ["--vs", `${name}: ${words}`]),
  ...[...sweeps].flatMap(([flag, list]) => ["--sweep", `${flag}=${list}`])];
const inputWords = (only) => {
  const words = [], vocab = named("vocab")[0], wanted = only || rows;
  if (width) words.push("-n", width);
  if (vocab) words.push("--vocab", vocab);
  if (wanted) words.push(wanted.startsWith("-") ? `--rows=${wanted}` : "--rows", ...(wanted.startsWith("-") ? [] : [wanted]));
  return words;
};
const wholeCommand = (only) => [...inputWords(only), ...chainWords(), ...compared(), ...named("rows").slice(0, 1)];

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
      let result;
      try { result = runWasi(module, ["sampl", ...data.args], memoryFiles(new Map(files))); }
      catch (error) { result = { status: 70, stdout: new Uint8Array(0), stderr: "sampl ended: " + error }; }
      postMessage(result, [result.stdout.buffer]);
    };`;
  worker = new Worker(URL.createObjectURL(new Blob([code], { type: "text/javascript" })));
  worker.onmessage = ({ data }) => { const done = waiting; waiting = null; done(data); };
  worker.onerror = (event) => { if (waiting) waiting({ status: 70, stdout: new Uint8Array(0), stderr: event.message }); };
  worker.postMessage({ module, files });
};
// Runs sampl once; a call waits until earlier calls are over.
let queue = Promise.resolve();
const sampl = (...args) => queue = queue.then(() => new Promise((done) => { waiting = done; worker.postMessage({ args }); }));
const stop = () => {
  worker.terminate();
  const done = waiting;
  waiting = null;
  startWorker();
  if (done) done({ status: 130, stdout: new Uint8Array(0), stderr: "stopped" });
};
const text = (result) => decoder.decode(result.stdout);
const addFile = (name, data, role) => {
  files[name] = data;
  roles.set(name, role);
  worker.postMessage({ files: { [name]: data } });
};

// ---- runs: the newest state replaces one that waits

let running = false, wanted = null, took = 0, idle = 0;
const update = (moving = false) => {
  wanted = { moving };
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
    const late = setTimeout(() => byId("state").replaceChildren("Running… ", make("button", { onclick: stop }, "Stop")), STOP_AFTER);
    const chain = await sampl(...inputWords(), ...chainWords(), "--print-chain=json");
    let page = null;
    if (chain.status === 0) stages = JSON.parse(text(chain)); // else "More options" has an error, or options of a run
    if (named("rows").length) page = await sampl(...wholeCommand(near ? `${Math.max(0, at - 8)}:${at + 24}` : ""), "-O", "html");
    clearTimeout(late);
    const time = performance.now() - begun;
    if (!near) took = time;
    controls(chain.status === 0);
    await show(page, page ? page.stderr : chain.stderr, time);
    if (near && !wanted) idle = setTimeout(() => update(), 400);
  }
  running = false;
  document.body.removeAttribute("aria-busy");
  document.dispatchEvent(new Event("settled"));
};
// Ends when the page of sampl is shown.
const show = async (page, messages, time) => {
  byId("command").textContent = ["sampl", ...wholeCommand()].map(quote).join(" ");
  byId("messages").textContent = messages.trim();
  byId("messages").hidden = !messages.trim();
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
const toPosition = (s, value) => s.scale === "log" ? Math.round(STEPS * Math.log(Math.max(value, s.low) / s.low) / Math.log(s.high / s.low)) : value;
const toValue = (s, position) => {
  const exact = s.scale === "log" ? s.low * (s.high / s.low) ** (position / STEPS) : Number(position);
  return String(Number((Math.round(exact / s.step) * s.step).toPrecision(6)));
};

// Five values over the slider's range, for --sweep.
const sweepOf = (s) => [0, 1, 2, 3, 4].map((i) => toValue(s, s.scale === "log" ? STEPS * i / 4 : s.low + (s.high - s.low) * i / 4)).join(",");

const samplersNow = () => stages.chain.filter((stage) => samplerOf(stage.name) && !samplerOf(stage.name).internal);
const memberOf = (flag) => flag.replace(/-/g, "_");

// Writes the chain's order to --samplers. A stage with a value of its own keeps it.
const reorder = (list) => {
  const names = list.map((stage) => {
    const first = samplerOf(stage.name).params[0];
    return stage.own ? `${stage.name}=${stage[memberOf(first)]}` : stage.name;
  });
  if (names[names.length - 1] === "dist") names.pop(); // the chain ends with it anyway
  options.delete("sampler-seq");
  set("samplers", names.join(";"));
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

const paramOf = (stage, flag, place, at) => {
  const row = optionOf(flag), value = stage[memberOf(flag)];
  if (!row || value === undefined) return [];
  const id = `${flag}-${at}`, s = row.slider, own = stage.own && place === 0;
  const give = (text_, moving) => {
    if (!own) return set(flag, text_, moving);
    const list = samplersNow();
    list.find((x) => x === stage)[memberOf(flag)] = text_;
    reorder(list);
  };
  const label = make("label", { for: id, title: row.help, class: options.has(flag) ? "given" : undefined }, flag);
  if (row.type === "flag") {
    const box = make("input", { type: "checkbox", id, onchange: () => give(String(box.checked)) });
    box.checked = value;
    return [make("div", { class: "param", "data-flag": flag }, label, box)];
  }
  const number = make("input", { type: "number", id, value, step: "any", onchange: () => { if (number.value !== "") give(number.value); } });
  if (!s) return [make("div", { class: "param", "data-flag": flag }, label, number)];
  const slider = make("input", { type: "range", min: s.scale === "log" ? 0 : s.low, max: s.scale === "log" ? STEPS : s.high, step: s.scale === "log" ? 1 : s.step,
    value: toPosition(s, value), "aria-label": `${stage.name}: ${flag}`, onchange: () => { dragging = null; update(); } });
  slider.addEventListener("input", () => { dragging = slider; number.value = toValue(s, slider.value); give(number.value, true); });
  const sweep = make("button", { title: `Compare five values of --${flag} (--sweep)`, "aria-label": `sweep ${flag}`, "aria-pressed": String(sweeps.has(flag)),
    onclick: () => { if (!sweeps.delete(flag)) sweeps.set(flag, sweepOf(s)); update(); } }, "≋");
  return [make("div", { class: "param", "data-flag": flag }, label, slider, number, sweep)];
};

let dragging = null, dragged = -1;
const opened = new Set(); // the stages of which all parameters are shown
const stageItem = (stage, at, movable, last) => {
  const sampler = samplerOf(stage.name), key = (what) => `${stage.name} ${what}`;
  const button = (what, sign, act) => make("button", { "aria-label": key(what), title: what, onclick: act }, sign);
  const params = sampler ? sampler.params.flatMap((flag, place) => paramOf(stage, flag, place, last)) : [];
  const rest = make("details", { open: opened.has(stage.name), ontoggle: () => rest.open ? opened.add(stage.name) : opened.delete(stage.name) },
    make("summary", { id: key("more") }, params.slice(1).map((param) => param.dataset.flag).join(", ")), ...params.slice(1));
  const item = make("li", { class: stage.enabled ? undefined : "off", draggable: movable ? "true" : undefined, "data-stage": stage.name },
    make("div", { class: "name" }, make("strong", {}, stage.name), make("small", {}, stage.enabled ? "" : "off"),
      ...(movable ? [button("up", "↑", () => move(at, at - 1)), button("down", "↓", () => move(at, at + 1)), button("remove", "×", () => remove(at))] : [])),
    ...params.slice(0, 1), ...(params.length > 1 ? [rest] : []));
  if (!movable) return item;
  item.addEventListener("dragstart", (event) => { if (event.target.closest("input")) return event.preventDefault(); dragged = at; event.dataTransfer.setData("text/plain", stage.name); });
  item.addEventListener("dragover", (event) => { if (dragged >= 0) { event.preventDefault(); item.classList.add("over"); } });
  item.addEventListener("dragleave", () => item.classList.remove("over"));
  item.addEventListener("drop", (event) => { if (dragged < 0) return; event.preventDefault(); event.stopPropagation(); move(dragged, at); dragged = -1; });
  item.addEventListener("dragend", () => { dragged = -1; });
  return item;
};

const choices = (select, list, value) => {
  select.replaceChildren(...list.map(([name, label]) => make("option", { value: name }, label)));
  select.value = value;
};

// Draws the controls anew, except while a slider is held.
const controls = (valid) => {
  choices(byId("preset"), [["", "none"], ...presets.map(({ name, about }) => [name, about ? `${name}: ${about}` : name]), ...named("preset").map((name) => [`./${name}`, name])], options.get("preset") || "");
  choices(byId("engine"), optionOf("engine").choices.map((name) => [name, name]), stages.engine || options.get("engine") || "llama");
  byId("seed").value = options.get("seed") || "";
  byId("rows").value = rows;
  byId("width").value = width;
  if (document.activeElement !== byId("more")) byId("more").value = more;
  byId("files").replaceChildren(...[...roles].map(([name, role]) => {
    const select = make("select", { "aria-label": `use of ${name}`, onchange: () => { setRole(name, select.value); update(); } });
    choices(select, [["rows", "logits"], ["vocab", "vocabulary"], ["preset", "preset"], ["unused", "unused"]], role);
    return make("li", {}, make("span", {}, name), select);
  }));
  byId("pins").replaceChildren(...pins.map((pin, i) => make("li", {}, make("span", { title: pin.words }, pin.name),
    make("button", { "aria-label": `use ${pin.name}`, onclick: () => usePin(pin) }, "Use"),
    make("button", { "aria-label": `remove ${pin.name}`, onclick: () => { pins.splice(i, 1); update(); } }, "×"))),
    ...[...sweeps].map(([flag, list]) => make("li", {}, make("span", {}, `sweep ${flag}: ${list}`),
      make("button", { "aria-label": `remove the sweep of ${flag}`, onclick: () => { sweeps.delete(flag); update(); } }, "×"))));
  if (!valid || dragging) return;
  const active = document.activeElement, focus = focusAfter || (active && byId("chain").contains(active) ? active.getAttribute("aria-label") || active.id : "");
  const movable = !stages.engine && samplersNow().length > 0;
  let at = -1;
  byId("chain").replaceChildren(...stages.chain.map((stage, i) => {
    const inChain = samplerOf(stage.name) && !samplerOf(stage.name).internal;
    if (inChain) at++;
    return stageItem(stage, at, movable && inChain && stage.name !== "dist", i);
  }));
  if (focus) {
    const again = [...byId("chain").querySelectorAll("button, input, summary")].find((node) => node.getAttribute("aria-label") === focus || node.id === focus);
    if (again) again.focus();
  }
  focusAfter = "";
  const here = new Set(samplersNow().map((stage) => stage.name));
  choices(byId("add"), [["", "a sampler…"], ...table.samplers.filter((s) => !s.internal && !here.has(s.name)).map((s) => [s.name, s.name])], "");
  byId("add").disabled = !movable;
};
const setRole = (name, role) => {
  if (role === "rows" || role === "vocab") for (const other of named(role)) roles.set(other, "unused");
  roles.set(name, role);
  if (role === "rows") {
    rows = name === SAMPLE ? ":64" : ""; // the sample has 64 rows of the file of this name
    width = name === SAMPLE ? "4096" : /\.(f16|f32|bf16|bin)$/.test(name) ? width : "";
    if (name !== SAMPLE && name !== SAMPLE_REPLY && roles.get(SAMPLE_VOCAB) === "vocab") roles.set(SAMPLE_VOCAB, "unused");
  }
  if (role === "preset") options = new Map([["seed", options.get("seed") || "1"], ["preset", `./${name}`]]);
  else if (options.get("preset") === `./${name}`) options.delete("preset");
};

// ---- pins

const asPreset = async () => {
  const result = await sampl(...inputWords(), ...chainWords(), "--print-chain=preset");
  return result.status === 0 ? text(result).trim().replace(/\s*\n\s*/g, " ") : null;
};
const pin = async () => {
  const words = await asPreset();
  if (words === null) return update();
  let n = pins.length + 1;
  while (pins.some(({ name }) => name === `pin${n}`)) n++;
  pins.push({ name: `pin${n}`, words });
  update();
};
const usePin = ({ words }) => {
  options = new Map([["seed", options.get("seed") || "1"]]);
  more = words;
  update();
};

// ---- files

// Asks sampl what a file is: a preset, logits or a vocabulary. A file that is nothing becomes the input, so that the
// message says what is wrong with it.
const roleOf = async (name) => {
  const head = decoder.decode(files[name].subarray(0, 4));
  if (head === "GGUF") return "vocab";
  if (/\.(f16|f32|bf16|bin|npy|safetensors|kld|csv|tsv|jsonl)$/.test(name)) return "rows";
  if ((await sampl("--preset", `./${name}`, "--print-chain")).status === 0) return "preset";
  if ((await sampl("--rows", ":1", name)).status === 0) return "rows";
  const vocab = await sampl("--vocab", name, "--rows", ":1", "--emit", "text", "-n", width || "1");
  return !vocab.stderr.includes(name) && /\.(txt|json|vocab)$/.test(name) ? "vocab" : "rows";
};
const take = async (list) => {
  for (const file of list) {
    const name = file.name.replace(/[^\w.,+-]/g, "_");
    addFile(name, new Uint8Array(await file.arrayBuffer()), "unused");
    setRole(name, await roleOf(name));
  }
  update();
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
    const pinned = state.pins.map(({ name, words }) => ({ name: String(name), words: String(words) }));
    const swept = new Map(state.sweeps.filter(([flag]) => optionOf(flag)));
    options = new Map(state.options.filter(([flag, value]) => optionOf(flag) && typeof value === "string" && !value.startsWith("./")));
    [pins, sweeps, more, rows] = [pinned, swept, String(state.more), String(state.rows)];
  } catch {
    byId("messages").textContent = ""; // no state, or one of another version
  }
};
const listen = () => {
  const on = (id, event, act) => byId(id).addEventListener(event, act);
  on("open", "change", () => { void take([...byId("open").files]); byId("open").value = ""; });
  on("rows", "change", () => { rows = byId("rows").value.trim(); update(); });
  on("width", "change", () => { width = byId("width").value.trim(); update(); });
  on("seed", "change", () => set("seed", byId("seed").value.trim() || "1"));
  on("more", "change", () => { more = byId("more").value; update(); });
  on("preset", "change", () => {
    options = new Map([["seed", options.get("seed") || "1"]]);
    if (byId("preset").value) options.set("preset", byId("preset").value);
    more = "";
    update();
  });
  on("engine", "change", () => { options.delete("samplers"); set("engine", byId("engine").value); });
  on("reset", "click", () => {
    options = new Map([...options].filter(([flag]) => flag === "seed" || flag === "preset"));
    more = "";
    update();
  });
  on("add", "change", () => {
    const list = samplersNow(), last = list.length && samplerOf(list[list.length - 1].name).selects ? list.length - 1 : list.length;
    list.splice(last, 0, { name: byId("add").value });
    reorder(list);
  });
  on("pin", "click", () => void pin());
  on("copy", "click", () => void copy(byId("command").textContent, "The command is on the clipboard."));
  on("save-link", "click", () => void copy(location.href, "The link is on the clipboard; it holds the chain, without the files."));
  on("save-preset", "click", async () => { const words = await asPreset(); if (words) save("chain.preset", `${words}\n`, "text/plain"); });
  on("save-page", "click", async () => save("sampl.html", (await sampl(...wholeCommand(), "-O", "html")).stdout, "text/html"));
  document.addEventListener("dragover", (event) => event.preventDefault());
  document.addEventListener("drop", (event) => { event.preventDefault(); if (event.dataTransfer.files.length) void take([...event.dataTransfer.files]); });
  addEventListener("hashchange", () => { restore(); update(); });
};
const start = async () => {
  module = await WebAssembly.compile(await unpack("wasm"));
  startWorker();
  table = JSON.parse(text(await sampl("--generate=json")));
  presets = text(await sampl("--list-presets")).trim().split("\n").map((line) => line.split("\t")).map(([name, about]) => ({ name, about }));
  addFile(SAMPLE, await unpack("sample-rows"), "rows");
  addFile(SAMPLE_VOCAB, await unpack("sample-vocab"), "vocab");
  addFile(SAMPLE_REPLY, await unpack("sample-reply"), "unused");
  options.set("seed", "1");
  setRole(SAMPLE, "rows");
  restore();
  listen();
  update();
};
start().catch((error) => { byId("state").textContent = `The explorer cannot start: ${error.message}`; });
})();
