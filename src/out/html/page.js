// SPDX-License-Identifier: MIT
// Begins the page. Without the script the text and the tables still read.

const start = () => {
  main.classList.add("alive");
  startText();
  if (main.matches(".beside") && rows.length) startTwoTexts();
  if (rows.length) {
    startTints();
    startTools();
  }
  if (byId("means")) {
    startMeans();
    if (rows.length) startRow(bodyOfChains);
    startScatter();
    startSweep();
    if (rows.length) startPanels();
  } else if (rows.length) {
    byId("all").open = false;
    byId("all").append(csvButton("rows", () => byId("all").querySelector("table")));
    startLines();
    startRow(bodyOfStages);
  }
  markWide();
  addEventListener("resize", markWide);
  if (window.sampl) goTo(window.sampl.place); else restore(address(), true);
  window.sampl = { placeNow };
  started = true;
  addEventListener("hashchange", () => restore(address(), true));
};

// On paper the table of all rows is open.
const listenToPrinter = () => {
  const all = byId("all"), was = { open: false };
  if (!all) return;
  addEventListener("beforeprint", () => { was.open = all.open; all.open = true; });
  addEventListener("afterprint", () => { all.open = was.open; });
};

listenToHolder();
listenToPrinter();
start();
