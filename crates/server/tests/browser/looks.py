"""How a page is measured."""

import os
import pathlib

CONTRAST = """() => {
  const parse = (text) => (text.match(/[\\d.]+/g) ?? []).map(Number);
  const light = ([r, g, b]) => {
    const f = (v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
    return 0.2126 * f(r) + 0.7152 * f(g) + 0.0722 * f(b);
  };
  const ground = (e) => {
    for (; e; e = e.parentElement) {
      const c = parse(getComputedStyle(e).backgroundColor);
      if (c.length === 3 || c[3] === 1) return c;
    }
    return [255, 255, 255];
  };
  const poor = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const e = walker.currentNode.parentElement, box = e.getBoundingClientRect();
    if (!walker.currentNode.data.trim() || box.width < 2 || !e.checkVisibility()) continue;
    const s = getComputedStyle(e);
    const [a, b] = [light(parse(s.color)), light(ground(e))].sort((a, b) => b - a);
    const ratio = (a + 0.05) / (b + 0.05);
    const large = parseFloat(s.fontSize) >= 24 || (parseFloat(s.fontSize) >= 18.66 && s.fontWeight >= 700);
    if (ratio < (large ? 3 : 4.5)) poor.push([walker.currentNode.data.trim().slice(0, 40), ratio]);
  }
  return poor;
}"""

SMALL = """() => [...document.querySelectorAll("button, input:not([type=hidden], .opener), select, textarea, summary, main a, label.pick, label.tick")]
  .filter((e) => e.checkVisibility() && !e.closest("label.pick > *"))
  // A box is hit anywhere on its label, the link of a row anywhere on the row.
  .filter((e) => !e.matches("label.pick input, label.tick input, .row h2 a"))
  .map((e) => [e.innerText || e.name, e.getBoundingClientRect().height])
  .filter(([, height]) => height < 43.5)"""


def reflows(page, name, size):
    """WCAG 1.4.10: nothing scrolls sideways, at the page's own width and at 320 px."""
    for width in {size["width"], 320}:
        page.set_viewport_size({"width": width, "height": size["height"]})
        wide = page.evaluate("document.scrollingElement.scrollWidth - innerWidth")
        assert wide <= 0, f"{name} is {wide} px too wide at {width} px"
    page.set_viewport_size(size)


def looks_right(page, name, size):
    """Nothing scrolls sideways, everything can be hit and read. For looking at it: SHOTS=folder."""
    reflows(page, name, size)
    assert page.evaluate(CONTRAST) == []
    assert page.evaluate(SMALL) == []
    assert page.locator("h1").count() == 1
    if folder := os.environ.get("SHOTS"):
        height = page.evaluate("document.documentElement.scrollHeight")
        page.set_viewport_size({"width": size["width"], "height": max(height, size["height"])})
        page.screenshot(path=str(pathlib.Path(folder) / f"{name}-{size['width']}.png"))
        page.set_viewport_size(size)
