"""The authority of a home, judged by two verifiers: what it signs for itself holds, and whoever steals it gains nothing."""

import shutil
import stat
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.x509 import verification

from parachute.base.addresses import parse_address
from parachute.web.tls.store import Store
from tests.support.authority import signed

from .conftest import Make, program

pytestmark = pytest.mark.process

DAY = timedelta(days=1)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """An authority of a computer that is called parachute.local and notes.example.org, for tests that change nothing."""
    folder = tmp_path_factory.mktemp("home")
    made = program(folder, "parachute.local", "notes.example.org")
    assert made.returncode == 0, made.stderr
    return Store(folder)


@pytest.fixture
def store(tmp_path: Path, shared: Store) -> Store:
    """The same for a test that changes it."""
    shutil.copytree(shared.folder, tmp_path / shared.folder.name)
    return Store(tmp_path)


def by_openssl(store: Store, certificate: Path, name: str) -> bool:
    option = "-verify_ip" if parse_address(name) else "-verify_hostname"
    command = ["openssl", "verify", "-x509_strict", "-CAfile", str(store.authority), option, name, str(certificate)]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def by_cryptography(store: Store, certificate: Path, name: str) -> bool:
    root = x509.load_pem_x509_certificate(store.authority.read_bytes())
    address = parse_address(name)
    subject = x509.IPAddress(address) if address else x509.DNSName(name)
    verifier = verification.PolicyBuilder().store(verification.Store([root])).build_server_verifier(subject)
    try:
        verifier.verify(x509.load_pem_x509_certificate(certificate.read_bytes()), [])
    except verification.VerificationError:
        return False
    return True


@pytest.mark.parametrize("name", ["parachute.local", "notes.example.org", "localhost", "127.0.0.1"])
def test_its_own_names_hold(shared: Store, name: str) -> None:
    assert by_openssl(shared, shared.certificate, name)
    assert by_cryptography(shared, shared.certificate, name)


@pytest.mark.parametrize("name", ["bank.example", "other.local", "example.org", "8.8.8.8", "2606:4700::1111"])
def test_a_thief_of_the_authority_can_sign_for_nobody_else(shared: Store, tmp_path: Path, name: str) -> None:
    forged = signed(shared.authority, tmp_path / "forged.pem", name)
    assert not by_openssl(shared, forged, name)
    assert not by_cryptography(shared, forged, name)
    # It is the name that is refused, and nothing else about that certificate.
    ours = signed(shared.authority, tmp_path / "ours.pem", "parachute.local")
    assert by_openssl(shared, ours, "parachute.local")
    # One name of ours does not carry another one in.
    both = signed(shared.authority, tmp_path / "both.pem", "parachute.local", name)
    assert not by_openssl(shared, both, "parachute.local")


def test_nobody_else_can_read_its_keys(shared: Store) -> None:
    assert stat.S_IMODE(shared.folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in shared.folder.iterdir()} == {0o600}


def test_the_authority_stays_when_the_certificate_is_renewed(store: Store, make: Make) -> None:
    before, first = store.authority.read_bytes(), store.read()
    assert make("parachute.local", "notes.example.org").returncode == 0
    assert store.read() == first, "nothing was due"
    assert make("parachute.local", "notes.example.org", now=(datetime.now(UTC) + 61 * DAY).timestamp()).returncode == 0
    second = store.read()
    assert first is not None
    assert second is not None
    assert second.certificate.expires_at > first.certificate.expires_at
    assert (store.authority.read_bytes(), second.authority) == (before, first.authority)


def test_a_name_that_came_later_is_named_and_left_out(store: Store, make: Make) -> None:
    assert make("parachute.local", "nas.example.org", "dev").returncode == 0
    issued = store.read()
    assert issued is not None
    assert set(issued.left_out) == {"nas.example.org", "dev"}
    assert make("parachute.local", "nas.example.org", anew=True).returncode == 0
    another = store.read()
    assert another is not None
    assert another.left_out == ()
    assert another.authority.fingerprint != issued.authority.fingerprint


def test_an_authority_that_cannot_be_read_is_not_replaced(store: Store, make: Make) -> None:
    """Every device would have to trust the new one: that is the owner's word."""
    store.authority.write_text("-----BEGIN PRIVATE KEY-----\n")
    made = make("parachute.local", force=True)
    assert made.returncode == 1
    assert "--authority" in made.stderr
    assert store.authority.read_text() == "-----BEGIN PRIVATE KEY-----\n"
    assert make("parachute.local", anew=True).returncode == 0


def test_no_link_is_followed_to_where_keys_are_written(tmp_path: Path, make: Make) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (tmp_path / "tls").symlink_to(elsewhere)
    assert make().returncode == 1
    assert list(elsewhere.iterdir()) == []
