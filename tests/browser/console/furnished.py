"""A computer with something to see on every screen."""

import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.browser.console import furnishing
from tests.browser.console.furnished_bots import furnished_bots
from tests.browser.console.furnished_files import furnish_decisions, furnish_files
from tests.browser.console.furnished_lists import furnish_lists
from tests.browser.console.furnished_parts import furnished_parts
from tests.browser.console.furnished_talks import furnish_talks
from tests.browser.console.people import computer_with
from tests.support.computer import Computer
from tests.support.messages_api import MessagesAPI, text

ANSWER = """A journal is good for **remembering**, and for noticing what repeats.

1. Write a sentence a day.
2. Read a month at a time.

```python
def remember(day: str) -> str:
    return f"What happened on {day}?"
```

| when | what |
|---|---|
| morning | intentions |
| evening | gratitude |
"""


@contextlib.contextmanager
def furnished_computer() -> Iterator[Computer]:
    """A computer whose household has a model that always gives the same answer."""
    with MessagesAPI() as model:
        model.default(text(ANSWER))
        with (
            computer_with(model) as computer,
            tempfile.TemporaryDirectory(prefix="pc-git-") as folder,
            furnished_parts(computer, model, Path(folder)) as house,
        ):
            furnish_talks(house)
            furnish_lists(computer)
            furnish_files(computer)
            furnish_decisions(computer)
            with furnished_bots(computer, model):
                yield computer


@contextlib.contextmanager
def empty_computer() -> Iterator[Computer]:
    """A computer on which nothing has happened yet."""
    with MessagesAPI() as model, computer_with(model) as computer:
        for name in ("brain", "daily", "chat", "imports"):
            furnishing.install(computer, name)
        yield computer
