"use strict";
// The page holds every turn as an inert template; this script puts the chosen one into the pane, and handles the keys.
const $ = (id) => document.getElementById(id);
const pane = $("turn"), filter = $("filter"), help = $("help"), captionLine = $("caption");
const lines = [...document.querySelectorAll("#turns .row")];
const bars = [...document.querySelectorAll("#growth g")];
const caption = captionLine ? captionLine.textContent : "";
const texts = new Map();
let chosen = null;

// Messages of tool servers are quiet: not shown until they are searched, linked to or chosen.
const isQuiet = (line) => line.matches(".quiet:not([aria-current])") && !$("turns").matches(".sifted");
const shown = () => lines.filter((line) => !line.hidden && !isQuiet(line) && !line.closest("details:not([open])"));
const isNarrow = () => matchMedia("(max-width: 860px)").matches;
const placeOf = (hash) => (/^#row-\d+$/.test(hash) ? Number(hash.slice(5)) : null);

function describe(words) {
  if (captionLine) captionLine.textContent = words || caption;
}

function barOf(place) {
  return bars.find((bar) => Number(bar.dataset.place) <= place && place <= Number(bar.dataset.last));
}

function choose(place, { read = false, scroll = true } = {}) {
  const line = lines.find((one) => Number(one.dataset.place) === place);
  const view = $("view-" + place);
  if (!line || !view) return;
  if (chosen !== place) {
    lines.forEach((one) => one.removeAttribute("aria-current"));
    const back = document.createElement("button");
    back.id = "back";
    back.textContent = "← all turns";
    back.onclick = leave;
    pane.replaceChildren(back, view.content.cloneNode(true));
    pane.scrollTop = 0;
    chosen = place;
    history.replaceState(null, "", "#row-" + place);
  }
  line.setAttribute("aria-current", "true");
  const fold = line.closest("details");
  if (fold) fold.open = true;
  bars.forEach((bar) => bar.classList.remove("chosen"));
  const bar = barOf(place);
  if (bar) bar.classList.add("chosen");
  describe(bar && bar.dataset.caption);
  if (scroll) line.scrollIntoView({ block: "nearest" });
  if (read) enter();
}

function enter() {
  document.body.classList.add("reading");
  pane.focus({ preventScroll: !isNarrow() });
  if (isNarrow()) scrollTo(0, 0);
}

function leave() {
  document.body.classList.remove("reading");
  const line = lines.find((one) => Number(one.dataset.place) === chosen);
  if (line) {
    line.focus({ preventScroll: true });
    line.scrollIntoView({ block: "nearest" });
  }
}

function move(by, wanted = () => true) {
  const list = shown();
  let at = list.findIndex((line) => Number(line.dataset.place) === chosen);
  if (at < 0 && by < 0) at = list.length;
  for (at += by; at >= 0 && at < list.length; at += by) {
    if (wanted(list[at])) return choose(Number(list[at].dataset.place));
  }
}

function edge(last) {
  const list = shown();
  if (list.length) choose(Number(list[last ? list.length - 1 : 0].dataset.place));
}

function tab(name) {
  for (const one of ["turns", "findings"]) {
    $(one).hidden = one !== name;
    $("tab-" + one).setAttribute("aria-selected", String(one === name));
  }
}

function textOf(line) {
  const place = line.dataset.place;
  if (!texts.has(place)) {
    // Raw bodies repeat the whole history: only what is new in the turn is searched.
    const parts = [...$("view-" + place).content.querySelectorAll("article > :not(.raw)")];
    texts.set(place, [line, ...parts].map((part) => part.textContent).join(" ").toLowerCase());
  }
  return texts.get(place);
}

function sift() {
  const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
  let any = false;
  $("turns").classList.toggle("sifted", words.length > 0);
  for (const line of lines) {
    line.hidden = words.some((word) => !textOf(line).includes(word));
    any ||= !line.hidden;
  }
  for (const thread of document.querySelectorAll("#turns .thread")) {
    thread.hidden = !thread.querySelector(".row:not([hidden])");
    if (words.length && !thread.hidden) thread.open = true;
  }
  for (const one of document.querySelectorAll("#findings li")) {
    one.hidden = words.some((word) => !one.textContent.toLowerCase().includes(word));
  }
  $("nothing").hidden = any;
}

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

const marked = (line) => line.dataset.worst;
const KEYS = {
  j: () => move(1), ArrowDown: () => move(1), k: () => move(-1), ArrowUp: () => move(-1),
  Home: () => edge(false), End: () => edge(true), n: () => move(1, marked), p: () => move(-1, marked),
  Enter: enter, ArrowRight: enter, ArrowLeft: leave,
  f: () => tab($("findings").hidden ? "findings" : "turns"), o: folds, t: theme,
  "/": () => { leave(); filter.focus(); filter.select(); }, "?": () => help.showModal(),
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || help.open) return;
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
bars.forEach((bar) => {
  bar.addEventListener("mouseenter", () => describe(bar.dataset.caption));
  bar.addEventListener("mouseleave", () => describe(chosen === null ? "" : (barOf(chosen) || bar).dataset.caption));
});
$("tab-turns").onclick = () => tab("turns");
$("tab-findings").onclick = () => tab("findings");
$("ask").onclick = () => help.showModal();
filter.addEventListener("input", sift);
addEventListener("hashchange", () => choose(placeOf(location.hash)));

const start = placeOf(location.hash);
const wrong = lines.find((line) => line.dataset.worst === "error");
if (start !== null) choose(start, { read: isNarrow() });
else if (lines.length) choose(Number((wrong || lines.find((line) => !isQuiet(line)) || lines[0]).dataset.place));
