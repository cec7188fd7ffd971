"""What Podman records of a container against what was asked for; whatever is not recorded counts as not done."""

import copy
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from parachute.errors import Unavailable
from parachute.sandbox.explaining.asked import asked
from parachute.sandbox.explaining.kernel import Process, process
from parachute.sandbox.explaining.models import Said
from parachute.sandbox.explaining.seen import Seen
from parachute.sandbox.explaining.views import ContainerView
from parachute.sandbox.models import Mount
from tests.sandbox.test_podman import IMAGE, specification

DAILY = Mount("/home/you/Parachute/Daily", "/vault/Daily")
RECORD: dict[str, Any] = {
    "Id": "c" * 64,
    "Image": f"sha256:{IMAGE}",
    "State": {"Status": "running", "Pid": 42},
    "Config": {"User": "1000:1000", "Env": ["HOME=/home/agent", "container=podman"]},
    "HostConfig": {
        "NetworkMode": "none",
        "ReadonlyRootfs": True,
        "SecurityOpt": ["no-new-privileges"],
        "Memory": 1536 << 20,
        "MemorySwap": 1536 << 20,
        "NanoCpus": 2_000_000_000,
        "PidsLimit": 200,
    },
    "EffectiveCaps": None,
    "BoundingCaps": None,
    "Mounts": [{"Type": "bind", "Source": DAILY.source, "Destination": DAILY.target, "RW": False}],
}
OUTSIDE = Process(43, 42, {}, {}, (), ("lo",), {}, {}, {})


def said(home: Path, record: Mapping[str, Any]) -> dict[str, Said]:
    """Everything that has to agree."""
    wanted = asked(replace(specification(home), mounts=(DAILY,)))
    view = ContainerView(replace(wanted, environment=frozenset({"HOME"})), OUTSIDE, record)
    return {
        "box": view.box(),
        "image": view.image(),
        "user": view.user(),
        "rights": view.rights(),
        "new rights": view.new_rights(),
        "network": view.network(),
        "root": view.root(),
        "mount": view.mount(DAILY),
        "others": view.other_mounts(),
        "memory": view.memory(1536 << 20),
        "processors": view.processors(2.0),
        "processes": view.processes(200),
        "environment": view.environment(),
    }


def differing(home: Path, record: Mapping[str, Any]) -> set[str]:
    return {name for name, each in said(home, record).items() if not each.agrees}


def test_a_record_of_what_was_asked_agrees(tmp_path: Path) -> None:
    assert differing(tmp_path, RECORD) == set()
    assert said(tmp_path, RECORD)["memory"].text == "1536 MB"


def test_an_empty_record_agrees_with_nothing_that_has_to_be_done(tmp_path: Path) -> None:
    # Rights and other mounts are what must not be there.
    assert differing(tmp_path, {}) == said(tmp_path, {}).keys() - {"rights", "others"}


@pytest.mark.parametrize(
    ("path", "value", "name"),
    [
        (("State", "Pid"), 41, "box"),
        (("Image",), "b" * 64, "image"),
        (("Config", "User"), "0:0", "user"),
        (("Config", "Env"), ["HOME=/", "SECRET=x"], "environment"),
        (("EffectiveCaps",), ["CAP_SYS_ADMIN"], "rights"),
        (("BoundingCaps",), ["CAP_CHOWN"], "rights"),
        (("HostConfig", "Privileged"), True, "rights"),
        (("HostConfig", "SecurityOpt"), ["seccomp=unconfined"], "new rights"),
        (("HostConfig", "NetworkMode"), "slirp4netns", "network"),
        (("HostConfig", "ReadonlyRootfs"), False, "root"),
        (("HostConfig", "Memory"), 0, "memory"),
        (("HostConfig", "MemorySwap"), -1, "memory"),
        (("HostConfig", "NanoCpus"), 4_000_000_000, "processors"),
        (("HostConfig", "PidsLimit"), 2048, "processes"),
        (("HostConfig", "PidsLimit"), -1, "processes"),
        (("Mounts", 0, "RW"), True, "mount"),
        (("Mounts", 0, "Source"), "/home/you", "mount"),
    ],
)
def test_each_thing_that_is_recorded_otherwise_is_found(
    tmp_path: Path, path: tuple[Any, ...], value: object, name: str
) -> None:
    record = copy.deepcopy(RECORD)
    inner: Any = record
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    assert differing(tmp_path, record) == {name}


def test_a_mount_that_nobody_asked_for_is_found(tmp_path: Path) -> None:
    record = copy.deepcopy(RECORD)
    record["Mounts"].append({"Type": "volume", "Source": "x", "Destination": "/data", "RW": False})
    assert differing(tmp_path, record) == {"others"}


def test_what_a_box_says_is_not_believed_without_a_look_at_its_form() -> None:
    for answer in (b"", b"[]", b"{}", b'{"user": "root"}', b"[" * 100_000):
        with pytest.raises(Unavailable, match="cannot be read"):
            Seen.read(answer)


def test_a_process_that_has_ended_is_said() -> None:
    with pytest.raises(Unavailable, match="kernel does not say"):
        process(2**22 + 1)
