"""Checks of what shuts agents in; Podman is a program that answers as Podman 4.3 and 5.4 do."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from parachute.base.errors import ParachuteError
from parachute.config.settings.home import Home
from parachute.sandbox.image import recipe
from parachute.sandbox.image.models import Image
from tests.support.groups import other_group

from .machine import USER, Machine
from .test_services import status

pytestmark = pytest.mark.long

SESSION = "6f0f4c1e-0000-4000-8000-000000000001"
CONTAINER_CHECKS = ("containers", "container-image", "storage-driver", "subordinate-ids")


def build_image(home: Home, made_by: str | None = None) -> None:
    """Remember an image."""
    Image("a" * 64, "localhost/parachute-sandbox:x", made_by or recipe.digest(), "2026-01-01T00:00:00Z", 5).save(
        home.root
    )


def row(machine: Machine, session: str = SESSION) -> dict[str, Any]:
    """Return a container as `podman ps --format json` describes it."""
    identifier = ("b" * 64)[: 64 - len(session)] + session.replace("-", "0")
    return {
        "AutoRemove": True,
        "Exited": False,
        "Id": identifier,
        "Labels": {"org.parachute.installation": machine.home.installation},
        "Names": [f"parachute-{machine.home.installation}-{session}"],
        "Pid": 4711,
        "State": "running",
    }


def podman_with(machine: Machine, *rows: dict[str, Any]) -> Path:
    """A Podman with these containers; returns the file with what it has left of them."""
    containers = machine.folder / "containers.json"
    containers.write_text(json.dumps(rows))
    machine.program(
        "podman",
        f"""case "$1" in
        ps) cat {containers} ;;
        rm) echo '[]' > {containers}; shift 4; for name; do echo "$name"; done ;;
        *) exit 125 ;;
        esac""",
    )
    return containers


@pytest.mark.parametrize("check", CONTAINER_CHECKS)
def test_without_an_image_podman_is_not_even_asked(machine: Machine, check: str, snapshot: SnapshotAssertion) -> None:
    machine.program("podman", f"touch {machine.folder}/asked")
    machine.skips(check)
    build_image(machine.home)
    machine.settings["sandbox"] = {"engine": "bubblewrap"}
    machine.skips(check)
    assert not (machine.folder / "asked").exists()
    assert machine.results == snapshot


@pytest.mark.parametrize("check", CONTAINER_CHECKS)
def test_without_podman_there_is_nothing_to_check(machine: Machine, check: str, snapshot: SnapshotAssertion) -> None:
    build_image(machine.home)
    machine.without_programs()
    machine.skips(check)
    assert machine.results == snapshot


@pytest.mark.parametrize(("driver", "level"), [("overlay", "ok"), ("vfs", "problem"), ("btrfs", "warning")])
def test_the_storage_driver_is_overlay(machine: Machine, driver: str, level: str) -> None:
    build_image(machine.home)
    machine.program("podman", f'[ "$*" = "info --format {{{{.Store.GraphDriverName}}}}" ] && echo {driver}')
    assert machine.look("storage-driver").level == level


def test_a_podman_that_does_not_work_is_told_in_its_own_words(machine: Machine, snapshot: SnapshotAssertion) -> None:
    build_image(machine.home)
    machine.program("podman", 'echo "Error: database graph driver mismatch" >&2; exit 125')
    machine.accuses("storage-driver")
    assert machine.results == snapshot


@pytest.mark.skipif(not shutil.which("podman"), reason="needs Podman")
@pytest.mark.parametrize(("driver", "level"), [("vfs", "problem"), ("overlay", "ok")])
def test_the_real_podman_says_what_storage_conf_says(machine: Machine, driver: str, level: str) -> None:
    build_image(machine.home)
    place = machine.folder / "storage"
    place.mkdir()
    configuration = f'[storage]\ndriver = "{driver}"\nrunroot = "{place}/run"\ngraphroot = "{place}/graph"\n'
    (place / "storage.conf").write_text(configuration)
    variables = {**machine.computer().environment, "CONTAINERS_STORAGE_CONF": str(place / "storage.conf")}
    result = machine.look("storage-driver", environment=variables)
    if "overlay" in result.message and "not supported" in result.message:
        pytest.skip("overlay cannot be mounted here")
    assert result.level == level, result


def give_ids(machine: Machine, subuid: str = f"{USER}:100000:65536\n", subgid: str = f"{USER}:100000:65536\n") -> None:
    """Ids for containers, and the programs that hand them out."""
    build_image(machine.home)
    machine.program("podman", "exit 0")
    machine.file("/etc/subuid", subuid)
    machine.file("/etc/subgid", subgid)
    for name in ("newuidmap", "newgidmap"):
        machine.program(name, "exit 0").chmod(0o4755)


@pytest.mark.parametrize(
    "line", ["sam:100000:65536\n", "1234:100000:65536\n", "other:1:5\nsam:1:40000\nsam:50000:40000\n"]
)
def test_enough_ids_are_fine(machine: Machine, line: str) -> None:
    give_ids(machine, line, line)
    machine.well("subordinate-ids", uid=1234)


@pytest.mark.parametrize(
    ("subuid", "subgid", "level"),
    [
        ("", "sam:100000:65536\n", "problem"),
        ("sam:100000:65536\n", "samuel:100000:65536\n", "problem"),
        ("sam:100000:65536\n", "sam:100000:1000\n", "warning"),
    ],
)
def test_missing_ids_are_noticed(
    machine: Machine, subuid: str, subgid: str, level: str, snapshot: SnapshotAssertion
) -> None:
    give_ids(machine, subuid, subgid)
    found = machine.look("subordinate-ids", uid=1234)
    assert found.level == level
    assert machine.results == snapshot


def test_a_program_that_lost_its_right_is_noticed(machine: Machine, snapshot: SnapshotAssertion) -> None:
    give_ids(machine)
    program = machine.programs / "newgidmap"
    program.chmod(0o755)
    machine.accuses("subordinate-ids", uid=1234)
    program.unlink()
    machine.path = ""
    machine.accuses("subordinate-ids", uid=1234)
    assert machine.results == snapshot


def test_root_needs_no_ids(machine: Machine, snapshot: SnapshotAssertion) -> None:
    give_ids(machine, "", "")
    machine.skips("subordinate-ids", uid=0)
    assert machine.results == snapshot


def kernel(machine: Machine, most: str = "127000", switch: str | None = None, apparmor: str | None = None) -> None:
    """Write a kernel's files about user namespaces."""
    machine.file("/proc/sys/user/max_user_namespaces", f"{most}\n")
    if switch is not None:
        machine.file("/proc/sys/kernel/unprivileged_userns_clone", f"{switch}\n")
    if apparmor is not None:
        machine.file("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", f"{apparmor}\n")


@pytest.mark.parametrize("settings", [{}, {"switch": "1"}, {"apparmor": "0"}])
def test_a_kernel_that_lets_users_shut_in_is_fine(machine: Machine, settings: dict[str, str]) -> None:
    kernel(machine, **settings)
    machine.well("user-namespaces", uid=1000)


@pytest.mark.parametrize("settings", [{"most": "0"}, {"switch": "0"}])
def test_a_kernel_that_does_not_is_noticed(
    machine: Machine, settings: dict[str, str], snapshot: SnapshotAssertion
) -> None:
    kernel(machine, **settings)
    machine.accuses("user-namespaces", uid=1000)
    assert machine.results == snapshot


def test_what_ubuntu_forbids_is_noticed_until_there_is_a_profile(machine: Machine, snapshot: SnapshotAssertion) -> None:
    kernel(machine, apparmor="1")
    machine.warns("user-namespaces", uid=1000)
    machine.file("/etc/apparmor.d/bwrap-userns-restrict", "profile bwrap /usr/bin/bwrap {}\n")
    machine.well("user-namespaces", uid=1000)
    assert machine.results == snapshot


@pytest.mark.skipif(not shutil.which("bwrap"), reason="needs bubblewrap")
def test_bubblewrap_that_works_is_fine(machine: Machine) -> None:
    machine.well("bubblewrap")


def test_bubblewrap_that_may_not_is_noticed(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, snapshot: SnapshotAssertion
) -> None:
    machine.program("bwrap", "echo 'bwrap: setting up uid map: Permission denied' >&2; exit 1")
    monkeypatch.setenv("PATH", f"{machine.programs}:{os.environ['PATH']}")
    machine.accuses("bubblewrap")
    machine.settings["sandbox"] = {"required": False}
    machine.accuses("bubblewrap")
    machine.home.sandbox_worked.touch()
    machine.accuses("bubblewrap")
    machine.settings["sandbox"] = {"engine": "podman"}
    machine.warns("bubblewrap")
    assert machine.results == snapshot


def test_the_program_of_agents_starts(machine: Machine) -> None:
    assert "Claude Code" in machine.well("agent-program")


def test_a_program_of_agents_that_cannot_run_is_noticed(machine: Machine) -> None:
    # As on a kernel with larger pages than the program was linked for: less memory than it has to reserve.
    command = 'ulimit -v 200000; exec "$0" -m parachute.cli doctor agent-program --json'
    environment = {"PATH": os.environ["PATH"], "HOME": str(machine.folder)}
    done = subprocess.run(
        ["sh", "-c", command, sys.executable], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1, done
    assert "does not start" in done.stdout


def test_containers_in_use_are_fine(machine: Machine) -> None:
    build_image(machine.home)
    podman_with(machine, row(machine))
    running = {"name": f"sandbox@{SESSION}", "state": "running", "reason": None, "failure": None}
    machine.well("containers", supervisor=status(units=[running]))


def test_containers_that_nothing_uses_are_removed(machine: Machine) -> None:
    build_image(machine.home)
    shell = {**row(machine), "Id": "abc", "Names": ["vigorous_shell"]}
    left = podman_with(machine, row(machine), shell)
    asleep = {"name": f"sandbox@{SESSION}", "state": "listening", "reason": None, "failure": None}
    found = machine.warns("containers", supervisor=status(units=[asleep]))
    assert SESSION in found.message
    assert "vigorous_shell" not in found.message
    assert found.fix is not None
    assert found.fix.apply() == "1 of them are gone."
    assert left.read_text() == "[]\n"
    assert found.fix.apply() == "0 of them are gone."
    machine.well("containers")


def test_while_the_supervisor_is_stuck_no_container_counts_as_left(machine: Machine) -> None:
    build_image(machine.home)
    podman_with(machine, row(machine))
    machine.skips("containers", supervisor_problem=ParachuteError("The supervisor does not answer."))


def as_user(machine: Machine, podman: str) -> tuple[int, dict[str, Any]]:
    """Run the check of the image as somebody who is not root, with this Podman."""
    machine.program("podman", podman)
    variables = {
        **machine.computer().environment,
        "PARACHUTE_HOME": str(machine.home.root),
        "PARACHUTE_VAULT": str(machine.vault),
    }
    command = [sys.executable, "-m", "parachute.cli", "doctor", "container-image", "--json"]
    if os.getuid() == 0:
        command = ["unshare", "--user", "--map-user=1234", "--map-group=1234", *command]
    done = subprocess.run(command, env=variables, capture_output=True, text=True, check=False)
    assert done.stdout, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)["checks"][0]
    return done.returncode, found


STARTS = 'case "$*" in *" --version") echo "2.1 (Claude Code)" ;; *probe.py*) ;; *) exit 125 ;; esac'


def test_an_image_whose_containers_start_is_fine(machine: Machine) -> None:
    build_image(machine.home)
    assert as_user(machine, STARTS)[1]["result"] == "ok"


def test_an_image_of_an_older_recipe_is_noticed(machine: Machine) -> None:
    build_image(machine.home, "older")
    code, found = as_user(machine, STARTS)
    assert (code, found["result"]) == (0, "warning")


def test_an_image_that_is_gone_is_noticed(machine: Machine) -> None:
    build_image(machine.home)
    code, found = as_user(machine, 'echo "Error: localhost/x: image not known" >&2; exit 125')
    assert (code, found["result"]) == (1, "problem")
    assert "is gone" in found["message"]


def test_a_program_that_does_not_start_in_a_container_is_noticed(machine: Machine) -> None:
    build_image(machine.home)
    failing = 'case "$*" in *" --version") echo "exec format error" >&2; exit 126 ;; esac'
    code, found = as_user(machine, failing)
    assert (code, found["result"]) == (1, "problem")
    assert "exec format error" in found["message"]


def test_an_image_that_was_never_built_is_noticed_where_podman_is_asked_for(
    machine: Machine, snapshot: SnapshotAssertion
) -> None:
    machine.program("podman", "exit 0")
    machine.settings["sandbox"] = {"engine": "podman"}
    machine.accuses("container-image")
    (machine.home.root / "image.json").write_text("{")
    machine.accuses("container-image")
    assert machine.results == snapshot


def test_a_model_that_is_there_is_fine(machine: Machine, snapshot: SnapshotAssertion) -> None:
    model = machine.folder / "small.gguf"
    model.write_bytes(b"GGUF....")
    machine.settings["offline"] = {"model": str(model)}
    machine.well("offline-model")
    assert machine.results == snapshot


@pytest.mark.parametrize("content", [None, b"<html>not found"])
def test_a_model_that_cannot_be_loaded_is_noticed(
    machine: Machine, content: bytes | None, snapshot: SnapshotAssertion
) -> None:
    model = machine.folder / "small.gguf"
    if content:
        model.write_bytes(content)
    machine.settings |= {"offline": {"model": str(model)}, "provider": "offline"}
    machine.accuses("offline-model")
    # Where another one answers it is only good to know.
    machine.settings |= {"provider": "compatible", "base_url": "http://127.0.0.1:11434"}
    machine.warns("offline-model")
    assert machine.results == snapshot


def test_tools_that_agents_lack_are_named_and_no_failure(machine: Machine, snapshot: SnapshotAssertion) -> None:
    machine.without_programs()
    machine.skips("agent-tools")
    machine.program("bwrap", "exit 0")
    machine.well("agent-tools")
    machine.program("dnf", "exit 0")
    machine.well("agent-tools")
    build_image(machine.home)
    machine.skips("agent-tools")
    assert machine.results == snapshot


def test_git_that_obeys_what_looks_like_a_repository_is_noticed(machine: Machine, snapshot: SnapshotAssertion) -> None:
    machine.program("git", "test \"$*\" = 'config --global --get safe.bareRepository' && echo all")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", f"{machine.programs}:{os.environ['PATH']}")
        machine.warns("git-repositories")
        machine.program("git", "echo explicit")
        machine.well("git-repositories")
    assert machine.results == snapshot


@pytest.mark.usefixtures("views_work")
def test_views_of_projects(machine: Machine) -> None:
    shared = machine.vault / "Projects/boat/shared"
    shared.mkdir(parents=True)
    assert "copy-on-write views" in machine.well("views")
    with other_group(shared):
        assert machine.warns("views").details == (str(shared),)
    machine.settings = {"changes": {"apply": "live"}}
    machine.skips("views")


def test_the_server_that_knows_meanings_is_judged_by_what_core_says_of_it(
    machine: Machine, snapshot: SnapshotAssertion
) -> None:
    machine.settings["meaning"] = {"server": "http://127.0.0.1:11434"}
    machine.well("meaning")
    away = {"problem": "The server for meanings at http://127.0.0.1:11434 does not answer: nothing listens."}
    machine.warns("meaning", meaning=away)
    machine.settings["meaning"]["key_file"] = machine.folder / "key"
    machine.warns("meaning")
    assert machine.results == snapshot
