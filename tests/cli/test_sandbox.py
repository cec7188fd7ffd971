"""`parachute sandbox`, as far as it needs no Podman; containers are tested in a booted guest."""

import json
import re
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from parachute.sandbox.image import recipe
from parachute.sandbox.image.contents import debian_packages
from parachute.sandbox.image.models import Image
from tests.support.terminal import Terminal


def of_image(parachute: Terminal) -> list[str]:
    """Screens without the lines about this machine and its programs."""
    return [
        re.sub(r"(?m)^(Engine|Podman|Missing|Projects|Next)  .*\n", "", str(screen)) for screen in parachute.screens
    ]


def test_status_says_what_shuts_agents_in(parachute: Terminal) -> None:
    found = json.loads(parachute.ok("sandbox", "status", "--json", PARACHUTE_SANDBOX__ENGINE="bubblewrap"))
    assert (found["asked"], found["image"], found["limits"]) == ("bubblewrap", None, "enforced")
    assert (found["engine"] is None) == bool(found["reason"])
    shown = parachute.ok("sandbox", "status", PARACHUTE_SANDBOX__ENGINE="podman")
    assert shown.startswith("Engine  none: ")
    assert "none: parachute sandbox build" in shown


def test_an_image_of_another_recipe_is_pointed_out(parachute: Terminal, snapshot: SnapshotAssertion) -> None:
    parachute.home.mkdir(mode=0o700)
    Image("a" * 64, "localhost/parachute-sandbox:old", "old", "2026-01-01T00:00:00.000Z", 5 << 20).save(parachute.home)
    parachute.ok("sandbox", "status", PARACHUTE_SANDBOX__ENGINE="bubblewrap")
    assert of_image(parachute) == snapshot


def test_the_image_that_nixos_brings_is_nobodys_to_build(parachute: Terminal) -> None:
    parachute.home.mkdir(mode=0o700)
    mark = f"nix{'0' * 32}"
    Image("a" * 64, "localhost/parachute-sandbox:nix", mark, "2026-01-01T00:00:00.000Z", 5 << 20).save(parachute.home)
    assert "not of today's recipe" not in parachute.ok("sandbox", "status", PARACHUTE_SANDBOX__ENGINE="bubblewrap")
    found = json.loads(parachute.ok("sandbox", "status", "--json", PARACHUTE_SANDBOX__ENGINE="bubblewrap"))
    assert found["image"]["is_current"] is True


def test_a_record_that_cannot_be_read_counts_as_no_image(parachute: Terminal) -> None:
    parachute.home.mkdir(mode=0o700)
    for content in ("{", "[]", '{"id": "--privileged"}'):
        (parachute.home / "image.json").write_text(content)
        found = json.loads(parachute.ok("sandbox", "status", "--json", PARACHUTE_SANDBOX__ENGINE="podman"))
        assert (found["engine"], found["image"]) == (None, None)


@pytest.mark.long
def test_packages_of_the_users_own_ask_for_another_image(parachute: Terminal, snapshot: SnapshotAssertion) -> None:
    parachute.home.mkdir(mode=0o700)
    made = Image(
        "a" * 64,
        "localhost/parachute-sandbox:x",
        recipe.digest(debian_packages(["ffmpeg"])),
        "2026-01-01T00:00:00.000Z",
        5 << 20,
        packages={"git": "1:2.47.3-0+deb13u1", "ffmpeg": "7:7.1-1"},
        shares={"git": 100 << 20, "ffmpeg": 50 << 20},
    )
    made.save(parachute.home)
    bubblewrap = {"PARACHUTE_SANDBOX__ENGINE": "bubblewrap"}
    parachute.ok("sandbox", "status", **bubblewrap)
    parachute.ok("config", "set", "sandbox.packages", "[ffmpeg]")
    shown = parachute.ok("sandbox", "status", **bubblewrap)
    assert "not of today's recipe" not in shown
    found = json.loads(parachute.ok("sandbox", "status", "--json", **bubblewrap))
    assert found["image"]["contents"][1] == {
        "name": "ffmpeg",
        "package": "ffmpeg",
        "version": "7.1",
        "bytes": 50 << 20,
    }
    assert bool(found["missing_programs"]) >= bool(found["install"])
    parachute.fails("config", "set", "sandbox.without", "[npm, bash]")
    parachute.ok("config", "set", "sandbox.without", "[npm]")
    parachute.ok("sandbox", "status", **bubblewrap)
    for wrong in ("ffmpeg-", "a=1", "a,b", "../a", "--x", "A", "a/sid", "?a"):
        parachute.fails("config", "set", "sandbox.packages", wrong)
    assert of_image(parachute) == snapshot


def test_what_cannot_be_done_is_said(parachute: Terminal, tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    parachute.fails("sandbox", "build", "--from-tar", "a", "--to-tar", "b")
    existing = tmp_path / "existing.tar"
    existing.write_text("mine")
    parachute.fails("sandbox", "build", "--to-tar", str(existing))
    assert existing.read_text() == "mine"
    parachute.fails("sandbox", "shell")
    assert parachute.screens == snapshot
