"""The index of words of the vault's files."""

from contextlib import closing
from pathlib import Path

from parachute.llm.meaning import full_text
from parachute.llm.meaning.store import Store


def test_words_of_every_script_are_found(tmp_path: Path) -> None:
    with closing(Store.open(tmp_path / "index.db")) as store:
        full_text.prepare(store)
        store.put("files", {"a.md": "昨天去灯塔散步", "b.md": "The harbour"}, ())
        store.put("brain", {"c": "灯塔"}, ())
    for _ in range(2):
        with closing(Store.open(tmp_path / "index.db")) as store:
            full_text.prepare(store)
            (hit,) = full_text.search(store, "files", "散步", 5)
            assert (hit.key, hit.has_all, hit.snippet) == ("a.md", True, "昨天去灯塔散步")
            (hit,) = full_text.search(store, "files", "灯塔大海", 5)
            assert (hit.key, hit.has_all) == ("a.md", False)
            assert [hit.key for hit in full_text.search(store, "files", "harb", 5)] == ["b.md"]
            store.put("files", {"d.md": "海边的灯塔"}, ["b.md"])
            assert {hit.key for hit in full_text.search(store, "files", "灯塔", 5)} == {"a.md", "d.md"}
            store.put("files", {"b.md": "The harbour"}, ["d.md"])
            store.connection.execute("INSERT INTO full_text (full_text, rank) VALUES ('integrity-check', 1)")


def test_snippet_is_short_whatever_is_beside_the_words(tmp_path: Path) -> None:
    with closing(Store.open(tmp_path / "index.db")) as store:
        full_text.prepare(store)
        store.put("files", {"a.md": f"{'x' * 30_000} our boat {'y' * 29_000}", "b.md": "灯" * 3 + "的塔" * 9_000}, ())
        (hit,) = full_text.search(store, "files", "boat", 5)
        assert " our boat yy" in hit.snippet
        assert len(hit.snippet) <= 302
        assert hit.offset == 30_005
        (hit,) = full_text.search(store, "files", "的塔", 5)
        assert "的塔" in hit.snippet


def test_best_piece_of_a_file_has_the_place(tmp_path: Path) -> None:
    with closing(Store.open(tmp_path / "index.db")) as store:
        full_text.prepare(store)
        store.put("files", {"a.pdf": "x\n灯塔 " * 9, "a.pdf//1": "x\n灯塔", "b.pdf//3": "x\n灯塔"}, ())
        hits = full_text.search(store, "files", "灯塔", 5)
        placed = [hit.key.partition("//")[0] for hit in hits if hit.offset]
        assert sorted(placed) == ["a.pdf", "b.pdf"]
        assert hits[0].offset


def test_hits_have_the_place_of_their_words(tmp_path: Path) -> None:
    said = "Kevin advises us on the boat."
    texts = {
        "end.md": "word " * 5_000 + "\f" + said,
        "line.md": "Kevin wrote:\n\n" + said,
        "name.md": "nothing of it",
        "run.md": "雪" * 50 + "\n昨天去灯塔散步",
    }
    with closing(Store.open(tmp_path / "index.db")) as store:
        full_text.prepare(store)
        store.put("files", texts, ())
        found = {hit.key: hit.offset for hit in full_text.search(store, "files", "kevin advises boat", 5)}
        assert found == {key: texts[key].index(said) for key in ("end.md", "line.md")}
        (hit,) = full_text.search(store, "files", "name.md", 5)
        assert (hit.key, hit.offset) == ("name.md", 0)
        (hit,) = full_text.search(store, "files", "灯塔", 5)
        assert texts[hit.key].count("\n", 0, hit.offset) == 1


def test_what_is_not_gone_is_kept(tmp_path: Path) -> None:
    with closing(Store.open(tmp_path / "index.db")) as store:
        full_text.prepare(store)
        store.put("files", {"a.md": "one", "b.md": "one", "c.md": "one"}, ())
        assert full_text.missing(store, "files", {"d.md": "1"}, 5, ["b.md"]) == ["d.md"]
        assert {hit.key for hit in full_text.search(store, "files", "one", 5)} == {"a.md", "c.md"}
        full_text.missing(store, "files", {"a.md": "1"}, 5)
        assert {hit.key for hit in full_text.search(store, "files", "one", 5)} == {"a.md"}
