"""Address in a code, as another device reaches this computer."""

import pytest
import segno

from parachute.web.pairing.links import base_address, link, matrix
from parachute.web.pairing.names import name_of


@pytest.mark.parametrize(
    ("own", "host", "expected"),
    [
        (None, "127.0.0.1", "http://127.0.0.1:3333"),
        (None, "192.168.1.5", "http://192.168.1.5:3333"),
        ("http://192.168.1.5:3333", "0.0.0.0", "http://192.168.1.5:3333"),
        ("https://parachute.example.org", "127.0.0.1", "https://parachute.example.org"),
        ("http://localhost:3333", "192.168.1.5", "http://192.168.1.5:3333"),
        ("http://[::1]:3333", "192.168.1.5", "http://192.168.1.5:3333"),
    ],
)
def test_it_leads_where_the_page_is_unless_that_is_this_machine(own: str | None, host: str, expected: str) -> None:
    assert base_address(own, host, 3333, "parachute.local") == expected


def test_the_code_is_where_browsers_keep_it_to_themselves() -> None:
    assert link("http://localhost:3333", "ABCD-EFGH") == "http://localhost:3333/#pair=ABCD-EFGH"


def test_the_picture_has_the_margin_that_cameras_need() -> None:
    expected = segno.make_qr("http://192.168.1.5:3333/", error="m").matrix_iter(border=4)
    assert matrix("http://192.168.1.5:3333/") == [[int(square) for square in row] for row in expected]


@pytest.mark.parametrize(
    ("user_agent", "name"),
    [
        ("Mozilla/5.0 (Android 15; Mobile; rv:130.0) Gecko/130.0 Firefox/130.0", "Firefox on Android"),
        ("Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Version/18.0 Safari/604.1", "Safari on iPhone"),
        ("Mozilla/5.0 (X11; Linux x86_64) Chrome/130.0.0.0 Safari/537.36", "Chrome on Linux"),
        ("Mozilla/5.0 (Windows NT 10.0) Chrome/130.0 Safari/537.36 Edg/130.0", "Edge on Windows"),
        ("\x1b[31m<b>", "Browser"),
        ("", "Browser"),
    ],
)
def test_a_browser_has_a_name_that_a_person_knows(user_agent: str, name: str) -> None:
    assert name_of(user_agent) == name
