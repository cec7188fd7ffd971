"""Fetching a plugin: one commit of a repository, copied so that nothing in it runs."""

from pathlib import Path
from urllib.parse import urlsplit

from msgspec import Struct

from parachute.base.errors import InvalidInput, ParachuteError
from parachute.base.folders import Folder
from parachute.capabilities.plugins.manifest import FILE as MANIFEST
from parachute.capabilities.plugins.manifest import MARKETPLACE, PluginInvalid, document_of, unreadable
from parachute.modules.trees import sources
from parachute.modules.trees.git import Repository
from parachute.modules.trees.hashing import Tree, copy_tree
from parachute.modules.trees.models import Limits, Progress

LIMITS = Limits(files=10_000, source_bytes=100 * 1024 * 1024, clone_bytes=200 * 1024 * 1024, clone_seconds=90)
"""The app waits for two minutes."""

CHECK_SECONDS = 20.0

_ALLOWED = (
    "Allowed are https://…, ssh://…, git@host:owner/name and github://owner/name; a folder in the repository goes behind #, as in "
    "https://example.com/plugins#notes."
)


class Address(Struct, frozen=True):
    """The address of a plugin: a repository, and the folder in it; `text` is both, as it is stored and shown."""

    text: str
    source: sources.Source
    folder: str | None

    @property
    def label(self) -> str:
        """The last part of it."""
        return sources.Source("repository", self.folder or self.source.text, "").label


class Fetched(Struct, frozen=True):
    """The files of a plugin, and the commit that they are of."""

    tree: Tree
    commit: str


def parse(text: str, *, local: bool = False) -> Address:
    """Read the address of a plugin; `local`: a repository in a folder of this computer will do, too. Error: InvalidInput."""
    where, _, folder = text.strip().partition("#")
    try:
        source = sources.parse(where)
        inner = sources.inner_path(folder or None)
    except ParachuteError as error:
        raise InvalidInput(f"url: {_without_name(error.message)}", _ALLOWED, key="invalid_url") from error
    is_here = source.kind != "repository" or source.protocol == "file"
    if source.kind == "official" or (is_here and not local) or (source.kind == "folder"):
        raise InvalidInput("url: expected the address of a git repository.", _ALLOWED, key="invalid_url")
    if source.protocol in ("http", "https") and urlsplit(source.where).username is not None:
        raise InvalidInput("url: it would be shown with the name or the token in it.", _ALLOWED, key="invalid_url")
    return Address(f"{source.text}#{inner}" if inner else source.text, source, inner)


def fetch(address: Address, staging: Path, files: Path, limits: Limits, progress: Progress) -> Fetched:
    """Copy the newest commit into the new folder `files`; errors: ParachuteError, for a person."""
    work = staging / "work"
    work.mkdir()
    repository = _repository(work, limits, progress, address)
    progress.step(f"Fetching {address.label}...")
    repository.fetch(address.source.where)
    repository.take(address.folder)
    folder = sources.inner_folder(repository.folder, address.folder)
    try:
        _check_plugin(folder)
    except OSError as error:
        raise unreadable(error) from error
    return Fetched(copy_tree(folder, files, limits=limits), repository.commit())


def newest(address: Address, staging: Path, limits: Limits, progress: Progress) -> str:
    """The newest commit at an address, of which nothing is fetched; errors: ParachuteError."""
    return _repository(staging, limits, progress, address).newest(address.source.where)


def _repository(work: Path, limits: Limits, progress: Progress, address: Address) -> Repository:
    return Repository(work / "repository", work / "git", limits, progress, address.source.protocol)


def _check_plugin(folder: Path) -> None:
    with Folder.open(folder) as opened:
        if opened.status(MANIFEST) is not None:
            return
        if opened.status(MARKETPLACE) is None:
            raise PluginInvalid(f"This is not a plugin: {MANIFEST} is missing.", _ALLOWED, key="no_plugin")
        plugins = document_of(opened, MARKETPLACE).get("plugins")
    places = [each.get("source") for each in plugins if isinstance(each, dict)] if isinstance(plugins, list) else []
    folders = [each.removeprefix("./") for each in places if isinstance(each, str) and each.startswith("./")]
    there = f" It lists {', '.join(each[:60] for each in folders[:10])}." if folders else ""
    raise PluginInvalid(
        f"This is a list of plugins and no plugin.{there}",
        "Put the folder of one of them behind the address, as in https://example.com/plugins#notes.",
        key="no_plugin",
    )


def _without_name(message: str) -> str:
    return message.removeprefix("source: ").removeprefix("--path: ")
