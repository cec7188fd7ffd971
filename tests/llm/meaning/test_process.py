"""The index as a process: what it finds, and what a kill and a full disk leave."""

import os
import shutil
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.llm.meaning.activator import QUESTION, TEXTS, IndexProcess, index

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home in which the model was prepared, with a few texts."""
    home = tmp_path_factory.mktemp("prepared") / "home"
    with index(home=home) as running:
        running.put(TEXTS)
        running.work()
    return home


@pytest.fixture
def running(prepared: Path, tmp_path: Path) -> Iterator[IndexProcess]:
    home = tmp_path / "home"
    shutil.copytree(prepared, home)
    with index(home=home) as process:
        yield process


def test_a_paraphrase_finds_its_text_with_the_model_that_is_shipped(running: IndexProcess) -> None:
    assert running.find()[0] == "kevin"
    assert running.find("who fixes churches")[0] == "ottilie"
    assert running.find("?!") == []
    assert running.find(collection="another") == []


@pytest.mark.parametrize(
    ("question", "key"),
    [
        ("wer berät uns beim Bootskauf", "kevin"),
        ("¿quién hornea pan?", "maria"),
        ("réparer l'orgue de l'église", "ottilie"),
        ("how much is the flat", "miete"),
    ],
)
def test_a_question_finds_a_text_of_another_language(running: IndexProcess, question: str, key: str) -> None:
    running.put({"miete": "Der Vermieter will ab Januar 1.140 im Monat für die Wohnung."})
    running.work()
    assert running.find(question)[0] == key


def test_a_hit_tells_where_its_part_begins(running: IndexProcess) -> None:
    text = "\f".join(
        ("Shopping: bread and milk. " * 20, "The boiler is bled with the small key in the drawer.", "Done. " * 60)
    )
    running.put({"long": text})
    running.work()
    status, answer = running.ask("POST", "/find", {"collection": "c", "query": "how to bleed the heating", "limit": 5})
    assert status == 200
    (key, _, offset) = answer["results"][0]
    assert (key, text[offset:].startswith("The boiler")) == ("long", True)


def test_a_time_of_the_year_brings_its_texts_first(running: IndexProcess) -> None:
    days = {
        "spring": "3 April: walked to the tower.",
        "winter": "20 December: walked to the tower.",
        "none": "Walked to the tower.",
    }
    running.put(days)
    running.work()
    assert running.find("walk before Christmas")[0] == "winter"
    assert running.find("Spaziergang im Frühling")[0] == "spring"


def test_it_runs_in_a_sandbox_without_a_network(prepared: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    shutil.copytree(prepared, home)
    with index(home=home, program="parachute.sandbox.engines.meaning") as process:
        assert process.find()[0] == "kevin"
        assert process.process is not None
        inside = _descendant(process.process.pid)
        assert Path(f"/proc/{inside}/ns/net").readlink() != Path("/proc/self/ns/net").readlink()


def _descendant(process: int) -> int:
    while children := Path(f"/proc/{process}/task/{process}/children").read_text().split():
        process = int(children[0])
    return process


def test_what_changes_is_found_as_it_is_now(running: IndexProcess) -> None:
    running.put({"maria": TEXTS["kevin"], "new": "Ships leave at six."}, "kevin")
    assert running.work()["total"] == 3
    assert set(running.find()) >= {"maria", "new"}
    assert "kevin" not in running.find()


def test_the_collection_of_a_module_that_is_gone_is_forgotten(running: IndexProcess) -> None:
    first = running.put({})["index"]
    running.work(keep=["c"])
    assert running.find()[0] == "kevin"
    running.work(keep=["others"])
    assert running.find() == []
    assert running.put({})["index"] != first


def test_a_kill_in_the_middle_loses_nothing(running: IndexProcess) -> None:
    running.put({f"filler-{number}": f"word{number} and other{number}" for number in range(3_000)})
    status, answer = running.ask("POST", "/work", {"seconds": 0.001})
    assert status == 200
    assert answer["waiting"] > 0
    assert running.process is not None
    os.killpg(running.process.pid, signal.SIGKILL)
    running.wait_ended()
    assert running.find()[0] == "kevin"
    running.work()
    assert running.find("other2999")[0] == "filler-2999"


def test_a_kill_while_the_model_is_prepared_leaves_no_half_of_it(tmp_path: Path) -> None:
    with index(home=tmp_path / "home") as process:
        making = process.own / "model" / "use-multilingual-3.making"
        making.parent.mkdir(parents=True)
        making.write_bytes(b"half")
        process.put(TEXTS)
        process.work()
        assert process.find()[0] == "kevin"
        assert not making.exists()


def test_a_full_disk_is_said_and_what_is_there_is_found(running: IndexProcess) -> None:
    assert running.find()[0] == "kevin"
    assert running.process is not None
    pid = running.process.pid
    import resource

    limits = resource.prlimit(pid, resource.RLIMIT_FSIZE)
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (4096, limits[1]))
    status, answer = running.ask("POST", "/put", {"collection": "c", "texts": {"big": "x " * 200_000}, "gone": []})
    assert status == 503, answer
    assert running.find()[0] == "kevin"
    resource.prlimit(pid, resource.RLIMIT_FSIZE, limits)
    running.put({"new": "Ships leave at six."})
    running.work()
    assert "new" in running.find()


def test_a_damaged_index_is_made_anew_under_another_name(running: IndexProcess) -> None:
    first = running.put({})["index"]
    assert running.process is not None
    os.killpg(running.process.pid, signal.SIGKILL)
    running.wait_ended()
    (running.own / "index.db").write_bytes(b"no database" * 1000)
    assert running.put(TEXTS)["index"] != first
    running.work()
    assert running.find()[0] == "kevin"


@pytest.mark.parametrize(
    "document", [{}, {"collection": 1}, {"collection": "c", "texts": {"a": 1}}, {"seconds": "long"}]
)
def test_bad_requests_change_nothing(running: IndexProcess, document: dict[str, object]) -> None:
    for path in ("/put", "/work", "/find"):
        assert running.ask("POST", path, document)[0] in (200, 422) if path == "/work" and not document else True
        assert running.ask("POST", path, {**document, "limit": 0, "seconds": -1})[0] == 422
    assert running.find(QUESTION)[0] == "kevin"


def test_a_question_does_not_wait_for_a_long_text(running: IndexProcess) -> None:
    running.put({"long": "\n\n".join(f"Paragraph {number} says a little about something." for number in range(1_200))})
    with ThreadPoolExecutor(1) as other:
        reading = other.submit(running.ask, "POST", "/work", {"seconds": 0.001})
        while not reading.done():
            assert running.find()[0] == "kevin"
    assert reading.result()[1]["waiting"] == 0


def test_a_prepared_model_that_was_cut_is_prepared_again(prepared: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    shutil.copytree(prepared, home)
    with (home / "meaning" / "model" / "use-multilingual-3.npy").open("r+b") as file:
        file.truncate(1_000)
    with index(home=home) as process:
        assert process.find()[0] == "kevin"


def test_one_long_text_is_one_of_the_results(running: IndexProcess) -> None:
    running.put(
        {
            "manual": "\n\n".join(
                f"Boats and ships, part {number}: how to buy one in the harbour, and who helps." * 3
                for number in range(80)
            )
        }
    )
    running.work()
    found = running.find()
    assert {"manual", "kevin"} <= set(found)
    assert len(found) == len(set(found))
