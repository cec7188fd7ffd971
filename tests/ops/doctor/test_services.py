"""Checks of what runs, and of what it leaves."""

import os
import socket
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from parachute.base.errors import ParachuteError
from parachute.base.single_instance import single_instance
from parachute.config.settings.checking import ConfigError
from parachute.ops.backup.places import CREATE_LOCK
from parachute.security.kill_switch.switch import KillSwitch
from parachute.supervisor import backup_units, installed
from parachute.supervisor.logs import LIMIT, older
from tests.support.errors import raises

from .machine import Machine, unchanged

pytestmark = pytest.mark.long

GROUPS = "/sys/fs/cgroup/cgroup.controllers"
DAY = 24 * 60 * 60
UNKNOWN_USER = "Failed to get user: User ID 1000 is not logged in or lingering"


def own_groups() -> str:
    """Return the path of the controllers that a user's manager was given."""
    user = os.getuid()
    return f"/sys/fs/cgroup/user.slice/user-{user}.slice/user@{user}.service/cgroup.controllers"


def status(**changes: object) -> dict[str, object]:
    """Return a healthy supervisor's status."""
    core = {"name": "core", "state": "running", "process": 7, "reason": None, "failure": None}
    told: dict[str, object] = {"main_server_healthy": True, "main_server_version": "1", "units": [core]}
    return {**told, "main_server_host": "127.0.0.1", "main_server_port": 3333, **changes}


def install_units(machine: Machine, confined: bool = True) -> dict[str, Path]:
    """Write the units as this version renders them."""
    computer = machine.computer()
    assert computer.settings is not None
    host, port = computer.settings.host, computer.settings.port
    files = installed.render(machine.home, host, port, lingers_for_us=False, confined=confined)
    installed.folder().mkdir(parents=True)
    for name, text in files.items():
        (installed.folder() / name).write_text(text)
    return {name: installed.folder() / name for name in files}


def test_settings_that_are_understood_are_fine(machine: Machine, snapshot: SnapshotAssertion) -> None:
    machine.well("settings")
    assert machine.results == snapshot


def test_a_mistake_in_the_settings_is_told_as_it_is(machine: Machine) -> None:
    error = ConfigError("config.yaml, line 1: nope: unknown setting.", "`parachute config` lists all settings.")
    found = machine.accuses("settings", settings=None, settings_problem=error)
    assert (found.message, found.hint) == (error.message, error.hint)


def test_a_setting_that_is_gone_is_a_warning_that_names_its_line(machine: Machine, snapshot: SnapshotAssertion) -> None:
    machine.home.config.write_text("port: 4444\nmeaning:\n  folder: /models\n")
    assert "unset meaning.folder" in str(machine.warns("settings").hint)
    machine.home.config.unlink()
    machine.warns("settings", environment={"PARACHUTE_MEANING__FOLDER": "/models"})
    assert machine.results == snapshot


def test_without_settings_no_check_fails(machine: Machine) -> None:
    for check in ("port", "units", "inotify", "vault", "exposure", "credentials", "sync-folder", "bubblewrap"):
        machine.look(check, settings=None)
        assert "failed" not in machine.look(check, settings=None).message, check


def test_a_computer_that_is_down_is_no_problem(machine: Machine, snapshot: SnapshotAssertion) -> None:
    machine.well("running")
    assert machine.results == snapshot


def test_a_computer_that_runs_is_fine(machine: Machine, snapshot: SnapshotAssertion) -> None:
    machine.well("running", supervisor=status())
    assert machine.results == snapshot


def test_a_service_that_does_not_run_is_noticed(machine: Machine, snapshot: SnapshotAssertion) -> None:
    install_units(machine)
    machine.warns("running")
    assert machine.results == snapshot


def test_a_supervisor_that_does_not_answer_is_noticed(machine: Machine, snapshot: SnapshotAssertion) -> None:
    stuck = ParachuteError("The supervisor does not answer.")
    machine.accuses("running", supervisor_problem=stuck)
    assert machine.results == snapshot


def test_units_that_were_given_up_are_named(machine: Machine, snapshot: SnapshotAssertion) -> None:
    failed = {"name": "module@daily", "state": "failed", "reason": "It ended with status 1.", "failure": None}
    machine.accuses("running", supervisor=status(units=[failed]))
    assert machine.results == snapshot


def test_an_api_that_is_down_is_noticed(machine: Machine, snapshot: SnapshotAssertion) -> None:
    machine.accuses("running", supervisor=status(main_server_healthy=False))
    assert machine.results == snapshot


def test_an_api_that_is_just_starting_is_no_problem(machine: Machine, snapshot: SnapshotAssertion) -> None:
    core = {"name": "core", "state": "starting", "reason": None, "failure": None}
    machine.warns("running", supervisor=status(main_server_healthy=False, units=[core]))
    assert machine.results == snapshot


def test_a_free_port_is_fine(machine: Machine, snapshot: SnapshotAssertion) -> None:
    # Bound and not listened on, so that nobody else gets it meanwhile.
    with socket.socket() as held:
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        held.bind(("127.0.0.1", 0))
        machine.settings["port"] = held.getsockname()[1]
        machine.well("port")
    assert machine.results == snapshot


def test_a_port_that_another_program_holds_is_noticed_with_its_name(machine: Machine) -> None:
    program = "import socket, sys; s = socket.create_server(('127.0.0.1', 0)); print(s.getsockname()[1], flush=True); sys.stdin.read()"
    machine.root = Path("/")
    other = subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    with other:
        assert other.stdout is not None
        machine.settings["port"] = int(other.stdout.readline())
        found = machine.accuses("port")
        other.kill()
    assert f"(process {other.pid})" in found.message


def test_a_port_that_systemd_holds_for_the_computer_is_fine(machine: Machine, snapshot: SnapshotAssertion) -> None:
    machine.booted()
    with socket.create_server(("127.0.0.1", 0)) as server:
        machine.settings["port"] = server.getsockname()[1]
        machine.program("systemctl", '[ "$*" = "--user is-active parachute-core.socket" ] && echo active')
        machine.well("port")
        machine.program("systemctl", "echo inactive; exit 3")
        machine.accuses("port")
    assert machine.results == snapshot


def test_an_address_of_another_machine_is_noticed(machine: Machine, snapshot: SnapshotAssertion) -> None:
    machine.settings["host"] = "192.0.2.1"
    machine.accuses("port")
    assert machine.results == snapshot


def test_what_holds_the_port_may_be_the_computer_itself(machine: Machine, snapshot: SnapshotAssertion) -> None:
    machine.well("port", supervisor=status())
    machine.warns("port", supervisor=status(main_server_port=3999))
    assert machine.results == snapshot


@pytest.mark.parametrize("confined", [True, False])
def test_units_of_this_version_are_fine(machine: Machine, confined: bool) -> None:
    install_units(machine, confined)
    assert ("cannot hold core back" in machine.well("units")) is not confined


def test_timers_of_backups_belong_to_the_units_once_there_is_a_place_for_them(
    machine: Machine, snapshot: SnapshotAssertion
) -> None:
    install_units(machine)
    machine.settings["backup"] = {"repository": "/media/disk/backup", "time": "02:00"}
    machine.warns("units")
    for name, text in backup_units.render(machine.home, "02:00", "monthly").items():
        (installed.folder() / name).write_text(text)
    machine.well("units")
    machine.settings["backup"]["time"] = "05:00"
    machine.warns("units")
    del machine.settings["backup"]
    machine.warns("units")
    assert machine.results == snapshot


def test_units_of_the_system_are_left_to_it(machine: Machine, snapshot: SnapshotAssertion) -> None:
    machine.file(f"{installed.SYSTEM}/{installed.SUPERVISOR}")
    machine.program("loginctl", "echo yes")
    machine.skips("units")
    machine.well("linger")
    machine.warns("running")
    assert machine.results == snapshot


def test_without_units_there_is_nothing_to_check(machine: Machine, snapshot: SnapshotAssertion) -> None:
    for check in ("units", "linger"):
        machine.skips(check)
    assert machine.results == snapshot


def test_units_of_another_version_are_written_anew(machine: Machine) -> None:
    files = install_units(machine)
    changed = files[installed.CORE_SERVICE]
    text = changed.read_text()
    changed.write_text(text.replace("LimitCORE=0\n", ""))
    machine.program("systemctl", 'echo "$@" >> "$HOME/asked"; [ "$3" != --property=Version ] || echo Version=257')
    machine.program("systemd-run", "exit 0")
    machine.program("loginctl", "echo yes")
    found = machine.warns("units", environment=environment(machine))
    assert installed.CORE_SERVICE in found.message
    assert found.fix is not None
    assert "rewritten" in found.fix.apply()
    assert changed.read_text() == text
    assert f"restart {installed.SUPERVISOR}" in (machine.folder / "asked").read_text()
    machine.well("units")
    found.fix.apply()
    machine.well("units")


def test_units_that_cannot_be_written_anew_stay(machine: Machine) -> None:
    changed = install_units(machine)[installed.SUPERVISOR]
    changed.write_text("[Service]\n")
    machine.program("systemctl", "echo 'Failed to connect to bus: No medium found' >&2; exit 1")
    found = machine.warns("units", environment=environment(machine))
    assert found.fix is not None
    with raises("not_fixed", names="No medium found"):
        found.fix.apply()
    assert changed.read_text() == "[Service]\n"


def test_a_unit_whose_program_is_gone_is_a_problem(machine: Machine, snapshot: SnapshotAssertion) -> None:
    changed = install_units(machine)[installed.SUPERVISOR]
    changed.write_text(changed.read_text().replace(sys.executable, "/nix/store/gone/bin/python3"))
    machine.accuses("units")
    assert machine.results == snapshot


def test_units_that_somebody_else_keeps_are_left_alone(machine: Machine, snapshot: SnapshotAssertion) -> None:
    path = install_units(machine)[installed.SUPERVISOR]
    target = path.rename(machine.folder / "in-the-store")
    path.symlink_to(target)
    machine.skips("units")
    assert machine.results == snapshot


def environment(machine: Machine) -> dict[str, str]:
    """Of a command that works on this machine's installation."""
    settings = {"PARACHUTE_HOME": str(machine.home.root), "PARACHUTE_VAULT": str(machine.vault)}
    return {**machine.computer().environment, **settings}


def test_a_user_who_lingers_is_fine(machine: Machine) -> None:
    install_units(machine)
    machine.program("loginctl", '[ "$*" = "show-user sam --property=Linger --value" ] && echo yes')
    machine.well("linger")


@pytest.mark.parametrize("answer", ["echo no", f"echo '{UNKNOWN_USER}' >&2; exit 1"])
def test_a_user_who_does_not_linger_is_made_to(machine: Machine, answer: str) -> None:
    install_units(machine)
    lingers = machine.folder / "lingers"
    machine.program(
        "loginctl",
        f'if [ "$*" = "--no-ask-password enable-linger" ]; then touch {lingers}; elif [ -e {lingers} ]; then echo yes; else {answer}; fi',
    )
    found = machine.accuses("linger")
    assert found.fix is not None
    for _ in range(2):
        assert "now run without a login" in found.fix.apply()
        machine.well("linger")


def test_a_refusal_to_linger_is_told(machine: Machine) -> None:
    install_units(machine)
    machine.program(
        "loginctl", '[ "$1" = show-user ] && echo no || { echo "Could not enable linger: Access denied" >&2; exit 1; }'
    )
    found = machine.accuses("linger")
    assert found.fix is not None
    with raises("not_fixed", names="Access denied"):
        found.fix.apply()


@pytest.mark.parametrize(("version", "level"), [(252, "warning"), (255, "warning"), (257, "ok"), (261, "ok")])
def test_an_old_systemd_is_noticed(machine: Machine, version: int, level: str) -> None:
    machine.booted()
    machine.program(
        "systemctl", f"echo 'systemd {version} ({version}.1-1)'; echo '+PAM +AUDIT default-hierarchy=unified'"
    )
    assert machine.look("systemd-version").level == level


def test_a_machine_without_systemd_is_skipped(machine: Machine, snapshot: SnapshotAssertion) -> None:
    for check in ("systemd-version", "control-groups"):
        machine.skips(check)
    assert machine.results == snapshot


def test_controllers_that_were_passed_on_are_fine(machine: Machine) -> None:
    machine.booted()
    machine.file(GROUPS, "cpuset cpu io memory hugetlb pids rdma misc\n")
    machine.file(own_groups(), "cpu memory pids\n")
    machine.well("control-groups")


@pytest.mark.parametrize(
    ("top", "own", "hint"),
    [
        ("cpuset cpu io memory pids", "memory pids", "Delegate="),
        ("cpuset cpu io pids", "cpu pids", "cgroup_enable=memory"),
        (None, None, "systemd.unified_cgroup_hierarchy=1"),
    ],
)
def test_controllers_that_are_missing_are_noticed(
    machine: Machine, top: str | None, own: str | None, hint: str
) -> None:
    machine.booted()
    if top and own:
        machine.file(GROUPS, top)
        machine.file(own_groups(), own)
    assert hint in str(machine.warns("control-groups").hint)
    # A container that cannot be held to its limits does not start.
    machine.settings["sandbox"] = {"engine": "podman"}
    machine.accuses("control-groups")
    machine.settings["sandbox"] = {"engine": "podman", "limits": "unavailable"}
    machine.warns("control-groups")


def test_logs_that_are_kept_short_are_fine(machine: Machine) -> None:
    (machine.home.logs / "core.log").write_text("all is well\n")
    machine.well("logs")


def test_a_log_that_nobody_shortens_is_shortened(machine: Machine, snapshot: SnapshotAssertion) -> None:
    log = machine.home.logs / "core.log"
    with log.open("w") as file:
        file.write("the first\n")
        file.seek(3 * LIMIT)
        file.write("\nthe last\n")
    found = machine.warns("logs")
    assert found.fix is not None
    found.fix.apply()
    assert older(log).read_text(errors="replace").endswith("the last\n")
    assert log.stat().st_size < LIMIT
    machine.well("logs")
    found.fix.apply()
    assert older(log).read_text(errors="replace").endswith("the last\n")
    assert machine.results == snapshot


def test_nothing_left_is_fine(machine: Machine) -> None:
    machine.file("/proc/net/unix", Path("/proc/net/unix").read_text())
    machine.well("leftovers")


def leave_something(machine: Machine) -> list[Path]:
    """Leave the remains of a killed computer: a socket, a file that was being written, the arguments of an agent."""
    path = machine.home.root / "run" / "direct" / "agent.sock"
    path.parent.mkdir()
    with closing(socket.socket(socket.AF_UNIX)) as server:
        server.bind(str(path))
    unfinished = machine.home.root / ".config.yaml.0123456789ab"
    unfinished.write_text("port: 4")
    scratch = machine.folder / "tmp" / "agent-x1y2"
    scratch.mkdir(parents=True)
    (scratch / "argument-3").write_text("a prompt")
    for each in (unfinished, scratch):
        os.utime(each, (time.time() - 2 * DAY,) * 2)
    return [path, unfinished, scratch]


def test_leftovers_are_found_and_removed(machine: Machine) -> None:
    machine.root = Path("/")
    left = leave_something(machine)
    mine = [machine.folder / "tmp" / "agent-notes", machine.folder / "tmp" / "agent-new"]
    for folder in mine:
        folder.mkdir()
    (mine[0] / "important.txt").write_text("mine")
    os.utime(mine[0], (time.time() - 2 * DAY,) * 2)
    fresh = machine.home.root / ".keys.yaml.0123456789ab"
    fresh.write_text("")
    variables = {**machine.computer().environment, "TMPDIR": str(machine.folder / "tmp")}
    with unchanged(machine.home.root, machine.folder / "tmp"):
        found = machine.warns("leftovers", environment=variables)
    assert set(found.details) == {str(path) for path in left}
    assert found.fix is not None
    assert found.fix.apply() == "3 of them are gone."
    assert [path for path in left if path.exists()] == []
    assert all(path.exists() for path in (*mine, mine[0] / "important.txt", fresh))
    machine.well("leftovers", environment=variables)
    assert found.fix.apply() == "0 of them are gone."


def test_the_copy_of_a_drill_that_was_cut_off_is_removed_unless_one_is_at_work(machine: Machine) -> None:
    machine.root = Path("/")
    repository = machine.folder / "backups"
    text = f"vault: {machine.vault}\nbackup:\n  repository: {repository}\n"
    (machine.home.root / "config.yaml").write_text(text)
    copy = machine.home.root / "backup" / "parachute-drill"
    (copy / "vault").mkdir(parents=True)
    (copy / "vault" / "note.md").write_text("restored")
    with single_instance(copy.parent / CREATE_LOCK):
        machine.well("leftovers")
    found = machine.warns("leftovers")
    assert found.details == (str(copy),)
    assert found.fix is not None
    assert found.fix.apply() == "1 of them are gone."
    assert not copy.exists()
    machine.well("leftovers")


def test_a_module_that_failed_is_started_again(machine: Machine) -> None:
    failed = {"name": "module@brain", "state": "failed", "process": None, "reason": "it ended", "failure": None}
    told = status(units=[failed])
    assert machine.accuses("running", supervisor=told).fix is None, "core is asked to do it"
    restarted: list[str] = []
    fix = machine.accuses("running", supervisor=told, restart_module=restarted.append).fix
    assert fix is not None
    fix.apply()
    assert restarted == ["brain"]


def test_a_socket_that_is_served_is_none(machine: Machine) -> None:
    machine.root = Path("/")
    path = machine.home.root / "run" / "served.sock"
    with closing(socket.socket(socket.AF_UNIX)) as server:
        server.bind(str(path))
        server.listen()
        variables = {**machine.computer().environment, "TMPDIR": str(machine.folder)}
        machine.well("leftovers", environment=variables)
        server.setblocking(False)
        with pytest.raises(BlockingIOError):
            server.accept()  # nobody has connected: that would have started a service


def test_agents_may_work(machine: Machine) -> None:
    machine.well("panic")


def test_that_all_agents_are_stopped_is_said(machine: Machine, snapshot: SnapshotAssertion) -> None:
    KillSwitch(machine.home.root).engage("the command line")
    machine.warns("panic")
    assert machine.results == snapshot


def test_what_agents_are_started_with_stays_while_the_computer_runs(machine: Machine) -> None:
    machine.root = Path("/")
    scratch = leave_something(machine)[2]
    variables = {**machine.computer().environment, "TMPDIR": str(machine.folder / "tmp")}
    found = machine.warns("leftovers", environment=variables, supervisor=status())
    assert str(scratch) not in found.details
