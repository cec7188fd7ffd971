"""A module cannot bury the user in suggestions."""

import pytest

from tests.automation.suggestions.conftest import SuggestionsServer

PUSHY = """
@route("POST", "/propose/{first}/{last}")
async def propose(self, first: int, last: int):
    for number in range(first, last):
        await self.core.suggest("create", "people", {"number": number})
"""


@pytest.mark.long
def test_only_so_many_wait(server: SuggestionsServer, word: str) -> None:
    server.install("pushy", PUSHY, agents={"any": {"can_suggest": ["people"]}})
    assert server.post("/api/pushy/propose/0/200").status_code in (200, 204)
    refused = server.post("/api/pushy/propose/200/201")
    assert refused.status_code == 409
    assert refused.json()["detail"] == "200 suggestions of pushy wait for the user already."
    found = server.value("/api/suggestions?status=pending&limit=200")["suggestions"]
    assert {each["source_agent"] for each in found} == {"pushy"}
    # Others are not held up, and a decision makes room.
    server.propose(payload={"name": word})
    server.decide(found[0]["id"], "reject")
    assert server.post("/api/pushy/propose/200/201").status_code in (200, 204)
    assert server.post("/api/pushy/propose/201/202").status_code == 409
