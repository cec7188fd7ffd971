"""`parachute modules apply` while nothing runs: modules become what is declared, and are nobody's to change."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from parachute.config.settings.home import Home
from parachute.modules.registry.pinned import with_hashes
from parachute.modules.registry.service import Modules
from parachute.modules.trees.hashing import tree_hash
from tests.modules.registry.building import write_module
from tests.support.terminal import Terminal

from .declaring import module, write

pytestmark = pytest.mark.long

SETTINGS = """\
settings:
  interval: {type: integer, default: 15}
  title: {type: string, default: Hello}
  password: {type: secret}
"""


class Place:
    """A home in which the command runs, with a folder of modules."""

    def __init__(self, parachute: Terminal, declared: Path) -> None:
        self.run = parachute
        self.declared = declared
        self.folder = declared.parent
        self.vault = self.folder / "Parachute"
        self.sources = self.vault / ".modules"

    def write(self, name: str = "hello", version: str = "1.0.0", more: str = "", **files: str) -> Path:
        """The source of a module, outside of the vault."""
        return write_module(self.folder / "sources" / name, name, version, more, files)

    def declare(self, **modules: Any) -> None:
        """Declare modules."""
        write(self.declared, modules=modules)

    def apply(self, code: int = 0) -> dict[str, tuple[str | None, str | None]]:
        """Bring them about; what was done and what went wrong, by name."""
        result = self.run("modules", "apply", "--json")
        assert result.code == code, result
        return {row["name"]: (row["done"], row["problem"]) for row in json.loads(result.out)}

    def rows(self) -> dict[str, dict[str, Any]]:
        """The list."""
        return {row["name"]: row for row in json.loads(self.run.ok("modules", "list", "--json"))}

    def registry(self) -> dict[str, Any]:
        """`modules.yaml`."""
        found: dict[str, Any] = yaml.safe_load((self.run.home / "modules.yaml").read_text())["modules"]
        return found


@pytest.fixture
def place(parachute: Terminal, declared: Path) -> Place:
    """A home without modules."""
    return Place(parachute, declared)


def test_from_the_package_and_from_a_folder(place: Place) -> None:
    source = place.write()
    place.declare(daily=module("parachute://daily"), hello=module(source))
    before = place.rows()
    assert {name: (row["state"], row["declared"]) for name, row in before.items()} == {
        "daily": ("not_installed", True),
        "hello": ("not_installed", True),
    }
    assert "`parachute modules apply`" in before["hello"]["reason"]
    assert place.apply() == {"daily": ("installed", None), "hello": ("installed", None)}
    rows = place.rows()
    assert {row["state"] for row in rows.values()} == {"ready"}
    assert (rows["daily"]["trust_level"], rows["hello"]["trust_level"]) == ("verified", "trusted")
    assert (rows["hello"]["hash"], rows["hello"]["source"]) == (tree_hash(source), str(source))
    assert place.registry()["hello"]["declared"] is True
    assert rows["hello"]["approved_at"]
    assert place.apply() == {"daily": (None, None), "hello": (None, None)}
    # What is installed needs its source no more.
    shutil.rmtree(source)
    assert place.apply()["hello"] == (None, None)
    assert "verified, declared" in place.run.ok("modules", "list")
    assert "by the system's configuration" in place.run.ok("modules", "status", "hello")


def test_without_a_declaration(place: Place) -> None:
    assert place.apply() == {}
    assert place.run("modules", "apply").err.startswith("Nothing is declared")


def test_a_hash_that_whoever_built_the_system_has_found(place: Place) -> None:
    source = place.write()
    place.declare(hello=module(source, hash=None), daily=module("parachute://daily"))
    found = with_hashes(json.loads(place.declared.read_text()))["modules"]
    assert (found["hello"]["hash"], found["daily"]["hash"]) == (tree_hash(source), None)
    place.declare(**found)
    assert place.apply() == {"daily": ("installed", None), "hello": ("installed", None)}


def test_another_hash_is_refused_with_both_and_nothing_changes(place: Place) -> None:
    source = place.write()
    declared = module(source)
    (source / "module.py").write_text("evil = 1\n")
    place.declare(hello=declared)
    (done, problem) = place.apply(code=1)["hello"]
    assert done is None
    assert problem is not None
    assert declared["hash"] in problem
    assert tree_hash(source) in problem
    assert place.rows()["hello"]["state"] == "not_installed"
    assert not (place.sources / "hello").exists()
    # One that runs goes on.
    place.declare(hello=module(source) | {"hash": tree_hash(place.write())})
    place.apply()
    place.write(version="2.0.0")
    place.apply()
    place.declare(hello=declared | {"hash": "sha256:" + "0" * 64})
    assert place.apply(code=1)["hello"][0] is None
    row = place.rows()["hello"]
    assert (row["state"], row["version"]) == ("ready", "1.0.0")


def test_official_ones_are_approved_by_the_list_that_came_with_them(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from parachute.modules.registry.reconcile import reconcile
    from parachute.modules.trees import sources
    from parachute.modules.trees.models import Silent

    official = tmp_path / "official"
    shutil.copytree(sources.official_module("daily"), official / "daily")
    (official / "daily" / "more.py").write_text("evil = 1\n")
    monkeypatch.setattr(sources, "official_folder", lambda: official)
    monkeypatch.setenv("PARACHUTE_DECLARED", str(place.declared))
    place.declare(daily=module("parachute://daily"))
    place.run.home.mkdir(mode=0o700)
    modules = Modules(Home(place.run.home), place.vault)
    (outcome,) = reconcile(modules, Silent(), lambda: None)
    assert "the one that came with this program is sha256:" in str(outcome.problem)
    assert modules.installed() == ()


def test_an_update_is_a_change_of_the_declaration(place: Place) -> None:
    source = place.write(more=SETTINGS)
    place.declare(hello=module(source))
    place.apply()
    place.run.ok("modules", "set", "hello", "title", "Mine")
    place.write(version="2.0.0", more=SETTINGS)
    assert place.apply() == {"hello": (None, None)}, "what is declared has not changed"
    place.declare(hello=module(source))
    assert place.apply() == {"hello": ("replaced", None)}
    assert place.rows()["hello"]["version"] == "2.0.0"
    assert '"Mine"' in place.run.ok("modules", "settings", "hello", "--json")


def test_what_somebody_changed_in_the_vault_is_put_back_and_kept_aside(place: Place) -> None:
    place.declare(hello=module(place.write()))
    place.apply()
    (place.sources / "hello" / "mine.txt").write_text("mine")
    assert place.rows()["hello"]["state"] == "pending_approval"
    assert place.apply() == {"hello": ("put back", None)}
    assert not (place.sources / "hello" / "mine.txt").exists()
    assert (place.sources / ".replaced-hello" / "mine.txt").read_text() == "mine"
    shutil.rmtree(place.sources / "hello")
    assert place.apply() == {"hello": ("put back", None)}
    shutil.rmtree(place.run.home / "modules" / "hello")
    assert place.apply() == {"hello": ("put back", None)}
    assert list(place.rows()) == ["hello"], "what is kept aside is no module"
    assert place.rows()["hello"]["state"] == "ready"


@pytest.mark.parametrize("option", ["--dev", "--untrusted", ""])
def test_a_module_of_the_user_gives_way_and_its_data_stay(place: Place, option: str) -> None:
    mine = write_module(place.folder / "mine", more=SETTINGS)
    write(place.declared)
    place.run.ok("modules", "install", str(mine), "--yes", *([option] if option else []))
    place.run.ok("modules", "set", "hello", "interval", "30")
    place.run.ok("modules", "disable", "hello")
    data = place.run.home / "module-data" / "hello"
    data.mkdir(parents=True)
    place.declare(hello=module(place.write(version="3.0.0", more=SETTINGS)))
    assert place.apply() == {"hello": ("replaced", None)}
    row = place.rows()["hello"]
    assert (row["state"], row["version"], row["trust_level"], row["dev"]) == ("ready", "3.0.0", "trusted", False)
    assert data.is_dir()
    assert json.loads(place.run.ok("modules", "settings", "hello", "--json"))[0]["value"] == 30


def test_the_same_content_is_only_marked(place: Place) -> None:
    source = place.write()
    place.run.ok("modules", "install", str(source), "--yes")
    place.run.ok("modules", "disable", "hello")
    approved = place.rows()["hello"]["approved_at"]
    place.declare(hello=module(source))
    assert place.apply() == {"hello": ("adopted", None)}
    row = place.rows()["hello"]
    assert (row["state"], row["approved_at"], row["declared"]) == ("ready", approved, True)


def test_a_folder_that_nobody_installed_gives_way(place: Place) -> None:
    # As a vault brings it that was carried here.
    write_module(place.sources / "hello", files={"mine.txt": "mine"})
    place.declare(hello=module(place.write()))
    assert place.apply() == {"hello": ("installed", None)}
    assert (place.sources / ".replaced-hello" / "mine.txt").read_text() == "mine"


def test_disabled_is_not_installed_and_what_is_installed_is_off_at_once(place: Place) -> None:
    source = place.write()
    place.declare(hello=module(source, enable=False))
    assert place.apply() == {"hello": (None, None)}
    assert "declared as disabled" in place.rows()["hello"]["reason"]
    place.declare(hello=module(source))
    place.apply()
    place.declare(hello=module(source, enable=False))
    # Before anything was brought about.
    assert place.rows()["hello"]["state"] == "disabled"
    assert place.apply() == {"hello": ("disabled", None)}
    assert "modules.hello.enable" in place.run.fails("modules", "enable", "hello")
    assert place.rows()["hello"]["state"] == "disabled"


def test_one_of_the_user_that_is_declared_as_disabled_stays_the_users(place: Place) -> None:
    source = place.write()
    place.run.ok("modules", "install", str(source), "--yes")
    place.declare(hello=module(source, enable=False))
    assert place.apply() == {"hello": ("disabled", None)}
    place.declare()
    assert place.apply() == {}
    assert place.rows()["hello"]["state"] == "disabled"
    place.run.ok("modules", "enable", "hello")
    assert place.rows()["hello"]["state"] == "ready"


def test_no_longer_declared_is_removed_and_its_data_stay(place: Place) -> None:
    source = place.write(more=SETTINGS)
    place.declare(hello=module(source))
    place.run.ok("modules", "install", str(write_module(place.folder / "other", "other")), "--yes")
    place.apply()
    place.run.ok("modules", "set", "hello", "interval", "30")
    data = place.run.home / "module-data" / "hello"
    data.mkdir(parents=True)
    place.declared.write_text(json.dumps({"version": 1, "user": "somebody-else"}))
    assert place.apply() == {"hello": ("removed", None)}
    assert list(place.rows()) == ["other"]
    assert not (place.sources / "hello").exists()
    assert data.is_dir()
    assert (place.run.home / "module-settings" / "hello.json").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ("disable", "hello"),
        ("remove", "hello", "--yes"),
        ("approve", "hello", "--yes"),
        ("install", "{source}", "--yes"),
        ("install", "{source}", "--yes", "--dev"),
        ("set", "hello", "interval", "60"),
        ("unset", "hello", "interval"),
    ],
    ids=lambda arguments: arguments[0],
)
def test_a_declared_module_is_not_changed_here(place: Place, arguments: tuple[str, ...]) -> None:
    source = place.write(more=SETTINGS)
    place.declare(hello=module(source, settings={"interval": 30}))
    place.apply()
    before = (place.registry(), place.rows())
    (source / "new.txt").write_text("new")
    refused = place.run.fails("modules", *[each.format(source=source) for each in arguments])
    assert "is declared by the system's configuration (modules.hello" in refused
    assert str(place.declared) in refused
    assert (place.registry(), place.rows()) == before
    assert "is enabled" in place.run.ok("modules", "enable", "hello"), "that is as declared"


def test_declared_settings_go_over_the_users(place: Place) -> None:
    source = place.write(more=SETTINGS)
    write(place.declared)
    place.run.ok("modules", "install", str(source), "--yes")
    place.run.ok("modules", "set", "hello", "interval", "60")
    place.declare(hello=module(source, settings={"interval": 30}))
    place.apply()
    rows = {row["name"]: row for row in json.loads(place.run.ok("modules", "settings", "hello", "--json"))}
    assert (rows["interval"]["value"], rows["interval"]["declared"]) == (30, True)
    assert not rows["title"]["declared"]
    assert "declared" in place.run.ok("modules", "settings", "hello")
    place.run.ok("modules", "set", "hello", "title", "Mine")
    # What the user set is still there when it is not declared any more.
    place.declare(hello=module(source))
    rows = {row["name"]: row for row in json.loads(place.run.ok("modules", "settings", "hello", "--json"))}
    assert (rows["interval"]["value"], rows["title"]["value"]) == (60, "Mine")


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"interval": "often"}, "modules.hello.settings.interval: "),
        ({"interval": None}, "modules.hello.settings.interval: "),
        ({"none": 1}, "modules.hello.settings.none: The module hello has no setting"),
        ({"password": "x"}, "modules.hello.settings.password: password is a secret"),
    ],
)
def test_settings_that_do_not_fit(place: Place, settings: dict[str, Any], said: str) -> None:
    source = place.write(more=SETTINGS)
    place.declare(hello=module(source, settings=settings))
    assert said in str(place.apply(code=1)["hello"][1])
    assert place.rows()["hello"]["state"] == "not_installed"
    # Neither does one that is there already go on with what the user set.
    place.declare(hello=module(source))
    place.apply()
    place.declare(hello=module(source, settings=settings))
    assert said in str(place.apply(code=1)["hello"][1])
    assert said in place.run.fails("modules", "settings", "hello")


def test_the_others_go_on_when_one_cannot(place: Place) -> None:
    place.declare(
        gone={"source": "/no/such/folder", "hash": "sha256:" + "0" * 64},
        hello=module(place.write()),
        other=module(place.write("wrong"), hash=tree_hash(place.write("wrong"))),
    )
    found = place.apply(code=1)
    assert found["hello"] == ("installed", None)
    assert "There is no folder /no/such/folder" in str(found["gone"][1])
    assert "holds the module wrong, and not other" in str(found["other"][1])


def test_two_that_change_places(place: Place) -> None:
    # What one provided the other provides now: whichever comes first, in the end both are there.
    provides = "provides:\n  - BrainInterface\n"
    a, b = place.write("aaa"), place.write("bbb", more=provides)
    place.declare(aaa=module(a), bbb=module(b))
    place.apply()
    a, b = place.write("aaa", "2.0.0", more=provides), place.write("bbb", "2.0.0")
    place.declare(aaa=module(a), bbb=module(b))
    assert place.apply() == {"aaa": ("replaced", None), "bbb": ("replaced", None)}
    place.declare(aaa=module(a), bbb=module(place.write("bbb", "3.0.0", more=provides)))
    problem = str(place.apply(code=1)["bbb"][1])
    assert "aaa" in problem
    assert place.rows()["bbb"]["version"] == "2.0.0"


def test_two_at_once(place: Place) -> None:
    place.declare(**{f"m{number}": module(place.write(f"m{number}")) for number in range(3)})
    with (
        place.run.background("modules", "apply", "--json") as one,
        place.run.background("modules", "apply", "--json") as two,
    ):
        outputs = [process.communicate(timeout=100) for process in (one, two)]
    assert (one.returncode, two.returncode) == (0, 0), outputs
    done = [{row["name"]: row["done"] for row in json.loads(out)} for out, _ in outputs]
    for name in ("m0", "m1", "m2"):
        assert sorted([done[0][name], done[1][name]], key=str) == [None, "installed"]
    assert {row["state"] for row in place.rows().values()} == {"ready"}


def test_a_crash_at_any_change_is_mended_by_the_next_start(place: Place, tmp_path: Path) -> None:
    (tmp_path / "home").mkdir(mode=0o700)
    old, new = write_module(tmp_path / "old"), write_module(tmp_path / "new", version="2.0.0", files={"new.txt": ""})
    arguments = (tmp_path / "home", tmp_path / "vault", old, new)
    ended = subprocess.run(
        [sys.executable, "-m", "tests.config.declared.crashing", *map(str, arguments)], capture_output=True, text=True
    )
    assert ended.returncode == 0, ended.stderr
    found = json.loads(ended.stdout)
    assert len(found) > 10
    assert found[-1]["ended"] == 0
    for step in found:
        assert (step["state"], step["declared"], step["runs_new"]) == ("ready", True, True), step
        assert step["kept"] == "mine", step
        assert step["vault"] == [".replaced-hello", "hello"], step
        assert step["copies"] == [".lock", "hello"], step
        assert [outcome["problem"] for outcome in step["outcomes"]] == [None], step


def test_what_declares_a_module_says_its_hash(place: Place) -> None:
    source = place.write()
    assert f"Its hash is {tree_hash(source)}." in place.run.ok("modules", "check", str(source))
    assert json.loads(place.run.ok("modules", "check", str(source), "--json"))["hash"] == tree_hash(source)


def test_set_up_leaves_declared_ones_alone(place: Place) -> None:
    place.declare(daily=module("parachute://daily"))
    result = place.run("setup", "--modules", "daily,brain", "--yes")
    assert result.code == 0, result
    assert "The module daily is declared" in result.err
    assert {name: row["state"] for name, row in place.rows().items()} == {"brain": "ready", "daily": "not_installed"}
