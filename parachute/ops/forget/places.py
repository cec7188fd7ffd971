"""Every place in which words may be, and what is done there: the one list of them. A test compares it with a computer that was lived on."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, get_args

from msgspec import Struct

from parachute.base.files import kind_of, walk_tree
from parachute.base.unfinished import UNFINISHED

Treatment = Literal["asked", "conversation", "rows", "blanked", "removed", "remade", "chained", "kept"]
"""The end of a file with the words.

asked: the owner chooses for each passage. conversation: the owner chooses for the whole of it. rows: a database, whose rows lose
the words or go. blanked: the words alone go. removed: the file goes. remade: the file goes whatever it holds, and is made anew from
what is left. chained: the words go, and the hashes of what follows are made anew. kept: it stays, and is named.
"""
Root = Literal["vault", "home"]
Kind = Literal[
    "memory",
    "journal",
    "entities",
    "notes",
    "conversations",
    "histories",
    "databases",
    "indexes",
    "copies",
    "runs",
    "audit",
    "logs",
    "records",
    "settings",
    "programs",
    "unknown",
]


class Place(Struct, frozen=True):
    """Files of a root whose path begins as `path` says, a regular expression."""

    root: Root
    path: str
    kind: Kind
    treatment: Treatment


_SIDE = r"(-wal|-shm)?$"

PLACES = (
    *(Place(root, rf"(.*/)?{UNFINISHED.pattern}$", "copies", "removed") for root in get_args(Root)),
    Place("vault", r"\.claude/projects/", "conversations", "conversation"),
    Place("vault", r"\.parachute/(attachments|imports/transcripts)/", "conversations", "conversation"),
    Place("vault", r"\.parachute/imports/[^/]+/before/", "conversations", "conversation"),
    Place("vault", r"\.parachute/audit/", "audit", "chained"),
    Place("vault", r"\.parachute/runs/", "runs", "blanked"),
    Place("vault", rf"\.parachute/(.*/)?[^/]+\.db{_SIDE}", "databases", "rows"),
    Place("vault", r"\.parachute/.*\.damaged-", "copies", "removed"),
    Place("vault", r"\.parachute/(outlines|adopting|uploads|incoming)/", "copies", "removed"),
    Place("vault", r"\.parachute/imports/[^/]+/(upload|staged)", "copies", "removed"),
    Place("vault", r"\.parachute/(imports|activity|sync|copies|workspaces)/", "records", "blanked"),
    Place("vault", r"\.parachute/\.?vault-id(\.lock)?$", "records", "blanked"),
    Place("vault", r"\.parachute/", "unknown", "kept"),
    Place("vault", r"\.modules/", "programs", "kept"),
    Place("vault", r"(.*/)?\.git/", "histories", "kept"),
    Place("vault", r"parachute/memory\.md$", "memory", "asked"),
    Place("vault", r"Daily/", "journal", "asked"),
    Place("vault", r"Brain/", "entities", "asked"),
    Place("vault", r"", "notes", "asked"),
    Place("home", r"forget\.json$", "records", "blanked"),
    Place("home", r"(meaning|documents)/", "indexes", "remade"),
    Place("home", rf"module-data/brain/index\.db{_SIDE}", "indexes", "remade"),
    Place("home", rf"module-data/daily/(words|hashes)\.db{_SIDE}", "indexes", "remade"),
    Place("home", r"module-data/daily/versions/", "copies", "removed"),
    Place("home", r"changes/", "copies", "removed"),
    Place("home", r".*\.damaged-", "copies", "removed"),
    Place("home", rf"(.*/)?[^/]+\.db{_SIDE}", "databases", "rows"),
    Place("home", r"module-data/", "records", "blanked"),
    Place("home", r"logs/", "logs", "blanked"),
    Place("home", r"(run|sandboxes|views)/", "records", "blanked"),
    Place("home", r"(modules|runtime-plugins|plugins|image|caches|updates|rehearsal)/", "programs", "kept"),
    Place("home", r"(backup|tls|sync)/", "settings", "kept"),
    Place(
        "home",
        r"(agents-state|doctor|followed|known-files|module-origins|phone|recovery|restored|setup|vault-names|forgotten|audit-approvals|servers)\.json(\.lock)?$",
        "records",
        "blanked",
    ),
    # Names of keys, agents and places that only the owner gives and changes.
    Place(
        "home",
        r"(\.?[^/]+\.(yaml|json|lock|key|pem|token)|[a-z-]+-worked|[a-z.-]*(lock|token|secret)[a-z.-]*)$",
        "settings",
        "kept",
    ),
    Place("home", r"", "unknown", "kept"),
)
_COMPILED = tuple((each, re.compile(each.path, re.DOTALL)) for each in PLACES)


class File(Struct, frozen=True):
    """A file, with the place in the list that it belongs to."""

    place: Place
    path: Path
    relative: str
    size: int


def place_of(root: Root, relative: str) -> Place:
    """The first place of the list that fits."""
    return next(each for each, path in _COMPILED if each.root == root and path.match(relative))


def files(home: Path, vault: Path) -> Iterator[File]:
    """Every file of the vault and of the state directory, by path; links are not followed, and those of the owner have names."""
    roots: tuple[tuple[Root, Path], ...] = (("vault", vault.resolve()), ("home", home.resolve()))
    for name, root in roots:
        others = [other for _, other in roots if other != root and other.is_relative_to(root)]

        def is_other(path: str, root: Path = root, others: list[Path] = others) -> bool:
            return root / path in others

        for relative, status in walk_tree(root, leave_out=is_other, missed=lambda *_: None):
            kind, place = kind_of(status), place_of(name, relative)
            if kind == "file" or (kind == "symlink" and place.treatment == "asked"):
                yield File(place, root / relative, relative, status.st_size)


def folders(home: Path, vault: Path) -> Iterator[tuple[Path, str]]:
    """The folders of both whose files may go, with their paths, those in others first."""
    roots: tuple[tuple[Root, Path], ...] = (("vault", vault.resolve()), ("home", home.resolve()))
    for name, root in roots:
        found = [path for path, status in walk_tree(root, missed=lambda *_: None) if kind_of(status) == "dir"]
        for relative in reversed(found):
            if place_of(name, f"{relative}/").treatment != "kept":
                yield root / relative, relative
