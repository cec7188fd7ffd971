"""Addresses that a browser names: nothing is sent to those that are of no push service of the internet."""

import pytest

from parachute.connectors.push.models import KNOWN, check_keys, target_of
from tests.support.errors import raises


@pytest.mark.parametrize(
    ("endpoint", "known"),
    [
        ("https://fcm.googleapis.com/fcm/send/abc:def", True),
        ("https://updates.push.services.mozilla.com/wpush/v2/abc", True),
        ("https://wns2-par02p.notify.windows.com/w/?token=a%3d", True),
        ("https://web.push.apple.com/QABC", True),
        ("https://push.example.org/a", False),
        ("https://fcm.googleapis.com.example.org/a", False),
        ("https://fcm.googleapis.com:8443/a", False),
        ("https://[2606:4700::1]/a", False),
    ],
)
def test_addresses_of_the_internet(endpoint: str, known: bool) -> None:
    assert KNOWN.allows(target_of(endpoint)) is known


@pytest.mark.parametrize(
    "endpoint",
    [
        "http://fcm.googleapis.com/a",
        "https://localhost/a",
        "https://127.0.0.1/a",
        "https://127.1/a",
        "https://2130706433/a",
        "https://0x7f.1/a",
        "https://[::1]/a",
        "https://[::ffff:10.0.0.1]/a",
        "https://10.0.0.1/a",
        "https://192.168.1.1:443/a",
        "https://169.254.169.254/latest",
        "https://router.lan/a",
        "https://nas.local/a",
        "https://printer/a",
        "https://fcm.googleapis.com@10.0.0.1/a",
        "https://me:you@fcm.googleapis.com/a",
        "https://fcm.googleapis.com/a#b",
        "https://fcm.googleapis.com:99999/a",
        "https://fcm.googleapis.com:0/a",
        "https://fcm.googleapis.com/a b",
        "https://fcm.googleapis.com/a\r\nx: y",
        "https://fcm.googleapis.com/\u202e",
        "https:///a",
        "https://" + "a" * 1000 + ".org/a",
        "file:///etc/passwd",
        "",
        "https://[fcm.googleapis.com/a",
    ],
)
def test_hostile_addresses_are_refused(endpoint: str) -> None:
    with raises("push_endpoint_invalid"):
        target_of(endpoint)


@pytest.mark.parametrize(
    ("key", "secret"),
    [
        ("", ""),
        ("BA", "AAAAAAAAAAAAAAAAAAAAAA"),
        ("B" + "A" * 86, "AAAAAAAAAAAAAAAAAAAAAA"),  # of the right length, and no point of the curve
        ("!" * 87, "AAAAAAAAAAAAAAAAAAAAAA"),
        ("BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4", "AA"),
    ],
)
def test_keys_that_are_none_are_refused(key: str, secret: str) -> None:
    with raises("push_keys_invalid"):
        check_keys(key, secret)
