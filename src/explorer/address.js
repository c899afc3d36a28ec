// SPDX-License-Identifier: MIT
// The address is the whole state: #args=WORD+WORD…&pin=NAME:CHAIN&row=N&variant=NAME&embed. The words are those of the
// command, each percent-encoded. Unknown keys are ignored. A settled change is an entry of the history.

let awaited = new Map(); // name -> role: files that the address names and that are not here yet

const address = () => {
  const parts = [`args=${wholeCommand().map(encodeURIComponent).join("+")}`,
    ...pins.map((pin) => `pin=${encodeURIComponent(`${pin.name}:${pin.json}`)}`), `row=${view.row()}`];
  if (view.variant()) parts.push(`variant=${encodeURIComponent(view.variant())}`);
  return `#${parts.join("&")}${document.body.matches(".embed") ? "&embed" : ""}`;
};
const depth = () => history.state?.depth || 0;
const rememberPlace = () => history.replaceState(history.state, "", address());
const remember = () => {
  if (location.hash === address()) rememberPlace();
  else history.pushState({ depth: depth() + 1 }, "", address());
  byId("undo").disabled = !depth();
};

const missing = () => [...awaited].filter(([name]) => !files[name])
  .map(([name, role]) => `The address names ${name} (${ROLES[role]}). Open this file.`).join("\n");

// Gives a file that the address named its role. Returns whether it was named.
const takeAwaited = (name) => {
  const role = awaited.get(name);
  if (!role) return false;
  awaited.delete(name);
  if (role === "preset") options = new Map([["preset", `./${name}`], ...options]);
  roles.set(name, role);
  return true;
};

const isValue = ({ type, choices }, value) => type === "int" || type === "float" ? !isNaN(Number(value)) && value !== ""
  : !choices || choices.includes(value);

const ofChain = (option) => option?.group === "chain" || option?.flag === "preset";

// Takes the state from the words of a command. What follows an option without a control was typed.
const takeWords = (words) => {
  const used = new Map(), others = [];
  options = new Map();
  sweeps = new Map();
  rows = width = "";
  for (const pin of pins) pin.compared = false;
  const take = (word, option, value) => {
    const flag = option?.flag, [, pinned] = /^(\w+): --preset \.\/\1\.json /.exec(value) || [];
    const pin = flag === "vs" && pins.find(({ name }) => name === pinned), [swept, list] = value.split(/=([^]*)/);
    if (!option && !word.startsWith("-")) used.set(word, "rows");
    else if (flag === "vocab" || flag === "against") used.set(value, flag);
    else if (flag === "accept" && value.startsWith("@")) used.set(value.slice(1), flag);
    else if (flag === "preset" && value.startsWith("./") && !files[value.slice(2)]) used.set(value.slice(2), flag);
    else if (flag === "rows") rows = value;
    else if (flag === "n-vocab") width = value;
    else if (pin) pin.compared = true;
    else if (flag === "sweep" && list && optionOf(swept)?.slider) sweeps.set(swept, list);
    else if (ofChain(option) && !others.length && !option.repeats && isValue(option, value)) options.set(flag, value);
    else return false;
    return true;
  };
  for (const [read, option, value] of readOptions(words)) if (!take(read[0], option, value)) others.push(...read);
  more = others.map(quote).join(" ");
  for (const [name, role] of roles) if (role !== "preset") roles.set(name, "unused");
  for (const [name, role] of used) if (files[name]) roles.set(name, role);
  awaited = new Map([...used].filter(([name]) => !files[name]));
};

// Takes the state from the address, if it has one. Returns whether it has.
const restore = () => {
  const entry = (part) => part.split(/=([^]*)/).slice(0, 2), decoded = (part = "") => decodeURIComponent(part);
  const parts = location.hash.slice(1).split("&").map(entry), found = new Map(parts);
  try {
    const words = found.get("args")?.split("+").map(decoded);
    const kept = parts.filter(([key]) => key === "pin").map(([, pin]) => decoded(pin).split(/:([^]*)/));
    const place = [found.has("row") ? Number(found.get("row")) : null, decoded(found.get("variant"))];
    document.body.classList.toggle("embed", found.has("embed"));
    if (words) {
      pins = [];
      for (const [name, json] of kept) addPin({ name, json, compared: true });
      takeWords(words);
    }
    if (words || found.has("row")) view.go(...place);
    return Boolean(words);
  } catch {
    return false; // no percent-encoding
  }
};
