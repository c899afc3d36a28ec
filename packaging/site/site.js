// SPDX-License-Identifier: MIT
// The search of the site: `entries` of index.js are [title, place, address]. An entry is found if it has a word of the query, or a word that
// means the same.
"use strict";

const synonyms = {
  nucleus: ["topp"], bfloat16: ["bf16"], float16: ["f16"], half: ["f16"], divergence: ["kl"],
  kld: ["kl", "report"], tail: ["rest"], mass: ["rest"], temperature: ["temp"], tau: ["mirostat"], eta: ["mirostat", "eta"],
  epsilon: ["epsilon"], locally: ["typical", "typp"], typical: ["typical", "typp"], nsigma: ["topnsigma"], repetition: ["repeat", "penalties"],
  perplexity: ["ppl"], logprobs: ["logprobs", "replies"], openai: ["replies", "openai"], numpy: ["npy"], huggingface: ["transformers"],
  hf: ["transformers"], exit: ["exit", "status"], code: ["status", "code"], removed: ["trace", "removed"], why: ["trace", "why"],
  windows: ["windows", "powershell"], macos: ["macos"], json: ["json"], miss: ["lost"], seed: ["seed"], gpu: ["vllm", "sglang", "akunu"],
  quant: ["report", "against"], order: ["samplers", "order"], grammar: ["grammar", "schema"],
};

const [form, box, list] = ["form", "input", "ol"].map((name) => document.querySelector(name));
const plain = (text) => text.toLowerCase().replace(/[-_]/g, "");
const rows = entries.map(([title, place, address]) => ({ title, place, address, words: plain(title), all: plain(`${title} ${place}`) }));

// The best entries of a query: those that have most of its words; of these, whose titles are or begin with a word.
const find = (query) => {
  const wanted = plain(query).split(/\s+/).filter(Boolean).map((word) => [word, ...(synonyms[word] || [])]);
  const points = (row, word) => row.words === word ? 9 : row.words.startsWith(word) ? 6 : row.words.includes(word) ? 4 : row.all.includes(word) ? 1 : 0;
  const score = (row) => wanted.reduce((sum, means) => {
    const best = Math.max(...means.map((word) => points(row, word)));
    return sum + (best && best + 10);
  }, row.place === "sampl-samplers.7" ? 1 : 0); // where both describe a sampler, the page for users comes first
  return rows.map((row) => [score(row), row]).filter(([sum]) => sum > 1)
    .sort((a, b) => b[0] - a[0] || a[1].title.length - b[1].title.length).slice(0, 12).map(([, row]) => row);
};

const show = () => {
  const found = find(box.value);
  list.replaceChildren(...found.map((row) => {
    const item = document.createElement("li"), link = document.createElement("a"), place = document.createElement("small");
    link.href = row.address;
    link.textContent = row.title;
    place.textContent = row.place;
    item.append(link, " ", place);
    return item;
  }));
  if (box.value && !found.length) list.append(Object.assign(document.createElement("li"), { textContent: "nothing found" }));
  list.hidden = !box.value;
};
box.addEventListener("input", show);
list.addEventListener("click", () => { box.value = ""; show(); });
form.addEventListener("submit", (event) => {
  event.preventDefault();
  list.querySelector("a")?.click();
});
form.addEventListener("keydown", (event) => {
  if (event.key === "Escape") { box.value = ""; show(); }
});

// What scrolls sideways can be reached by the keyboard.
for (const node of document.querySelectorAll("pre, table, nav"))
  if (node.scrollWidth > node.clientWidth) node.tabIndex = 0;
