// Enhancements for the room of a task, and its live updates. The page works without them.
"use strict";
{
  const room = document.querySelector(".room");

  // Ticked checklist items stay in this browser and are never sent.
  const ticks = [...room.querySelectorAll("[data-tick]")];
  const key = `ticks:${room.dataset.task}`;
  try {
    const ticked = JSON.parse(localStorage.getItem(key) ?? "[]");
    for (const tick of ticks) tick.checked = ticked.includes(tick.dataset.tick);
    room.addEventListener("change", (event) => {
      if (!ticks.includes(event.target)) return;
      localStorage.setItem(key, JSON.stringify(ticks.filter((t) => t.checked).map((t) => t.dataset.tick)));
    });
  } catch { /* storage is full or forbidden: ticks last as long as the page */ }

  // A click on a line starts a comment on it, unless the person is selecting text.
  const hint = () => {
    const note = document.querySelector("#judge [data-hint]");
    if (note && room.querySelector("[data-lines]")) note.hidden = false;
  };
  hint();
  room.addEventListener("click", (event) => {
    const judge = document.getElementById("judge");
    const line = event.target.closest("[data-lines] [data-n]");
    if (!judge || !line || String(getSelection())) return;
    const comments = [...judge.querySelectorAll(".comment")];
    const [place, body] = ["place", "body"].map((name) => (one) => one.querySelector(`[name^=${name}]`));
    let free = comments.find((one) => place(one).value === line.dataset.n)
      ?? comments.find((one) => !place(one).value.trim() && !body(one).value.trim());
    if (!free) {
      free = comments.at(-1).cloneNode(true);
      for (const e of free.querySelectorAll("[id], [for]")) {
        for (const name of ["id", "for", "name"]) if (e.hasAttribute(name)) e.setAttribute(name, e.getAttribute(name).replace(/\d+$/, comments.length + 1));
      }
      for (const e of [place(free), body(free)]) e.value = "";
      comments.at(-1).after(free);
    }
    place(free).value = line.dataset.n;
    body(free).focus();
    place(free).dispatchEvent(new Event("input", { bubbles: true }));
  });

  // The room follows its task. A part in which the person writes, picks or selects text stays
  // unchanged, and so does the scroll position; the page offers to load the rest.
  const fresh = document.getElementById("fresh");
  const touched = (e) => {
    if (e.matches("select")) return e.selectedIndex !== Math.max(0, [...e.options].findIndex((o) => o.defaultSelected));
    return e.matches("[type=checkbox], [type=radio]") ? e.checked !== e.defaultChecked : e.value !== e.defaultValue;
  };
  const used = (part) => part.contains(document.activeElement)
    || (String(getSelection()) && getSelection().containsNode(part, true))
    || [...part.querySelectorAll("input:not([type=hidden]), textarea, select")].some(touched);
  const refresh = async () => {
    const here = new URL(fresh.href);
    if (location.pathname === here.pathname) here.search = location.search;
    const reply = await fetch(here);
    const page = new DOMParser().parseFromString(await reply.text(), "text/html");
    const next = page.querySelector(".room");
    if (!reply.ok || !next) throw new Error("the room cannot be read");
    const top = new Map([...room.querySelectorAll(".part > *")].map((e) => [e, e.getBoundingClientRect().top]));
    let behind = false;
    for (const part of room.querySelectorAll("[data-part]")) {
      const now = next.querySelector(`[data-part=${part.dataset.part}]`);
      if (part.textContent === now.textContent) continue;
      if (used(part)) { behind = true; continue; }
      const open = new Set([...part.querySelectorAll("details[open] > summary")].map((e) => e.textContent));
      for (const e of now.querySelectorAll("details > summary")) if (open.has(e.textContent)) e.parentElement.open = true;
      part.replaceChildren(...now.childNodes);
    }
    for (const place of document.querySelectorAll("[data-count=inbox]")) place.textContent = page.querySelector("[data-count=inbox]").textContent;
    hint();
    const mark = scrollY > 80 && [...top].find(([e, y]) => e.isConnected && y >= 0);
    if (mark) scrollBy({ top: mark[0].getBoundingClientRect().top - mark[1], behavior: "instant" });
    document.getElementById("say").textContent = room.dataset.saysChanged.replace("{}", document.getElementById("stands").textContent);
    fresh.hidden = !behind;
    room.dataset.live = next.dataset.live;
  };

  if (room.dataset.live) {
    let watch;
    const stop = () => watch?.close();
    const start = () => {
      stop();
      watch = new EventSource(room.dataset.live);
      watch.addEventListener("changed", async () => {
        stop();
        try { await refresh(); start(); } catch { fresh.hidden = false; }
      });
    };
    addEventListener("pageshow", start);
    addEventListener("pagehide", stop);
    room.addEventListener("submit", stop);
  }
}
