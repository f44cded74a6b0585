// The documentation: buttons that copy code, the place of the page in the navigation, and addresses of
// the former API reference.

const site = document.querySelector(".docs");

if (navigator.clipboard) {
  for (const block of document.querySelectorAll(".docs-text pre")) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "docs-copy";
    button.textContent = site.dataset.copy;
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(block.textContent.trimEnd());
      button.textContent = site.dataset.copied;
      setTimeout(() => { button.textContent = site.dataset.copy; }, 2000);
    });
    const frame = document.createElement("div");
    frame.className = "docs-code";
    block.replaceWith(frame);
    frame.append(block, button);
  }
}

const here = document.querySelector(".docs-pages [aria-current]");
if (here) {
  const pages = here.closest(".docs-pages");
  pages.scrollTop = here.offsetTop - pages.clientHeight / 2;
}

// The API reference was at /docs: what does not exist here is there.
const part = decodeURIComponent(location.hash.slice(1));
if (location.pathname === "/docs" && part && !document.getElementById(part)) {
  const group = part.startsWith("group-") ? `#/${part.slice("group-".length)}` : "";
  location.replace(`/docs/api${group}`);
}
