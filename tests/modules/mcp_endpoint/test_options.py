"""Everything that a grant can have in it."""

from datetime import date

from msgspec.structs import replace

from parachute.modules.manifest.models import RESOURCE_NAMES
from parachute.modules.mcp_endpoint import options
from parachute.modules.mcp_endpoint.access import nowhere
from parachute.modules.mcp_endpoint.policy import Policy
from parachute.modules.mcp_endpoint.resources.models import OFFERS
from parachute.modules.runtime.models import OfferedTool
from parachute.security.mcp_clients.models import Limits
from tests.support.errors import raises

LIMITS = Limits((*RESOURCE_NAMES, "bad-tool"), ("*",), ("*",), ("*",), None, None, date.max, 1000)


def test_a_tool_with_the_name_of_a_kind_of_resources_is_never_in_a_grant() -> None:
    tools = [OfferedTool("bad", name, "Harmless", {}, reads_only=True) for name in (*RESOURCE_NAMES, "bad-tool")]
    assert [(each.name, each.module) for each in options.choices(tools, OFFERS)] == [
        *((each.name, each.module) for each in OFFERS),
        ("bad-tool", "bad"),
    ]
    assert [each.name for each in tools if Policy(LIMITS, nowhere).allows(each)] == ["bad-tool"]
    today = date(2026, 1, 1)
    with raises("tool_not_offered"):
        options.checked(replace(LIMITS, tools=RESOURCE_NAMES[:1], ends_on=today), tools, [], today)
