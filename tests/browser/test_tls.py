"""Chromium in a home of its own that trusts one computer: what it takes for secure there, and what it refuses."""

import contextlib
import os
import shutil
import socket
import ssl
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from playwright.sync_api import Browser, Error, Page, expect

from parachute.web.tls.store import Store
from tests.browser.chromium import chromium
from tests.support.authority import signed
from tests.support.computer import Computer
from tests.support.installation import PLAIN
from tests.support.making import Make

pytestmark = pytest.mark.long

CAPABILITIES = (
    "[isSecureContext, 'serviceWorker' in navigator, Boolean(navigator.mediaDevices), Boolean(crypto.subtle)]"
)


@pytest.fixture(scope="module")
def https(make_shared_computer: Make[Computer]) -> Computer:
    """A computer that is called parachute.local."""
    computer = make_shared_computer(tls={"enabled": True}, hostnames=["parachute.local"])
    computer.wait_until(
        lambda: httpx2.get(f"{computer.url}/api/tls", timeout=60, **PLAIN).json()["ready"], "there is a certificate"
    )
    return computer


def command_line(computer: Computer, home: Path, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "parachute.cli", *arguments],
        env={"PARACHUTE_HOME": str(computer.home.root), "PATH": os.environ["PATH"], "HOME": str(home)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def home(https: Computer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The home of a user who trusts the computer."""
    if shutil.which("certutil") is None:
        pytest.fail("certutil is missing:  apt-get install libnss3-tools", pytrace=False)
    folder = tmp_path_factory.mktemp("home")
    assert "is trusted" in command_line(https, folder, "tls", "trust")
    return folder


@pytest.fixture(scope="module")
def browser(home: Path) -> Iterator[Browser]:
    """Chromium of that user, for which every name leads to this machine."""
    with chromium("--host-resolver-rules=MAP * 127.0.0.1", home=home) as running:
        yield running


@contextlib.contextmanager
def served(certificate: Path) -> Iterator[int]:
    """A server of somebody with this certificate, which answers every connection with a page; its port."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection, contextlib.suppress(OSError), context.wrap_socket(connection, server_side=True) as tls:
                tls.settimeout(60)
                tls.recv(65536)
                tls.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nhi")

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield listener.getsockname()[1]
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join()


@pytest.mark.parametrize("name", ["parachute.local", "localhost", "127.0.0.1"])
def test_our_names_are_secure(https: Computer, page: Page, name: str) -> None:
    page.goto(f"https://{name}:{https.port}/")
    assert page.title() == "Parachute"
    assert page.evaluate(CAPABILITIES) == [True] * 4


def test_the_same_port_without_tls_loads_and_is_not_secure(https: Computer, page: Page) -> None:
    page.goto(f"http://parachute.local:{https.port}/")
    assert page.title() == "Parachute"
    assert page.evaluate(CAPABILITIES) == [False] * 4


def refusal(page: Page, certificate: Path, name: str) -> str:
    """The browser's verdict about a server of somebody with this certificate; nothing if it shows the page."""
    # The browser's own page about the last refusal would interrupt the next navigation of the same tab.
    opened = page.context.new_page()
    with served(certificate) as port:
        try:
            opened.goto(f"https://{name}:{port}/")
        except Error as error:
            return error.message
        expect(opened.get_by_text("hi")).to_be_visible()
        return ""


@pytest.mark.parametrize("name", ["bank.example", "other.local", "8.8.8.8"])
def test_another_name_of_the_same_authority_is_refused(https: Computer, page: Page, tmp_path: Path, name: str) -> None:
    forged = signed(Store(https.home.root).authority, tmp_path / "forged.pem", name)
    assert "ERR_CERT_INVALID" in refusal(page, forged, name)


def test_our_name_in_other_hands_is_refused(https: Computer, page: Page, tmp_path: Path) -> None:
    authority = Store(https.home.root).authority
    of_nobody = signed(None, tmp_path / "own.pem", "parachute.local")
    assert "ERR_CERT_AUTHORITY_INVALID" in refusal(page, of_nobody, "parachute.local")
    old = signed(authority, tmp_path / "old.pem", "parachute.local", days=-1)
    assert "ERR_CERT_DATE_INVALID" in refusal(page, old, "parachute.local")
    assert refusal(page, signed(authority, tmp_path / "ours.pem", "parachute.local"), "parachute.local") == ""


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_the_page_leads_through_it_with_the_fingerprint(
    https: Computer, home: Path, page: Page, problems: list[str], scheme: str
) -> None:
    shown = command_line(https, home, "tls", "show")
    page.goto(f"{scheme}://parachute.local:{https.port}/")
    page.get_by_role("link", name="Trust this computer").click()
    expect(page.locator("#fingerprint")).not_to_be_empty()
    lines = page.locator("#fingerprint").inner_text().split("\n")
    assert len(lines) == 2
    assert all(line in shown for line in lines), "the same on both screens"
    expect(page.locator("#now")).to_contain_text("with encryption" if scheme == "https" else "without encryption")
    page.get_by_text("Android", exact=True).click()
    with page.expect_download() as download:
        page.get_by_role("link", name="Download the certificate").locator("visible=true").click()
    assert download.value.path().read_text() == httpx2.get(f"{https.url}/tls/ca.crt", timeout=60, **PLAIN).text
    link = page.get_by_role("link", name=f"https://127.0.0.1:{https.port}")
    link.click()
    expect(page).to_have_title("Parachute")
    assert problems == []


def test_trust_is_taken_back(https: Computer, home: Path) -> None:
    assert "no longer trusted" in command_line(https, home, "tls", "trust", "--remove")
    listed = subprocess.run(
        ["certutil", "-L", "-d", f"sql:{home / '.pki' / 'nssdb'}"], capture_output=True, text=True, check=True
    )
    assert "Parachute" not in listed.stdout
