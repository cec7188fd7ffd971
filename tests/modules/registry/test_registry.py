"""`modules.yaml`."""

import os
import stat
import threading
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from parachute.base.errors import NotFound
from parachute.base.signatures import JUST_NOW_NS
from parachute.modules.registry.document import RegistryUnreadable, parse_document, render_document
from parachute.modules.registry.models import Trust
from parachute.modules.registry.registry import Registry, not_installed
from tests.support.auditing import audited
from tests.support.errors import raises
from tests.support.waiting import wait_until

from .building import entry

FULL = entry(
    "brain",
    source="https://example.org/brain",
    version="1.0.0",
    path="python",
    trust=Trust.UNTRUSTED,
    packages_hash="sha256:" + "a" * 64,
    permissions={
        "write": ["Brain/**"],
        "network": None,
        "memory": 512,
        "share": 0.5,
        "agents": {"indexer": {"on": True}},
    },
    approved_at=datetime(2026, 1, 2, 3, 4, 5, 678901, UTC),
)


@pytest.fixture
def registry(tmp_path: Path) -> Registry:
    """A list that does not exist yet."""
    tmp_path.chmod(0o700)
    return Registry(tmp_path / "modules.yaml")


def written(registry: Registry, text: str) -> Registry:
    """The list with a text that somebody wrote."""
    registry.path.write_text(text)
    registry.path.chmod(0o600)
    return registry


def test_what_is_stored_comes_back(registry: Registry) -> None:
    assert registry.load() == {}
    registry.put(FULL)
    registry.put(entry("hello", dev=Path("/home/me/hello"), enabled=False))
    assert registry.load()["brain"] == FULL
    assert registry.load()["hello"].dev == Path("/home/me/hello")
    assert stat.S_IMODE(registry.path.stat().st_mode) == 0o600
    assert registry.take("hello").name == "hello"
    assert list(registry.load()) == ["brain"]
    with raises("module_not_installed"):
        registry.take("hello")
    with pytest.raises(NotFound):
        registry.replace("hello", lambda module: module)


def test_the_file_may_be_written_by_hand(registry: Registry) -> None:
    digest = "0123456789abcdef" * 4
    text = 'modules:\n  daily:\n    enabled: true\n    source: parachute://daily # official\n    version: "1.0.0"\n'
    written(registry, f'{text}    trust: verified\n    hash: "sha256:{digest}"\n...\n')
    module = registry.load()["daily"]
    assert (module.trust, module.version, module.approved_at) == (Trust.VERIFIED, "1.0.0", None)


def test_what_a_person_writes_as_in_the_specification_needs_no_last_line_and_approves_nothing(
    registry: Registry,
) -> None:
    text = """\
modules:
  telegram-bot:
    source: local
    path: "Modules/telegram-bot"
    trust: trusted
    hash: "sha256:{digest}"  # Computed on first load
    agents:
      responder:
        capabilities: ["read"]
"""
    written(registry, text.format(digest="ab" * 32))
    module = registry.load()["telegram-bot"]
    assert (module.enabled, module.path, module.approved_at) == (True, "Modules/telegram-bot", None)
    # An approval is the program's: cut off behind it, the file might lack what was taken from the agent.
    approved = text.format(digest="ab" * 32).replace(
        "    agents:", "    approved_at: 2026-01-15T10:30:00Z\n    agents:"
    )
    written(registry, approved)
    with pytest.raises(RegistryUnreadable):
        registry.load()


def test_a_file_that_was_cut_off_anywhere_is_an_error(registry: Registry) -> None:
    text = render_document({"brain": FULL, "hello": entry("hello", dev=Path("/home/me/hello/there"))})
    complete = len(text.rstrip())
    for length in range(complete):
        with raises("registry_unreadable", names=r"modules\.yaml, line \d+: "):
            parse_document(text[:length].encode(), registry.path)
    assert len(parse_document(text[:complete].encode(), registry.path)) == 2


@pytest.mark.parametrize(
    ("line", "change", "problem"),
    [
        (2, "  json: true", "modules.json: Fields with values"),
        (2, "  Brain:", "modules.Brain: This is not a valid name of a module"),
        (3, "    enabled: yes", "enabled: Write true or false"),
        (3, "    enabled: 'true'", "enabled: Write true or false"),
        (4, "    source: 5", "source: YAML takes this for a number"),
        (5, "    trust: direct", "trust: One of verified, trusted, untrusted"),
        (6, "    hash: sha256:abc", "hash: `sha256:` and 64 digits"),
        (6, "    hash: &a x", "aliases"),
        (7, "    version: 1.0", 'version: YAML takes this for a number; write "1.0" in quotes'),
        (7, "    verison: x", "verison: Unknown field; did you mean version?"),
        (7, "    trust: trusted", "'trust' is there twice"),
        (7, "    dev: module", "dev: An absolute path"),
        (7, "    approved_at: 2024-01-15", "approved_at: The time lacks its time zone"),
        (7, "    approved_at: soon", "approved_at: A time such as"),
        (7, "    permissions: [a]", "permissions: Fields with values"),
        (7, "    permissions: {a: *b}", "aliases"),
        (7, "    permissions: " + "[" * 20 + "]" * 20, "lists inside of lists"),
        (7, "    version: [", "This is not YAML"),
        (7, "    version: '\x01'", "This is not YAML"),
        (7, "    version: !!python/object:x {}", "The tag"),
    ],
)
def test_a_mistake_is_named_with_its_line(registry: Registry, line: int, change: str, problem: str) -> None:
    lines = render_document({"hello": entry()}).splitlines()[1:]
    assert lines[1:6] == ["  hello:", "    enabled: true", "    source: /source", "    trust: trusted", lines[5]]
    lines[line - 1 : line if line < 7 else line - 1] = [change]
    if line == 2 and ":" in change and "true" in change:
        del lines[2:6]
    written(registry, "\n".join(lines) + "\n")
    with pytest.raises(RegistryUnreadable) as raised:
        registry.load()
    assert problem in raised.value.message
    assert "modules.yaml, line " in raised.value.message
    assert raised.value.hint is not None


def test_a_file_that_is_not_understood_stays_as_it_is(registry: Registry) -> None:
    text = "modules:\n  hello: nonsense\n...\n"
    written(registry, text)
    with pytest.raises(RegistryUnreadable):
        registry.put(FULL)
    assert registry.path.read_text() == text


@pytest.mark.parametrize(
    "text", ["", "...\n", "modules:\n...\n", "[]\n...\n", "modules: {}\nmore: 1\n...\n", "a: \xff\n..."]
)
def test_other_documents_are_errors(registry: Registry, text: str) -> None:
    registry.path.write_bytes(text.encode("latin-1"))
    registry.path.chmod(0o600)
    with raises("registry_unreadable", names=r", line \d+: "):
        registry.load()


def test_a_link_or_an_open_folder_is_not_believed(registry: Registry, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text("modules: {}\n...\n")
    registry.path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(RegistryUnreadable):
        registry.load()


def test_two_that_write_lose_nothing(registry: Registry) -> None:
    names = [f"module-{number}" for number in range(12)]
    threads = [threading.Thread(target=registry.put, args=(entry(name),)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(registry.load()) == sorted(names)


def test_what_is_not_installed_names_the_command_that_installs_it() -> None:
    assert not_installed("daily").hint == "`parachute setup --modules daily` installs it."
    assert not_installed("weeds").hint == "`parachute modules list` shows what is installed."


def _settled(registry: Registry) -> None:
    """Wait until the last change is so old that a further one would have another time."""
    changed = registry.path.stat().st_ctime_ns
    wait_until(lambda: time.time_ns() - changed > 2 * JUST_NOW_NS, "the file is no longer new")


def test_it_is_read_once_however_often_it_is_asked(registry: Registry) -> None:
    for number in range(20):
        registry.put(entry(f"module{number}"))
    _settled(registry)
    opened: list[str] = []
    with audited(lambda event, arguments: opened.append(str(arguments[0])) if event == "open" else None):
        assert [registry.module(name).name for name in registry.load()] == list(registry.load())
    assert opened.count(registry.path.name) == 1


def test_every_change_of_it_is_seen(registry: Registry) -> None:
    registry.put(entry("hello"))
    other = Registry(registry.path)
    for enabled in (False, True) * 20:
        other.put(entry("hello", enabled=enabled))
        assert registry.module("hello").enabled is enabled
    text = registry.path.read_text()
    _settled(registry)
    assert registry.module("hello").enabled
    kept = registry.path.stat()
    # The same size and the same time of change, in the same file.
    registry.path.write_text(text.replace("true", "no  ").replace("no  ", "null"))
    os.utime(registry.path, ns=(kept.st_atime_ns, kept.st_mtime_ns))
    with pytest.raises(RegistryUnreadable):
        registry.load()
    written(registry, text)
    registry.load().clear()
    assert list(registry.load()) == ["hello"]
    registry.path.unlink()
    assert registry.load() == {}


def test_a_link_or_an_open_folder_is_noticed_also_when_it_is_known(registry: Registry) -> None:
    registry.put(entry("hello"))
    _settled(registry)
    assert list(registry.load()) == ["hello"]
    registry.path.parent.chmod(0o755)
    registry.load()
    assert stat.S_IMODE(registry.path.parent.stat().st_mode) == 0o700
    registry.path.chmod(0o644)
    registry.load()
    assert stat.S_IMODE(registry.path.stat().st_mode) == 0o600
    elsewhere = registry.path.with_name("elsewhere")
    registry.path.rename(elsewhere)
    registry.path.symlink_to(elsewhere)
    with pytest.raises(RegistryUnreadable):
        registry.load()
