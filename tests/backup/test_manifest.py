"""Manifests as somebody could write them who knows the password."""

import hashlib
import io
import json
from pathlib import Path
from typing import Any

import pytest

from parachute.backup import manifest
from parachute.backup.manifest import Manifest
from parachute.backup.models import Damaged, Entry

NOTE = {"path": "note", "kind": "file", "mode": 0o600, "size": 3, "modified": 1, "sha256": "a" * 64}
LINK = {"path": "link", "kind": "link", "mode": 0o777, "target": "note", "content": ""}


def sealed(*entries: Any) -> io.BytesIO:
    """A manifest whose closing line fits."""
    lines = [json.dumps(each).encode() + b"\n" for each in ({"version": 1, "part": "vault"}, *entries)]
    end = {"end": len(entries), "sha256": hashlib.sha256(b"".join(lines)).hexdigest()}
    return io.BytesIO(b"".join(lines) + json.dumps(end).encode() + b"\n")


def test_what_was_written_is_read(tmp_path: Path) -> None:
    entries = {
        "\udcff": Entry("\udcff", "file", 0o600, 3, -5, "a" * 64),
        "link": Entry("link", "link", 0o777, target="\udcff\n", content=""),
        "twin": Entry("twin", "file", 0o600, 3, twin="\udcff", content="000001"),
    }
    path = tmp_path / "manifest.jsonl"
    manifest.write(Manifest({"part": "vault"}, entries), path)
    with path.open("rb") as file:
        assert manifest.read(file, "vault").entries == entries


@pytest.mark.parametrize(
    ("base", "changes"),
    [
        (NOTE, {}),
        (LINK, {}),
        (NOTE, {"modified": None, "twin": None, "content": "000001"}),
    ],
)
def test_ordinary_entries_are_believed(base: dict[str, Any], changes: dict[str, Any]) -> None:
    assert len(manifest.read(sealed({**base, **changes}), "vault").entries) == 1


@pytest.mark.parametrize(
    ("base", "changes"),
    [
        *[(NOTE, {"path": path}) for path in (7, None, "", "/etc/passwd", "../note", "a/../b", "a//b", "./a", "a\0b")],
        *[(NOTE, {"kind": kind}) for kind in ("link", "socket", None, ["file"])],
        *[(NOTE, {"mode": mode}) for mode in ("600", 384.0, None, -1, 0o10000)],
        *[(NOTE, {"size": size}) for size in ("3", 3.0, None, -1)],
        *[(NOTE, {"modified": time}) for time in ("1", 1.5, [1], 10**30, -(10**30))],
        *[(NOTE, {"twin": twin}) for twin in (7, ["note"])],
        *[(NOTE, {"content": content}) for content in (7, "../../etc/passwd", "1/2", ["1"])],
        *[(LINK, {"target": target}) for target in (7, None)],
        (NOTE, {"target": "elsewhere"}),
        (NOTE, {"unknown": 1}),
    ],
)
def test_what_no_file_can_be_is_not_believed(base: dict[str, Any], changes: dict[str, Any]) -> None:
    with pytest.raises(Damaged, match="cannot be believed"):
        manifest.read(sealed({**base, **changes}), "vault")


@pytest.mark.parametrize("text", [b"", b"[]\n", b"7\n", b'{"version": 1}\n', b"{" * 100_000 + b"\n"])
def test_what_is_no_manifest_is_not_believed(text: bytes) -> None:
    with pytest.raises(Damaged):
        manifest.read(io.BytesIO(text), "vault")
    with pytest.raises(Damaged):
        manifest.read(sealed(7), "vault")
    with pytest.raises(Damaged, match="twice"):
        manifest.read(sealed(NOTE, NOTE), "vault")
    with pytest.raises(Damaged, match="of trust"):
        manifest.read(io.BytesIO(b'{"version": 1, "part": "trust"}\n'), "vault")
