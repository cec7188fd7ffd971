"""Record of the messages shown under each key, also after a crash."""

from pathlib import Path

from parachute.connectors.platforms.shown import FILE, Entry, Message, Shown


def test_entries_are_there_for_the_next_process(tmp_path: Path) -> None:
    shown = Shown(tmp_path)
    entry = Entry(chat="42").with_message(0, Message("7", "a")).with_file("8")
    shown.put("key", entry)
    shown.put("key", entry.with_message(0, Message("7", "b")))
    found = Shown(tmp_path)
    assert found.get("key").ids == ("7", "8")
    assert found.get("key").messages[0].digest == "b"
    assert found.ids_of("42") == {"7", "8"}
    assert found.get("other") == Entry()


def test_half_a_line_costs_nothing_but_itself(tmp_path: Path) -> None:
    Shown(tmp_path).put("one", Entry(files=("1",)))
    with (tmp_path / FILE).open("a") as file:
        file.write('\n["two", {"chat": "4')
    Shown(tmp_path).put("three", Entry(files=("3",)))
    found = Shown(tmp_path)
    assert [found.get(key).ids for key in ("one", "two", "three")] == [("1",), (), ("3",)]


def test_it_does_not_grow_for_ever(tmp_path: Path) -> None:
    shown = Shown(tmp_path)
    for number in range(5_000):
        shown.put(f"key {number}", Entry(files=(str(number),)))
    found = Shown(tmp_path)
    assert found.get("key 4999").ids == ("4999",)
    assert found.get("key 0") == Entry()
    assert (tmp_path / FILE).read_text().count("\n") < 4_500
