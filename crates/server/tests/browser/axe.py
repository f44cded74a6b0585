"""The rules of axe-core, for any page: nothing serious or critical may be found."""

import importlib.resources

SOURCE = (importlib.resources.files("axe_playwright_python") / "axe.min.js").read_text()
RUN = """() => axe.run(document, { resultTypes: ["violations"] }).then((found) => found.violations
  .filter((one) => ["serious", "critical"].includes(one.impact))
  .map((one) => [one.id, one.help, one.nodes.slice(0, 3).map((node) => node.html.slice(0, 160))]))"""


def check(page):
    """Holds the page as it is now against the rules."""
    page.evaluate(SOURCE)
    assert page.evaluate(RUN) == [], page.url
