// Offers the browser's own time zone first, where none is selected.
"use strict";
for (const select of document.querySelectorAll("select[data-zone]")) {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const known = [...select.options].some((option) => option.value === zone);
  if (select.value || !zone || !known) continue;
  select.prepend(new Option(select.dataset.zone.replace("{}", zone.replaceAll("_", " ")), zone));
}
