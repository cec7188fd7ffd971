"""The address at which a device pairs, with the code, and both as a picture of squares."""

from urllib.parse import urlsplit

from parachute.base.addresses import is_loopback, own_addresses, parse_address
from parachute.base.errors import InvalidInput
from parachute.web.first_boot.addresses import addresses

_EVERY = parse_address("0.0.0.0")  # noqa: S104 -- compared, not listened on
_QUIET = 4
"""Light squares that scanners need around a code."""


def link(base: str, code: str) -> str:
    """The address that signs a browser in once: browsers keep what is behind the # to themselves, so that it is in no log."""
    return f"{base}/#pair={code}"


def base_address(own: str | None, host: str, port: int, name: str | None) -> str:
    """Return the address of this computer for other devices: that of the asking page (`own`), unless that was on this machine.

    Else an address with numbers is preferred, since not every phone asks the network for names.
    """
    if own is not None and not is_loopback(urlsplit(own).hostname or "localhost"):
        return own
    found = addresses(host, port, name)
    numbers = [url for url in found if parse_address(urlsplit(url).hostname or "")]
    return next(iter(numbers or found), f"http://localhost:{port}")


def address_of(address: str, host: str, port: int) -> str:
    """Return the address of this computer on one of its networks; error: InvalidInput if the server is not there."""
    found = parse_address(address)
    if found is None or found not in own_addresses() or is_loopback(host) or parse_address(host) not in (found, _EVERY):
        raise InvalidInput(
            "address: this computer does not listen there.", "Choose one of the list.", key="not_an_own_address"
        )
    return f"http://{found}:{port}"


def is_only_here(url: str) -> bool:
    """Return whether an address leads every device to itself."""
    return is_loopback(urlsplit(url).hostname or "localhost")


def matrix(text: str) -> list[list[int]]:
    """The QR code of a text as rows of squares, 1 for dark, with its light margin."""
    import segno  # half a megabyte, only while a device pairs

    rows = segno.make_qr(text, error="m", encoding="utf-8").matrix_iter(border=_QUIET)
    return [[int(bool(square)) for square in row] for row in rows]
