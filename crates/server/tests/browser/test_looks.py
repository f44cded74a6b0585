"""What every page must be, measured in the browser: no sideways scrolling, targets a thumb can hit,
contrast of WCAG 2.2 AA, in light and dark, on a phone and on a desk."""

import cases
import pytest
from conftest import DESK, PHONE
from looks import looks_right


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [PHONE, DESK], ids=["phone", "desk"])
@pytest.mark.parametrize("name", cases.ALL)
def test_every_type_looks_right(server, visit, name, size, scheme):
    """HITL-041, HITL-049, UX 8, UX 9."""
    case = server.case(**cases.ALL[name])
    page = visit(case["review_url"], size, color_scheme=scheme)
    for summary in page.locator("details:not(.menu) > summary").all():
        summary.click()
    looks_right(page, f"{name}-{scheme}", size)


def test_harm_stays_words(server, visit):
    """Hostile words are shown whole, with what hides in them in sight, and run nowhere."""
    case = server.case(**cases.HARM)
    page = visit(case["review_url"])
    text = page.locator("main").inner_text()
    assert "</script><script>alert(1)</script>" in text and "$&" in text
    assert "⟨U+202E⟩" in text and "\u202e" not in text
    assert "x" * 10_000 in page.locator("main").text_content()
