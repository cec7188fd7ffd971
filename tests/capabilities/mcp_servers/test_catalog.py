"""Approvals: of exactly one configuration with the files that it names, and nothing that a vault can bring."""

import json
import stat
from pathlib import Path
from typing import Any

import pytest

from parachute.base.errors import InvalidInput, NotFound
from parachute.capabilities.mcp_servers.catalog import Catalog
from parachute.config.settings.home import Home
from tests.support.errors import raises


class Installation:
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
        """Return the state of a server."""
        return self.catalog.get(name).state


@pytest.fixture
def installation(tmp_path: Path) -> Installation:
    """Nothing is in it yet."""
    return Installation(tmp_path.resolve())


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
def test_every_change_asks_again(installation: Installation, change: dict[str, Any]) -> None:
    sound: dict[str, Any] = {"args": ["a b"], "env": {"MODE": "fast"}}
    installation.write(**sound)
    assert installation.state() == "waiting"
    installation.approve()
    assert installation.state() == "approved"
    installation.write(**{**sound, **change})
    assert installation.state() == "waiting"
    with raises("not_approved"):
        installation.catalog.runnable("notes")
    installation.write(**sound)
    assert installation.state() == "approved"


def test_an_approval_is_of_one_name(installation: Installation) -> None:
    installation.write()
    installation.approve()
    installation.write("other")
    assert installation.state("other") == "waiting"


def test_nothing_in_the_vault_approves(installation: Installation) -> None:
    installation.write()
    installation.approve()
    approved = (installation.home.root / "mcp-approved.json").read_text()
    (installation.home.root / "mcp-approved.json").unlink()
    for place in (installation.vault, installation.vault / ".parachute"):
        place.mkdir(exist_ok=True)
        (place / "mcp-approved.json").write_text(approved)
    assert installation.state() == "waiting"


@pytest.mark.parametrize(
    "text", ["{", '{"approved": []}', '{"approved": {"sha256:1": {"server": "notes", "hosts": "x"}}}']
)
def test_approvals_that_cannot_be_read_approve_nothing(installation: Installation, text: str) -> None:
    installation.write()
    installation.approve()
    (installation.home.root / "mcp-approved.json").write_text(text)
    with pytest.raises(InvalidInput):
        installation.catalog.runnable("notes")
    with pytest.raises(InvalidInput):
        installation.catalog.listed()


def test_removing_takes_the_approval_back(installation: Installation) -> None:
    installation.write()
    installation.approve()
    installation.catalog.remove("notes")
    installation.write()
    assert installation.state() == "waiting"
    with pytest.raises(NotFound):
        installation.catalog.remove("other")


def test_what_a_server_has_written_goes_only_when_asked(installation: Installation) -> None:
    for purge in (False, True):
        installation.write()
        installation.approve()
        data = installation.catalog.folders("notes").data
        (data / "notes.txt").write_text("kept")
        installation.catalog.remove("notes", purge=purge)
        assert data.exists() is not purge


def test_a_file_that_the_command_names_is_approved_and_copied(installation: Installation) -> None:
    program = installation.root / "server.py"
    program.write_text("print(1)")
    link = installation.root / "link.py"
    link.symlink_to(program)
    for named in (program, link):
        installation.write(args=[str(named), "/nowhere", "/usr/bin/env", "relative.py"])
        installation.approve()
        runnable = installation.catalog.runnable("notes")
        assert list(runnable.files) == [str(named)]
        (copy,) = installation.catalog.folders("notes").files.iterdir()
        assert copy.read_text() == "print(1)"
        assert stat.S_IMODE(copy.stat().st_mode) == 0o500
        program.write_text("print(2)")
        assert installation.state() == "waiting"
        assert copy.read_text() == "print(1)"
        program.write_text("print(1)")
        assert installation.state() == "approved"
    program.unlink()
    assert installation.state() == "waiting"


def test_a_file_that_comes_later_asks_again(installation: Installation) -> None:
    late = installation.root / "late.py"
    installation.write(args=[str(late)])
    installation.approve()
    late.write_text("print('surprise')")
    assert installation.state() == "waiting"


def test_what_is_approved_is_what_was_shown(installation: Installation) -> None:
    program = installation.root / "server.py"
    program.write_text("print(1)")
    installation.write(args=[str(program)])
    catalog = installation.catalog
    review = catalog.review("notes")
    program.write_text("print('another')")
    catalog.approve(review)
    assert installation.state() == "waiting"
    (copy,) = catalog.folders("notes").files.iterdir()
    assert copy.read_text() == "print(1)"


def test_the_computers_own_files_are_given_to_no_server(installation: Installation) -> None:
    (installation.home.root / "keys.yaml").write_text("secret")
    (installation.vault / ".parachute").mkdir()
    (installation.vault / ".parachute" / "sessions.db").write_text("secret")
    (installation.root / "link").symlink_to(installation.home.root / "keys.yaml")
    for path in (
        installation.home.root / "keys.yaml",
        installation.vault / ".parachute" / "sessions.db",
        installation.root / "link",
    ):
        installation.write(args=[str(path)])
        with raises("computers_own"):
            installation.approve()
        assert installation.state() == "invalid"


def test_folders_in_which_agents_write_are_given_to_no_server(installation: Installation) -> None:
    installation.write()
    for name in ("vault/Projects", "projects/garden", "servers/notes", "home/mcp"):
        (installation.root / name).mkdir(parents=True)
    for name in ("vault", "vault/Projects", "projects", "projects/garden", "home", "home/mcp", "", "nowhere"):
        with pytest.raises(InvalidInput):
            installation.approve(folders=[str(installation.root / name)])
    with pytest.raises(InvalidInput):
        installation.approve(folders=["servers/notes"])
    assert installation.state() == "waiting"
    installation.approve(folders=[str(installation.root / "servers" / "notes")])
    assert installation.state() == "approved"
    # The folder is a project by now.
    later = Catalog(installation.home, installation.vault, [installation.root / "servers"])
    assert later.get("notes").state == "invalid"


def test_files_below_an_approved_folder_are_not_copied(installation: Installation) -> None:
    folder = installation.root / "servers"
    folder.mkdir()
    (folder / "server.py").write_text("print(1)")
    installation.write(args=[str(folder / "server.py")])
    installation.approve(folders=[str(folder)])
    (folder / "server.py").write_text("print(2)")
    assert installation.state() == "approved"
    assert installation.catalog.runnable("notes").files == {}


def test_secrets_are_kept_private_and_never_listed(installation: Installation) -> None:
    secrets = installation.catalog.secrets
    secrets.set("ONE", "first")
    secrets.set("TWO", "second")
    secrets.set("ONE", "third")
    assert secrets.names() == ["ONE", "TWO"]
    path = installation.home.root / "mcp-secrets.json"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    installation.write(env={"A": "x ${secret:ONE}${secret:TWO}", "B": "plain"})
    assert secrets.environment(installation.catalog.get("notes").server) == {"A": "x thirdsecond", "B": "plain"}
    secrets.remove("TWO")
    with raises("secret_missing", names="TWO"):
        secrets.environment(installation.catalog.get("notes").server)
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
def test_a_program_that_could_never_run_is_not_approved(installation: Installation, command: str, key: str) -> None:
    installation.write("files", command=command)
    with pytest.raises(InvalidInput) as refused:
        installation.catalog.review("files")
    assert refused.value.key == key


def test_a_program_that_fetches_its_parts_is_approved_with_hosts(installation: Installation) -> None:
    program = installation.root / "npx"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o700)
    installation.write("files", command=str(program))
    assert installation.catalog.review("files", ["packages.example.org"]).hosts == ("packages.example.org",)
