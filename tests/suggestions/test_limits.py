"""A module cannot bury the user in suggestions."""

from collections.abc import Iterator

import pytest

from tests.suggestions.conftest import House, furnish

PUSHY = """
@route("POST", "/propose/{first}/{last}")
async def propose(self, first: int, last: int):
    for number in range(first, last):
        await self.core.suggest("create", "people", {"number": number})
"""


@pytest.fixture
def own() -> Iterator[House]:
    """A computer of this test alone."""
    with House() as running:
        furnish(running)
        running.install("pushy", PUSHY, agents={"any": {"can_suggest": ["people"]}})
        yield running


def test_only_so_many_wait(own: House) -> None:
    assert own.post("/api/pushy/propose/0/200").status_code in (200, 204)
    refused = own.post("/api/pushy/propose/200/201")
    assert refused.status_code == 409
    assert refused.json()["detail"] == "200 suggestions of pushy wait for the user already."
    found = own.value("/api/suggestions?status=pending&limit=200")
    assert found["total"] == 200
    # Others are not held up, and a decision makes room.
    own.propose(payload={"name": "Ann"})
    own.decide(found["suggestions"][0]["id"], "reject")
    assert own.post("/api/pushy/propose/200/201").status_code in (200, 204)
    assert own.post("/api/pushy/propose/201/202").status_code == 409
