"""`parachute service` where there is no systemd; the rest is seen in the booted appliance."""

from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from parachute.config.settings.home import Home
from parachute.supervisor import installed
from tests.support.terminal import Terminal


def test_without_systemd_nothing_is_written_and_the_answer_says_what_to_do(
    parachute: Terminal, tmp_path: Path, snapshot: SnapshotAssertion
) -> None:
    parachute.fails("service", "install", PATH=str(tmp_path))
    assert not Path(parachute.environment["HOME"], ".config").exists()
    assert parachute.screens == snapshot


@pytest.mark.long
@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ((), "The user manager of systemd does not answer"),
        (("--port", "4444"), "The computer is installed as services"),
        (("--host", "127.0.0.1"), "The computer is installed as services"),
        (("--foreground",), "The computer is installed as services"),
    ],
)
def test_where_services_are_installed_nothing_is_started_beside_them(
    parachute: Terminal, home: Home, options: tuple[str, ...], reason: str
) -> None:
    folder = Path(parachute.environment["HOME"], ".config/systemd/user")
    folder.mkdir(parents=True)
    for name, text in installed.render(home, "127.0.0.1", 3333, lingers_for_us=False).items():
        (folder / name).write_text(text)
    nowhere: dict[str, Any] = {"XDG_RUNTIME_DIR": str(folder), "DBUS_SESSION_BUS_ADDRESS": f"unix:path={folder}/bus"}
    assert reason in parachute.fails("start", *options, **nowhere)
    if not options:
        assert reason in parachute.fails("restart", **nowhere)
    assert not home.pid_file.exists()


def test_uninstalling_what_is_not_installed_says_so(parachute: Terminal, snapshot: SnapshotAssertion) -> None:
    parachute.ok("service", "uninstall")
    assert '"removed": []' in parachute.ok("service", "uninstall", "--json")
    assert parachute.screens == snapshot


def test_the_units_of_home_manager_are_left_alone(
    parachute: Terminal, home: Home, tmp_path: Path, snapshot: SnapshotAssertion
) -> None:
    folder = Path(parachute.environment["HOME"], ".config/systemd/user")
    folder.mkdir(parents=True)
    for name, text in installed.render(home, "127.0.0.1", 3333, lingers_for_us=False).items():
        (tmp_path / name).write_text(text)
        (folder / name).symlink_to(tmp_path / name)
    (tmp_path / "systemctl").write_text("#!/bin/sh\n")
    (tmp_path / "systemctl").chmod(0o755)
    parachute.fails("service", "install", PATH=f"{tmp_path}:/usr/bin:/bin")
    parachute.ok("service", "uninstall")
    assert all((folder / name).is_symlink() for name in installed.NAMES)
    assert parachute.screens == snapshot
