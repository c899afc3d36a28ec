// SPDX-License-Identifier: MIT
// What the page of -O html and the explorer share: elements. Nothing happens when this file is read.
"use strict";

const byId = (id) => document.getElementById(id);

// make("td.gone", {title: "why", onclick: act, hidden: true}, "text", node, ...): an element of some classes. Texts
// are texts, whatever they hold. A function listens to an event; true is an attribute without a value; false, null
// and undefined are none. Names that begin with -- are properties of the style.
const make = (what, attributes = {}, ...inside) => {
  const [tag, ...classes] = what.split(".");
  const drawn = ["svg", "path", "line", "rect", "circle", "text", "g"].includes(tag);
  const node = drawn ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
  if (classes.length) node.setAttribute("class", classes.join(" "));
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") node.addEventListener(name.slice(2), value);
    else if (name.startsWith("--")) node.style.setProperty(name, value);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) node.setAttribute(name, value);
  }
  node.append(...inside);
  return node;
};
