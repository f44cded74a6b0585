// The keyboard. Nothing fires while somebody types; an answer is given only where a button for it is
// in sight.
"use strict";
{
  // The second step has a key of its own, so that pressing the same key twice sends nothing.
  const BUTTONS = { a: "[name=approve]:not(.sure *)", r: "[name=reject]", y: ".sure .acts button" };
  const links = () => [...document.querySelectorAll("#rows h2 a, .history .ended h2 a")];
  const current = () => document.activeElement.closest("#rows > li, .history .ended");
  const say = (words) => { const place = document.getElementById("say"); if (place) place.textContent = words; };
  const move = (by) => {
    const all = links();
    const at = all.findIndex((link) => current()?.contains(link));
    const to = all[at < 0 ? (by > 0 ? 0 : all.length - 1) : at + by];
    to?.focus();
    to?.scrollIntoView({ block: "nearest" });
  };
  const press = (key) => {
    const row = current();
    const button = (row ?? (document.getElementById("rows") ? null : document.querySelector("main")))?.querySelectorAll(BUTTONS[key] ?? "[name=choose]:not(.sure *)")[Number(key) - 1 || 0];
    if (button) {
      try { if (row) sessionStorage.setItem("row", links().findIndex((link) => row.contains(link))); } catch { /* not kept */ }
      button.click();
    } else if (row) say("Open it to answer: this list does not show all of it, or has no such answer.");
  };
  const later = (row) => row?.querySelector("[data-later]")?.click();
  const acts = {
    j: () => move(1),
    k: () => move(-1),
    a: () => press("a"),
    r: () => press("r"),
    y: () => press("y"),
    c: () => { const link = current()?.querySelector("h2 a"); if (link) location.assign(`${link.href}#comment`); },
    x: () => current()?.querySelector(".tick input")?.click(),
    s: () => later(current()),
    "/": () => { const field = document.getElementById("q"); field?.focus(); field?.select(); },
    "?": () => document.getElementById("keys")?.showModal(),
  };
  for (const n of "123456") acts[n] = () => press(n);
  const places = { i: "/", h: "/history", t: "/tasks" };
  let going;
  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest?.("input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable]");
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat && !"jk".includes(event.key) || event.isComposing) return;
    if (typing) { if (event.key === "Escape") event.target.blur(); return; }
    if (document.querySelector("dialog[open]")) return;
    const place = going && places[event.key];
    clearTimeout(going);
    going = undefined;
    if (place) { event.preventDefault(); location.assign(place); return; }
    if (event.key === "g") { going = setTimeout(() => { going = undefined; }, 1000); return; }
    const act = Object.hasOwn(acts, event.key) && acts[event.key];
    if (act) { event.preventDefault(); act(); }
  });

  // After an answer the next request is under the same hand.
  try {
    const at = sessionStorage.getItem("row");
    sessionStorage.removeItem("row");
    if (at !== null && document.getElementById("rows")) links()[Math.min(Number(at), links().length - 1)]?.focus();
  } catch { /* storage is forbidden: begin at the top */ }

  for (const button of document.querySelectorAll("dialog [data-close]")) {
    button.addEventListener("click", () => button.closest("dialog").close());
  }
}
