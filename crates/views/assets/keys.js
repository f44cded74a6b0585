// Keyboard shortcuts. They do not fire while the person types. A key acts only on a request that is
// fully visible.
"use strict";
{
  // The second step has its own key, so that pressing the same key twice sends nothing.
  const BUTTONS = { a: "[name=approve]:not(.sure *)", r: "[name=reject]", y: ".sure .acts button" };
  const links = () => [...document.querySelectorAll("#rows h2 a, .history .ended h2 a")];
  const current = () => document.activeElement.closest("#rows > li, .history .ended");
  const say = (words) => { const place = document.getElementById("say"); if (place) place.textContent = words; };
  // The part of the screen that no fixed or sticky element covers.
  const room = () => {
    const top = visualViewport?.offsetTop ?? 0;
    let bottom = top + (visualViewport?.height ?? innerHeight);
    for (const cover of document.querySelectorAll("#bulk, .notes > *")) {
      const box = cover.getBoundingClientRect();
      if (box.height) bottom = Math.min(bottom, box.top);
    }
    return { top, bottom };
  };
  const isWhole = (part) => {
    const [box, { top, bottom }] = [part.getBoundingClientRect(), room()];
    return box.top >= top - 1 && box.bottom <= bottom + 1;
  };
  // Scroll instantly, because the next key may follow right away.
  const centre = (part) => {
    const [box, { top, bottom }] = [part.getBoundingClientRect(), room()];
    const fits = box.height <= bottom - top;
    scrollBy({ top: fits ? (box.top + box.bottom - top - bottom) / 2 : box.top - top, behavior: "instant" });
  };
  // A request that is not fully visible is scrolled into view, and the key does nothing else.
  const seen = (part) => {
    if (isWhole(part)) return true;
    centre(part);
    say(word(isWhole(part) ? "scrolled" : "too-tall"));
    return false;
  };
  const go = (link) => {
    link?.focus({ preventScroll: true });
    if (link) centre(link.closest("li"));
  };
  const move = (by) => {
    const all = links();
    const at = all.findIndex((link) => current()?.contains(link));
    const to = all[at < 0 ? (by > 0 ? 0 : all.length - 1) : at + by];
    go(to);
  };
  const press = (key) => {
    const row = current();
    const button = (row ?? (document.getElementById("rows") ? null : document.querySelector("main")))?.querySelectorAll(BUTTONS[key] ?? "[name=choose]:not(.sure *)")[Number(key) - 1 || 0];
    if (button && !seen(row ?? button)) return;
    if (button && "offline" in button.dataset) refuse();
    else if (button?.disabled) say(word("read-first"));
    else if (button) {
      try { if (row) sessionStorage.setItem("row", links().findIndex((link) => row.contains(link))); } catch { /* not kept */ }
      button.click();
    } else if (row) say(word("open-to-answer"));
  };
  const click = (selector) => {
    const [row, part] = [current(), current()?.querySelector(selector)];
    if (part && seen(row)) part.click();
  };
  const acts = {
    j: () => move(1),
    k: () => move(-1),
    a: () => press("a"),
    r: () => press("r"),
    y: () => press("y"),
    u: () => document.querySelector("form.undo button")?.click(),
    c: () => { const link = current()?.querySelector("h2 a"); if (link) location.assign(`${link.href}#comment`); },
    x: () => click(".tick input"),
    s: () => click("[data-later]"),
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

  // After an answer, the next request has the focus.
  try {
    const at = sessionStorage.getItem("row");
    sessionStorage.removeItem("row");
    if (at !== null && document.getElementById("rows")) go(links()[Math.min(Number(at), links().length - 1)]);
  } catch { /* storage is forbidden: begin at the top */ }

  for (const button of document.querySelectorAll("dialog [data-close]")) {
    button.addEventListener("click", () => button.closest("dialog").close());
  }
}
