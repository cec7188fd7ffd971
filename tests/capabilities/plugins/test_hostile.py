"""Repositories that want more than to be copied, and plugins whose texts want to be programs."""

import json
import os
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from parachute.base.errors import ParachuteError
from parachute.capabilities.plugins import fetching
from parachute.capabilities.plugins.contents import read_contents
from parachute.capabilities.plugins.installation import staged_install
from parachute.capabilities.plugins.library import Library
from parachute.modules.trees.hashing import read_tree
from parachute.modules.trees.models import Limits, Silent
from tests.capabilities.plugins.building import Installation, write_files, write_plugin
from tests.modules.registry.building import Repository
from tests.support.bad_names import BAD_NAMES

pytestmark = pytest.mark.process

MANIFEST = ".claude-plugin/plugin.json"


@pytest.fixture
def bare(tmp_path: Path) -> Repository:
    """A repository with a plugin that is not committed yet."""
    made = Repository(tmp_path / "bare-plugin")
    write_plugin(made.folder, programs=False, name="bare")
    return made


def refusal(installation: Installation, repository: Repository, limits: Limits = fetching.LIMITS) -> str:
    """Try to install it; the key of the error, after which nothing is left."""
    with (
        pytest.raises(ParachuteError) as caught,
        staged_install(installation.library, repository.url, None, local=True, limits=limits) as staged,
    ):
        staged.finish(installation.catalog, texts=True)
    assert installation.library.list() == []
    assert list(installation.library.places.folder.iterdir()) == []
    return caught.value.key


@pytest.mark.parametrize("target", ["/etc/passwd", "../../../etc/passwd", "skills/../../x"])
def test_links_out_are_refused(installation: Installation, bare: Repository, target: str) -> None:
    (bare.folder / "lib.md").symlink_to(target)
    bare.commit()
    assert refusal(installation, bare) == "path_leads_out"


def test_links_within_are_in_no_copy(installation: Installation, bare: Repository) -> None:
    (bare.folder / "AGENTS.md").symlink_to("README.md")
    (bare.folder / "agents/linked.md").symlink_to("reviewer.md")
    (bare.folder / "commands/linked.md").symlink_to("deploy.md")
    (bare.folder / "skills/linked").symlink_to("greet")
    (bare.folder / "skills/greet/linked.md").symlink_to("words.md")
    bare.commit()
    plugin = installation.install(bare.url)
    assert plugin.contents is not None
    assert [each.name for each in plugin.contents.agents if each.problem is None] == ["reviewer"]
    assert [each.name for each in plugin.contents.commands if each.problem is None] == ["deploy"]
    assert [(each.name, bool(each.problem)) for each in plugin.contents.skills] == [("greet", True)]
    assert installation.names(plugin) == {MANIFEST, "commands/deploy.md"}


@pytest.mark.parametrize("part", [".claude-plugin", "skills", "agents", "commands", "hooks"])
def test_a_link_in_the_place_of_a_part(installation: Installation, bare: Repository, part: str) -> None:
    folder = bare.folder / part
    if folder.exists():
        folder.rename(bare.folder / "real")
    else:
        write_files(bare.folder, {"real/hooks.json": json.dumps({"hooks": {}})})
    folder.symlink_to("real")
    bare.commit()
    try:
        plugin = installation.install(bare.url)
    except ParachuteError:
        assert installation.library.list() == []
    else:
        assert plugin.contents is not None
        found: dict[str, Sequence[Any]] = {
            "skills": plugin.contents.skills,
            "agents": plugin.contents.agents,
            "commands": plugin.contents.commands,
        }
        assert all(each.problem for each in found.get(part, ()))


def test_hooks_of_git_and_submodules_do_not_come(installation: Installation, bare: Repository, tmp_path: Path) -> None:
    inner = Repository(tmp_path / "inner")
    write_files(inner.folder, {"evil.sh": "#!/bin/sh\ntouch evil\n"})
    inner.commit()
    bare.git("submodule", "add", inner.url, "sub")
    touched = tmp_path / "touched"
    for name in ("post-checkout", "post-commit", "pre-push", "reference-transaction", "fsmonitor-watchman"):
        write_files(bare.folder / ".git/hooks", {name: f"#!/bin/sh\ntouch {touched}\n"})
    bare.git("-c", "core.hooksPath=/dev/null", "add", "-A")
    bare.git("-c", "core.hooksPath=/dev/null", "commit", "-q", "-m", "With a submodule")
    plugin = installation.install(bare.url)
    assert not touched.exists()
    files = installation.library.places.files(plugin.installed)
    assert not (files / "sub").exists()
    assert not (files / ".git").exists()


def test_many_files_and_large_ones_are_refused_before_they_are_written(
    installation: Installation, bare: Repository
) -> None:
    write_files(bare.folder, {f"many/{number}": "" for number in range(60)})
    bare.commit()
    assert refusal(installation, bare, Limits(files=50)) == "too_many_files"
    with (bare.folder / "zeros").open("wb") as file:  # small in the repository, and large once it is written
        file.truncate(20_000_000)
    bare.commit()
    assert refusal(installation, bare, Limits(source_bytes=10_000_000)) == "too_large"


def test_names_that_differ_in_case_only(installation: Installation, bare: Repository) -> None:
    write_files(bare.folder, {"skills/greet/Words.MD": "Hi.\n"})
    bare.commit()
    assert refusal(installation, bare) == "names_collide"


@pytest.mark.parametrize(
    "manifest",
    [
        "",
        "[]",
        "null",
        "{",
        "{}",
        '{"name": 1}',
        *(json.dumps({"name": name}) for name in BAD_NAMES),
        '{"name": "a", "name": "b"}',
        '{"name": "a", "version": []}',
        '{"name": "a", "author": 7}',
        '{"name": "a", "skills": "/etc"}',
        '{"name": "a", "skills": "./../../etc"}',
        '{"name": "a", "agents": ["./a", 7]}',
        '{"name": "a", "hooks": 7}',
        '{"name": "a", "description": "' + "x" * 3000 + '"}',
        '{"name": "a", "x": ' + "[" * 100_000 + "]" * 100_000 + "}",
        '{"name": "a", "x": "' + "x" * 10_000_000 + '"}',
        "\xff\xfe",
        '{"name": "a", "x": NaN}',
    ],
)
def test_a_manifest_that_cannot_be(tmp_path: Path, manifest: str) -> None:
    write_files(tmp_path, {MANIFEST: manifest})
    with pytest.raises(ParachuteError) as caught:
        read_contents(tmp_path, "a", read_tree(tmp_path))
    assert caught.value.key in ("plugin_invalid", "no_plugin")


def test_a_reserved_name_is_refused(installation: Installation, bare: Repository) -> None:
    write_plugin(bare.folder, programs=False, name="skills")
    bare.commit()
    assert refusal(installation, bare) == "reserved_name"


@pytest.mark.parametrize(
    ("hooks", "shown"),
    [
        ({"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "true"}]}]}, 1),
        ({"PreToolUse": [{"hooks": [{"type": "prompt", "prompt": "x"}]}]}, 0),
        ({"PreToolUse": [{"hooks": [{"type": "http", "url": "https://example.com"}]}]}, 0),
        ({"Unknown": [{"hooks": [{"type": "command", "command": "true"}]}]}, 0),
        ({"PreToolUse": [{"hooks": [{"type": "command", "command": ["true"]}]}]}, 0),
        ({"PreToolUse": [{"hooks": [{"type": "command", "command": "true", "timeout": 1e9}]}]}, 0),
        ({"PreToolUse": [{"hooks": [{"type": "command", "command": "true", "shell": "evil"}]}]}, 0),
        ({"PreToolUse": [{"matcher": 7, "hooks": []}]}, 0),
        ({"PreToolUse": "x"}, 0),
        ({"PreToolUse": [7]}, 0),
        ({"PreToolUse": [{"hooks": {}}]}, 0),
        ({"Stop": [{"hooks": [{"type": "command", "command": "true"}] * 101}]}, 0),
    ],
)
def test_hooks_that_are_not_plain_commands_are_named_and_left_out(
    tmp_path: Path, hooks: dict[str, object], shown: int
) -> None:
    write_files(tmp_path, {MANIFEST: '{"name": "a"}', "hooks/hooks.json": json.dumps({"hooks": hooks})})
    found = read_contents(tmp_path, "a", read_tree(tmp_path))
    assert len(found.hooks) == shown
    assert bool(found.not_run) is not bool(shown)


def test_servers_keep_to_the_rules_of_servers(tmp_path: Path) -> None:
    servers = {
        "good": {"command": "${CLAUDE_PLUGIN_ROOT}/x", "env": {"A": "${TOKEN}", "B": "${NOTHING:-there}"}},
        "../up": {"command": "true"},
        "bad": {"command": "./x"},
        "list": [],
        "x" * 60: {"command": "true"},
    }
    write_files(tmp_path, {MANIFEST: '{"name": "a"}', ".mcp.json": json.dumps(servers)})
    found = {server.label: server for server in read_contents(tmp_path, "a", read_tree(tmp_path)).servers}
    assert [label for label, server in found.items() if not server.problems] == ["a/good"]
    assert found["a/good"].secrets == ("TOKEN",)
    assert dict(found["a/good"].env)["B"] == "there"


def test_texts_bring_nothing_that_runs(installation: Installation, bare: Repository) -> None:
    fields = (
        "hooks:\n  Stop:\n    - hooks:\n        - type: command\n          command: touch x\nmodel: opus\nshell: bash\n"
    )
    write_files(
        bare.folder,
        {
            "skills/greet/SKILL.md": f"---\nname: greet\ndescription: Greets.\nallowed-tools: Bash(*)\n{fields}---\nHi !`touch x`\n",
            "skills/greet/run.md": "#!/bin/sh\ntouch x\n",
            "skills/greet/run.py": "print()\n",
            "skills/greet/.hidden": "x",
            "commands/deploy.md": f"---\nallowed-tools: Bash(*)\n{fields}---\nDo.\n",
            "commands/no good.md": "x",
            "commands/empty.md": "---\na: b\n---\n",
            "settings.json": "{}",
            ".lsp.json": "{}",
            "monitors/monitors.json": "[]",
        },
    )
    bare.commit()
    plugin = installation.install(bare.url)
    assert plugin.contents is not None
    folder, _ = installation.library.copy(plugin, plugin.contents.skills, programs=False)
    assert installation.names(plugin) == {
        MANIFEST,
        "commands/deploy.md",
        "skills/greet/SKILL.md",
        "skills/greet/words.md",
    }
    texts = (folder / "skills/greet/SKILL.md").read_text() + (folder / "commands/deploy.md").read_text()
    assert not any(word in texts for word in ("hooks", "model", "shell", "allowed-tools"))
    named = " ".join(plugin.contents.not_run)
    assert all(word in named for word in ("settings.json", ".lsp.json", "monitors", "skills/greet"))
    assert plugin.waiting == ("programs",)
    approved = installation.library.approve(plugin.slug, plugin.installed.hash, ["programs"], installation.catalog)
    assert installation.names(approved, programs=True) == {
        *installation.names(approved),
        "hooks/hooks.json",
        "skills/greet/.hidden",
        "skills/greet/run.md",
        "skills/greet/run.py",
    }


def test_a_plugin_in_place_of_whose_files_others_are_is_not_read(installation: Installation, bare: Repository) -> None:
    bare.commit()
    plugin = installation.install(bare.url)
    files = installation.library.places.files(plugin.installed)
    files.rename(files.with_name("away"))
    files.symlink_to("/etc")
    assert Library(installation.home).get(plugin.slug).contents is None


@contextmanager
def answering(answer: Callable[[bytes], bytes | None]) -> Iterator[str]:
    """A server that answers each request so, or never; its address."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            held: list[socket.socket] = []
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    for each in held:
                        each.close()
                    return
                held.append(connection)
                # git may be gone by now: it has little time.
                with suppress(OSError):
                    if (said := answer(connection.recv(65536))) is not None:
                        connection.sendall(said)
                        connection.close()

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.getsockname()[1]}/demo"
        finally:
            server.shutdown(socket.SHUT_RDWR)
            thread.join()


def test_a_server_that_says_nothing(installation: Installation, tmp_path: Path) -> None:
    with answering(lambda request: None) as url, pytest.raises(ParachuteError) as caught:
        fetching.fetch(fetching.parse(url), tmp_path, tmp_path / "files", Limits(clone_seconds=1), Silent())
    assert caught.value.key == "too_slow"


@pytest.mark.parametrize("scheme", ["file", "http", "ext", "ssh"])
def test_a_server_that_sends_elsewhere(
    installation: Installation, bare: Repository, tmp_path: Path, scheme: str
) -> None:
    bare.commit()
    heard: list[bytes] = []

    def inside(request: bytes) -> bytes:
        heard.append(request)
        return b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"

    with answering(inside) as metadata:
        targets = {
            "file": bare.url,
            "http": metadata,
            "ext": f"ext::sh -c touch% {tmp_path}/touched",
            "ssh": "ssh://127.0.0.1:1/demo",
        }
        head = f"HTTP/1.1 302 Found\r\nLocation: {targets[scheme]}/info/refs?service=git-upload-pack\r\nContent-Length: 0\r\n\r\n"
        with answering(lambda request: head.encode()) as url, pytest.raises(ParachuteError):
            installation.install(url)
    assert heard == []
    assert not (tmp_path / "touched").exists()
    assert installation.library.list() == []


def test_what_is_no_file(installation: Installation, tmp_path: Path) -> None:
    write_plugin(tmp_path / "p", programs=False)
    os.mkfifo(tmp_path / "p/skills/greet/pipe")
    with pytest.raises(ParachuteError):
        read_contents(tmp_path / "p", "p", read_tree(tmp_path / "p"))
