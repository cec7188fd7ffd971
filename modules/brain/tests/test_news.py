"""The sentence that tells something of an entity that lasts."""

from collections.abc import Callable
from typing import Any

from parachute.core.testing import Running


async def test_what_is_new(brain: Running, add: Callable[..., Any]) -> None:
    await add("person", "Kevin")
    for text, news in (
        ("Breakfast. Kevin told me that he moves to Berlin. Rain.", "Kevin told me that he moves to Berlin."),
        ("- [ ] rest\n- Discussed the curriculum with [[Kevin]]", "Discussed the curriculum with [[Kevin]]"),
        ("Tea with Kevin.\nKevin quit his job!", "Kevin quit his job!"),
        ("Heute hat Kevin erzählt, dass er umzieht. Danach Kaffee.", "Heute hat Kevin erzählt, dass er umzieht."),
        ("Cené con Kevin, que se muda a Sevilla.", "Cené con Kevin, que se muda a Sevilla."),
        # That there was tea is no news, and neither is what another sentence tells.
        ("Tea with Kevin. It rained.", None),
        ("Frühstück mit Kevin. Ich habe gekündigt.", None),
        ("Comí con Kevin en casa, casi en silencio.", None),
        # It may be somebody else.
        ("I quit, kevin.", None),
        ("Kevin moved. " + "x" * 5_000, None),
    ):
        (mention,) = (await brain.post("/suggest", {"text": text})).json()["mentions"]
        assert mention["news"] == news
        (said,) = [each for each in await brain.interface("BrainInterface", "suggest", text=text) if each["para_id"]]
        assert said["news"] == news
