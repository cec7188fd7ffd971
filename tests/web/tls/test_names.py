"""The names in the certificate, and what an authority is limited to."""

import socket

import pytest

from parachute.web.tls.names import limits, own_names, permits

LIMITS = limits(
    ["parachute.local", "notes.example.org", "localhost", "dev", "192.168.1.5", "203.0.113.7", "2001:db8::1"]
)


@pytest.mark.parametrize(
    "name",
    ["parachute.local", "a.parachute.local", "localhost", "192.168.77.1", "10.1.2.3", "::1", "fd00::9", "203.0.113.7"],
)
def test_it_may_sign_its_own_names_and_private_addresses(name: str) -> None:
    assert permits(LIMITS, name)


@pytest.mark.parametrize(
    "name",
    [
        "local",
        "other.local",
        "xparachute.local",
        "example.org",
        "bank.example",
        "dev",
        "web.dev",
        "8.8.8.8",
        "203.0.113.8",
    ],
)
def test_it_may_sign_nothing_else(name: str) -> None:
    assert not permits(LIMITS, name)


def test_the_names_are_those_of_the_machine_and_of_the_settings() -> None:
    names = own_names([" Notes.Example.org", "[2001:DB8::1]"], "parachute-2.local")
    short = socket.gethostname().lower().partition(".")[0]
    assert names[0] == "parachute-2.local"
    assert {f"{short}.local", "notes.example.org", "2001:db8::1", "localhost", "127.0.0.1"} <= set(names)
    assert len(names) == len(set(names))
