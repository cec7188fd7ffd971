"""The script for machines with nixpkgs, as far as one without can follow it: which steps it takes, and what it says of them."""

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = pytest.mark.process

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = "scripts/verify-on-nixos"
# Says which machine this is, names one example, and fails where `FAILING` stands in its words.
_NIX = """#!/bin/sh
echo "$NIXPKGS_ALLOW_UNFREE|$*" >> "$CALLS"
case "$*" in
  *builtins.currentSystem*) echo x86_64-linux; exit ;;
  *"eval --raw .#checks"*) echo example-minimal; exit ;;
  "config show") [ -z "$OLD" ] || exit 1; printf '%s\n' "$SETTINGS"; exit ;;
  show-config) printf '%s\n' "$SETTINGS"; exit ;;
esac
[ -z "$FAILING" ] || case "$*" in *"$FAILING"*) echo "it broke" >&2; exit 1 ;; esac
"""

Run = Callable[..., tuple[subprocess.CompletedProcess[str], list[str]]]


@pytest.fixture
def verify(tmp_path: Path) -> Run:
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "nix").write_text(_NIX)
    (programs / "nix").chmod(0o755)
    (tmp_path / "scripts").mkdir()
    shutil.copy(ROOT / SCRIPT, tmp_path / SCRIPT)
    # Whatever this machine has.
    script = (tmp_path / SCRIPT).read_text().replace("kvm=/dev/kvm", f"kvm={tmp_path}/kvm")
    (tmp_path / SCRIPT).write_text(script)
    (tmp_path / "kvm").touch()
    calls = tmp_path / "calls"

    def run(
        *words: str, failing: str = "", settings: str = "", old: str = ""
    ) -> tuple[subprocess.CompletedProcess[str], list[str]]:
        calls.write_text("")
        environment = {"PATH": f"{programs}:{os.environ['PATH']}", "CALLS": str(calls), "FAILING": failing, "OLD": old}
        done = subprocess.run(
            [tmp_path / SCRIPT, *words],
            env={**environment, "SETTINGS": settings, "HOME": str(tmp_path)},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        return done, calls.read_text().splitlines()

    return run


@pytest.mark.skipif(not shutil.which("shellcheck"), reason="needs shellcheck: `make test-deps` installs it")
def test_shellcheck_finds_nothing() -> None:
    checked = subprocess.run(["shellcheck", ROOT / SCRIPT], capture_output=True, text=True, check=False)
    assert checked.stdout == ""


def test_without_permission_nothing_unfree_is_asked_for(verify: Run) -> None:
    done, calls = verify()
    assert done.returncode == 0, done.stdout + done.stderr
    assert " 0 failed" in done.stdout.splitlines()[-1]
    assert calls[0] == "|eval --raw --impure --expr builtins.currentSystem"
    assert {call.partition("|")[0] for call in calls} == {""}
    assert [call for call in calls if call.endswith("-with-agent")] == []
    assert any(call.endswith("|flake check --no-build --all-systems") for call in calls)
    assert any(call.endswith(".#checks.x86_64-linux.example-minimal") for call in calls)
    assert any("pytest" in call and "tests/nix" in call for call in calls)


def test_with_permission_the_agent_is_built_too(verify: Run) -> None:
    done, calls = verify("--accept-unfree")
    assert done.returncode == 0, done.stdout + done.stderr
    assert {call.partition("|")[0] for call in calls} == {"1"}
    built = {call.rpartition(".#")[2] for call in calls if "|build" in call}
    assert {"parachute", "parachute-with-agent", "sandbox-image", "image-server", "vm"} <= built
    assert "sd-image-rpi4" not in built
    assert "sd-image-rpi4               skipped: this machine cannot build for aarch64-linux" in done.stdout


@pytest.mark.parametrize(
    ("settings", "cards"),
    [
        ("extra-platforms = aarch64-linux i686-linux\nbuilders = @/nowhere/machines", True),
        # What Nix has where nobody has set anything.
        ("extra-platforms = i686-linux\nbuilders = @/nowhere/machines", False),
        ("extra-platforms = i686-linux\nbuilders = @%s/machines", True),
        ("extra-platforms = i686-linux\nbuilders = ssh://pi aarch64-linux", True),
        ("extra-platforms = i686-linux\nsystem-features = aarch64-linux", False),
    ],
)
def test_cards_are_built_where_they_can_be(verify: Run, tmp_path: Path, settings: str, cards: bool) -> None:
    (tmp_path / "machines").write_text("ssh://pi aarch64-linux - 4\n")
    for old in ("", "yes"):
        done, calls = verify("--accept-unfree", settings=settings.replace("%s", str(tmp_path)), old=old)
        built = {call.rpartition(".#")[2] for call in calls if "|build" in call}
        assert ({"sd-image-rpi4", "sd-image-rpi5"} <= built) is cards
        assert ("sd-image-rpi4               skipped:" in done.stdout) is not cards


def test_without_kvm_no_virtual_machine_is_started(verify: Run, tmp_path: Path) -> None:
    done, calls = verify("--accept-unfree")
    virtual = {"checks.x86_64-linux.boots", "image-server"}
    assert virtual <= {call.rpartition(".#")[2] for call in calls}
    (tmp_path / "kvm").unlink()
    done, calls = verify("--accept-unfree")
    assert done.returncode == 0, done.stdout
    assert not virtual & {call.rpartition(".#")[2] for call in calls}
    assert done.stdout.count("without it Nix starts no virtual machine") == 2


def test_a_step_that_fails_is_named_and_the_others_are_taken(verify: Run) -> None:
    done, _ = verify(failing=".#sandbox-image")
    assert done.returncode == 1
    assert "FAILED: build/verify-on-nixos/sandbox-image.log" in done.stdout
    assert "    it broke" in done.stdout
    assert " 1 failed" in done.stdout.splitlines()[-1]
    assert any(line.startswith("package ") and "passed" in line for line in done.stdout.splitlines())
    done, _ = verify(failing="example-minimal")
    assert "FAILED: build/verify-on-nixos/examples.log" in done.stdout


def test_what_it_does_not_know_changes_nothing(verify: Run) -> None:
    done, calls = verify("--all")
    assert (done.returncode, calls) == (2, [])
    assert "--accept-unfree" in done.stderr
