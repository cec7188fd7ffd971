"""Approvals: of exactly one configuration with the files that it names, and nothing that a vault can bring."""

import json
import stat
from pathlib import Path
from typing import Any

import pytest

from parachute.errors import InvalidInput, NotFound
from parachute.mcp_servers.catalog import Catalog, NotApproved
from parachute.settings.home import Home


class Cupboard:
    """A vault and a folder of trust."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.home = Home(root / "home")
        self.vault = root / "vault"
        for folder in (self.home.root, self.vault):
            folder.mkdir(mode=0o700)

    @property
    def catalog(self) -> Catalog:
        """As another process sees it."""
        return Catalog(self.home, self.vault, [self.root / "projects"])

    def write(self, name: str = "notes", **fields: Any) -> None:
        """Write the file, with this server alone."""
        (self.vault / ".mcp.json").write_text(json.dumps({"mcpServers": {name: {"command": "cat", **fields}}}))

    def approve(self, name: str = "notes", **options: Any) -> None:
        """Approve it as it is."""
        catalog = self.catalog
        catalog.approve(catalog.review(name, **options))

    def state(self, name: str = "notes") -> str:
        """Whether it may run."""
        return self.catalog.get(name).state


@pytest.fixture
def cupboard(tmp_path: Path) -> Cupboard:
    """Nothing is in it yet."""
    return Cupboard(tmp_path.resolve())


@pytest.mark.parametrize(
    "change",
    [
        {"command": "head"},
        {"args": ["--more"]},
        {"args": ["a", "b"]},
        {"env": {"MODE": "slow"}},
        {"env": {"PATH": "/data"}},
        {"env": {}},
    ],
)
def test_every_change_asks_again(cupboard: Cupboard, change: dict[str, Any]) -> None:
    sound = {"args": ["a b"], "env": {"MODE": "fast"}}
    cupboard.write(**sound)
    assert cupboard.state() == "waiting"
    cupboard.approve()
    assert cupboard.state() == "approved"
    cupboard.write(**{**sound, **change})
    assert cupboard.state() == "waiting"
    with pytest.raises(NotApproved):
        cupboard.catalog.runnable("notes")
    cupboard.write(**sound)
    assert cupboard.state() == "approved"


def test_an_approval_is_of_one_name(cupboard: Cupboard) -> None:
    cupboard.write()
    cupboard.approve()
    cupboard.write("other")
    assert cupboard.state("other") == "waiting"


def test_nothing_in_the_vault_approves(cupboard: Cupboard) -> None:
    cupboard.write()
    cupboard.approve()
    approved = (cupboard.home.root / "mcp-approved.json").read_text()
    (cupboard.home.root / "mcp-approved.json").unlink()
    for place in (cupboard.vault, cupboard.vault / ".parachute"):
        place.mkdir(exist_ok=True)
        (place / "mcp-approved.json").write_text(approved)
    assert cupboard.state() == "waiting"


@pytest.mark.parametrize(
    "text", ["{", '{"approved": []}', '{"approved": {"sha256:1": {"server": "notes", "hosts": "x"}}}']
)
def test_approvals_that_cannot_be_read_approve_nothing(cupboard: Cupboard, text: str) -> None:
    cupboard.write()
    cupboard.approve()
    (cupboard.home.root / "mcp-approved.json").write_text(text)
    with pytest.raises(InvalidInput):
        cupboard.catalog.runnable("notes")
    with pytest.raises(InvalidInput):
        cupboard.catalog.listed()


def test_removing_takes_the_approval_back(cupboard: Cupboard) -> None:
    cupboard.write()
    cupboard.approve()
    cupboard.catalog.remove("notes")
    cupboard.write()
    assert cupboard.state() == "waiting"
    with pytest.raises(NotFound):
        cupboard.catalog.remove("other")


def test_what_a_server_has_written_goes_only_when_asked(cupboard: Cupboard) -> None:
    for purge in (False, True):
        cupboard.write()
        cupboard.approve()
        data = cupboard.catalog.folders("notes").data
        (data / "notes.txt").write_text("kept")
        cupboard.catalog.remove("notes", purge=purge)
        assert data.exists() is not purge


def test_a_file_that_the_command_names_is_approved_and_copied(cupboard: Cupboard) -> None:
    program = cupboard.root / "server.py"
    program.write_text("print(1)")
    link = cupboard.root / "link.py"
    link.symlink_to(program)
    for named in (program, link):
        cupboard.write(args=[str(named), "/nowhere", "/usr/bin/env", "relative.py"])
        cupboard.approve()
        runnable = cupboard.catalog.runnable("notes")
        assert list(runnable.files) == [str(named)]
        (copy,) = cupboard.catalog.folders("notes").files.iterdir()
        assert copy.read_text() == "print(1)"
        assert stat.S_IMODE(copy.stat().st_mode) == 0o500
        program.write_text("print(2)")
        assert cupboard.state() == "waiting"
        assert copy.read_text() == "print(1)"
        program.write_text("print(1)")
        assert cupboard.state() == "approved"
    program.unlink()
    assert cupboard.state() == "waiting"


def test_a_file_that_comes_later_asks_again(cupboard: Cupboard) -> None:
    late = cupboard.root / "late.py"
    cupboard.write(args=[str(late)])
    cupboard.approve()
    late.write_text("print('surprise')")
    assert cupboard.state() == "waiting"


def test_what_is_approved_is_what_was_shown(cupboard: Cupboard) -> None:
    program = cupboard.root / "server.py"
    program.write_text("print(1)")
    cupboard.write(args=[str(program)])
    catalog = cupboard.catalog
    review = catalog.review("notes")
    program.write_text("print('another')")
    catalog.approve(review)
    assert cupboard.state() == "waiting"
    (copy,) = catalog.folders("notes").files.iterdir()
    assert copy.read_text() == "print(1)"


def test_the_computers_own_files_are_given_to_no_server(cupboard: Cupboard) -> None:
    (cupboard.home.root / "keys.yaml").write_text("secret")
    (cupboard.vault / ".parachute").mkdir()
    (cupboard.vault / ".parachute" / "sessions.db").write_text("secret")
    (cupboard.root / "link").symlink_to(cupboard.home.root / "keys.yaml")
    for path in (
        cupboard.home.root / "keys.yaml",
        cupboard.vault / ".parachute" / "sessions.db",
        cupboard.root / "link",
    ):
        cupboard.write(args=[str(path)])
        with pytest.raises(InvalidInput, match="the computer's own data"):
            cupboard.approve()
        assert cupboard.state() == "invalid"


def test_folders_in_which_agents_write_are_given_to_no_server(cupboard: Cupboard) -> None:
    cupboard.write()
    for name in ("vault/Projects", "projects/garden", "servers/notes", "home/mcp"):
        (cupboard.root / name).mkdir(parents=True)
    for name in ("vault", "vault/Projects", "projects", "projects/garden", "home", "home/mcp", "", "nowhere"):
        with pytest.raises(InvalidInput):
            cupboard.approve(folders=[str(cupboard.root / name)])
    with pytest.raises(InvalidInput):
        cupboard.approve(folders=["servers/notes"])
    assert cupboard.state() == "waiting"
    cupboard.approve(folders=[str(cupboard.root / "servers" / "notes")])
    assert cupboard.state() == "approved"
    # The folder is a project by now.
    later = Catalog(cupboard.home, cupboard.vault, [cupboard.root / "servers"])
    assert later.get("notes").state == "invalid"


def test_files_below_an_approved_folder_are_not_copied(cupboard: Cupboard) -> None:
    folder = cupboard.root / "servers"
    folder.mkdir()
    (folder / "server.py").write_text("print(1)")
    cupboard.write(args=[str(folder / "server.py")])
    cupboard.approve(folders=[str(folder)])
    (folder / "server.py").write_text("print(2)")
    assert cupboard.state() == "approved"
    assert cupboard.catalog.runnable("notes").files == {}


def test_secrets_are_kept_private_and_never_listed(cupboard: Cupboard) -> None:
    secrets = cupboard.catalog.secrets
    secrets.set("ONE", "first")
    secrets.set("TWO", "second")
    secrets.set("ONE", "third")
    assert secrets.names() == ["ONE", "TWO"]
    path = cupboard.home.root / "mcp-secrets.json"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    cupboard.write(env={"A": "x ${secret:ONE}${secret:TWO}", "B": "plain"})
    assert secrets.environment(cupboard.catalog.get("notes").server) == {"A": "x thirdsecond", "B": "plain"}
    secrets.remove("TWO")
    with pytest.raises(InvalidInput, match="TWO"):
        secrets.environment(cupboard.catalog.get("notes").server)
    with pytest.raises(NotFound):
        secrets.remove("TWO")
    for name, value in (("", "x"), ("a b", "x"), ("1A", "x"), ("A", ""), ("A", "x" * 20_000), ("A", "a\0b")):
        with pytest.raises(InvalidInput):
            secrets.set(name, value)
    assert secrets.names() == ["ONE"]
    path.write_text("{")
    with pytest.raises(InvalidInput):
        secrets.names()


@pytest.mark.parametrize(
    ("command", "key"),
    [
        ("npx", "program_needs_network"),
        ("/opt/node/bin/npx", "program_needs_network"),
        ("uvx", "program_needs_network"),
        ("nosuchprogram", "program_missing"),
        ("/nowhere/server", "program_missing"),
    ],
)
def test_a_program_that_could_never_run_is_not_approved(cupboard: Cupboard, command: str, key: str) -> None:
    cupboard.write("files", command=command)
    with pytest.raises(InvalidInput) as refused:
        cupboard.catalog.review("files")
    assert refused.value.key == key


def test_a_program_that_fetches_its_parts_is_approved_with_hosts(cupboard: Cupboard) -> None:
    program = cupboard.root / "npx"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o700)
    cupboard.write("files", command=str(program))
    assert cupboard.catalog.review("files", ["packages.example.org"]).hosts == ("packages.example.org",)
