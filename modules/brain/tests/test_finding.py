"""Finding entities: by words, by names as people write them, and in texts."""

from typing import Any

import pytest

from parachute.core.testing import Running

ENTRY = "Met with Kevin about the LVB curriculum. He suggested we add a module on prompt engineering."


@pytest.fixture
async def ids(add: Any) -> dict[str, str]:
    """Some people and projects."""
    rows = [
        ("person", "Kevin Nguyen", ["Kevin"], "Advisor from the Regen Hub, likes tea."),
        ("person", "José Núñez", [], "Baker."),
        ("person", "Will Smith", ["Will"], "Smith."),
        ("project", "Learn Vibe Build", ["LVB"], "A course about building. Kevin Nguyen helps."),
        ("topic", "Building", [], "How houses are made."),
    ]
    return {name: (await add(type_, name, text, aliases=names))["entity_id"] for type_, name, names, text in rows}


async def _resolve(brain: Running, text: str) -> tuple[str | None, str, float]:
    answer = (await brain.post("/resolve", {"text": text})).json()
    best = answer["candidates"][0] if answer["candidates"] else {"match": "", "confidence": 0.0}
    return answer["para_id"], best["match"], best["confidence"]


async def test_a_name_is_resolved(brain: Running, ids: dict[str, str]) -> None:
    for text, name, match in (
        ("Kevin Nguyen", "Kevin Nguyen", "exact"),
        ("Kevin", "Kevin Nguyen", "alias"),
        ("kevin", "Kevin Nguyen", "folded"),
        ("[[kevin-nguyen]]", "Kevin Nguyen", "folded"),
        ("[[people/kevin-nguyen|he]]", "Kevin Nguyen", "folded"),
        ("jose nunez", "José Núñez", "folded"),
        ("JOSÉ  NÚÑEZ", "José Núñez", "folded"),
        ("lvb", "Learn Vibe Build", "folded"),
        ("Learn Vibe Biuld", "Learn Vibe Build", "fuzzy"),
        ("Kevin Nguyn", "Kevin Nguyen", "fuzzy"),
        ("Learn Vibe", "Learn Vibe Build", "part"),
    ):
        para_id, found, confidence = await _resolve(brain, text)
        assert (para_id, found) == (ids[name], match)
        assert 0.8 <= confidence <= 1.0
        assert await brain.interface("BrainInterface", "resolve", text=text) == ids[name]


async def test_what_nobody_is_called_resolves_to_nothing(brain: Running, ids: dict[str, str]) -> None:
    for text in ("", "   ", "x" * 5000, "Nobody Atall", "Kxvxn", "%", "\"'; DROP", "[[]]"):
        assert (await _resolve(brain, text))[0] is None
        assert await brain.interface("BrainInterface", "resolve", text=text) is None


async def test_a_name_of_two_is_no_answer(brain: Running, ids: dict[str, str], add: Any) -> None:
    other = await add("person", "Kevin Bacon", aliases=["Kevin"])
    para_id, _, confidence = await _resolve(brain, "Kevin")
    assert (para_id, confidence) == (None, 0.5)
    assert (await brain.get("/resolve/Kevin")).status == 404
    assert "Kevin Bacon" in (await brain.get("/resolve/Kevin")).json()["hint"]
    assert (await _resolve(brain, "Kevin Bacon"))[0] == other["entity_id"]


async def test_search_prefers_names_and_shows_where(brain: Running, ids: dict[str, str]) -> None:
    found = (await brain.get("/search", q="building")).json()
    assert found["query"] == "building"
    assert [entry["name"] for entry in found["results"]] == ["Building", "Learn Vibe Build"]
    assert "**building**" in found["results"][1]["snippet"]
    assert 1.0 == found["results"][0]["score"] > found["results"][1]["score"] >= 0
    assert [entry["name"] for entry in (await brain.get("/search", q="kevin", type="project")).json()["results"]] == [
        "Learn Vibe Build"
    ]
    names = [entry["name"] for entry in (await brain.get("/search", q="nunez")).json()["results"]]
    assert names == ["José Núñez"]
    assert (await brain.get("/search", q="te")).json()["count"] == 0  # a beginning, but of no name
    assert (await brain.get("/search", q="ngu")).json()["results"][0]["name"] == "Kevin Nguyen"
    assert (await brain.get("/search", q="hous")).json()["results"][0]["name"] == "Building"
    assert (await brain.get("/search", q="kevin unicorns")).json()["count"] >= 1
    hits = await brain.interface("BrainInterface", "search", query="advisor")
    assert [(hit["name"], hit["para_id"]) for hit in hits] == [("Kevin Nguyen", ids["Kevin Nguyen"])]


async def test_any_text_may_be_searched_for(brain: Running, ids: dict[str, str]) -> None:
    for query in ("", '"', "AND", "a OR", "NEAR(a b)", "name:x", "*", "^", "(" * 50, "x" * 5000, "🎉", "-a"):
        assert (await brain.get("/search", q=query)).status == 200


async def test_what_is_found_by_meaning_adds_to_what_has_the_words(brain: Running, ids: dict[str, str]) -> None:
    await brain.module.brain.near.given()
    assert "Baker." in brain.fake.texts[ids["José Núñez"]]
    brain.fake.near["loaf"] = ["para:brain:aaaaaaaaaaaa", ids["José Núñez"]]
    brain.fake.near["building"] = [ids["José Núñez"], ids["Building"]]
    (found,) = (await brain.get("/search", q="loaf")).json()["results"]
    assert (found["name"], found["score"], found["snippet"]) == ("José Núñez", 0.7, "Baker.")
    assert found["found_by"] == "meaning"
    assert (await brain.get("/search", q="loaf", type="topic")).json()["results"] == []
    results = (await brain.get("/search", q="building")).json()["results"]
    assert results[0]["name"] == "Building"
    assert {entry["name"]: entry["found_by"] for entry in results} == {
        "Building": "words",
        "José Núñez": "meaning",
        "Learn Vibe Build": "words",
    }


async def test_the_index_of_meanings_follows_each_change(brain: Running, ids: dict[str, str]) -> None:
    para_id = ids["José Núñez"]
    path = brain.vault / "Brain" / "entities" / "new.md"
    path.write_text("---\ntype: person\nname: Ida\n---\n\nA carpenter.\n")
    await brain.emit("vault.changed", paths=["Brain/entities/new.md"])
    await brain.module.brain.near.given()
    assert any("carpenter" in text for text in brain.fake.texts.values())
    assert (await brain.delete(f"/entities/{para_id}")).status == 200
    await brain.module.brain.near.given()
    assert para_id not in brain.fake.texts


async def test_an_index_that_was_lost_gets_every_entity_again(brain: Running, ids: dict[str, str]) -> None:
    await brain.module.brain.near.given()
    brain.fake.texts.clear()
    brain.fake.index = "another"
    await brain.get("/search", q="anything")
    await brain.module.brain.near.given()
    assert brain.fake.texts.keys() == set(ids.values())


async def test_mistakes_of_a_search_are_said(brain: Running) -> None:
    assert (await brain.get("/search", q="x", type="planet")).status == 422
    assert (await brain.get("/search", q="x", limit=0)).status == 422
    assert (await brain.get("/entities", limit=5000)).status == 422


async def test_the_example_of_the_journal(brain: Running, ids: dict[str, str]) -> None:
    answer = (await brain.post("/suggest", {"text": ENTRY})).json()
    mentions = {entry["text"]: (entry["para_id"], entry["confidence"] > 0.8) for entry in answer["mentions"]}
    assert mentions == {"Kevin": (ids["Kevin Nguyen"], True), "LVB": (ids["Learn Vibe Build"], True)}
    assert [(entry["text"], entry["type"]) for entry in answer["candidates"]] == [("prompt engineering", "topic")]
    found = await brain.interface("BrainInterface", "suggest", text=ENTRY)
    assert [entry["para_id"] for entry in found] == [ids["Kevin Nguyen"], ids["Learn Vibe Build"], None]


async def test_mentions(
    brain: Running,
    ids: dict[str, str],
) -> None:
    for text, mentions, candidates in (
        ("kevin nguyen's idea", {"Kevin Nguyen"}, set()),
        ("I will go.", set(), set()),
        ("Will called.", {"Will Smith"}, set()),
        ("Lunch with Aaron Gabriel in Lisbon.", set(), {"Aaron Gabriel", "Lisbon"}),
        ("The weather was fine. Everybody laughed.", set(), set()),
        ("Reading Momo again.", set(), {"Momo"}),
        ("It rains. Read Moby Dick.", set(), {"Moby Dick"}),
        ("[[Kevin]] and [[Maria Rossi|her]] came", {"Kevin Nguyen"}, {"Maria Rossi"}),
        ("read about #gardening, not issue #12", set(), {"gardening"}),
        ("Jose\u0301 Nu\u0301n\u0303ez bakes", {"José Núñez"}, set()),
        ("Learn\nVibe Build", {"Learn Vibe Build"}, set()),
        ("", set(), set()),
        ("🎉 \0 ]] [[", set(), set()),
    ):
        answer = (await brain.post("/suggest", {"text": text})).json()
        assert {entry["name"] for entry in answer["mentions"] if entry["confidence"] > 0.8} == mentions
        assert {entry["text"] for entry in answer["candidates"]} == candidates


async def test_each_entity_is_suggested_once_and_the_longest_name_wins(
    brain: Running, ids: dict[str, str], add: Any
) -> None:
    hub = await add("project", "Kevin Nguyen Archive")
    answer = (await brain.post("/suggest", {"text": "Kevin Nguyen Archive. Kevin, Kevin and Kevin."})).json()
    assert sorted(entry["para_id"] for entry in answer["mentions"]) == sorted([hub["entity_id"], ids["Kevin Nguyen"]])
    assert (await brain.post("/suggest", {"text": "x" * 100_001})).status == 422


async def test_a_word_that_most_texts_hold_finds_names_first(
    brain: Running, add: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("brain.search._COMMON", 5)
    await add("topic", "Common Sense")
    for number in range(8):
        await add("person", f"Person {number}", "A common word.")
    for type_, wanted in (
        (None, ["Common Sense", "Person 7", "Person 6"]),
        ("person", ["Person 7", "Person 6", "Person 5"]),
    ):
        query = {"q": "common", "limit": 3} | ({"type": type_} if type_ else {})
        found = (await brain.get("/search", **query)).json()["results"]
        assert [entry["name"] for entry in found] == wanted
        assert "**common**" in found[-1]["snippet"]


async def test_words_that_any_sentence_has_find_nobody(brain: Running, ids: dict[str, str]) -> None:
    async def found(query: str) -> list[str]:
        return [each["name"] for each in (await brain.get("/search", query=query)).json()["results"]]

    assert await found("who is from the Hub or the moon") == ["Kevin Nguyen"]
    assert await found("who is it with the moon") == []
    assert "Building" in await found("how are they"), "unless there are no others"


async def test_words_of_scripts_without_spaces(brain: Running, add: Any) -> None:
    await add("person", "王小明", "住在海边的灯塔。喜欢散步。", tags=["同事"])
    await add("topic", "눈사람", "겨울에 등대에서 만들었다.")
    for query, name in (
        ("灯塔", "王小明"),
        ("散步 灯塔", "王小明"),
        ("小明", "王小明"),
        ("同事", "王小明"),
        ("등대", "눈사람"),
        ("사람", "눈사람"),
    ):
        assert [each["name"] for each in (await brain.get("/search", q=query)).json()["results"]] == [name], query
    (found,) = (await brain.get("/search", q="灯塔")).json()["results"]
    assert found["snippet"] == "住在海边的**灯塔**。喜欢散步。"
    await brain.module.brain.near.given()
    assert any("住在海边的灯塔。喜欢散步。" in text for text in brain.fake.texts.values())


async def test_an_answer_says_what_was_searched(brain: Running, ids: dict[str, str]) -> None:
    await brain.module.brain.near.given()
    brain.fake.unread = 600
    answer = (await brain.get("/search", q="zyzzyva")).json()
    assert answer["searched"] == {"count": len(ids), "waiting": 600, "total": 600}
