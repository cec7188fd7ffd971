"""Fingerprints of certificates, as they are compared on two screens."""

_GROUPS = 8


def in_two_lines(fingerprint: str) -> tuple[str, str]:
    """A fingerprint in two lines, as the page of the computer shows it."""
    groups = fingerprint.split(" ")
    return " ".join(groups[:_GROUPS]), " ".join(groups[_GROUPS:])
