"use strict";
// The page holds its turns as packed data in blocks. This script unpacks a block when a turn of it is needed, and makes
// elements and text nodes of it: what was recorded is never parsed as markup.
const $ = (id) => document.getElementById(id);
const pane = $("turn"), filter = $("filter"), help = $("help"), captionLine = $("caption"), list = $("turns");
const stored = [...document.querySelectorAll('script[type="text/turntape-block"]')];
const strips = () => [...document.querySelectorAll("#growth .strip")];
const bars = () => [...document.querySelectorAll("#growth g")];
const caption = captionLine ? captionLine.textContent : "";
const CHUNK = 60;
const TAGS = new Set(
  "a article b button code dd del details div dl dt figcaption figure h2 h3 img ins li ol p pre section span summary table td th tr ul".split(" "),
);
const DRAWN = new Set("svg g rect polyline".split(" "));
const PLAIN = /^(x|y|points|viewBox|preserveAspectRatio|class|title|id|open|hidden|role|colspan|rowspan|scope|style|alt|width|height|tabindex|data-[a-z-]+|aria-[a-z-]+)$/;
let index = null, chosen = null, asked = 0, sought = [];
const opened = new Map(), texts = [], lines = new Map();

// ---- packed data

async function unpack(element) {
  const letters = element.textContent;
  const bytes = Uint8Array.fromBase64
    ? Uint8Array.fromBase64(letters)
    : Uint8Array.from(atob(letters), (letter) => letter.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).json();
}

// The last of these ascending numbers that is not above `wanted`.
function lastUpTo(numbers, wanted) {
  let low = 0, high = numbers.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (numbers[middle] <= wanted) low = middle;
    else high = middle - 1;
  }
  return low;
}

function block(number) {
  if (!opened.has(number)) {
    opened.set(number, unpack(stored[number]).then((found) => {
      found.texts.forEach((text, at) => { texts[index.texts[number] + at] = text; });
      return found;
    }));
  }
  return opened.get(number);
}

async function viewAt(place) {
  const number = lastUpTo(index.views, place);
  return (await block(number)).views[place - index.views[number]];
}

function numbersIn(node, found = new Set()) {
  if (typeof node === "number") found.add(node);
  else if (Array.isArray(node)) node.forEach((child) => numbersIn(child, found));
  else if (node && typeof node === "object") Object.values(node).forEach((child) => numbersIn(child, found));
  return found;
}

// Opens the blocks of all long texts in a node.
async function withTexts(node) {
  const missing = [...numbersIn(node)].filter((number) => texts[number] === undefined);
  await Promise.all([...new Set(missing.map((number) => lastUpTo(index.texts, number)))].map(block));
  return node;
}

const textOf = (value) => (typeof value === "number" ? texts[value] : value);

function build(node) {
  if (!Array.isArray(node)) return document.createTextNode(textOf(node));
  const [head, ...rest] = node, [name, ...looks] = head.split(".");
  if (name && !TAGS.has(name) && !DRAWN.has(name)) return document.createTextNode("");
  const element = !name ? document.createDocumentFragment()
    : DRAWN.has(name) ? document.createElementNS("http://www.w3.org/2000/svg", name)
    : document.createElement(name);
  if (looks.length) element.setAttribute("class", looks.join(" "));
  for (const child of rest) {
    if (child && typeof child === "object" && !Array.isArray(child)) attributes(element, child);
    else element.append(build(child));
  }
  return element;
}

function attributes(element, given) {
  for (const [name, stored] of Object.entries(given)) {
    const value = textOf(stored);
    const isLink = name === "href" && /^#row-\d+$/.test(value);
    const isImage = name === "src" && /^data:image\/(png|jpeg|gif|webp);base64,/.test(value);
    if (PLAIN.test(name) || isLink || isImage) element.setAttribute(name, value);
  }
}

// Makes a part of the page that was left for later, in its place.
function make(element) {
  if (element.dataset.later === undefined) return element;
  const made = build(index.later[element.dataset.later]);
  element.replaceWith(made);
  return made;
}

function wordsOf(node, out = []) {
  if (!Array.isArray(node)) {
    if (typeof node !== "object") out.push(textOf(node));
  } else for (const child of node.slice(1)) wordsOf(child, out);
  return out;
}

// ---- raw bodies

const CONTROL = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;
const visible = (text) =>
  text.replace(/\r\n/g, "\n").replace(CONTROL, (one) => "\\x" + one.codePointAt(0).toString(16).padStart(2, "0"));

// A body as pieces [bytes, from, to]: what it shares with an earlier request is taken from that.
async function piecesOf(body) {
  const chain = [body];
  while (chain[0].length > 1) chain.unshift((await viewAt(chain[0][1])).raw[0].body);
  let pieces = [];
  for (const [text, , prefix, suffix] of chain) {
    await withTexts(text);
    const bytes = new TextEncoder().encode(textOf(text));
    const size = pieces.reduce((sum, [, from, to]) => sum + to - from, 0);
    const front = prefix === undefined ? [] : cut(pieces, 0, prefix);
    const back = prefix === undefined ? [] : cut(pieces, size - suffix, size);
    pieces = [...front, [bytes, 0, bytes.length], ...back];
  }
  return pieces;
}

function cut(pieces, start, stop) {
  const kept = [];
  let at = 0;
  for (const [bytes, from, to] of pieces) {
    const low = Math.max(start, at), high = Math.min(stop, at + to - from);
    if (low < high) kept.push([bytes, from + low - at, from + high - at]);
    at += to - from;
  }
  return kept;
}

async function bodyText(body) {
  const pieces = await piecesOf(body), decoder = new TextDecoder();
  return visible(pieces.map(([bytes, from, to]) => decoder.decode(bytes.subarray(from, to), { stream: true })).join(""));
}

async function rawParts(raw) {
  return Promise.all(raw.map(async (one) => {
    await withTexts(one.head);
    const fold = document.createElement("details");
    fold.className = "raw";
    fold.append(...one.head.map(build));
    fold.addEventListener("toggle", async () => {
      if (!fold.open || fold.dataset.filled) return;
      fold.dataset.filled = "yes";
      const text = document.createElement("pre");
      text.textContent = await bodyText(one.body);
      fold.append(text);
      if (one.note) fold.append(build(await withTexts(one.note)));
    });
    return fold;
  }));
}

// ---- the list: rows are made when they come into sight

const isQuiet = (place) => Boolean(index.quiet[place]) && place !== chosen && !sought.length;
const watcher = new IntersectionObserver((seen) => {
  for (const one of seen) if (one.isIntersecting) fill(one.target);
}, { root: null, rootMargin: "600px" });
let parts = [];

function draw(kept) {
  watcher.disconnect();
  lines.clear();
  list.replaceChildren();
  parts = [];
  for (const group of index.groups) {
    const places = group.places.filter((place) => (kept ? kept.has(place) : !isQuiet(place)));
    if (!places.length) continue;
    const fold = group.head && document.createElement("details");
    if (fold) {
      fold.className = "thread";
      fold.open = group.open || Boolean(kept);
      fold.append(build(group.head));
      list.append(fold);
    }
    const part = { places, fold, chunks: [] };
    for (let from = 0; from < places.length; from += CHUNK) {
      const chunk = document.createElement("div");
      chunk.className = "chunk";
      chunk.places = places.slice(from, from + CHUNK);
      chunk.style.minHeight = `calc(${chunk.places.length} * var(--row-height))`;
      part.chunks.push(chunk);
      (fold || list).append(chunk);
      watcher.observe(chunk);
    }
    parts.push(part);
  }
  let made = 0;  // what is in sight first is there at once
  for (const chunk of parts.flatMap((part) => part.chunks)) {
    if (made >= CHUNK) break;
    fill(chunk);
    made += chunk.places.length;
  }
  if (chosen !== null) mark(chosen);
}

function fill(chunk) {
  if (chunk.firstChild) return;
  watcher.unobserve(chunk);
  for (const place of chunk.places) {
    const line = build(index.rows[place]);
    if (place === chosen) line.setAttribute("aria-current", "true");
    lines.set(place, line);
    chunk.append(line);
  }
  chunk.style.minHeight = "";
}

// The line of a place; null when the list does not have it.
function lineOf(place) {
  if (!lines.has(place)) {
    const part = parts.find((one) => one.places.includes(place));
    if (!part) return null;
    fill(part.chunks[Math.floor(part.places.indexOf(place) / CHUNK)]);
  }
  return lines.get(place);
}

const shown = () => parts.flatMap((part) => (part.fold && !part.fold.open ? [] : part.places));

function mark(place) {
  list.querySelector("[aria-current]")?.removeAttribute("aria-current");
  const line = lineOf(place);
  if (!line) return null;
  line.setAttribute("aria-current", "true");
  const fold = line.closest("details");
  if (fold) fold.open = true;
  return line;
}

// ---- choosing a turn

const isNarrow = () => matchMedia("(max-width: 860px)").matches;
const placeOf = (hash) => (/^#row-\d+$/.test(hash) ? Number(hash.slice(5)) : null);
const describe = (words) => { if (captionLine) captionLine.textContent = words || caption; };
const covers = (bar, place) =>
  bar.dataset.thread === index.threads[place] && Number(bar.dataset.place) <= place && place <= Number(bar.dataset.last);

// The lane of the chosen thread is above the fold of the cheaper ones while that is closed.
function bringLane(place) {
  for (const strip of strips()) {
    const fold = strip.querySelector("details"), guest = strip.querySelector(":scope > .guest");
    if (!fold) continue;
    const own = [...fold.querySelectorAll("[data-later]")].find((one) => one.dataset.thread === index.threads[place]);
    if (own) make(own);
    const lane = [...strip.querySelectorAll("g")].find((bar) => covers(bar, place))?.closest(".strip-lane");
    if (guest === (lane || null)) continue;
    if (guest) {
      guest.classList.remove("guest");
      guest.seat.replaceWith(guest);
    }
    if (lane && lane.parentNode === fold && !fold.open) {
      lane.seat = document.createComment("");
      lane.before(lane.seat);
      lane.classList.add("guest");
      strip.insertBefore(lane, fold);
    }
  }
}

const barOf = (place) => bars().find((bar) => covers(bar, place));

// Shows where a turn is in the growth of the run.
function point(place) {
  bringLane(place);
  bars().forEach((one) => one.classList.toggle("chosen", covers(one, place)));
  describe(barOf(place)?.dataset.caption);
}

async function choose(place, { read = false, scroll = true } = {}) {
  if (place === null || !index.rows[place]) return;
  const isNew = chosen !== place;
  const wasQuiet = chosen !== null && index.quiet[chosen];
  chosen = place;
  if (isNew && !sought.length && (index.quiet[place] || wasQuiet)) draw();
  const line = mark(place);
  point(place);
  if (scroll && line) line.scrollIntoView({ block: "nearest" });
  if (isNew) {
    const turn = ++asked;
    history.replaceState(history.state, "", "#row-" + place);
    const found = await viewAt(place);
    await withTexts(found.view);
    const raw = await rawParts(found.raw || []);
    if (turn !== asked) return;
    const back = document.createElement("button");
    back.id = "back";
    back.textContent = "← all turns";
    back.onclick = leave;
    pane.replaceChildren(back, build(found.view), ...raw);
    pane.scrollTop = 0;
  }
  if (read) enter();
}

const isReading = () => document.body.classList.contains("reading");

// In a narrow window the turn replaces the list: the browser's own way back leads to the list.
function enter() {
  if (isNarrow() && history.state !== "reading") history.pushState("reading", "", location.hash);
  document.body.classList.add("reading");
  pane.focus({ preventScroll: !isNarrow() });
  if (isNarrow()) scrollTo(0, 0);
}

function leave() {
  if (isReading() && history.state === "reading") history.back();
  toList();
}

function toList() {
  document.body.classList.remove("reading");
  const line = chosen === null ? null : lineOf(chosen);
  if (line) {
    line.focus({ preventScroll: true });
    line.scrollIntoView({ block: "nearest" });
  }
}

function move(by, wanted = () => true) {
  const places = shown();
  let at = places.indexOf(chosen);
  if (at < 0 && by < 0) at = places.length;
  for (at += by; at >= 0 && at < places.length; at += by) {
    if (wanted(places[at])) return choose(places[at]);
  }
}

function edge(last) {
  const places = shown();
  if (places.length) return choose(places[last ? places.length - 1 : 0]);
}

function tab(name) {
  for (const one of tabs) {
    const panel = one.getAttribute("aria-controls");
    $(panel).hidden = panel !== name;
    one.setAttribute("aria-selected", String(panel === name));
  }
  if (name === "findings") allFindings();
  const panel = $(name);
  if (index.panels[name] && !panel.firstChild) panel.append(build(index.panels[name]));
  $("nothing").hidden = true;
}

function allFindings() {
  if (!index.findings.length) return;
  document.querySelector("#findings .findings").append(...index.findings.map(build));
  index.findings = [];
}

// ---- the filter: every word in the line or in what is new in the turn, as the viewer reads a query

// A query as tests of a text and the worst of its findings. `"two words"` are one, `-word` excludes.
function query(text) {
  const tests = [], words = [], unknown = [];
  for (const token of text.toLowerCase().match(/-?(?:\w+:)?"[^"]*"|\S+/g) || []) {
    const without = token.length > 1 && token.startsWith("-");
    const word = without ? token.slice(1) : token;
    const plain = word.replaceAll('"', "");
    const field = word.match(/^(\w+):./);
    if (!plain) continue;
    if (plain === "is:error") tests.push((_, worst) => (worst === "error") !== without);
    else {
      if (field && index.fields.includes(field[1])) unknown.push(field[1]);
      tests.push((said) => said.includes(plain) !== without);
      if (!without) words.push(plain);
    }
  }
  return { has: (said, worst) => tests.every((test) => test(said, worst)), some: tests.length > 0, words, unknown };
}

// Why nothing is left.
function noneLeft(unknown) {
  if (!unknown.length) return index.none;
  return `${index.none} \u201c${unknown[0]}:\u201d is a field that only \`turntape view\` knows.`;
}

const haystacks = new Map();

async function haystack(place) {
  if (!haystacks.has(place)) {
    const { view } = await viewAt(place);
    await withTexts(view);
    haystacks.set(place, [...wordsOf(index.rows[place]), ...wordsOf(view)].join(" ").toLowerCase());
  }
  return haystacks.get(place);
}

let sifting = 0;
async function sift() {
  const turn = ++sifting;
  const { has, some, words, unknown } = query(filter.value);
  const open = tabs.find((one) => one.getAttribute("aria-selected") === "true").getAttribute("aria-controls");
  if (some && index.panels[open]) tab("turns");
  allFindings();
  for (const one of document.querySelectorAll("#findings li")) one.hidden = !has(one.textContent.toLowerCase(), one.dataset.severity);
  const kept = some ? new Set() : null;
  if (kept) {
    for (let place = 0; place < index.rows.length; place += 1) {
      if (has(await haystack(place), index.worst[place])) kept.add(place);
      if (turn !== sifting) return;
    }
  }
  sought = words;
  draw(kept);
  $("nothing").textContent = noneLeft(unknown);
  $("nothing").hidden = !kept || kept.size > 0;
}

// ---- keys

function folds() {
  const all = [...pane.querySelectorAll("details")];
  const open = !all.some((one) => one.open);
  all.forEach((one) => (one.open = open));
}

function theme() {
  const order = [undefined, "light", "dark"], root = document.documentElement;
  const next = order[(order.indexOf(root.dataset.theme) + 1) % order.length];
  if (next) root.dataset.theme = next;
  else delete root.dataset.theme;
}

function unit() {
  const both = strips().map(make);
  if (both.length > 1) for (const one of both) one.hidden = !one.hidden;
  if (chosen !== null) point(chosen);
}

const tabs = [...document.querySelectorAll('[role="tab"]')];

// The tab beside the one that is shown.
function nextTab(by) {
  const at = tabs.findIndex((one) => one.getAttribute("aria-selected") === "true");
  const next = tabs[(at + by + tabs.length) % tabs.length];
  tab(next.getAttribute("aria-controls"));
  return next;
}

const marked = (place) => index.worst[place];
const wrong = (place) => index.worst[place] === "error";
const KEYS = {
  j: () => move(1), ArrowDown: () => move(1), k: () => move(-1), ArrowUp: () => move(-1),
  Home: () => edge(false), End: () => edge(true), n: () => move(1, marked), N: () => move(-1, marked), p: () => move(-1, marked),
  e: () => move(1, wrong), E: () => move(-1, wrong),
  Enter: enter, ArrowRight: enter, ArrowLeft: leave,
  f: () => nextTab(1), $: unit, o: folds, t: theme,
  "/": () => { leave(); filter.focus(); filter.select(); }, "?": () => help.showModal(),
};

document.addEventListener("keydown", (event) => {
  if (!index || event.ctrlKey || event.metaKey || event.altKey || help.open) return;
  if (event.key === "Escape") {
    if (filter.value) { filter.value = ""; sift(); }
    filter.blur();
    leave();
    return;
  }
  if (document.activeElement === filter) {
    if (event.key === "Enter" || event.key === "ArrowDown") {
      filter.blur();
      edge(false);
      event.preventDefault();
    }
    return;
  }
  // Enter opens what has the focus; in the pane of the turn the arrows scroll.
  const own = document.activeElement.closest("summary, button, a:not(.row)");
  if (event.key === "Enter" && own) return;
  if (pane.contains(document.activeElement) && /^(ArrowUp|ArrowDown|Home|End)$/.test(event.key)) return;
  const across = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (across && tabs.includes(document.activeElement)) {
    nextTab(across).focus();
    event.preventDefault();
    return;
  }
  const act = KEYS[event.key];
  if (act) {
    act();
    event.preventDefault();
  }
});

document.addEventListener("click", (event) => {
  const link = event.target.closest('a[href^="#row-"]');
  const bar = event.target.closest("#growth g");
  if (link) {
    choose(placeOf(link.getAttribute("href")), { read: isNarrow() || !link.classList.contains("row") });
    event.preventDefault();
  } else if (bar) {
    choose(Number(bar.dataset.place), { read: isNarrow() });
  }
});
document.addEventListener("mouseover", (event) => {
  const bar = event.target.closest("#growth g");
  if (bar) describe(bar.dataset.caption);
});
document.addEventListener("mouseout", (event) => {
  const bar = event.target.closest("#growth g");
  if (bar) describe(chosen === null ? "" : (barOf(chosen) || bar).dataset.caption);
});
// A fold of the growth is filled when it is opened.
document.addEventListener("toggle", (event) => {
  const fold = event.target;
  if (fold.open && fold.parentNode.classList.contains("strip")) fold.querySelectorAll("[data-later]").forEach(make);
}, true);
for (const one of tabs) one.onclick = () => tab(one.getAttribute("aria-controls"));
if ($("unit")) $("unit").onclick = unit;
$("ask").onclick = () => help.showModal();
filter.addEventListener("input", sift);
addEventListener("popstate", () => { if (isReading() && history.state !== "reading") toList(); });
addEventListener("hashchange", () => choose(placeOf(location.hash)));

// ---- print: the findings, the costs, and the turns that failed

async function printed() {
  const { costs, places, note } = index.printed;
  const views = [build(costs)];
  for (const place of places) views.push(build(await withTexts((await viewAt(place)).view)));
  $("print").replaceChildren(...views, note);
  allFindings();
}

async function start() {
  index = await unpack(document.querySelector('script[type="text/turntape-index"]'));
  tab("turns");
  draw();
  const wanted = placeOf(location.hash);
  if (wanted !== null) await choose(wanted, { read: isNarrow() });
  else if (index.first !== null) await choose(index.first, { scroll: !isNarrow() });
  else if (index.rows.length) await choose(Math.max(0, index.quiet.indexOf(false)), { scroll: !isNarrow() });
  document.body.dataset.ready = "yes";
  await printed();
}
const ready = start();
