"""Redaction of secrets: a second barrier, since none should be where others read."""

import re
from collections.abc import Iterable

REMOVED = "[removed]"
_SHORTEST = 8
"""Characters of a known secret; a shorter one would take words out of sentences."""

_WHOLE = (
    re.compile(r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----.*?(?:-----END [A-Z0-9 ]*PRIVATE KEY-----|\Z)", re.DOTALL),
    re.compile(r"\b[spr]k-[A-Za-z0-9_-]{16,}"),  # of model providers and payment services
    re.compile(r"\bpara(?:cli)?_[A-Za-z0-9_-]{20,}"),  # our own keys
    re.compile(r"\b(?:gh[pousr]|github_pat|glpat|hf)[_-][A-Za-z0-9_-]{16,}"),
    re.compile(r"\bxox[a-z]-[A-Za-z0-9-]{10,}"),
    re.compile(r"\bAKIA[0-9A-Z]{16}\b"),
    re.compile(r"\b\d{6,12}:[A-Za-z0-9_-]{30,}"),  # of bots
    re.compile(r"\b[A-Za-z0-9_-]{23,28}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}"),  # of bots, too
    re.compile(r"\bsyt_[A-Za-z0-9_-]{10,}"),
    re.compile(r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]+)?"),  # signed tokens
)
_BEHIND = (
    re.compile(r"(?i)(\b(?:proxy-)?authorization[\"']?\s*[:=]\s*)[^\r\n]+"),
    re.compile(r"(?i)(\b(?:set-)?cookie[\"']?\s*[:=]\s*)[^\r\n]+"),
    re.compile(r"(?i)(\b(?:bearer|basic)\s+)[A-Za-z0-9+/=._~-]{8,}"),
    re.compile(
        r"(?i)((?:passw(?:or)?d|passphrase|secret|token|api[_-]?key|credential)[\"']?\s*[:=]\s*[\"']?)"
        r"[^\s\"',;&}]{6,}"
    ),
    re.compile(r"(://[^/\s:@]*:)[^/\s@]+(?=@)"),
)


def redacted(text: str, known: Iterable[str] = ()) -> str:
    """The text without what looks like a secret, and without those that are known."""
    for secret in known:
        if len(secret) >= _SHORTEST:
            text = text.replace(secret, REMOVED)
    for pattern in _WHOLE:
        text = pattern.sub(REMOVED, text)
    for pattern in _BEHIND:
        text = pattern.sub(rf"\g<1>{REMOVED}", text)
    return text


def shortened(line: str, known: Iterable[str], most: int) -> str:
    """The first `most` characters of a long line without secrets."""
    # Redacted before it is cut, since the first half of a secret is one; and not as a whole, which could take hours.
    return f"{redacted(line[: 4 * most], known)[:most]} [cut]"
