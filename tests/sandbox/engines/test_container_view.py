"""Podman's record of a container, compared with the request; anything that is not recorded counts as not done."""

import copy
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from parachute.sandbox.engines.inspection.engine_reports import of_podman
from parachute.sandbox.engines.inspection.inside import Findings
from parachute.sandbox.engines.inspection.kernel import Process, process
from parachute.sandbox.engines.inspection.models import Finding
from parachute.sandbox.engines.models import Mount
from parachute.sandbox.layout import ENVIRONMENT, RUNNER, runner_folder
from tests.sandbox.engines.test_podman import IMAGE, specification
from tests.support.errors import raises

pytestmark = pytest.mark.process

DAILY = Mount("/home/you/Parachute/Daily", "/vault/Daily", required=True)
RECORD: dict[str, Any] = {
    "Id": "c" * 64,
    "Image": f"sha256:{IMAGE}",
    "State": {"Status": "running", "Pid": 42},
    "Config": {"User": "1000:1000", "Env": [*(f"{name}=x" for name in ENVIRONMENT), "container=podman"]},
    "HostConfig": {
        "NetworkMode": "none",
        "ReadonlyRootfs": True,
        "SecurityOpt": ["no-new-privileges"],
        "Memory": 1536 << 20,
        "MemorySwap": 1536 << 20,
        "NanoCpus": 2_000_000_000,
        "PidsLimit": 200,
        "Tmpfs": {"/tmp": "rw,rprivate,size=256m,mode=1777"},
    },
    "EffectiveCaps": None,
    "BoundingCaps": None,
    "Mounts": [
        {"Type": "bind", "Source": source, "Destination": target, "RW": writable}
        for source, target, writable in (
            (DAILY.source, DAILY.target, False),
            (str(runner_folder()), RUNNER, False),
            ("/transcripts", "/home/agent/.claude/projects/x", True),
        )
    ],
}
OUTSIDE = Process(42, {}, {}, [], ["lo"], {}, {}, {})


def said(home: Path, record: Mapping[str, Any]) -> dict[str, Finding]:
    """Everything that has to agree."""
    return of_podman(replace(specification(home), mounts=(DAILY,)), OUTSIDE, record)


def differing(home: Path, record: Mapping[str, Any]) -> set[str]:
    return {name for name, each in said(home, record).items() if not each.agrees}


def test_a_record_of_what_was_asked_agrees(tmp_path: Path) -> None:
    assert differing(tmp_path, RECORD) == set()
    assert said(tmp_path, RECORD)["memory"].text == "1536 MB"


def test_an_empty_record_agrees_with_nothing_that_has_to_be_done(tmp_path: Path) -> None:
    # Rights and other mounts are what must not be there.
    assert said(tmp_path, {}).keys() == said(tmp_path, RECORD).keys() - {"/tmp in memory"}
    assert differing(tmp_path, {}) == said(tmp_path, {}).keys() - {"capabilities", "other places"}


def test_each_thing_that_is_recorded_otherwise_is_found(tmp_path: Path) -> None:
    for path, value, name in (
        (("State", "Pid"), 41, "sandbox"),
        (("Image",), "b" * 64, "image"),
        (("Config", "User"), "0:0", "user"),
        (("Config", "Env"), ["HOME=/", "SECRET=x"], "environment"),
        (("EffectiveCaps",), ["CAP_SYS_ADMIN"], "capabilities"),
        (("BoundingCaps",), ["CAP_CHOWN"], "capabilities"),
        (("HostConfig", "Privileged"), True, "capabilities"),
        (("HostConfig", "SecurityOpt"), ["seccomp=unconfined"], "new rights"),
        (("HostConfig", "NetworkMode"), "slirp4netns", "network"),
        (("HostConfig", "ReadonlyRootfs"), False, "system files"),
        (("HostConfig", "Memory"), 0, "memory"),
        (("HostConfig", "MemorySwap"), -1, "memory"),
        (("HostConfig", "NanoCpus"), 4_000_000_000, "processors"),
        (("HostConfig", "PidsLimit"), 2048, "processes"),
        (("HostConfig", "PidsLimit"), -1, "processes"),
        (("HostConfig", "Tmpfs", "/tmp"), "rw,size=512m", "/tmp in memory"),
        (("HostConfig", "Tmpfs", "/tmp"), "rw", "/tmp in memory"),
        (("Mounts", 0, "RW"), True, "/vault/Daily"),
        (("Mounts", 0, "Source"), "/home/you", "/vault/Daily"),
    ):
        record = copy.deepcopy(RECORD)
        inner: Any = record
        for key in path[:-1]:
            inner = inner[key]
        inner[path[-1]] = value
        assert differing(tmp_path, record) == {name}


def test_a_mount_that_nobody_asked_for_is_found(tmp_path: Path) -> None:
    record = copy.deepcopy(RECORD)
    record["Mounts"].append({"Type": "volume", "Source": "x", "Destination": "/data", "RW": False})
    assert differing(tmp_path, record) == {"other places"}


def test_what_a_sandbox_says_is_not_believed_without_a_look_at_its_form() -> None:
    for answer in (b"", b"[]", b"{}", b'{"user": "root"}', b"[" * 100_000):
        with raises("answer_unreadable"):
            Findings.read(answer)


def test_a_process_that_has_ended_is_said() -> None:
    with raises("kernel_not_read"):
        process(2**22 + 1)
