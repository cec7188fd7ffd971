"""Names of files and folders that hold secrets: the deny list that nothing lifts."""

import re
import unicodedata
from functools import lru_cache

# Templates hold no secrets and are meant to be read.
ALLOWED_TEMPLATES = frozenset({".env.example", ".env.sample", ".env.template"})

SECRET_NAMES = frozenset(
    {
        ".env",
        ".env~",
        "credentials.json",
        ".credentials.json",
        "id_rsa",
        "id_dsa",
        "id_ecdsa",
        "id_ecdsa_sk",
        "id_ed25519",
        "id_ed25519_sk",
        ".netrc",
        ".npmrc",
        ".pypirc",
        ".pgpass",
        ".git-credentials",
        # Folders: everything below them is refused too, since every part of a path is looked at.
        ".ssh",
        ".gnupg",
        ".aws",
        ".parachute",
    }
)
SECRET_ENDINGS = (".pem", ".key", ".p12", ".pfx")

# For the agent's search tools: what ripgrep must leave out of a search through a folder.
SEARCH_EXCLUSIONS: tuple[str, ...] = (
    *(f"!**/{name}" for name in sorted(SECRET_NAMES)),
    "!**/.env.*",
    *(f"!**/*{ending}" for ending in SECRET_ENDINGS),
)

_SAMPLES = (*sorted(SECRET_NAMES), ".env.local", ".env.production", *(f"server{ending}" for ending in SECRET_ENDINGS))
_CLASS = re.compile(r"\[[!^]?\]?[^\]]*\[:[^\]]*:\][^\]]*\]")
_WILD = re.compile(r"\[(?:[*?\[])\]|\[[!^]?\]?[^\]]*\]|[*?]")


def fold(name: str) -> str:
    """Return the form in which names are compared: no case, no invisible letters, no look-alike widths.

    File systems that ignore case or invisible letters would open `.env` for such a name.
    """
    if name.isascii():
        return name.lower()
    shown = "".join(letter for letter in unicodedata.normalize("NFKC", name) if unicodedata.category(letter) != "Cf")
    return shown.casefold()


@lru_cache(maxsize=4096)
def is_secret(part: str) -> bool:
    """Return whether one part of a path is on the deny list."""
    name = fold(part)
    if name in SECRET_NAMES or name.endswith(SECRET_ENDINGS):
        return True
    return name.startswith(".env.") and name not in ALLOWED_TEMPLATES


@lru_cache(maxsize=1024)
def part_pattern(pattern: str) -> re.Pattern[str]:
    """Return the expression for one part of a shell pattern, wider rather than narrower than the shell's own."""
    import fnmatch

    # fnmatch knows neither [^a] nor [[:alpha:]]; any one letter is the wider reading of the second.
    plain = _CLASS.sub("?", pattern).replace("[^", "[!")
    return re.compile(fnmatch.translate(plain), re.IGNORECASE)


def is_wild(part: str) -> bool:
    """Return whether a part of a pattern (literals escaped as `[*]`) contains a wildcard."""
    return any(len(found) != 3 or found[1] not in "*?[" for found in _WILD.findall(part))


def literal_letters(part: str) -> str:
    """Return what stays of a part of a pattern without its wildcards and dots; empty means it matches everything."""
    return _WILD.sub(lambda found: found[0][1] if re.fullmatch(r"\[[*?\[]\]", found[0]) else "", part).replace(".", "")


@lru_cache(maxsize=1024)
def could_be_secret(part: str) -> bool:
    """Return whether a pattern clearly aims at a name of the deny list, for places that cannot be listed.

    A pattern with next to no letters of its own (`*`, `.*`, `c*`) aims at nothing in particular.
    """
    letters = literal_letters(part)
    if not letters or (len(letters) < 3 and not part.startswith(".")):
        return False
    expression = part_pattern(part)
    return any(expression.match(sample) for sample in _SAMPLES)
