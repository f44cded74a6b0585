// Selecting several, putting one aside, and coming back to where one was.
"use strict";
{
  // What was told once is not told again by a reload.
  const address = new URL(location.href);
  for (const name of ["sent", "aside", "woken", "handed"]) address.searchParams.delete(name);
  if (address.href !== location.href) history.replaceState(null, "", address);

  // Mornings are those of where one is.
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
    if (place) place.textContent = n;
  };
  document.addEventListener("change", (event) => { if (event.target.closest(".tick")) tally(); });
  addEventListener("pageshow", tally);
  tally();

  const dialog = document.getElementById("later");
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.("[data-later]");
    if (!link || !dialog || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    for (const field of dialog.querySelectorAll("[name=ask]")) field.value = link.closest("li").id;
    document.getElementById("later-more").href = `${link.getAttribute("href")}#hand`;
    dialog.showModal();
  });

  // An answer loads the list again; it stays where it was.
  try {
    const y = sessionStorage.getItem("scroll");
    sessionStorage.removeItem("scroll");
    if (y !== null && dialog) scrollTo({ top: Number(y), behavior: "instant" });
    for (const form of document.querySelectorAll("#act, #wake, #later form")) {
      form.addEventListener("submit", () => sessionStorage.setItem("scroll", scrollY));
    }
  } catch { /* storage is forbidden: begin at the top */ }
}
