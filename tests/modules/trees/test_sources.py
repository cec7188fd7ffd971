"""Fetching modules: from repositories that want to run something, and from folders that hold what a module cannot."""

import os
import shutil
import socket
import stat
from pathlib import Path

import pytest

from parachute.base.errors import ParachuteError
from parachute.modules.trees import sources
from parachute.modules.trees.git import CloneFailed
from parachute.modules.trees.models import Limits
from tests.modules.registry.building import Repository, everything, write_module
from tests.support.errors import raises

pytestmark = pytest.mark.process


class Lines:
    """Keeps what an installation says."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def step(self, text: str) -> None:
        """Keep a line."""
        self.lines.append(text)

    def detail(self, text: str) -> None:
        """Keep a line that would vanish."""


class Fetcher:
    """Fetches into a new folder."""

    def __init__(self, folder: Path) -> None:
        self.target = folder / "fetched"
        self._work = folder / "work"
        self._work.mkdir()
        self.progress = Lines()

    def __call__(self, source: str, subfolder: str | None = None, **limits: int) -> Path:
        """Fetch and return where it is."""
        # The part that an earlier refusal has left.
        shutil.rmtree(self.target, ignore_errors=True)
        parsed = sources.parse(source)
        sources.obtain(parsed, subfolder, self.target, self._work, Limits(**limits), self.progress)
        return self.target


@pytest.fixture
def fetch(tmp_path: Path) -> Fetcher:
    """Fetching."""
    return Fetcher(tmp_path)


@pytest.fixture(scope="module")
def committed(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """A repository with a module in it, of which each test has a copy."""
    made = Repository(tmp_path_factory.mktemp("committed") / "repository")
    write_module(made.folder)
    made.commit()
    return made


@pytest.fixture
def repository(tmp_path: Path, committed: Repository) -> Repository:
    """A repository with a module in it."""
    return Repository(tmp_path / "repository", committed)


def test_the_newest_commit_is_fetched_and_nothing_else_of_the_work_tree(repository: Repository, fetch: Fetcher) -> None:
    (repository.folder / "uncommitted.py").write_text("")
    assert everything(fetch(repository.url)) == {"manifest.yaml", "module.py"}
    assert fetch.progress.lines == ["Cloning repository..."]


def test_a_folder_inside_of_a_repository(repository: Repository, fetch: Fetcher) -> None:
    write_module(repository.folder / "python/hello", "hello")
    (repository.folder / "large").write_bytes(bytes(1_000_000))
    repository.commit()
    assert everything(fetch(repository.url, "python/hello/", source_bytes=10_000)) == {"manifest.yaml", "module.py"}


def test_no_hook_of_anybody_runs(
    repository: Repository, fetch: Fetcher, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    touched = tmp_path / "touched"
    script = f"#!/bin/sh\ntouch {touched}\n"
    # Hooks of the repository itself, of the user's configuration, and of a template for new repositories.
    template, home = tmp_path / "template", tmp_path / "user"
    for hooks in (repository.folder / ".git/hooks", template / "hooks", home / "hooks"):
        hooks.mkdir(parents=True, exist_ok=True)
        for name in ("post-checkout", "post-merge", "reference-transaction", "pre-auto-gc", "fsmonitor-watchman"):
            (hooks / name).write_text(script)
            (hooks / name).chmod(0o755)
    (home / ".gitconfig").write_text(
        f"[core]\nhooksPath = {home / 'hooks'}\nfsmonitor = {home / 'hooks/post-checkout'}\n"
        f"[init]\ntemplateDir = {template}\n"
        f'[filter "evil"]\nsmudge = touch {touched}\nprocess = touch {touched}\n'
        f'[url "ext::sh -c touch% {touched}"]\ninsteadOf = file://\n'
    )
    for name in ("HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(home))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(home / ".gitconfig"))
    monkeypatch.setenv("GIT_TEMPLATE_DIR", str(template))
    monkeypatch.setenv("GIT_SSH_COMMAND", f"touch {touched}")
    with (repository.folder / ".git/config").open("a") as config:
        config.write(
            f"[core]\nfsmonitor = touch {touched}\nhooksPath = {home / 'hooks'}\nsshCommand = touch {touched}\n"
            f'[uploadpack]\npackObjectsHook = touch {touched};\n[filter "evil"]\nsmudge = touch {touched}\n'
        )
    (repository.folder / ".gitattributes").write_text("*.py filter=evil\n")
    environment_of_author = {"manifest.yaml", "module.py", ".gitattributes"}
    repository.git("-c", "core.fsmonitor=", "-c", "core.hooksPath=/dev/null", "add", "-A")
    repository.git("-c", "core.fsmonitor=", "-c", "core.hooksPath=/dev/null", "commit", "-q", "-m", "Evil")
    touched.unlink(missing_ok=True)
    assert everything(fetch(repository.url)) == environment_of_author
    assert not touched.exists()


def test_a_folder_with_a_work_tree_is_copied_without_git(
    repository: Repository, fetch: Fetcher, tmp_path: Path
) -> None:
    touched = tmp_path / "touched"
    repository.git("config", "core.fsmonitor", f"touch {touched}")
    (repository.folder / "__pycache__").mkdir()
    (repository.folder / "__pycache__/module.cpython-311.pyc").write_bytes(b"compiled")
    assert everything(fetch(str(repository.folder))) == {"manifest.yaml", "module.py"}
    assert not touched.exists()


def test_a_bare_repository_is_cloned(repository: Repository, fetch: Fetcher, tmp_path: Path) -> None:
    repository.git("clone", "-q", "--bare", ".", str(tmp_path / "bare.git"))
    assert everything(fetch(str(tmp_path / "bare.git"))) == {"manifest.yaml", "module.py"}
    assert fetch.progress.lines == ["Cloning bare..."]


def test_submodules_are_left_out_and_said(repository: Repository, fetch: Fetcher, tmp_path: Path) -> None:
    other = Repository(tmp_path / "other")
    (other.folder / "secret").write_text("x")
    other.commit()
    repository.git("submodule", "add", "-q", other.url, "inside")
    repository.commit()
    assert "inside/secret" not in everything(fetch(repository.url))
    assert any("submodule inside" in line for line in fetch.progress.lines)


@pytest.mark.parametrize("target", ["/etc/passwd", "../../outside", "folder/../../outside"])
def test_links_that_leave_the_tree_are_refused(
    repository: Repository, fetch: Fetcher, target: str, tmp_path: Path
) -> None:
    (tmp_path / "outside").write_text("secret")
    (repository.folder / "folder").mkdir()
    (repository.folder / "folder/kept").write_text("")
    (repository.folder / "link").symlink_to(target)
    repository.commit()
    with raises("path_leads_out"):
        fetch(repository.url)


def test_links_inside_of_the_tree_stay_links(repository: Repository, fetch: Fetcher) -> None:
    (repository.folder / "link.py").symlink_to("module.py")
    repository.commit()
    assert (fetch(repository.url) / "link.py").readlink() == Path("module.py")


def test_a_link_as_the_folder_of_the_module_is_not_followed(
    repository: Repository, fetch: Fetcher, tmp_path: Path
) -> None:
    write_module(tmp_path / "elsewhere")
    (repository.folder / "python").symlink_to(tmp_path / "elsewhere")
    repository.commit()
    with raises("no_such_folder"):
        fetch(repository.url, "python")


def test_pipes_and_sockets_are_refused(tmp_path: Path, fetch: Fetcher) -> None:
    folder = write_module(tmp_path / "folder")
    os.mkfifo(folder / "pipe")
    with raises("not_a_file"):
        fetch(str(folder))
    (folder / "pipe").unlink()
    os.mknod(folder / "s", stat.S_IFSOCK | 0o600)
    with raises("not_a_file"):
        fetch(str(folder))


def test_compiled_code_and_strange_names_are_refused(tmp_path: Path, fetch: Fetcher) -> None:
    folder = write_module(tmp_path / "folder", files={"tools.pyc": "compiled"})
    with raises("compiled_python", names=r"tools\.pyc"):
        fetch(str(folder))
    (folder / "tools.pyc").rename(folder / "two\nlines")
    with raises("invalid_name"):
        fetch(str(folder))
    (folder / "two\nlines").rename(os.fsdecode(os.fsencode(folder) + b"/\xff"))
    with raises("invalid_name"):
        fetch(str(folder))


def test_what_is_too_large_is_refused_before_it_is_written(repository: Repository, fetch: Fetcher) -> None:
    # A repository of a few kilobytes whose files are a megabyte.
    (repository.folder / "large").write_bytes(bytes(1_000_000))
    repository.commit()
    with raises("too_large", names="large"):
        fetch(repository.url, source_bytes=500_000)
    assert not list(fetch.target.parent.glob("work/repository/large"))
    with raises("too_large", names="large"):
        fetch(str(repository.folder), source_bytes=500_000)


def test_too_many_files_are_refused(repository: Repository, fetch: Fetcher) -> None:
    for number in range(20):
        (repository.folder / f"{number}.txt").write_text("")
    repository.commit()
    with raises("too_many_files"):
        fetch(repository.url, files=10)


def test_a_download_that_is_too_large_is_ended(repository: Repository, fetch: Fetcher) -> None:
    (repository.folder / "large").write_bytes(os.urandom(3_000_000))
    repository.commit()
    with raises("too_large"):
        fetch(repository.url, clone_bytes=1 << 20)


def test_a_download_that_does_not_end_is_ended(repository: Repository, fetch: Fetcher) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}/module.git"
        with raises("too_slow"):
            fetch(address, clone_seconds=1)


def test_what_cannot_be_reached_is_told(fetch: Fetcher, tmp_path: Path) -> None:
    # Bound, so that nobody else gets the port, and not listening.
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        with raises("unreachable"):
            fetch(f"http://127.0.0.1:{closed.getsockname()[1]}/module.git")
    with raises("clone_failed"):
        Fetcher.__call__(_again(tmp_path), f"file://{tmp_path}/nothing")


def test_an_empty_repository_is_told(tmp_path: Path, fetch: Fetcher) -> None:
    with pytest.raises(CloneFailed):
        fetch(Repository(tmp_path / "empty").url)


@pytest.mark.parametrize(
    "text",
    [
        "ext::sh -c touch% /tmp/x",
        "ext://x",
        "git://example.org/module",
        "http://example.org/module",
        "https://user:secret@example.org/module",
        "https://",
        "https://[::1",
        "--upload-pack=touch /tmp/x",
        "-oProxyCommand=touch@host:x",
        "file://host/path",
        "parachute://../x",
        "github://owner/../name",
        "github://owner",
        "",
        "a\nb",
    ],
)
def test_other_addresses_are_refused(text: str) -> None:
    with pytest.raises(ParachuteError) as raised:
        sources.parse(text)
    assert raised.value.key in ("invalid_source", "no_folder")
    assert raised.value.hint
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize(
    ("text", "where", "label"),
    [
        ("https://github.com/OpenParachutePBC/parachute-brain", None, "parachute-brain"),
        ("https://example.org/brain.git", None, "brain"),
        ("ssh://git@example.org:22/brain.git", None, "brain"),
        ("git@example.org:owner/brain.git", None, "brain"),
        ("github://someuser/cool-module", "https://github.com/someuser/cool-module", "cool-module"),
        ("parachute://daily", "daily", "daily"),
    ],
)
def test_addresses_that_are_understood(text: str, where: str | None, label: str) -> None:
    source = sources.parse(text)
    assert (source.text, source.where, source.label) == (text, where or text, label)


@pytest.mark.parametrize("subfolder", ["/etc", "../other", "a/../../b", ".git", "a/.git/b"])
def test_a_folder_outside_of_the_source_is_refused(tmp_path: Path, fetch: Fetcher, subfolder: str) -> None:
    with raises("invalid_folder"):
        fetch(str(write_module(tmp_path / "folder")), subfolder)


def test_what_is_not_there_is_told_with_what_is(tmp_path: Path, fetch: Fetcher) -> None:
    with raises("no_folder"):
        sources.parse("nothing", tmp_path)
    with raises("no_official_module"):
        fetch("parachute://nothing")


def _again(folder: Path) -> Fetcher:
    (folder / "again").mkdir()
    return Fetcher(folder / "again")
