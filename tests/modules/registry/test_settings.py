"""Settings of modules by the user."""

import os
import stat
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from msgspec.structs import replace
from starlette.testclient import TestClient

from parachute.base.errors import InvalidInput, NotFound
from parachute.base.services import ServiceRegistry
from parachute.modules.manifest.loading import parse
from parachute.modules.manifest.models import Manifest
from parachute.modules.registry.api import router
from parachute.modules.registry.service import Modules
from parachute.modules.registry.settings import MAXIMUM_BYTES, ModuleSettings, SettingRow, from_text, setting_of
from parachute.web.http.errors import install_error_handlers
from tests.support.errors import raises

from .building import MANIFEST, entry, write_module
from .steps import approve, install

SETTINGS = """\
settings:
  order: {type: choice, choices: [name, city], default: name, description: How the list is sorted}
  interval: {type: integer, default: 15}
  share: {type: number, default: 0.5}
  loud: {type: boolean}
  title: {type: string, default: Hello}
  password: {type: secret, description: Of the account}
"""
DEFAULTS = {"order": "name", "interval": 15, "share": 0.5, "loud": None, "title": "Hello", "password": None}


def manifest_of(settings: str) -> Manifest:
    """A manifest with these settings."""
    return parse((MANIFEST.format(name="hello", version="1.0.0") + settings).encode())


HELLO = manifest_of(SETTINGS)


@pytest.fixture
def settings(modules: Modules) -> ModuleSettings:
    """Nothing was set yet."""
    return modules.settings


@pytest.fixture
def installed(modules: Modules, tmp_path: Path) -> Modules:
    """The modules, with `hello` and its settings among them."""
    install(modules, write_module(tmp_path / "source", more=SETTINGS))
    return modules


def shown(settings: ModuleSettings, manifest: Manifest) -> dict[str, SettingRow]:
    """The settings as a person sees them, by name."""
    return {row.name: row for row in settings.shown("hello", manifest)}


def test_what_is_set_comes_back_and_the_rest_has_its_default(settings: ModuleSettings) -> None:
    assert settings.values("hello", HELLO) == DEFAULTS
    changed: dict[str, Any] = {"order": "city", "interval": 0, "share": 2, "loud": False, "title": "Ä\n🪂"}
    changed["password"] = "hunter2"
    for name, value in changed.items():
        settings.set("hello", HELLO, name, value)
    assert settings.values("hello", HELLO) == changed
    assert settings.values("other", HELLO) == DEFAULTS
    settings.delete("hello", HELLO, "interval")
    settings.delete("hello", HELLO, "interval")
    assert settings.values("hello", HELLO) == {**changed, "interval": 15}


def test_a_secret_shows_only_whether_it_is_set(settings: ModuleSettings, modules: Modules) -> None:
    row = SettingRow("password", "secret", "Of the account", (), None, is_set=False, value=None, declared=False)
    assert shown(settings, HELLO)["password"] == row
    settings.set("hello", HELLO, "password", "hunter2")
    rows = shown(settings, HELLO)
    assert rows["password"] == replace(row, is_set=True)
    assert "hunter2" not in repr(rows)
    assert rows["order"] == SettingRow(
        "order",
        "choice",
        "How the list is sorted",
        ("name", "city"),
        "name",
        is_set=False,
        value="name",
        declared=False,
    )
    path = settings.path("hello")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert path.is_relative_to(modules.places.home.root)
    # An update that calls it a text does not show what it was.
    update = manifest_of(SETTINGS.replace("type: secret", "type: string"))
    assert shown(settings, update)["password"].value is None
    assert settings.values("hello", update)["password"] is None
    settings.set("hello", update, "password", "open")
    assert "hunter2" not in path.read_text()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("order", "street"),
        ("order", None),
        ("order", ["name"]),
        ("interval", 1.0),
        ("interval", True),
        ("interval", "15"),
        ("share", float("nan")),
        ("share", float("inf")),
        ("loud", 1),
        ("title", "x" * 10_001),
        ("title", "\ud83e"),
        ("title", {}),
        ("password", ""),
        ("password", 5),
    ],
)
def test_a_value_of_another_type_changes_nothing(settings: ModuleSettings, name: str, value: object) -> None:
    settings.set("hello", HELLO, "title", "before")
    before = settings.path("hello").read_bytes()
    with pytest.raises(InvalidInput, match=f"^{name}: "):
        settings.set("hello", HELLO, name, value)
    assert settings.path("hello").read_bytes() == before


def test_unknown_settings_are_told_with_the_known_ones(settings: ModuleSettings) -> None:
    attempts: tuple[Callable[[], object], ...] = (
        lambda: settings.set("hello", HELLO, "colour", "red"),
        lambda: settings.delete("hello", HELLO, "colour"),
    )
    for attempt in attempts:
        with raises("unknown_setting", names="order, interval, share, loud, title, password"):
            attempt()
    with raises("unknown_setting"):
        settings.set("hello", manifest_of(""), "order", "city")
    with raises("module_not_installed"):
        settings.set("../hello", HELLO, "order", "city")
    assert not settings.path("hello").parent.exists()


def test_a_value_that_no_longer_fits_gives_way_to_the_default_and_comes_back(settings: ModuleSettings) -> None:
    settings.set("hello", HELLO, "order", "city")
    settings.set("hello", HELLO, "interval", 30)
    update = manifest_of("settings:\n  order: {type: choice, choices: [name, street], default: name}\n")
    assert settings.values("hello", update) == {"order": "name"}
    assert shown(settings, update)["order"].is_set is False
    assert settings.values("hello", HELLO)["order"] == "city"
    settings.set("hello", update, "order", "street")
    assert settings.values("hello", HELLO) == {**DEFAULTS, "interval": 30}


def test_one_and_true_are_two_values(settings: ModuleSettings) -> None:
    either = manifest_of("settings:\n  x: {type: integer}\n"), manifest_of("settings:\n  x: {type: boolean}\n")
    settings.set("hello", either[0], "x", 1)
    settings.set("hello", either[1], "x", True)
    assert settings.values("hello", either[1])["x"] is True


@pytest.mark.parametrize("value", [2**63, -(2**63), 1e30, float("nan"), float("inf")])
def test_a_number_that_no_database_can_hold_is_refused(settings: ModuleSettings, value: float) -> None:
    for name in ("interval", "share"):
        with pytest.raises(InvalidInput):
            settings.set("hello", HELLO, name, value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b'{"values": {"order": "ci', "not JSON"),
        (b"", "not JSON"),
        (b"[]", "must hold an object"),
        (b'{"order": "city"}', "must hold an object"),
        (b'{"values": ["order"]}', "must hold an object"),
        (b'{"values": {"title": "\xff"}}', "not UTF-8"),
        (b"[" * 100_000, "not JSON"),
        (b" " * (MAXIMUM_BYTES + 1), "larger than"),
    ],
)
def test_a_file_that_is_not_understood_is_neither_used_nor_written_over(
    settings: ModuleSettings, text: bytes, said: str
) -> None:
    settings.set("hello", HELLO, "title", "before")
    path = settings.path("hello")
    path.write_bytes(text)
    for attempt in (
        lambda: settings.values("hello", HELLO),
        lambda: settings.shown("hello", HELLO),
        lambda: settings.set("hello", HELLO, "title", "after"),
        lambda: settings.delete("hello", HELLO, "title"),
    ):
        with raises("settings_unreadable", names=said) as refused:
            attempt()
        assert str(path) in str(refused.value)
    assert path.read_bytes() == text
    # One that was damaged does not stand in the way of the others.
    settings.set("other", HELLO, "title", "x")


def test_what_others_could_have_put_there_is_not_read(settings: ModuleSettings, tmp_path: Path) -> None:
    settings.set("hello", HELLO, "title", "before")
    path = settings.path("hello")
    elsewhere = tmp_path / "elsewhere.json"
    path.rename(elsewhere)
    path.symlink_to(elsewhere)
    with raises("settings_unreadable", names="link"):
        settings.set("hello", HELLO, "title", "after")
    assert "before" in elsewhere.read_text()
    path.unlink()
    os.mkfifo(path, 0o600)
    with raises("settings_unreadable", names="regular file"):
        settings.values("hello", HELLO)
    path.unlink()
    path.parent.rmdir()
    path.parent.write_text("")
    with raises("settings_unreadable", names="folder"):
        settings.set("hello", HELLO, "title", "after")
    assert path.parent.read_text() == ""


def test_programs_that_change_settings_at_once_lose_none(modules: Modules) -> None:
    names = [f"s{number}" for number in range(24)]
    manifest = manifest_of("settings:\n" + "".join(f"  {name}: {{type: integer}}\n" for name in names))
    together = threading.Barrier(len(names))

    def change(name: str) -> None:
        together.wait()
        ModuleSettings(modules.places).set("hello", manifest, name, 1)

    threads = [threading.Thread(target=change, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert modules.settings.values("hello", manifest) == dict.fromkeys(names, 1)


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("interval", "-5", -5),
        ("interval", "1.5", None),
        ("interval", "many", None),
        ("interval", "9" * 5000, None),
        ("share", "3", 3),
        ("share", "0.25", 0.25),
        ("share", "nan", None),
        ("loud", "true", True),
        ("loud", "False", False),
        ("loud", "yes", None),
        ("order", "city", "city"),
        ("title", "5", "5"),
        ("title", "", ""),
    ],
)
def test_what_is_typed_has_the_type_of_the_setting(
    settings: ModuleSettings, name: str, text: str, value: object
) -> None:
    found = from_text(setting_of(HELLO, name), text)
    if value is None:
        with pytest.raises(InvalidInput, match=f"^{name}: "):
            settings.set("hello", HELLO, name, found)
    else:
        settings.set("hello", HELLO, name, found)
        assert (found, type(found)) == (value, type(value))


def test_settings_are_those_of_what_was_approved(installed: Modules, tmp_path: Path) -> None:
    assert installed.manifest("hello").defaults == DEFAULTS
    write_module(installed.places.source("hello"), more="settings:\n  other: {type: string}\n")
    assert installed.manifest("hello").defaults == DEFAULTS
    approve(installed)
    assert installed.manifest("hello").defaults == {"other": None}
    with pytest.raises(NotFound):
        installed.manifest("nothing")
    installed.registry.put(entry("strange"))
    with raises("never_approved"):
        installed.manifest("strange")
    (installed.runnable("hello").code / "manifest.yaml").rename(tmp_path / "gone")
    with raises("manifest_gone"):
        installed.manifest("hello")
    developed = install(installed, write_module(tmp_path / "developed", "developed", more=SETTINGS), dev=True)
    assert installed.manifest(developed.module.name).defaults == DEFAULTS


def test_settings_stay_when_a_module_goes_unless_they_are_purged(installed: Modules, tmp_path: Path) -> None:
    installed.settings.set("hello", HELLO, "title", "mine")
    path = installed.settings.path("hello")
    assert installed.private("hello") == (path,)
    with installed.removing("hello"):
        pass
    install(installed, tmp_path / "source")
    assert installed.settings.values("hello", HELLO)["title"] == "mine"
    path.write_text("nonsense")
    with installed.removing("hello", purge=True):
        assert path.exists()
    assert list(path.parent.iterdir()) == []
    assert installed.private("hello") == ()
    installed.settings.forget("hello")


def test_over_http(installed: Modules) -> None:
    app = FastAPI()
    app.state.services = ServiceRegistry(installed)
    app.include_router(router)
    install_error_handlers(app)
    client = TestClient(app)

    def listed() -> dict[str, dict[str, Any]]:
        answer = client.get("/api/modules/hello/settings")
        assert answer.status_code == 200
        return {row["name"]: row for row in answer.json()["settings"]}

    assert list(listed()) == list(DEFAULTS)
    assert listed()["interval"] == {
        "name": "interval",
        "type": "integer",
        "description": "",
        "choices": [],
        "default": 15,
        "is_set": False,
        "value": 15,
        "declared": False,
    }
    changed = client.put("/api/modules/hello/settings/interval", json={"value": 30})
    assert (changed.status_code, changed.json()["settings"]) == (200, list(listed().values()))
    assert (listed()["interval"]["value"], listed()["interval"]["is_set"]) == (30, True)
    assert client.put("/api/modules/hello/settings/password", json={"value": "hunter2"}).status_code == 200
    assert listed()["password"]["is_set"] is True
    assert "hunter2" not in client.get("/api/modules/hello/settings").text
    assert installed.settings.values("hello", HELLO)["password"] == "hunter2"
    assert client.delete("/api/modules/hello/settings/interval").status_code == 200
    assert listed()["interval"]["value"] == 15

    bodies: list[dict[str, Any]] = [{}, {"value": "x"}, {"value": None}, {"value": 1.5}, {"value": 1, "more": 1}]
    for body in bodies:
        answer = client.put("/api/modules/hello/settings/interval", json=body)
        assert (answer.status_code, answer.json()["key"]) in ((422, "invalid_input"), (422, "field_invalid"))
    nan = client.put("/api/modules/hello/settings/share", content=b'{"value": NaN}')
    assert nan.status_code == 422
    half = client.put("/api/modules/hello/settings/title", content=b'{"value": "\\ud83e"}')
    assert half.status_code == 422
    for answer in (
        client.put("/api/modules/hello/settings/colour", json={"value": 1}),
        client.delete("/api/modules/hello/settings/colour"),
        client.get("/api/modules/nothing/settings"),
        client.put("/api/modules/nothing/settings/order", json={"value": "city"}),
    ):
        assert answer.status_code == 404
    installed.settings.path("hello").write_text("nonsense")
    broken = client.get("/api/modules/hello/settings")
    assert (broken.status_code, broken.json()["key"]) == (503, "settings_unreadable")
    assert client.put("/api/modules/hello/settings/interval", json={"value": 1}).status_code == 503
