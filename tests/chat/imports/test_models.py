"""Records of imports lie in the vault, where anybody may have written them."""

import json

import pytest

from parachute.base.errors import InvalidInput
from parachute.chat.imports.models import Import

RECORD = Import(
    "01234567", "export", "claude", "2026-01-01T00:00:00.000Z", left_out={"images": 2}, errors=["No."], progress=1
)


def test_a_record_is_read_as_it_was_written() -> None:
    assert Import.load(RECORD.stored()).as_json() == RECORD.as_json()
    newer = {**json.loads(RECORD.stored()), "invented": "tomorrow"}
    assert Import.load(json.dumps(newer).encode()).as_json() == RECORD.as_json()


@pytest.mark.parametrize(
    "change",
    [
        *({"id": 7}, {"name": None}, {"kind": "fax"}, {"state": "asleep"}, {"progress": "all"}, {"imported": "2"}),
        *(
            {"left_out": {"manners": 1}},
            {"left_out": {"images": []}},
            {"left_out": []},
            {"errors": [7]},
            {"dry_run": 1},
        ),
        *({"started_at": 3}, {"oldest": 3}, {"kept": None}),
    ],
)
def test_a_record_that_is_none_is_refused(change: dict[str, object]) -> None:
    with pytest.raises(InvalidInput):
        Import.load(json.dumps({**json.loads(RECORD.stored()), **change}).encode())


def test_what_is_no_record_is_refused() -> None:
    for data in (b"", b"[]", b"null", b"\xff", b"[" * 100_000, b'{"id": "01234567"}'):
        with pytest.raises(InvalidInput):
            Import.load(data)
