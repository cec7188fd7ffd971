"""Modules that do not fit beside each other are not enabled, by whatever way."""

from pathlib import Path

import pytest

from parachute.modules.registry.models import State
from parachute.modules.registry.service import Modules
from tests.support.errors import raises

from .building import entry, everything, write_module
from .steps import approve, install, state

BRAIN = "provides:\n  - BrainInterface@1.1\n"
NEWER = "provides:\n  - BrainInterface@2.0\n"
USER = "optional_requires:\n  - BrainInterface@1.1\n"


@pytest.fixture
def brain(modules: Modules, tmp_path: Path) -> Path:
    """The source of the installed module `brain`, which provides an interface."""
    source = write_module(tmp_path / "brain", "brain", more=BRAIN)
    install(modules, source)
    return source


@pytest.mark.parametrize("options", [{}, {"dev": True}, {"untrusted": True}])
def test_a_module_that_does_not_fit_is_refused_before_anybody_is_asked(
    modules: Modules, brain: Path, tmp_path: Path, vault: Path, options: dict[str, bool]
) -> None:
    before, listed = modules.places.registry.read_text(), everything(vault)
    mind = write_module(tmp_path / "mind", "mind", more=BRAIN)
    with raises("interface_taken"), modules.installing(str(mind), **options):  # type: ignore[arg-type]
        pytest.fail("somebody was asked")
    assert modules.places.registry.read_text() == before
    assert everything(vault) == listed


def test_one_of_two_is_enabled_at_a_time(modules: Modules, brain: Path, tmp_path: Path) -> None:
    modules.disable("brain")
    install(modules, write_module(tmp_path / "mind", "mind", more=BRAIN))
    before = modules.places.registry.read_text()
    with raises("interface_taken"):
        modules.enable("brain")
    assert modules.places.registry.read_text() == before
    modules.disable("mind")
    assert modules.enable("brain").state is State.READY
    with raises("interface_taken"):
        modules.enable("mind")
    # It fits beside itself, such as after failures.
    assert modules.enable("brain").state is State.READY
    with modules.removing("brain"):
        pass
    assert modules.enable("mind").state is State.READY


def test_an_update_of_a_provider_is_compared_with_its_users(modules: Modules, brain: Path, tmp_path: Path) -> None:
    install(modules, write_module(tmp_path / "daily", "daily", more=USER))
    write_module(brain, "brain", "2.0.0", NEWER)
    with raises("interface_differs"):
        install(modules, brain)
    assert modules.runnable("brain").module.version == "1.0.0"
    # An edit in the vault, too.
    write_module(modules.places.source("brain"), "brain", "2.0.0", NEWER)
    with raises("interface_differs"):
        approve(modules, "brain")
    assert state(modules, "brain") is State.PENDING
    # Without the user of the interface it may come; then the user may not.
    modules.disable("daily")
    approve(modules, "brain")
    with raises("interface_differs"):
        modules.enable("daily")


def test_an_update_of_a_disabled_module_is_compared_when_it_is_enabled(
    modules: Modules, brain: Path, tmp_path: Path
) -> None:
    modules.disable("brain")
    install(modules, write_module(tmp_path / "daily", "daily", more=USER))
    write_module(brain, "brain", "2.0.0", NEWER)
    install(modules, brain)
    assert state(modules, "brain") is State.DISABLED
    with raises("interface_differs"):
        modules.enable("brain")
    assert state(modules, "brain") is State.DISABLED


def test_two_tools_of_one_name_are_not_enabled_together(modules: Modules, tmp_path: Path) -> None:
    tools = "mcp_tools:\n  - name: search\n    description: Find\n    handler: module:search\n"
    install(modules, write_module(tmp_path / "one", "one", more=tools))
    modules.disable("one")
    install(modules, write_module(tmp_path / "two", "two", more=tools))
    with raises("tool_taken", names="two .*search"):
        modules.enable("one")


def test_what_was_enabled_while_the_user_was_asked_counts(
    modules: Modules, brain: Path, tmp_path: Path, vault: Path
) -> None:
    modules.disable("brain")
    listed = everything(vault)
    with modules.installing(str(write_module(tmp_path / "mind", "mind", more=BRAIN))) as installation:
        modules.enable("brain")
        before = modules.places.registry.read_text()
        with raises("interface_taken"):
            installation.finish()
    assert modules.places.registry.read_text() == before
    assert everything(vault) == listed
    assert not (modules.places.copies / "mind").exists()


def test_what_was_disabled_while_the_user_was_asked_stays_so(modules: Modules, brain: Path) -> None:
    write_module(brain, "brain", "1.1.0", BRAIN)
    with modules.installing(str(brain)) as installation:
        modules.disable("brain")
        assert installation.finish().enabled is False
    assert modules.registry.module("brain").version == "1.1.0"
    assert state(modules, "brain") is State.DISABLED


def test_a_module_that_cannot_start_does_not_stand_in_the_way(modules: Modules, brain: Path, tmp_path: Path) -> None:
    modules.registry.put(entry("strange"))
    manifest = modules.runnable("brain").code / "manifest.yaml"
    manifest.chmod(0o644)
    manifest.write_text("name: [")
    install(modules, write_module(tmp_path / "mind", "mind", more=BRAIN))
    # It is compared when its copy is made anew.
    with raises("interface_taken"):
        approve(modules, "brain")
    modules.disable("mind")
    approve(modules, "brain")
    modules.runnable("brain")


def test_what_cannot_be_compared_is_not_enabled(modules: Modules, brain: Path) -> None:
    modules.disable("brain")
    for path in (modules.places.copies / "brain").rglob("manifest.yaml"):
        path.unlink()
    with raises("manifest_gone"):
        modules.enable("brain")
    assert not modules.registry.module("brain").enabled
    approve(modules, "brain")
    assert modules.enable("brain").state is State.READY
