"""The command line of a container: an allow-list in which nothing is missing and to which nothing is added by chance."""

import csv
import io
import itertools
import os
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from parachute.config.settings.groups.sandbox import SandboxSettings
from parachute.config.settings.home import Home
from parachute.sandbox.engines import podman
from parachute.sandbox.engines.engines import trial
from parachute.sandbox.engines.models import Mount, Specification
from parachute.sandbox.layout import ENVIRONMENT

IMAGE = "a" * 64
SESSION = str(uuid.UUID(int=1))
MEMORY_FOLDERS = {
    "/cache": "256m",
    "/dev/shm": "64m",
    "/home/agent": "256m",
    "/home/agent/.claude": "64m",
    "/home/agent/.claude/projects": "1m",
    "/run": "16m",
    "/scratch": "512m",
    "/tmp": "256m",
}
VALUES = {
    "--cap-drop": "all",
    "--cpus": "2",
    "--hostname": "parachute",
    "--http-proxy": "false",
    "--ipc": "private",
    "--log-driver": "passthrough",
    "--memory": "1536m",
    "--memory-swap": "1536m",
    "--network": "none",
    "--passwd": "false",
    "--pids-limit": "200",
    "--pull": "never",
    "--read-only-tmpfs": "false",
    "--sdnotify": "ignore",
    "--security-opt": "no-new-privileges",
    "--ulimit": "host",
    "--user": "1000:1000",
    "--userns": "keep-id:uid=1000,gid=1000",
    "--uts": "private",
    "--workdir": "/",
}
BARE = {"--no-hosts", "--read-only", "--replace", "--rm", "--unsetenv-all"}


def specification(home: Path, **settings: object) -> Specification:
    """One of a session, with the default settings but for these."""
    made = trial(Home(home), SandboxSettings.model_validate(settings), IMAGE)
    return replace(
        made,
        session=SESSION,
        sockets="/sockets",
        transcripts="/transcripts",
        transcripts_target="/home/agent/.claude/projects/x",
        program="/program",
        directory=f"/scratch/{SESSION}",
    )


@pytest.fixture
def transcripts(tmp_path: Path) -> Iterator[dict[str, int]]:
    """An open folder of transcripts, by its place inside."""
    opened = os.open(tmp_path, os.O_PATH)
    yield {"/home/agent/.claude/projects/x": opened}
    os.close(opened)


def split(command: list[str]) -> tuple[list[str], list[str]]:
    """Podman's own arguments, and what runs in the container."""
    at = command.index(IMAGE)
    return command[2:at], command[at + 1 :]


def mounts(arguments: list[str]) -> list[dict[str, str]]:
    """The bind mounts, read as Podman reads them."""
    found = []
    for option, value in itertools.pairwise(arguments):
        if option == "--mount":
            (fields,) = csv.reader(io.StringIO(value, newline=""), strict=True)
            found.append(dict(field.partition("=")[::2] for field in fields))
    return found


def test_nothing_is_there_but_what_is_listed(tmp_path: Path, transcripts: dict[str, int]) -> None:
    arguments, inside = split(podman.command(specification(tmp_path), transcripts))
    options = [argument for argument in arguments if argument.startswith("--") and argument != "--mount"]
    bare = {option for option in options if "=" not in option}
    given = [option.partition("=")[::2] for option in options if "=" in option]
    many = {"--env", "--tmpfs", "--label", "--name"}
    assert bare == BARE
    assert {name: value for name, value in given if name not in many} == VALUES
    assert len([name for name, _ in given if name not in many]) == len(VALUES)
    folders = dict(value.partition(":")[::2] for name, value in given if name == "--tmpfs")
    assert {folder: text.split("size=")[1].split(",")[0] for folder, text in folders.items()} == MEMORY_FOLDERS
    assert all("mode=1777" in text and "notmpcopyup" in text for text in folders.values())
    environment = dict(value.partition("=")[::2] for name, value in given if name == "--env")
    assert environment == ENVIRONMENT
    assert not set(environment.values()) & set(os.environ.get("ANTHROPIC_API_KEY", "no key").split())
    assert {mount["target"] for mount in mounts(arguments)} == {
        "/opt/parachute/parachute_runner",
        "/opt/parachute/agent",
        "/run/parachute",
        "/home/agent/.claude/projects/x",
    }
    assert [mount["target"] for mount in mounts(arguments) if "rw" in mount] == ["/home/agent/.claude/projects/x"]
    status = tmp_path.stat()
    opened = f"rw:{status.st_dev}:{status.st_ino}:/home/agent/.claude/projects/x"
    assert inside[inside.index("--mounted") + 1] == opened, "the runner sees that it is what was opened"
    assert inside[:3] == ["/usr/bin/python3", "-IS", "/opt/parachute/parachute_runner/runner.py"]
    assert inside[-2:] == ["--", "/opt/parachute/agent"]


def test_settings_reach_the_container(tmp_path: Path) -> None:
    arguments, inside = split(
        podman.command(specification(tmp_path, memory_megabytes=700, cpus=0.5, processes=99, scratch_megabytes=32), {})
    )
    for option in ("--memory=700m", "--memory-swap=700m", "--cpus=0.5", "--pids-limit=99"):
        assert option in arguments
    assert any(option.startswith("--tmpfs=/scratch:rw,size=32m,") for option in arguments)
    assert inside[inside.index("--limits") + 1] == '{"memory": 734003200, "cpus": 0.5, "processes": 99}'


def test_limits_are_left_out_only_where_the_settings_say_so(tmp_path: Path) -> None:
    arguments, inside = split(podman.command(specification(tmp_path, limits="unavailable"), {}))
    assert "--pids-limit=0" in arguments
    assert not [option for option in arguments if option.startswith(("--memory", "--cpus"))]
    assert inside[inside.index("--limits") + 1] == "{}"


def test_two_installations_never_share_a_name(tmp_path: Path) -> None:
    names = {podman.container_name(specification(tmp_path / name)) for name in ("one", "two")}
    assert len(names) == 2
    for name in names:
        assert name.endswith(SESSION)


@pytest.mark.parametrize("name", ["a,b = c", 'q"uo"te', "new\nline", "grün \U0001f600", "source=etc", "-dash", "x,rw"])
def test_a_mount_is_what_it_says_whatever_its_name(tmp_path: Path, name: str) -> None:
    source = tmp_path / name
    source.mkdir()
    made = replace(specification(tmp_path), mounts=(Mount(str(source), f"/vault/{name}"),))
    opened = os.open(source, os.O_PATH)
    try:
        arguments, inside = split(podman.command(made, {f"/vault/{name}": opened}))
    finally:
        os.close(opened)
    (found,) = [mount for mount in mounts(arguments) if mount["target"] == f"/vault/{name}"]
    assert found == {
        "type": "bind",
        "source": str(source),
        "target": f"/vault/{name}",
        "ro": "",
        "bind-propagation": "rprivate",
    }
    status = source.stat()
    assert inside[inside.index("--mounted") + 1] == f"ro:{status.st_dev}:{status.st_ino}:/vault/{name}"


def test_a_mount_that_was_not_opened_is_left_out(tmp_path: Path) -> None:
    made = replace(specification(tmp_path), mounts=(Mount("/gone", "/vault/gone"),))
    assert "/vault/gone" not in str(podman.command(made, {}))


@pytest.mark.parametrize("git", [False, True])
def test_with_egress_the_agent_finds_its_proxy(tmp_path: Path, git: bool) -> None:
    _, inside = split(podman.command(replace(specification(tmp_path), egress=True, git=git), {}))
    program = inside[inside.index("--") + 1 :]
    assert program[2:] == [
        "/opt/parachute/parachute_runner/egress_forward.py",
        *(["--git"] if git else []),
        "/run/parachute/egress.sock",
        "--",
        "/opt/parachute/agent",
    ]
