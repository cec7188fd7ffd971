"""The scripts of units, run for real with programs that only write down how they were called."""

import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.nix.evaluation import evaluate

pytestmark = pytest.mark.process

IMAGE = "/nix/store/00000000000000000000000000000000-sandbox%s/root.tar.gz"


class Programs:
    """A folder of programs, and what has been asked of them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._asked = folder / "asked"
        (folder / "bin").mkdir(parents=True)
        self.succeeds(True)

    def succeeds(self, well: bool) -> None:
        for name in ("parachute", "systemctl"):
            program = self.folder / "bin" / name
            program.write_text(f'#!/bin/sh\necho "{name} $*" >> {self._asked}\nexit {0 if well else 1}\n')
            program.chmod(0o755)

    def asked(self) -> list[str]:
        """Return the requests since the last call."""
        lines = self._asked.read_text().splitlines() if self._asked.exists() else []
        self._asked.unlink(missing_ok=True)
        return lines


@pytest.fixture
def programs(tmp_path: Path) -> Programs:
    return Programs(tmp_path / "programs")


def configured(programs: Programs, said: str) -> Any:
    places = {"parachute": str(programs.folder), "systemd": str(programs.folder)}
    return evaluate(f"{{ services.parachute = {{ enable = true; {said} }}; }}", folders=places)


def run(script: str, **environment: str) -> int:
    """As NixOS runs it: the first failing command ends it."""
    paths = {"PATH": "/usr/bin:/bin", **environment}
    return subprocess.run(["bash", "-c", f"set -e\n{script}"], env=paths, timeout=60, check=False).returncode


def test_the_image_is_built_once_for_each_root(programs: Programs, tmp_path: Path) -> None:
    def start(version: str) -> int:
        found = configured(programs, f'sandbox.image = "{IMAGE % version}";')
        script = found["systemd"]["user"]["services"]["parachute-sandbox-image"]["script"]
        return run(script, STATE_DIRECTORY=str(tmp_path))

    programs.succeeds(False)
    assert start("") != 0
    assert programs.asked() == [f"parachute sandbox build --from-tar {IMAGE % ''}"]
    programs.succeeds(True)
    assert start("") == 0
    assert len(programs.asked()) == 1, "it had failed"
    assert start("") == 0
    assert programs.asked() == []
    assert start("-2") == 0
    assert programs.asked() == [f"parachute sandbox build --from-tar {IMAGE % '-2'}"]


def test_no_image_is_made_where_none_is_used(programs: Programs) -> None:
    found = configured(programs, f'sandbox = {{ engine = "bubblewrap"; required = false; image = "{IMAGE % ""}"; }};')
    assert "parachute-sandbox-image" not in found["systemd"]["user"]["services"]


def test_a_new_configuration_restarts_what_runs_and_a_boot_nothing(programs: Programs, tmp_path: Path) -> None:
    user = subprocess.run(["id", "-un"], capture_output=True, text=True, check=True).stdout.strip()

    def switch(said: str = "") -> list[str]:
        script = configured(programs, said)["system"]["userActivationScripts"]["parachute"]["text"]
        assert run(script.replace("= parachute ]", f"= {user} ]"), XDG_RUNTIME_DIR=str(tmp_path)) == 0
        return programs.asked()

    services = "systemctl --user try-restart parachute-supervisor.service parachute-core.service"
    assert switch() == [], "at boot"
    assert switch() == [], "nothing is different"
    assert switch("settings.agents.warm = 1;") == [services]
    assert switch("settings.agents.warm = 1;") == []
    podman = (
        '{ type = "derivation"; name = "podman"; outPath = "/nix/store/00000000000000000000000000000000-podman-2"; }'
    )
    newer = f"settings.agents.warm = 1; }}; virtualisation.podman.package = {podman}; services.parachute = {{"
    assert switch(newer) == [services], "another program is on their path"
    assert switch("settings.agents.warm = 1;") == [services]
    elsewhere = switch("lan.enable = true; settings.agents.warm = 1;")
    assert elsewhere == ["systemctl --user try-restart parachute-core.socket", services], "the old address is closed"


def test_nixos_itself_neither_restarts_them_nor_closes_their_socket(programs: Programs) -> None:
    units = configured(programs, "")["systemd"]["user"]["services"]
    assert [units[f"parachute-{name}"]["restartIfChanged"] for name in ("supervisor", "core")] == [False, False]


def test_other_users_restart_nothing(programs: Programs, tmp_path: Path) -> None:
    text = '{ users.users.somebody.isNormalUser = true; services.parachute = { enable = true; user = "somebody"; }; }'
    script = evaluate(text)["system"]["userActivationScripts"]["parachute"]["text"]
    assert run(script, XDG_RUNTIME_DIR=str(tmp_path)) == 0
    assert list(tmp_path.iterdir()) == [programs.folder]
