"""Every example on a page that is not typed is accepted by what it is written for."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from parachute.automation.tasks.reading import read_tasks
from parachute.capabilities.mcp_servers.configuration import FILE, Configuration
from parachute.chat.workspaces.declared import declared_workspaces
from parachute.config.declared.file import VARIABLE, load
from parachute.connectors.configuration.service import BotConfiguration
from tests.config.declared.declaring import USER, write
from tests.nix.evaluation import evaluate

from . import pages
from .pages import ROOT, Block

pytestmark = pytest.mark.process

HASH = "sha256:" + "0" * 64


def _declaration(text: str, folder: Path, patch: pytest.MonkeyPatch) -> None:
    document = json.loads(text.replace("sha256:…", HASH))
    path = write(folder / "declared.json", **{**document, "user": USER})
    patch.setenv(VARIABLE, str(path))
    found = load()
    assert sorted(found.modules) == ["books", "brain"]
    assert list(declared_workspaces(found)) == ["garden"]


def _mcp_file(text: str, folder: Path, patch: pytest.MonkeyPatch) -> None:
    (folder / FILE).write_text(text)
    found = Configuration(folder, folder / "lock").load()
    assert found.problem is None
    assert [server.problems for server in found.servers] == [()]


def _nixos_configuration(text: str, folder: Path, patch: pytest.MonkeyPatch) -> None:
    # As Nix hands an input over: a text that is known to be in the store.
    inputs = f'let inputs.weather.outPath = "${{{folder}}}"; in '
    found = evaluate(inputs + text)
    assert "parachute" in found["services"]


def _bots(text: str, folder: Path, patch: pytest.MonkeyPatch) -> None:
    folder.chmod(0o700)
    (folder / "bots.yaml").write_text(text)
    (folder / "bots.yaml").chmod(0o600)
    assert BotConfiguration(folder).read().of("telegram").allowed_users == ["4711"]


def _tasks(text: str, folder: Path, patch: pytest.MonkeyPatch) -> None:
    assert [(each.text, str(each.due), each.done) for each in read_tasks(text)] == [
        ("Call the bank", "2026-12-24", False),
        ("Water the beans", "None", True),
    ]


LOADERS: dict[tuple[str, str], Callable[[str, Path, pytest.MonkeyPatch], None]] = {
    ("docs/mcp-servers.md", "json"): _mcp_file,
    ("docs/messengers.md", "yaml"): _bots,
    ("docs/nixos.md", "json"): _declaration,
    ("docs/nixos.md", "nix"): _nixos_configuration,
    ("docs/reminders.md", "markdown"): _tasks,
}

ELSEWHERE = {
    ("README.md", "nix"): "tests/nix/test_documented_flakes.py",
    ("docs/hooks.md", "json"): "tests/events/hooks/test_documentation.py",
    ("docs/hooks.md", "yaml"): "tests/events/hooks/test_documentation.py",
    ("docs/modules.md", "python"): "tests/core/test_documentation.py",
    ("docs/modules.md", "yaml"): "tests/core/test_documentation.py",
    ("modules/brain/README.md", "markdown"): "tests/documentation/test_typed.py",
    ("modules/daily/README.md", "markdown"): "tests/documentation/test_typed.py",
}
"""Examples of which another test needs more than to load them."""

EXAMPLES = [
    block
    for page in pages.names()
    for block in pages.blocks(page)
    if not block.is_typed and block.path is None and block.language != pages.SHOWN
]


def test_every_example_has_a_test() -> None:
    kinds = {(block.page, block.language) for block in EXAMPLES}
    assert kinds == LOADERS.keys() | ELSEWHERE.keys()
    for (page, _), test in ELSEWHERE.items():
        assert Path(page).name in (ROOT / test).read_text()


@pytest.mark.parametrize(
    "block", [block for block in EXAMPLES if (block.page, block.language) in LOADERS], ids=lambda block: block.place
)
def test_it_is_accepted(block: Block, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    LOADERS[block.page, block.language](block.text, tmp_path, monkeypatch)


@pytest.mark.parametrize(
    "block",
    [block for page in pages.names() for block in pages.blocks(page) if block.path],
    ids=lambda block: block.place,
)
def test_the_page_says_where_a_file_is_saved(block: Block) -> None:
    assert f"`{block.path}`" in pages.before(block)
