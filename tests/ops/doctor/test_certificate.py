"""The check of the certificates for https."""

from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from tests.support.authority import signed
from tests.web.tls.conftest import program

from .machine import Machine

pytestmark = pytest.mark.process


@pytest.fixture
def own(machine: Machine) -> Path:
    """Return the path of the owner's own certificate, on a computer that others reach."""
    path = machine.home.root.parent / "own.pem"
    machine.settings.update(host="0.0.0.0", hostnames=["parachute.local"], tls={"certificate": str(path)})
    return path


def made(machine: Machine, own: Path, *hostnames: str) -> None:
    done = program(machine.home.root, "parachute.local", *hostnames, own=[str(own), None])
    assert done.returncode == 0, done.stderr


def test_it_is_well_while_it_is_valid(machine: Machine, own: Path) -> None:
    signed(None, own, "notes.example.org", days=60)
    made(machine, own)
    assert "valid until" in machine.well("certificate")


@pytest.mark.long
def test_one_of_ones_own_is_watched(machine: Machine, own: Path) -> None:
    made(machine, own)
    assert str(own) in machine.accuses("certificate").message
    signed(None, own, "notes.example.org", days=5)
    made(machine, own)
    assert "valid until" in machine.warns("certificate").message
    signed(None, own, "notes.example.org", days=-1)
    made(machine, own)
    assert "valid until" in machine.accuses("certificate").message


def test_names_that_are_left_out_are_named(machine: Machine, own: Path, snapshot: SnapshotAssertion) -> None:
    signed(None, own, "notes.example.org", days=60)
    made(machine, own)
    made(machine, own, "nas.example.org")
    machine.warns("certificate")
    assert machine.results == snapshot


def test_it_does_not_apply_without_https(machine: Machine, snapshot: SnapshotAssertion) -> None:
    machine.look("certificate")
    assert machine.results == snapshot
