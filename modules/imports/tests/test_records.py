"""Records of imports lie in the vault, where anybody may have written them."""

import json
from dataclasses import asdict

import pytest
from imports.records import Import

from parachute.core import InvalidInput

RECORD = Import(
    "01234567", "export", "claude", "2026-01-01T00:00:00.000Z", left_out={"images": 2}, errors=["No."], progress=1
)


def test_a_record_is_read_as_it_was_written() -> None:
    kept = json.loads(json.dumps(asdict(RECORD)))
    assert Import.load(kept).shown() == RECORD.shown()
    # Earlier versions kept these, too.
    assert Import.load({**kept, "takes_files": True, "takes_contexts": False}).shown() == RECORD.shown()


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
        Import.load({**asdict(RECORD), **change})


def test_what_is_no_record_is_refused() -> None:
    for value in ([], None, "record", {"id": "01234567"}):
        with pytest.raises(InvalidInput):
            Import.load(value)
