"""The arithmetic of permissions: only ever less."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec import to_builtins
from msgspec.structs import replace

from parachute.chat.agent_processes.models import OwnTool, ServerTool
from parachute.chat.permissions.models import EVERYTHING, NOTHING, SessionPermissions, names_of
from parachute.chat.permissions.templates import TEMPLATES, template
from parachute.config.vault.service import Vault
from parachute.modules.runtime.models import OfferedTool
from parachute.sandbox.egress.models import NO_NETWORK, Network
from parachute.sandbox.engines.limits import NO_LIMITS, Limits
from tests.support.errors import raises


async def never(arguments: dict[str, object]) -> str:
    """Nobody calls it."""
    return ""


SEARCH = OfferedTool("brain", "brain-search", "", {})
LINK = OfferedTool("brain", "brain-link", "", {})
TODAY = OfferedTool("daily", "daily-today", "", {})
SUGGEST = OwnTool("chat", "suggest", "", {}, call=never)
# A server of the vault may be called as it likes.
SERVER = ServerTool("brain", "brain-search", "", {}, call=never, server="brain-search")
TOOLS = (SEARCH, LINK, TODAY, SUGGEST, SERVER)


def narrowed(**fields: Any) -> SessionPermissions:
    return replace(EVERYTHING, **fields)


def test_names_of_tools() -> None:
    for left, tools in (
        (None, TOOLS),
        ((), ()),
        (("brain-search",), (SEARCH,)),
        (("mcp__parachute__brain-search",), (SEARCH,)),
        (("brain",), (SEARCH, LINK)),
        (("chat",), ()),
        (("suggest",), (SUGGEST,)),
        (("parachute",), (SEARCH, LINK, TODAY, SUGGEST)),
        (("mcp__brain-search",), (SERVER,)),
        (("mcp__brain-search__brain-search",), (SERVER,)),
    ):
        assert narrowed(mcps=left).offered(TOOLS) == tools


def test_a_name_is_within_a_list_that_names_more() -> None:
    assert {"brain-search", "brain", "parachute"} <= set(names_of("brain-search", (SEARCH,)))
    assert set(names_of("brain", (SEARCH,))) == {"brain", "parachute"}
    assert set(names_of("mcp__mail__send", (SEARCH,))) == {"mcp__mail__send", "mail"}


def test_folders_are_those_of_the_vault_and_none_around_them(tmp_path: Path) -> None:
    vault, ship = Vault(tmp_path / "vault"), tmp_path / "vault" / "Projects" / "ship"
    ship.mkdir(parents=True)
    left = narrowed(folders=("Brain", "Brain/people", "${CWD}"))
    assert left.vault_folders(vault, None) == ("Brain",)
    assert left.vault_folders(vault, ship) == ("Brain", "Projects/ship")
    assert left.directory(ship, vault) == ship
    assert narrowed(folders=("Brain",)).directory(ship, vault) is None
    assert narrowed(folders=("Projects/ship/docs",)).directory(ship, vault) is None
    assert narrowed(folders=("Projects",)).directory(ship, vault) == ship
    assert EVERYTHING.vault_folders(vault, ship) is None
    # The whole vault is never what `${CWD}` means, and nothing elsewhere but the folder of the conversation.
    assert narrowed(folders=("${CWD}",)).vault_folders(vault, vault.root) == ()
    other = tmp_path / "elsewhere"
    assert narrowed(folders=(str(other),)).directory(other, vault) == other
    assert not narrowed(folders=(str(tmp_path),)).may_open(other, vault, other)


def test_limits_are_the_lower_ones_whatever_others_become() -> None:
    usual = Limits(1536, 2.0, 200)
    left = narrowed(sandbox=Limits(1000, None, 180))
    assert left.limits(NO_LIMITS, usual) == Limits(1000, None, 180)
    assert left.limits(Limits(500, 1.0, None), usual) == Limits(500, 1.0, 180)
    assert left.limits(NO_LIMITS, Limits(800, 2.0, 170)) == Limits(800, None, 170)
    assert EVERYTHING.limits(Limits(500, 1.0, None), usual) == Limits(500, 1.0, None)


def test_what_nothing_would_hold_is_refused_to_direct_conversations() -> None:
    for left, field in (
        (EVERYTHING, None),
        (narrowed(mcps=()), None),
        (narrowed(folders=("Brain",)), "allowed_folders"),
        (narrowed(folders=("Brain",), capabilities=("Read", "Bash")), "allowed_folders"),
        (narrowed(folders=("Brain",), capabilities=("Read",)), None),
        (narrowed(network=NO_NETWORK), "network"),
        (narrowed(network=NO_NETWORK, capabilities=()), None),
        (narrowed(network=Network("list", ("example.org",)), capabilities=()), "network"),
        (narrowed(sandbox=Limits(cpus=1)), "sandbox_override"),
        (NOTHING, None),
    ):
        if field is None:
            left.check_direct()
        else:
            with raises("not_enforceable", names=f"^{field}: ") as failure:
                left.check_direct()
            assert failure.value.key == "not_enforceable", (left, field)


@pytest.mark.parametrize("each", [*(one.permissions for one in TEMPLATES), NOTHING], ids=str)
def test_what_is_stored_is_read_back(each: SessionPermissions) -> None:
    assert SessionPermissions.read(msgspec.json.encode(each).decode()) == each


def test_what_cannot_be_read_leaves_nothing() -> None:
    for text in (
        "",
        "null",
        "[]",
        "{}",
        '{"allowed_folders": 1}',
        json.dumps({**to_builtins(EVERYTHING), "network": {"mode": "ask"}}),
    ):
        assert SessionPermissions.read(text) == NOTHING


def test_a_guest_has_no_more_than_what_looks_things_up() -> None:
    guest = template("guest").permissions
    assert (guest.folders, guest.capabilities, guest.network) == ((), (), NO_NETWORK)
    assert guest.offered(TOOLS) == (SEARCH,)
    assert guest.is_read_only
    assert not guest.program_tools(("Read", "Bash", "AskUserQuestion", "Task", "WebSearch"), is_direct=False)
