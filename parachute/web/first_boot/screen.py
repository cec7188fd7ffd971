"""The console of a new computer: address, key, and both as a QR code for a phone's camera."""

import textwrap
from urllib.parse import urlsplit

import segno
from msgspec import Struct

from parachute.base.addresses import parse_address

WIDTH, HEIGHT = 80, 24
"""Of a console with 25 lines; the last one is left for the cursor."""

_QUIET = 2
_GAP = 2
_BLOCKS = {(True, True): "█", (True, False): "▀", (False, True): "▄", (False, False): " "}


class Welcome(Struct, frozen=True):
    """The content of the screen: addresses of the computer, the best first, the key, and the fingerprint for https, if any."""

    urls: list[str]
    secret: str
    fingerprint: str | None = None

    @property
    def link(self) -> str:
        """The console with the key in the fragment of its address, which signs in with it.

        Browsers keep the fragment to themselves: it is in no request, so in no log and in no header that says where
        somebody came from. An address with numbers is preferred, since not every phone asks the network for names.
        """
        numbers = [url for url in self.urls if parse_address(urlsplit(url).hostname or "")]
        return f"{(numbers or self.urls)[0]}/#key={self.secret}"


def code_lines(text: str) -> list[str]:
    """The QR code of a text, two rows a line; what is light is drawn, for white letters on a dark screen."""
    rows = [[not dark for dark in row] for row in segno.make_qr(text, error="l").matrix_iter(border=_QUIET)]
    if len(rows) % 2:
        rows.append([False] * len(rows[0]))
    pairs = zip(rows[::2], rows[1::2], strict=True)
    return ["".join(_BLOCKS[bool(up), bool(low)] for up, low in zip(*pair, strict=True)) for pair in pairs]


def console_lines(welcome: Welcome) -> list[str]:
    """A whole screen: the code on the left, and on the right its content for those who type."""
    code = code_lines(welcome.link)
    space = WIDTH - len(code[0]) - _GAP
    right_side = ["Parachute Computer", "", *_wrapped("To set it up, scan this code with your phone.", space), ""]
    right_side += _wrapped("Or open one of these in a browser on the same network:", space)
    for url in welcome.urls:
        right_side += _wrapped(url, space)
    half = (len(welcome.secret) + 1) // 2
    right_side += ["", *_wrapped("and enter this key, both lines as one:", space)]
    right_side += [welcome.secret[:half], welcome.secret[half:], ""]
    right_side += _wrapped(
        "Anyone who can see this screen can set up the computer. The key ends when set-up is done.", space
    )
    if welcome.fingerprint:
        shown = ["", *_wrapped("Fingerprint of its certificate:", space), *_wrapped(welcome.fingerprint, space)]
        # What the page needs goes first; `parachute tls show` has it, too.
        right_side += shown if len(right_side) + len(shown) <= HEIGHT else []
    blank = " " * len(code[0])
    height = max(len(code), len(right_side))
    code += [blank] * (height - len(code))
    right_side += [""] * (height - len(right_side))
    return [f"{left}{' ' * _GAP}{right}".rstrip() for left, right in zip(code, right_side, strict=True)]


def _wrapped(text: str, space: int) -> list[str]:
    return textwrap.wrap(text, space, break_on_hyphens=False)
