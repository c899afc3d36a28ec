// SPDX-License-Identifier: MIT
// Runs of sampl in workers. One worker makes pages; two others look at the chosen row alone, so that the cards follow
// a movement while a page is made.

const STOP_AFTER = 2000; // milliseconds after which a run can be stopped
// A page is shown when a movement has paused for PAUSE milliseconds, so that it does not delay the cards. sampl begins
// it within this pause if the last page took less than QUICK. Else sampl waits longer, as a page that is begun between
// two movements holds up the one behind the last movement; and longest if the last page took more than SLOW.
const PAUSE = 50, QUICK = 120, SLOW = 600;
const pauseBefore = () => took < QUICK ? 35 : took < SLOW ? 70 : 400;
const decoder = new TextDecoder();

const unpack = async (id) => { // base64 of gzip
  const packed = Uint8Array.from(atob(byId(id).textContent.trim()), (c) => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
};

// A worker that has the program and the files. run(args, more) runs sampl once, with more files; a call waits until
// earlier calls are over.
const startProgram = (module) => {
  const code = `${byId("wasi").textContent}
    let module; const files = new Map();
    const asFile = (content) => content instanceof Blob ? blobFile(content) : bytesFile(content);
    onmessage = ({ data }) => {
      if (data.module) module = data.module;
      for (const [name, content] of Object.entries(data.files || {})) files.set(name, asFile(content));
      for (const name of data.forget || []) files.delete(name);
      if (!data.args) return;
      const store = memoryFiles(new Map(files)), [, out, err] = store.streams;
      let status = 70, why = "";
      try { status = runWasi(module, ["sampl", ...data.args], store); } catch (error) { why = "sampl ended: " + error; }
      postMessage({ status, stdout: out.whole(), stderr: new TextDecoder().decode(err.whole()) + why });
    };`;
  let worker, waiting = null, queue = Promise.resolve();
  const end = (result) => {
    const done = waiting;
    waiting = null;
    if (done) done(result);
  };
  const begin = () => {
    worker = new Worker(URL.createObjectURL(new Blob([code], { type: "text/javascript" })));
    worker.onmessage = ({ data }) => end(data);
    worker.onerror = (event) => end({ status: 70, stdout: new Uint8Array(0), stderr: event.message });
    worker.postMessage({ module, files });
  };
  const run = (args, more) => queue = queue.then(() => new Promise((done) => {
    waiting = done;
    worker.postMessage({ args, files: more });
  }));
  const stop = () => {
    worker.terminate();
    begin();
    end({ status: 130, stdout: new Uint8Array(0), stderr: "stopped" });
  };
  begin();
  return { run, stop, post: (message) => worker.postMessage(message) };
};
let pages, looks, traces; // the workers
const sampl = (...args) => pages.run(args);
const text = (result) => decoder.decode(result.stdout);
const keepFile = (name, data) => {
  files[name] = data;
  for (const program of [pages, looks, traces]) program.post({ files: { [name]: data } });
};
const forgetFile = (name) => {
  delete files[name];
  for (const program of [pages, looks, traces]) program.post({ forget: [name] });
};

// ---- the newest state replaces one that waits

let asked = 0;  // the number of the newest state
let made = { page: 0, look: 0 }, busyWith = { page: false, look: false };
let took = 0, movedAt = -Infinity, wake = () => {};
// Waits until nothing has moved for this time, or a newer state is asked for.
const still = (milliseconds) => new Promise((done) => {
  wake = done;
  setTimeout(done, movedAt + milliseconds - performance.now());
});
const update = (moving = false, keep = true) => {
  asked++;
  movedAt = moving ? performance.now() : -Infinity;
  wake();
  refused = "";
  if (!moving) likely = null;
  pins = pins.filter((pin) => pin.compared || options.get("preset") === `./${fileOf(pin)}`);
  if (!moving && keep) remember();
  document.body.setAttribute("aria-busy", "true");
  void follow("look", look);
  void follow("page", makePage);
};
// Looks at the chosen row again; the page stays.
const lookAgain = () => {
  made.look = 0;
  document.body.setAttribute("aria-busy", "true");
  void follow("look", look);
};
const follow = async (kind, act) => {
  if (busyWith[kind]) return;
  busyWith[kind] = true;
  while (made[kind] !== asked) {
    const number = asked;
    made[kind] = number;
    try { await act(() => number !== asked); } catch (error) { byId("state").textContent = `Stopped: ${error.message}`; }
  }
  busyWith[kind] = false;
  settle();
};
let taking = false; // files that were opened are being looked at
const settle = () => {
  if (busyWith.page || busyWith.look || made.page !== asked || taking) return;
  document.body.removeAttribute("aria-busy");
  document.dispatchEvent(new Event("settled"));
};

// Shows what each stage does to the chosen row. The look begins with the likely chain, before sampl has printed the true
// one, and begins again if they differ.
const look = async () => {
  const begun = performance.now(), row = view.row(), guess = likely;
  const printing = traces.run([...inputWords(), ...chainWords(), "--print-chain=json"]);
  const early = guess && lookAt(guess, row), chain = await printing;
  if (chain.status === 0) { // else "More options" has an error, or options of a run
    const printed = JSON.parse(text(chain)), right = JSON.stringify(printed) === JSON.stringify(guess);
    const found = await (right ? early : lookAt(printed, row));
    [stages, seen] = [printed, found];
  }
  drawControls(chain.status === 0);
  drawFigures();
  document.dispatchEvent(new CustomEvent("looked", { detail: begun }));
};

// Makes a page, and shows it unless a newer state is asked for.
const makePage = async (outdated) => {
  await still(pauseBefore());
  if (outdated()) return;
  const begun = performance.now(), words = [...inputWords(), ...chainWords()], has = named("rows").length > 0;
  const offer = () => byId("state").replaceChildren("Running… ", make("button", { onclick: pages.stop }, "Stop"));
  const late = setTimeout(offer, STOP_AFTER);
  const page = await sampl(...(has ? [...wholeCommand(), "-O", "html"] : [...words, "--print-chain"]));
  clearTimeout(late);
  took = performance.now() - begun;
  await still(PAUSE);
  if (outdated()) return;
  byId("command").textContent = ["sampl", ...wholeCommand()].map(quote).join(" ");
  say(page.stderr);
  byId("state").textContent = page.status !== 0 ? `sampl ended with status ${page.status}.`
    : has ? `Ran in ${Math.round(took)} ms.` : "Open a file with logits.";
  const before = view.row();
  if (has && text(page).includes("\n{\"record\":")) await view.show(text(page)); // else no row could be read
  document.dispatchEvent(new CustomEvent("shown", { detail: begun }));
  if (view.row() !== before) lookAgain();
};
const say = (messages) => {
  byId("messages").textContent = [refused, missing(), messages].map((part) => part.trim()).filter(Boolean).join("\n");
  byId("messages").hidden = !byId("messages").textContent;
};

// ---- the page of -O html in a frame; the frame of the next page waits behind it

// Each page has a place: the chosen row and variant, and how far it is scrolled. The next page begins there. A page says
// when another row is chosen.
const view = (() => {
  // A frame with an empty document. A frame takes 40 ms to load a document, whatever its size: it does so beforehand.
  const frame = () => new Promise((done) => {
    const node = make("iframe.behind", { title: "The page of sampl", tabindex: "-1", onload: () => done(node),
      srcdoc: '<!DOCTYPE html><html lang="en"><head></head><body></body></html>' });
    byId("view").append(node);
  });
  // Puts a page into the empty document, at a place. Scripts that come as a text do not run: an element of each is made.
  const fill = ({ contentDocument: page, contentWindow }, html, place) => {
    contentWindow.sampl = { place };
    page.documentElement.innerHTML = html.replace("<head>", '<head><base href="about:srcdoc">'); // so that #links stay
    for (const script of page.querySelectorAll("script:not([type])"))
      script.replaceWith(Object.assign(page.createElement("script"), { textContent: script.textContent }));
  };
  // To remove a frame and to make one takes 10 ms: it waits until the new page is on the screen.
  const painted = () => new Promise((done) => { setTimeout(done, 30); });
  let shown = null, next = frame(), place = { row: null, variant: null, top: 0, text: 0 }, wish = null;
  const placeNow = () => shown ? place = shown.contentWindow.sampl.placeNow() : place;
  const show = async (html) => {
    const node = await next, embed = document.body.matches(".embed") || undefined, old = shown;
    fill(node, html, { ...placeNow(), ...wish, embed });
    [shown, wish] = [node, null];
    placeNow();
    node.classList.remove("behind");
    node.removeAttribute("tabindex");
    old?.classList.add("behind");
    next = painted().then(() => old?.remove()).then(frame);
  };
  addEventListener("message", ({ source, data }) => {
    if (!data?.moved || source !== shown?.contentWindow) return;
    const before = place.row;
    place = { ...place, ...data.sampl };
    rememberPlace();
    if (place.row !== before) lookAgain();
  });
  return {
    show, variant: () => place.variant,
    row: () => wish?.row ?? place.row ?? (parseInt(rows, 10) || 0),
    go: (row, variant) => { wish = { row: row ?? 0, variant }; },
  };
})();
