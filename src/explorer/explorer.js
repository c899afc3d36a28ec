// SPDX-License-Identifier: MIT
// The explorer is a command line with controls. A worker runs sampl; a frame shows the page that sampl writes. Here are
// the buttons around the chain, and the start.

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
  on("undo", "click", () => history.back());
  on("grow", "click", () => {
    const tall = document.body.classList.toggle("tall");
    byId("grow").setAttribute("aria-expanded", String(tall));
  });
  for (const list of ["chain", "off"]) on(list, "pointerdown", () => { held = true; });
  const touch = (event) => { touched = event.target.closest("button, input, select, summary") || touched; };
  for (const type of ["pointerdown", "focusin", "input"])
    document.querySelector("aside").addEventListener(type, touch, true);
  for (const end of ["pointerup", "pointercancel", "focusout"]) addEventListener(end, release, true);
  document.addEventListener("dragover", (event) => event.preventDefault());
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    if (event.dataTransfer.files.length) void take([...event.dataTransfer.files]);
  });
  addEventListener("popstate", () => {
    if (!restore()) return;
    byId("undo").disabled = !depth();
    update(false, false);
  });
};
const start = async () => {
  const module = await WebAssembly.compile(await unpack("wasm"));
  [pages, looks, traces] = [1, 2, 3].map(() => startProgram(module));
  table = JSON.parse(text(await sampl("--generate=json")));
  const list = text(await sampl("--list-presets")).trim().split("\n").map((line) => line.split("\t"));
  presets = list.map(([name, about]) => ({ name, about }));
  keepFile("new/empty", new Uint8Array(0));
  const sample = [[SAMPLE, "rows", "rows"], [SAMPLE_VOCAB, "vocab", "vocab"], [SAMPLE_TEXT, "text", "accept"],
    [SAMPLE_REPLY, "reply", "unused"]];
  for (const [name, id, role] of sample) {
    keepFile(name, await unpack(`sample-${id}`));
    roles.set(name, role);
  }
  options.set("seed", "1");
  setRole(SAMPLE, "rows");
  restore();
  listen();
  rememberPlace();
  update(false, false);
};
start().catch((error) => { byId("state").textContent = `The explorer cannot start: ${error.message}`; });
