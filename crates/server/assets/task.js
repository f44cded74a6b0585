// Comforts of a task's room. It works without them.
"use strict";
{
  const room = document.querySelector(".room");

  // What one has ticked stays in this browser, and is nobody else's business.
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

  // A click on a line begins a comment on it. Whoever marks words to copy them is left alone.
  const judge = document.getElementById("judge");
  for (const sheet of judge ? room.querySelectorAll("[data-lines]") : []) {
    judge.querySelector("[data-hint]").hidden = false;
    sheet.addEventListener("click", (event) => {
      const line = event.target.closest("[data-n]");
      if (!line || String(getSelection())) return;
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
  }

  // The room says when its task has changed. Nothing moves by itself: somebody may be writing.
  if (room.dataset.live) {
    let watch;
    const stop = () => watch?.close();
    const start = () => {
      stop();
      watch = new EventSource(room.dataset.live);
      watch.addEventListener("changed", () => { stop(); document.getElementById("fresh").hidden = false; });
    };
    addEventListener("pageshow", start);
    addEventListener("pagehide", stop);
    room.addEventListener("submit", stop);
  }
}
