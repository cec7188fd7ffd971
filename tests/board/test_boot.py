"""The image boots by UEFI, shows how it is set up, takes a phone in, and keeps it: restarted, and without power."""

import json
import struct
import subprocess
from pathlib import Path

import pytest

from tests.board.machine import Board

pytestmark = pytest.mark.guest

NOTE = "Notes/tea.md"
_keys: list[str] = []
"""The phone's, once it has one."""


def phone_sees_its_note(board: Board) -> None:
    """See that the phone is known, and that what it wrote is there."""
    answer = board.ask("GET", f"/api/files/download?path={NOTE}", _keys[0])
    assert (answer.status_code, answer.text) == (200, "Tea with Kevin")


def test_a_phone_is_let_in_with_the_key_on_the_serial_line(board: Board) -> None:
    board.start()
    first = board.shown_key()
    assert board.ask("GET", "/api/health").json()["status"] == "ok"
    assert board.ask("GET", "/api/auth/keys").status_code == 401
    made = board.ask("POST", "/api/auth/keys", first, json={"label": "phone"})
    assert made.status_code in (200, 201), made.text
    _keys.append(made.json()["key"])
    assert board.ask("POST", "/api/setup/finish", _keys[0]).is_success
    assert board.ask("GET", "/api/auth/keys", first).status_code == 401
    assert board.ask("PUT", f"/api/files/upload?path={NOTE}", _keys[0], content=b"Tea with Kevin").is_success
    phone_sees_its_note(board)


def test_a_restart_keeps_it(board: Board) -> None:
    board.restart()
    board.wait_for("This computer is set up.")
    phone_sees_its_note(board)


def test_a_cut_of_power_keeps_it(board: Board) -> None:
    board.cut()
    board.start()
    board.wait_for("This computer is set up.")
    phone_sees_its_note(board)


def test_its_root_has_grown_to_the_disk(board: Board, disk: Path) -> None:
    board.cut()
    shown = subprocess.run(["sfdisk", "--json", str(disk)], check=True, capture_output=True).stdout
    _, root = json.loads(shown)["partitiontable"]["partitions"]
    assert root["name"] == "parachute"
    assert (root["start"] + root["size"]) * 512 > disk.stat().st_size - (2 << 20)
    with disk.open("rb") as file:
        file.seek(root["start"] * 512 + 1024)
        superblock = file.read(1024)
    (blocks,), (exponent,) = struct.unpack_from("<I", superblock, 4), struct.unpack_from("<I", superblock, 24)
    assert blocks * (1024 << exponent) > root["size"] * 512 - (1 << 20)
