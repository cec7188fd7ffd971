"""Words in any script: what an index stores of a text, and how a question asks for it."""

import sqlite3

import pytest

from parachute.core.full_text import any_of, quoted, readable, searchable, words

TEXTS = (
    "昨天和叔叔一起去灯塔散步。风很大。",
    "我的iPhone手机坏了",
    "ฉันกินข้าวที่บ้านริมทะเล",
    "등대에서 산책을 했다",
    "𠮷野家でコーヒーを飲む",
    "ခေါက်ဆွဲစားတယ်",
    "The café at the harbour",
    "猫",
)


@pytest.mark.parametrize("text", TEXTS)
def test_what_was_written_is_given_back(text: str) -> None:
    stored = searchable(text)
    assert readable(stored) == text
    assert searchable(readable(stored)) == stored


def test_text_of_other_scripts_is_stored_as_it_is() -> None:
    for text in ("The café, “quoted” 😀", "Привет हिन्दी العربية", "\ue001\ue002 an icon", "x² ½ ①"):
        assert searchable(text) == readable(text) == text


@pytest.mark.parametrize("phrases", [True, False])
@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("散步", 0), ("灯塔散步", 0), ("叔叔 灯塔", 0), ("步", 0), ("iphone手机", 1), ("\uff29\uff30\uff48\uff4f\uff4e\uff45", 1), ("手机 iphone", 1),
        ("ข้าว", 2), ("ทะเล", 2), ("บ้าน", 2), ("등대", 3), ("산책", 3), ("대에", 3), ("\u1103\u1173\u11bc\u1103\u1162", 3),
        ("𠮷野", 4), ("ｺｰﾋｰ", 4), ("コーヒー", 4), ("ဆွဲ", 5), ("cafe harb", 6), ("猫", 7), ("步散", None), ("ขาว", None),
    ],
)  # fmt: skip
def test_every_word_within_a_run_is_found(phrases: bool, question: str, found: int | None) -> None:
    connection = sqlite3.connect(":memory:")
    detail = "full" if phrases else "none"
    connection.execute(
        f"CREATE VIRTUAL TABLE texts USING fts5 (text, tokenize = 'unicode61 remove_diacritics 2', prefix = '2 3', detail = {detail})"
    )
    connection.executemany("INSERT INTO texts (rowid, text) VALUES (?, ?)", enumerate(map(searchable, TEXTS)))
    asked = words(question)
    query = " AND ".join(quoted(word, is_unfinished=word is asked[-1], phrases=phrases) for word in asked)
    rows = connection.execute("SELECT rowid FROM texts WHERE texts MATCH ?", (query,)).fetchall()
    connection.close()
    assert rows == ([] if found is None else [(found,)])


def test_snippets_are_what_was_written_with_the_words_marked() -> None:
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE VIRTUAL TABLE texts USING fts5 (text)")
    connection.execute("INSERT INTO texts VALUES (?)", (searchable(TEXTS[0]),))
    for query, shown in (
        (quoted("灯塔散步"), "…起去**灯塔散步**。风很大…"),
        (quoted("昨天"), "**昨天**和叔叔一起去灯…"),
        (any_of(["昨天和一"]), "**昨天和**叔叔一起去灯…"),
    ):
        ((snippet,),) = connection.execute(
            "SELECT snippet(texts, 0, '**', '**', '…', 8) FROM texts WHERE texts MATCH ?", (query,)
        )
        assert readable(snippet) == shown
    connection.close()


def test_some_of_the_words_are_the_pairs_of_a_run() -> None:
    assert any_of(["镜片的", "cafe"]) == '"镜片" OR "片的" OR "cafe"'
    assert any_of([]) == any_of(["_"]) == ""
