"""Fixtures for pytest.

Name the module in your `conftest.py`:

```python
pytest_plugins = ["countersign.pytest_plugin"]
```
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from .testing import Server, serve


@pytest.fixture(scope="session")
def countersign_server() -> Iterator[Server]:
    """One real server for the whole run."""
    with serve() as server:
        yield server
