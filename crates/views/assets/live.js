// Updates an open list or board: rows appear, change and lock, cards move between columns, counts
// change, and a lost connection is reported. The server renders the HTML. No row moves while the
// person is using it.
"use strict";
{
  const list = document.getElementById("rows");
  const [lost, fresh, say] = ["lost", "fresh", "say"].map((id) => document.getElementById(id));
  const html = new Map();
  let source, dog, again, pause = 1000, order = [], heard = new Date();

  const live = () => source && source.readyState !== EventSource.CLOSED;
  const make = (text) => {
    const box = document.createElement("template");
    box.innerHTML = text;
    return box.content.firstElementChild;
  };
  const busy = () => list.contains(document.activeElement) || list.matches(":hover") || scrollY > 80
    || list.querySelector("input:checked") || document.querySelector("dialog[open]");

  // Shows the count in the title, in the icon and beside the names of lists.
  const count = (n) => {
    document.title = document.title.replace(/^(\(\d+\+?\) )?/, n === "0" ? "" : `(${n}) `);
    document.querySelector("link[rel=icon]").href = n === "0" ? list.dataset.icon : `/icon/${Math.min(parseInt(n), 100)}.svg`;
    for (const place of document.querySelectorAll("[data-count=inbox]")) place.textContent = n;
  };

  const lock = (row, tone, words) => {
    const focused = row.querySelector(".quick").contains(document.activeElement);
    row.style.minHeight = `${row.offsetHeight}px`;
    row.classList.add("locked");
    const end = document.createElement("p");
    end.className = `verdict ${tone}`;
    end.textContent = words;
    row.querySelector(".quick").replaceChildren(end);
    const tick = row.querySelector(".tick input");
    if (tick?.checked) { tick.checked = false; tick.dispatchEvent(new Event("change", { bubbles: true })); }
    row.querySelector(".tick")?.remove();
    if (focused) row.querySelector("h2 a").focus({ preventScroll: true });
    say.textContent = `${words}: ${row.querySelector("h2").innerText}`;
  };

  const replace = (row, text) => {
    const next = make(text);
    const parts = "a, button, input";
    const at = [...row.querySelectorAll(parts)].indexOf(document.activeElement);
    const [was, is] = [row, next].map((one) => one.querySelector(".tick input"));
    if (was?.checked && is) is.checked = true;
    next.style.minHeight = `${row.offsetHeight}px`;
    row.replaceWith(next);
    if (at >= 0) (next.querySelectorAll(parts)[at] ?? next.querySelector("h2 a")).focus({ preventScroll: true });
  };

  // Rows follow the server's order, so that requests that are due soon are on top. Locked rows keep
  // their place.
  const arrange = () => {
    let place = list.firstElementChild;
    for (const { key } of order) {
      while (place?.matches(".locked")) place = place.nextElementSibling;
      const row = document.getElementById(key);
      if (!row) continue;
      if (row === place) place = place.nextElementSibling;
      else list.insertBefore(row, place);
    }
  };
  // The rows that are due soon and not on top yet.
  const rising = () => {
    const shown = [...list.querySelectorAll(":scope > li:not(.locked)")].map((row) => row.id);
    const wanted = order.filter(({ key }) => shown.includes(key));
    return wanted.filter(({ key, soon }, n) => soon && shown[n] !== key).map(({ key }) => key);
  };
  const missing = () => order.filter((one) => !document.getElementById(one.key) && html.has(one.key));
  const insert = () => {
    for (let n = order.length - 1; n >= 0; n--) {
      const one = order[n];
      if (document.getElementById(one.key) || !html.has(one.key)) continue;
      const row = make(html.get(one.key));
      row.classList.add("fresh");
      const next = order.slice(n + 1).map(({ key }) => document.getElementById(key)).find(Boolean);
      list.insertBefore(row, next ?? null);
    }
    arrange();
    dispatchEvent(new Event("rows-moved"));
    fresh.hidden = true;
    for (const empty of document.querySelectorAll("[data-empty]")) empty.hidden = list.children.length > 0;
  };
  const offer = () => {
    const [n, late] = [missing().length, rising().length];
    if ((n || late) && !busy()) return insert();
    fresh.hidden = !n && !late;
    const says = [n && word("show-new", { n }), late && word("move-up", { n: late })];
    fresh.querySelector(".say").textContent = says.filter(Boolean).join(" · ");
  };

  // A board: the card under the pointer or with the focus keeps its place until the person leaves
  // it or requests the changes. The other visible cards keep their scroll position.
  const columns = new Map();
  const card = "#rows .column .row";
  const held = () => document.querySelector(`${card}:hover, ${card}:focus-within, #fresh:hover, #fresh:focus`);
  const move = () => {
    const was = new Map([...document.querySelectorAll(card)].map((row) => [row.id, [row.closest(".column").id, row.getBoundingClientRect().top]]));
    const focused = document.activeElement.closest(".row")?.id;
    for (const [id, text] of columns) document.getElementById(id).replaceWith(make(text));
    columns.clear();
    fresh.hidden = true;
    const [moved, stayed] = [[], []];
    for (const row of document.querySelectorAll(card)) (was.get(row.id)?.[0] === row.closest(".column").id ? stayed : moved).push(row);
    for (const row of moved) row.classList.add("fresh");
    const mark = scrollY > 80 && stayed.find((row) => was.get(row.id)[1] >= 0);
    if (mark) scrollBy({ top: mark.getBoundingClientRect().top - was.get(mark.id)[1], behavior: "instant" });
    if (focused) document.getElementById(focused)?.querySelector("a").focus({ preventScroll: true });
    const [first] = moved;
    if (first) say.textContent = moved.length > 1 ? word("tasks-moved", { n: moved.length }) : `${first.querySelector("h3").innerText}: ${first.querySelector(".verdict").innerText}`;
    return first;
  };
  const settle = () => {
    if (!columns.size) return;
    if (held()) fresh.hidden = false; else move();
  };
  for (const name of ["pointerout", "focusout"]) addEventListener(name, () => setTimeout(settle));

  fresh.addEventListener("click", () => {
    if (columns.size) return move()?.querySelector("a").focus();
    const first = missing()[0]?.key ?? rising()[0];
    insert();
    document.getElementById(first)?.querySelector("h2 a").focus();
  });

  const hear = (told) => {
    if (told.columns) {
      count(told.inbox);
      for (const one of told.columns) if (one.html) columns.set(one.key, one.html);
      for (const empty of document.querySelectorAll("[data-empty]")) empty.hidden = !told.empty;
      list.hidden = told.empty && document.querySelector("[data-empty]") !== null;
      return settle();
    }
    document.title = `${told.title} · Countersign`;
    document.getElementById("heading").textContent = told.heading;
    for (const [name, n] of Object.entries(told.counts)) {
      for (const place of document.querySelectorAll(`[data-count=${name}]`)) place.textContent = n;
    }
    count(told.counts.inbox);
    channel?.postMessage(told.counts.inbox);
    order = told.rows;
    for (const one of told.rows) if (one.html) html.set(one.key, one.html);
    const there = new Set(order.map((one) => one.key));
    for (const gone of told.gone) {
      const row = document.getElementById(gone.key);
      if (row && !row.matches(".locked")) lock(row, gone.tone, gone.words);
    }
    for (const one of order) {
      const row = document.getElementById(one.key);
      if (row && one.html && row.dataset.v !== one.v) replace(row, one.html);
    }
    for (const key of html.keys()) if (!there.has(key)) html.delete(key);
    offer();
  };

  const well = () => {
    heard = new Date();
    lost.hidden = true;
    if (away) network(false);
    pause = 1000;
    clearTimeout(dog);
    dog = setTimeout(broken, 45000);
  };
  const close = () => { clearTimeout(dog); clearTimeout(again); source?.close(); source = undefined; };
  const broken = () => {
    close();
    const at = heard.toLocaleTimeString(language, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
    const tell = () => {
      lost.textContent = word(away || !navigator.onLine ? "list-offline" : "list-no-updates", { time: at });
    };
    tell();
    reach().then(tell);
    lost.hidden = false;
    again = setTimeout(open, pause);
    pause = Math.min(pause * 2, 30000);
  };
  const open = () => {
    close();
    const have = [...list.querySelectorAll("[data-v]:not(.locked)")].map((part) => `${part.id}.${part.dataset.v}`);
    const to = new URL(list.dataset.live, location.href);
    to.searchParams.set("seen", list.dataset.digest);
    if (have.length) to.searchParams.set("have", have.join(" "));
    source = new EventSource(to);
    source.addEventListener("news", (event) => { list.dataset.digest = event.lastEventId; well(); hear(JSON.parse(event.data)); });
    source.addEventListener("beat", well);
    source.addEventListener("error", broken);
    channel?.postMessage("live");
  };

  // Browsers limit the connections to one server. Of several open lists only the visible one has a
  // stream; it broadcasts the number of waiting requests to the others.
  const channel = "BroadcastChannel" in window ? new BroadcastChannel("countersign") : undefined;
  channel?.addEventListener("message", ({ data }) => {
    if (data !== "live") { if (!live()) count(data); } else if (document.hidden) close();
  });
  document.addEventListener("visibilitychange", () => { if (!document.hidden && !live()) open(); });
  addEventListener("online", open);
  addEventListener("offline", broken);
  addEventListener("pagehide", close);
  addEventListener("pageshow", (event) => { if (event.persisted) open(); });
  if (list) open();
}
