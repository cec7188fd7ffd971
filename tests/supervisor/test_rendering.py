"""Files of a unit; the booted appliance tests that systemd obeys them."""

import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest
from msgspec.structs import replace

from parachute.config.settings.home import Home
from parachute.supervisor import installed, units
from parachute.supervisor.models import Confinement, Unit
from parachute.supervisor.specifications.connector import ConnectorSpecification, connector_folder
from parachute.supervisor.systemd.rendering import confine, render
from tests.support.errors import raises

pytestmark = pytest.mark.process

HOME = Home(Path("/srv/home"))
LOG = Path("/srv/home/logs/unit.log")
SESSION = "0b4f2a1c-1111-4222-8333-444455556666"


def lines_of(text: str) -> list[str]:
    """The directives, without comments."""
    return [line for line in text.splitlines() if "=" in line and not line.startswith("#")]


def test_all_sandboxes_share_one_template() -> None:
    first = render(_sandbox(SESSION), HOME, LOG)
    assert sorted(first) == ["parachute-sandbox@.service", "parachute-sandbox@.socket"]
    assert first == render(_sandbox(SESSION.replace("0b4f", "1234")), HOME, LOG)
    assert "ListenStream=/srv/home/run/sandbox/%i/agent.sock" in first["parachute-sandbox@.socket"]
    assert not any(SESSION in text for text in first.values())


def test_an_instance_is_found_by_its_place_not_by_its_name() -> None:
    """A module may be called `host`, like the folder in which its socket is."""
    text = render(_module("host"), HOME, LOG)["parachute-module@.socket"]
    assert "ListenStream=/srv/home/run/module/%i/host/host.sock" in text


def test_each_module_has_a_log_of_its_own() -> None:
    found = [render(_module(name), HOME, HOME.root / "logs" / f"module-{name}.log") for name in ("host", "logs")]
    assert found[0] == found[1]
    assert "StandardOutput=append:/srv/home/logs/module-%i.log" in found[0]["parachute-module@.service"]


def test_an_instance_with_something_of_its_own_has_files_of_its_own() -> None:
    files = render(replace(_sandbox(SESSION), environment={"MODEL": "x"}), HOME, LOG)
    assert sorted(files) == [f"parachute-sandbox@{SESSION}.service", f"parachute-sandbox@{SESSION}.socket"]


def test_core_listens_as_it_is_told_and_nothing_secret_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-api03-secret")
    addresses = {
        "127.0.0.1": "127.0.0.1:3333",
        "::1": "[::1]:3333",
        "localhost": "127.0.0.1:3333",
        "fe80::1%lan0": "[fe80::1%%lan0]:3333",
    }
    for host, stream in addresses.items():
        files = render(units.core(host, 3333), HOME, LOG, wanted_at_boot=True)
        assert f"ListenStream={stream}" in files["parachute-core.socket"].splitlines()
        assert not any("sk-ant" in text for text in files.values())
    service = lines_of(files["parachute-core.service"])
    assert {"Type=notify", "StartLimitBurst=5", "StartLimitIntervalSec=300", "Restart=always"} <= set(service)
    assert not any("children.child" in line for line in service), "it does not end with the supervisor"


def test_a_sandbox_is_given_up_sooner_than_others() -> None:
    service = lines_of(render(_sandbox(SESSION), HOME, LOG)["parachute-sandbox@.service"])
    assert {"StartLimitBurst=3", "StartLimitIntervalSec=300", "Restart=on-failure"} <= set(service)


def test_only_arguments_have_variables_and_so_only_theirs_are_escaped() -> None:
    lines = lines_of(render(Unit("odd", ("/opt/a$b c%d/program", "$HOME", "%i")), HOME, LOG)["parachute-odd.service"])
    assert 'ExecStart="/opt/a$b c%%d/program" "$$HOME" "%%i"' in lines


def test_a_host_has_to_be_an_address() -> None:
    with raises("no_address", names=r"my\.machine"):
        render(units.core("my.machine", 3333), HOME, LOG)


@pytest.mark.parametrize("path", ["relative", "/with:colon", '/with"quote', "/with\nline"])
def test_a_path_that_could_mean_something_else_is_refused(path: str) -> None:
    with raises("unsafe_path"):
        confine(Confinement(read=(Path(path),)), notifies=False)


def test_a_confinement_names_its_folders_and_leaves_out_what_was_not_asked() -> None:
    asked = Confinement(read=(Path("/srv/vault/50% done"),), write=(Path("/srv/vault/Daily"),), memory_bytes=1 << 28)
    text = confine(asked, notifies=True)
    assert 'BindReadOnlyPaths="-/srv/vault/50%% done"' in text
    assert 'BindPaths="/srv/vault/Daily"' in text
    assert "MemoryMax=268435456" in text
    assert "BindReadOnlyPaths=%t/systemd/notify" in text
    assert "%t" not in confine(asked, notifies=False)
    assert "MemoryDenyWriteExecute" not in confine(Confinement(writes_code=True), notifies=False)


def test_a_connector_has_its_folder_its_loopback_and_nothing_of_the_vault(short_path: Path) -> None:
    home = Home(short_path)
    with raises("specification_unreadable"):
        units.by_name(home, "connector@telegram")
    folder = connector_folder("telegram", home.root)
    folder.mkdir(parents=True)
    (short_path / "vault").mkdir()
    places = {
        "core_socket": str(folder / "core/core.sock"),
        "files": str(folder / "files"),
        "vault": f"{short_path}/vault",
    }
    ConnectorSpecification("telegram", **places, memory=64 << 20, pids=9).save(home.root)
    unit = units.by_name(home, "connector@telegram", confines=True)
    assert unit.command[-2:] == ("--unit", "telegram")
    assert units.works_for_agents(unit.name)
    files = render(unit, home, LOG)
    assert "Restart=always" in files["parachute-connector@telegram.service"]
    lines = lines_of(files["parachute-connector@telegram.service.d/50-confinement.conf"])
    assert [line for line in lines if line.startswith("BindPaths=")] == [f'BindPaths="{folder}/files"']
    assert f'BindReadOnlyPaths="-{folder}/core"' in lines
    assert {"PrivateNetwork=yes", "RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6", "TasksMax=9"} <= set(lines)
    assert not any("vault" in line for line in lines if line.startswith("Bind"))
    for name in ("connector@", "connector@../x", "connector@Telegram", f"connector@{'x' * 21}"):
        with raises("no_such_unit"):
            units.check_name(name)


def test_what_no_home_holds_is_hidden_by_name() -> None:
    places = ("/srv/disk/vault", "/srv/disk", "/home/anna/Parachute", "/")
    lines = confine(Confinement(hide=tuple(map(Path, places))), notifies=False).splitlines()
    hidden = [line.partition("=")[2] for line in lines if line.startswith("TemporaryFileSystem=")]
    assert hidden == ['"/srv/disk:ro"', "/run:ro", "/dev/shm:mode=1777,nosuid,nodev,noexec"]


def test_the_installed_units_are_the_supervisor_and_core() -> None:
    files = installed.render(HOME, "127.0.0.1", 3333, lingers_for_us=True)
    assert sorted(files) == sorted(installed.NAMES)
    assert '"--launcher" "systemd"' in files[installed.SUPERVISOR]
    assert "EnabledLinger=yes" in files[installed.SUPERVISOR]
    assert "EnabledLinger" not in installed.render(HOME, "::1", 1, lingers_for_us=False)[installed.SUPERVISOR]


def test_core_is_held_back_and_told_who_starts_its_programs() -> None:
    files = installed.render(HOME, "127.0.0.1", 3333, lingers_for_us=False)
    core = set(lines_of(files[installed.CORE_SERVICE]))
    assert {"NoNewPrivileges=yes", "PrivateUsers=yes", "CapabilityBoundingSet=", "ProtectSystem=full"} <= core
    assert 'Environment="PARACHUTE_PROGRAMS=/srv/home/run/programs/start.sock"' in core
    programs = units.programs(HOME)
    assert programs.listen == (Path("/srv/home/run/programs/start.sock"),)
    text = render(programs, HOME, LOG)["parachute-programs.service"]
    assert not any(line.split("=")[0] in ("NoNewPrivileges", "PrivateUsers", "UMask") for line in lines_of(text))
    with raises("no_such_unit"):
        units.check_name("programs")


def test_the_supervisor_writes_only_what_is_its_own() -> None:
    home = Home(Path("/srv/50% of it/home"))
    lines = lines_of(installed.render(home, "::1", 1, lingers_for_us=False)[installed.SUPERVISOR])
    assert [line for line in lines if line.startswith("ReadWritePaths=")] == [
        'ReadWritePaths="/srv/50%% of it/home"',
        "ReadWritePaths=%t",
    ]
    assert {"ProtectSystem=strict", "ProtectHome=read-only"} <= set(lines)


def test_where_there_can_be_no_namespaces_nothing_asks_for_one() -> None:
    files = installed.render(HOME, "127.0.0.1", 3333, lingers_for_us=False, confined=False)
    for text in files.values():
        assert not any(line.startswith(("Private", "Protect", "Capab", "ReadWrite")) for line in lines_of(text))
    assert "PARACHUTE_PROGRAMS" not in files[installed.CORE_SERVICE]
    assert "NoNewPrivileges=yes" not in lines_of(files[installed.CORE_SERVICE])
    assert "NoNewPrivileges=yes" in lines_of(files[installed.SUPERVISOR])


def test_every_line_that_holds_a_unit_back_is_explained() -> None:
    for text in installed.render(HOME, "127.0.0.1", 3333, lingers_for_us=False).values():
        lines = text.splitlines()
        for before, line in pairwise(lines):
            if line.startswith(("ProtectSystem", "PrivateUsers", "Capab", "RestrictAddress", "SystemCallFilter=@")):
                assert before.startswith("# "), line


def test_only_the_systemd_that_forgets_whose_child_it_is_is_told_twice() -> None:
    line = "Environment=PARACHUTE_ANNOUNCED_MAIN_PROCESS=1"
    for version, expected in ((None, False), (256, False), (257, True), (258, False)):
        assert (line in confine(Confinement(), notifies=True, systemd=version).splitlines()) is expected


def test_only_sockets_of_the_network_have_options_of_the_network() -> None:
    unix = render(_sandbox(SESSION), HOME, LOG)["parachute-sandbox@.socket"]
    assert "NoDelay" not in unix
    assert "NoDelay=yes" in render(units.core("::1", 1), HOME, LOG)["parachute-core.socket"]


def test_a_supervisor_with_its_own_children_loads_no_dbus() -> None:
    script = "import sys, parachute.supervisor.main; sys.exit('dbus_fast' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


def _module(name: str) -> Unit:
    listen = (HOME.root / "run" / "module" / name / "host" / "host.sock",)
    return Unit(
        f"module@{name}", (sys.executable, "-m", "parachute.modules.host_process", name), listen=listen, on_demand=True
    )


def _sandbox(session: str) -> Unit:
    return units.by_name(HOME, f"sandbox@{session}")
