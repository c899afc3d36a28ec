// SPDX-License-Identifier: MIT
// The controls of the chain: a card for each stage with its figure and parameters, and their order.

let likely = null; // the chain that --print-chain=json will probably print after the movement of a slider
const set = (flag, value, moving) => {
  const member = memberOf(flag), changed = (stage) => member in stage && !stage.own;
  likely = { ...stages, chain: stages.chain.map((stage) =>
    changed(stage) ? { ...stage, [member]: Number(value) } : stage) };
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

// Gives a parameter of the stage with this index in the chain a value. A stage with a value of its own keeps it apart.
const give = (index, flag, value, moving) => {
  const stage = stages.chain[index];
  if (!stage.own || samplerOf(stage.name).params[0] !== flag) return set(flag, value, moving);
  stage[memberOf(flag)] = Number(value);
  reorder(samplersNow(), moving);
};

// The controls of a parameter: its help, a slider, a number, and a button for --sweep.
const paramOf = (index, flag) => {
  const stage = stages.chain[index], row = optionOf(flag), value = stage[memberOf(flag)];
  if (!row || value === undefined) return [];
  const id = `${flag}-${index}`, s = row.slider;
  const label = make("label", { for: id, class: options.has(flag) ? "given" : undefined }, flag);
  const help = make("p.help", {}, label, ` ${row.help}`);
  const line = (...inputs) => [make("div.param", { "data-flag": flag }, help, ...inputs)];
  if (row.type === "flag") {
    const box = make("input", { type: "checkbox", id, onchange: () => give(index, flag, String(box.checked)) });
    box.checked = value;
    return line(box);
  }
  const number = make("input", { type: "number", id, value, step: "any" });
  number.addEventListener("change", () => {
    number.defaultValue = number.value; // it is no longer being typed
    if (number.value !== "") give(index, flag, number.value);
  });
  if (!s) return line(number);
  const range = s.scale === "log" ? { min: 0, max: STEPS, step: 1 } : { min: s.low, max: s.high, step: s.step };
  const slider = make("input", { type: "range", ...range, value: toPosition(s, value),
    "aria-label": `${stage.name}: ${flag}`, onchange: () => update() });
  slider.addEventListener("input", () => {
    number.value = number.defaultValue = toValue(s, slider.value);
    give(index, flag, number.value, true);
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
  : [make("p.list", {}, `${label}: `, make("code", {}, list.join(", ")))];

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
// The card of the stage with this index. at: its place among the stages that can be moved; -1: it cannot.
// [before, behind]: the places to which its buttons move it.
const cardOf = (index, at, [before, behind]) => {
  const stage = stages.chain[index], sampler = samplerOf(stage.name), key = (what) => `${stage.name} ${what}`;
  const button = (what, sign, act) => make("button", { "aria-label": key(what), title: what, onclick: act }, sign);
  const params = sampler ? sampler.params.flatMap((flag) => paramOf(index, flag)) : [];
  const cutFlag = CUTS[stage.name], first = params.filter((param, i) => !i || param.dataset.flag === cutFlag);
  const others = params.filter((param) => !first.includes(param));
  const turn = () => rest.open ? opened.add(stage.name) : opened.delete(stage.name);
  const rest = make("details", { open: opened.has(stage.name), ontoggle: turn },
    make("summary", { id: key("more") }, others.map((param) => param.dataset.flag).join(", ")), ...others);
  const name = make("strong", {}, stage.name), off = make("small", {}, stage.enabled ? "" : "off");
  const line = make("div.name", {}, name, off), item = make("li", { "data-stage": stage.name }, line);
  if (!stage.enabled) item.className = "off";
  if (at >= 0) {
    item.dataset.at = at;
    name.prepend(make("span.grip", { "aria-hidden": "true" }, "⠿"));
    line.append(button("up", "↑", () => move(at, before)), button("down", "↓", () => move(at, behind)),
      button("remove", "×", () => remove(at)));
    listenToDrag(name, at);
  }
  // A dragged cut moves the slider and the number too.
  const drag = (flag, value, moving) => {
    const [number, slider] = ["number", "range"]
      .map((type) => item.querySelector(`[data-flag="${flag}"] [type=${type}]`));
    number.value = number.defaultValue = value;
    slider.value = toPosition(optionOf(flag).slider, value);
    number.dispatchEvent(new Event("input", { bubbles: true }));
    give(index, flag, value, moving);
  };
  const label = { dry: "breakers", logit_bias: "biases" }[stage.name] || "bans";
  item.append(...(stage.enabled ? figureOf(index, drag) : []), ...first, ...listOf(label, listsOf(stage)),
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
const busy = () => held || (document.activeElement.matches("aside li input[type=number]") &&
  document.activeElement.value !== document.activeElement.defaultValue);
const release = (event) => {
  if (event.type !== "focusout") held = false;
  setTimeout(() => { if (late && !busy()) drawControls(); }); // behind the click that follows
};

let touched = null; // the control that was used last
// Stages that act stand first, in their order; those that are off are folded into one line. The one that a person just
// turned off stays where it is.
const drawChain = () => {
  const aside = document.querySelector("aside"), keyOf = (node) => node.getAttribute("aria-label") || node.id;
  const key = focusAfter || (aside.contains(touched) ? keyOf(touched) : "");
  const focused = aside.contains(document.activeElement), here = touched?.closest("#chain > li")?.dataset.stage;
  const movable = stages.engine === "llama" && samplersNow().length > 0;
  const active = (stage) => stage.enabled || stage.name === here;
  const moved = (stage) => movable && inChain(stage) && stage.name !== "dist";
  const places = samplersNow().filter(moved);
  const near = (at, step) => { // the next stage that is shown beside this one
    do at += step; while (places[at] && !active(places[at]));
    return at;
  };
  figures.clear();
  const cards = stages.chain.map((stage, index) => {
    const at = moved(stage) ? places.indexOf(stage) : -1;
    return cardOf(index, at, active(stage) ? [near(at, -1), near(at, 1)] : [at - 1, at + 1]);
  });
  const part = (good) => cards.filter((card, index) => good(stages.chain[index]));
  const offNames = stages.chain.filter((stage) => !active(stage)).map((stage) => stage.name);
  const grammar = stages.grammar ? [make("li", { "data-stage": "grammar" },
    make("div.name", {}, make("strong", {}, "grammar")), make("pre.list", { tabindex: "0" }, stages.grammar))] : [];
  byId("chain").replaceChildren(...grammar, ...part(active));
  byId("off").replaceChildren(...part((stage) => !active(stage)));
  byId("off-names").textContent = `${offNames.length} off: ${offNames.join(", ")}`;
  byId("folded").hidden = !offNames.length;
  const again = key && [...aside.querySelectorAll("button, input, summary")].find((node) => keyOf(node) === key);
  if (again) touched = again;
  if (again && focused) again.focus({ preventScroll: true });
  focusAfter = "";
  const names = new Set(samplersNow().map((stage) => stage.name));
  const free = table.samplers.filter((s) => !s.internal && !names.has(s.name));
  choices(byId("add"), [["", "a sampler…"], ...free.map((s) => [s.name, s.name])], "");
  byId("add").disabled = !movable;
};

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

// Begins a chain with a preset, a name or a file. Of the options that were typed, those of the input stay.
const usePreset = (preset) => {
  more = typed((group) => group !== "chain").map(quote).join(" ");
  options = new Map([["seed", seed()], ...(preset ? [["preset", preset]] : [])]);
  update();
};
