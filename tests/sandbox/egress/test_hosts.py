"""Names, lists of them, and addresses."""

import shutil
import subprocess
import sys
from ipaddress import ip_address

import pytest

from parachute.base.errors import InvalidInput
from parachute.sandbox.egress import addresses, hosts
from parachute.sandbox.egress.hosts import AllowedHosts
from parachute.sandbox.egress.models import Target
from tests.support.errors import raises

pytestmark = pytest.mark.process


def test_a_name_has_one_form() -> None:
    for written, normal in (
        ("API.Example.ORG", "api.example.org"),
        ("api.example.org.", "api.example.org"),
        ("bücher.example", "xn--bcher-kva.example"),
        ("BÜCHER.example", "xn--bcher-kva.example"),
        ("api。example。org", "api.example.org"),
        ("a_b.s3.example.org", "a_b.s3.example.org"),
        ("93.184.216.34", "93.184.216.34"),
        ("[2606:2800:0220:0001::1]", "2606:2800:220:1::1"),
    ):
        assert hosts.normal(written) == normal


def test_what_could_be_read_differently_is_no_name() -> None:
    for text in (
        "127.1",
        "0x7f.0.0.1",
        "0x7f000001",
        "2130706433",
        "0177.0.0.1",
        "1.2.3.4.5",
        "a.0x",
        "-a.org",
        "a..org",
        ".org",
        "",
        "a b.org",
        "a%2e.org",
        "x" * 64 + ".org",
        "a." * 127 + "org",
        "[::1",
        "[1.2.3.4]",
        "[",
        "℀.org",
        "a/b.org",
    ):
        with pytest.raises(ValueError):
            hosts.normal(text)


def allows(entry: str, host: str, port: int = 443) -> bool:
    return AllowedHosts.parse([entry]).allows(Target(host, port))


def test_a_name_allows_itself_at_the_usual_ports_only() -> None:
    assert allows("Example.org.", "example.org")
    assert allows("example.org", "example.org", 80)
    assert not allows("example.org", "example.org", 22)
    assert not allows("example.org", "www.example.org")
    assert not allows("example.org", "notexample.org")
    assert not allows("example.org", "example.org.evil.com")


def test_a_star_allows_every_name_below_and_not_the_name_itself() -> None:
    assert allows("*.example.org", "a.example.org")
    assert allows("*.example.org", "a.b.example.org")
    assert not allows("*.example.org", "example.org")
    assert not allows("*.example.org", "badexample.org")


def test_a_port_is_exact() -> None:
    assert allows("example.org:8443", "example.org", 8443)
    assert not allows("example.org:8443", "example.org", 443)
    assert allows("*.example.org:8443", "a.example.org", 8443)
    assert allows("[2606:2800::1]:8443", "2606:2800::1", 8443)


def test_a_wrong_entry_is_named() -> None:
    for entry in (
        "*",
        "*.org",
        "a.*.org",
        "**.example.org",
        "localhost",
        "router",
        "https://example.org",
        "example.org/path",
        "example.org:0",
        "example.org:65536",
        "example.org:",
        "example.org:https",
        "user@example.org",
        " example.org",
        "192.168.1.1",
        "127.0.0.1:8080",
        "[::1]",
        "[fe80::1%eth0]",
        "10.0.0.0/8",
        "*.1.2.3.4",
        "169.254.169.254",
        "",
        "::1",
        "2606:2800::1",
        "[::ffff:8.8.8.8]",
        7,
        None,
    ):
        with pytest.raises(InvalidInput) as raised:
            AllowedHosts.parse(["good.example.org", entry])
        assert repr(str(entry)[:80]) in raised.value.message
        assert "good" not in raised.value.message, entry


def test_all_wrong_entries_are_named_at_once() -> None:
    with raises("invalid_hosts", names=r"'localhost'.*'10\.0\.0\.1'"):
        AllowedHosts.parse(["localhost", "10.0.0.1"])


PRIVATE = [
    "10.1.2.3",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.0.1",
    "127.0.0.1",
    "127.255.0.1",
    "169.254.169.254",
    "0.0.0.0",
    "0.1.2.3",
    "100.64.0.1",
    "100.127.255.255",
    "224.0.0.1",
    "239.1.1.1",
    "240.0.0.1",
    "255.255.255.255",
    "192.0.0.9",
    "192.0.2.1",
    "198.18.0.1",
    "198.51.100.1",
    "203.0.113.1",
    "192.88.99.1",
    "::",
    "::1",
    "::ffff:8.8.8.8",
    "::ffff:10.0.0.1",
    "::8.8.8.8",
    "64:ff9b::808:808",
    "64:ff9b::a00:1",
    "64:ff9b:1::a00:1",
    "2002:a00:1::1",
    "2002:808:808::1",
    "2001::1",
    "2001:0:808:808::1",
    "2001:db8::1",
    "fe80::1",
    "fec0::1",
    "fc00::1",
    "fd12:3456::1",
    "ff02::1",
    "ff0e::1",
    "100::1",
    "3fff::1",
    "5f00::1",
    "4000::1",
]


def test_an_address_that_is_not_public_is_refused() -> None:
    for address in PRIVATE:
        assert addresses.not_public(ip_address(address))


def test_an_address_of_the_internet_is_allowed() -> None:
    for address in (
        "93.184.216.34",
        "8.8.8.8",
        "1.1.1.1",
        "2606:4700:4700::1111",
        "2a00:1450:4001::8a",
        "2001:4860:4860::8888",
    ):
        assert addresses.refusal(address) is None


def test_this_machine_is_recognised_by_its_addresses() -> None:
    assert addresses.is_own(ip_address("127.0.0.1"))
    assert not addresses.is_own(ip_address("93.184.216.34"))
    assert addresses.refusal("not an address") == "not an address"


def test_only_an_address_that_the_owner_named_may_be_this_machine() -> None:
    for address in ("127.0.0.1", "::1"):
        assert addresses.refusal(address, private=True) == "this machine"
        assert addresses.refusal(address, own=True) is None
    assert addresses.refusal("192.168.1.1", own=True) == "a private address"
    assert addresses.refusal("169.254.169.254", private=True, own=True) == "a link-local address"


def test_a_public_address_of_this_machine_is_this_machine() -> None:
    # A network of its own, in which the loopback interface has a public address.
    script = """
import fcntl, socket, struct
from parachute.sandbox.egress import addresses
def assign(address):
    request = struct.pack("16sH2x4s8x", b"lo", socket.AF_INET, socket.inet_aton(address))
    fcntl.ioctl(probe, 0x8916, request)  # SIOCSIFADDR, <linux/sockios.h>
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
    assign("127.0.0.1")
    assert addresses.refusal("93.184.216.34") is None
    assign("93.184.216.34")
    assert addresses.refusal("93.184.216.34") == "this machine"
"""
    unshare = ["unshare", "--map-root-user", "--net"]
    if not shutil.which("unshare") or subprocess.run([*unshare, "true"], capture_output=True).returncode:
        pytest.skip("needs network namespaces of its own")
    subprocess.run([*unshare, sys.executable, "-c", script], check=True, timeout=60)
