"""Every line of README and of docs works as typed: in an empty home, in the order of the page, with its files."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest

from tests.conftest import needs_bubblewrap
from tests.support.computer import Computer
from tests.support.messages_api import MessagesAPI, text

from . import pages
from .excluded import ELSEWHERE, reason
from .reader import Reader
from .supposed import suppose

ALONE = {"README.md"} | {
    f"docs/{name}.md" for name in ("backup", "doctor", "doors", "getting-started", "recipes", "tutorial", "updating")
}
"""The pages that set the computer up, restart or remove it; all others share one, on which the modules are installed."""

CODES = {("docs/doctor.md", "parachute doctor"): 1}
"""The exit codes that a page says, other than 0."""

TYPED = {
    page: found
    for page in pages.names()
    if (found := [block for block in pages.blocks(page) if block.is_typed or block.path is not None])
    and any(not reason(line.command) for block in found if block.is_typed for line in block.lines())
}

pytestmark = [needs_bubblewrap, pytest.mark.timeout(400), pytest.mark.long, pytest.mark.computer]


@contextmanager
def _reading(api: MessagesAPI) -> Iterator[Reader]:
    api.default(text("Peas can be sown now."))
    with Computer(environment={"ANTHROPIC_BASE_URL": api.url}) as computer:
        reader = Reader(computer, api)
        try:
            yield reader
        finally:
            reader.run("command -v parachute && parachute stop; true")


@pytest.fixture(scope="module")
def shared() -> Iterator[Reader]:
    """A computer with the official modules, for pages that leave it to the next one as it is."""
    with MessagesAPI() as api, _reading(api) as reader:
        reader.run("parachute setup --yes")
        yield reader


@pytest.fixture
def alone(api: MessagesAPI) -> Iterator[Reader]:
    """A computer as it is after its first start."""
    with _reading(api) as reader:
        yield reader


@pytest.mark.parametrize("page", TYPED)
def test_every_line_works_as_typed(page: str, request: pytest.FixtureRequest) -> None:
    reader: Reader = request.getfixturevalue("alone" if page in ALONE else "shared")
    suppose(page, reader)
    for block in TYPED[page]:
        if block.path is not None:
            reader.save(block)
            continue
        for line in block.lines():
            if reason(line.command) is None:
                reader.type(line, CODES.get((page, line.command), 0))


@pytest.mark.parametrize(
    ("page", "path", "command", "shown"),
    [
        ("modules/brain/README.md", "Brain/entities/projects/lvb.md", "brain show LVB", "Learn Vibe Build"),
        ("modules/daily/README.md", "Daily/journals/2024-01-15.md", "daily show 2024-01-15", "about the curriculum"),
    ],
)
def test_a_file_of_an_official_module_is_read(shared: Reader, page: str, path: str, command: str, shown: str) -> None:
    (example,) = [block for block in pages.blocks(page) if block.language == "markdown"]
    shared.save(replace(example, path=f"~/Parachute/{path}"))
    assert shown in shared.run(f"parachute {command}")


def test_every_exclusion_is_needed() -> None:
    found = [block for page in pages.names() for block in pages.blocks(page) if block.is_typed]
    commands = [line.command for block in found for line in block.lines()]
    assert [known for known in ELSEWHERE if not any(command.startswith(known) for command in commands)] == []
