// Selecting several requests, snoozing one, and restoring the scroll position.
"use strict";
{
  // Remove the parameters of the notice, so that a reload does not repeat it.
  const address = new URL(location.href);
  for (const name of ["sent", "aside", "woken", "handed", "undone", "late"]) address.searchParams.delete(name);
  const returned = address.href !== location.href;
  if (returned) history.replaceState(null, "", address);

  // Snooze times such as "tomorrow morning" are in the browser's time zone.
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  if (zone) {
    for (const field of document.querySelectorAll("input[name=zone]")) field.value = zone;
    for (const note of document.querySelectorAll("[data-utc]")) note.remove();
  }

  const bulk = document.getElementById("bulk");
  const tally = () => {
    const n = document.querySelectorAll(".tick input:checked").length;
    if (bulk) bulk.hidden = n === 0;
    const place = bulk?.querySelector("[data-selected]");
    if (place) place.textContent = word("requests", { n });
  };
  document.addEventListener("change", (event) => { if (event.target.closest(".tick")) tally(); });
  addEventListener("pageshow", tally);
  tally();

  // The bulk summary: the buttons and the total follow the selection. Amounts are added as integers
  // in their smallest unit.
  const answers = document.getElementById("answers");
  const sum = () => {
    const ticked = [...answers.querySelectorAll("[name=ask]:checked")];
    const many = (n) => word("requests", { n });
    answers.querySelector("[data-ticked]").textContent = many(ticked.length);
    for (const button of answers.querySelectorAll("[data-place]")) {
      const n = ticked.filter((one) => one.dataset.takes.split(" ").includes(button.dataset.place)).length;
      const [rest, other] = [ticked.length - n, button.querySelector("[data-rest]")];
      button.querySelector("[data-what]").textContent = rest ? word("requests-some", { n, all: ticked.length }) : n > 1 ? word("requests-all", { n }) : many(n);
      if (!("offline" in button.dataset)) button.disabled = !n;
      if (!other) continue;
      other.hidden = !rest || !n;
      other.textContent = word("bulk-rest", { n: rest });
    }
    const total = answers.querySelector("[data-total]");
    if (!total) return;
    const units = ticked.reduce((all, one) => all + BigInt(one.dataset.units), 0n);
    const scale = Number(total.dataset.scale);
    const digits = String(units < 0n ? -units : units).padStart(scale + 1, "0");
    const [whole, part] = [digits.slice(0, digits.length - scale), digits.slice(digits.length - scale)];
    const point = new Intl.NumberFormat(language).formatToParts(0.1).find(({ type }) => type === "decimal").value;
    total.textContent = `${units < 0n ? "-" : ""}${BigInt(whole).toLocaleString(language)}${part && point + part} ${total.dataset.currency}`;
  };
  if (answers) {
    answers.addEventListener("change", sum);
    addEventListener("pageshow", sum);
  }

  const dialog = document.getElementById("later");
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.("[data-later]");
    if (!link || !dialog || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    for (const field of dialog.querySelectorAll("[name=ask]")) field.value = link.closest("li").id;
    document.getElementById("later-more").href = `${link.getAttribute("href")}#hand`;
    dialog.showModal();
  });

  // Rows move when the list is rendered again, so a second tap at the same spot would answer
  // another request. For one second the buttons ignore taps, unless the person moved the pointer to
  // another row.
  const rows = document.getElementById("rows");
  let guard, spot, pointer;
  const rowAt = (at) => at && document.elementFromPoint(at.x, at.y)?.closest("#rows > li");
  const release = () => {
    clearTimeout(guard);
    guard = undefined;
    rows?.classList.remove("settling");
  };
  const settle = (at) => {
    release();
    spot = at && { ...at, row: undefined };
    rows?.classList.add("settling");
    guard = setTimeout(release, 1000);
  };
  const elsewhere = (event) => {
    const at = { x: event.clientX, y: event.clientY };
    pointer = at;
    if (!guard) return;
    spot ??= at;
    spot.row ??= rowAt(spot);
    const row = event.target.closest?.("#rows > li");
    if (row && row !== spot.row) release();
  };
  addEventListener("pointermove", elsewhere, true);
  addEventListener("pointerdown", (event) => {
    // A tap that began before the rows moved did not choose the row it hits.
    if (event.pointerType === "mouse" || spot?.tapped) elsewhere(event);
    else pointer = { x: event.clientX, y: event.clientY };
  }, true);
  addEventListener("click", (event) => {
    if (!guard || !event.detail || !event.target.closest?.("#rows .quick :is(button, a), #rows .tick, #rows h2 a")) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    const say = document.getElementById("say");
    if (say) say.textContent = word("list-changed");
  }, true);
  // A pointer that has not been seen yet is on no row.
  addEventListener("rows-moved", () => settle(pointer ?? { x: -1, y: -1 }));

  // An answer reloads the list. Restore the scroll position, unless the keyboard moved on to the
  // next row.
  try {
    const y = sessionStorage.getItem("scroll");
    sessionStorage.removeItem("scroll");
    const went = document.getElementById("rows")?.contains(document.activeElement);
    if (y !== null && dialog && !went) scrollTo({ top: Number(y), behavior: "instant" });
    const tapped = sessionStorage.getItem("tapped");
    sessionStorage.removeItem("tapped");
    if (returned || y !== null) settle(tapped ? { ...JSON.parse(tapped), tapped: true } : undefined);
    addEventListener("submit", (event) => {
      if (!event.target.matches("#act, #wake, #later form, form.undo")) return;
      sessionStorage.setItem("scroll", scrollY);
      if (pointer) sessionStorage.setItem("tapped", JSON.stringify(pointer));
    });
  } catch { /* storage is forbidden: begin at the top */ }
}
