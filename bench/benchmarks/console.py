"""The console in Chromium: what its first load weighs, opening a long conversation, updates while an answer streams, and opening offline."""

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import median

import httpx2
from playwright.sync_api import Browser, CDPSession, sync_playwright

from bench.computers import MeasuredComputer, scripted_computer
from bench.results import NotMeasurable, Result
from tests.browser.console.kept_answers import wait_for
from tests.browser.console.people import DESKTOP, PHONE, WITH_WORKER, Person, wait_for_worker
from tests.chat.imports import exports
from tests.support.computer import PLAIN
from tests.support.messages_api import MessagesAPI, text

_MESSAGES = 1000
_REPEATS = 5
_SLOWER = 4
_PARAGRAPH = "A **sentence** of an answer, with `code` and a [link](https://example.org), as models write them.\n\n"
_CODE = "```python\ndef remember(day: str) -> str:\n    return day\n```\n\n"
_ANSWER = ((_PARAGRAPH * 8 + _CODE) * 20)[:10_000]

_OPEN = """(id) => new Promise((resolve) => {
  const begun = performance.now();
  const look = () => {
    if (!document.querySelector('.log')?.textContent.includes('The last answer')) return false;
    requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - begun)));
    return true;
  };
  const observer = new MutationObserver(() => look() && observer.disconnect());
  observer.observe(document.body, { childList: true, subtree: true, characterData: true });
  location.hash = `#/chat/${id}`;
})"""
"""Until the newest message is on the screen."""
_SEEN = """new MutationObserver((_, observer) => {
  if (!document.querySelector('main')?.textContent.includes('Long')) return;
  observer.disconnect();
  requestAnimationFrame(() => setTimeout(() => { window.seen = performance.now(); }));
}).observe(document, { childList: true, subtree: true, characterData: true })"""
"""Time from the beginning of an opening until the list of conversations was on the screen."""
_TASK = "RunTask"


def measure() -> Iterator[Result]:
    """Sizes as they came over the wire; times with the processor slowed down to a quarter, medians of several."""
    with scripted_computer() as (computer, model), _browser(computer) as (person, devtools):
        yield Result("console.first_load", _first_load(person, devtools), "KB", budget=150)
        devtools.send("Emulation.setCPUThrottlingRate", {"rate": _SLOWER})
        session = _long_conversation(computer)
        yield Result("console.open_1000_messages", median(_opened(person, session)), "ms", budget=500)
        yield Result("console.worst_update", median(_worst(person, model) for _ in range(_REPEATS)), "ms", budget=50)
        browser = person.context.browser
        assert browser is not None
        yield Result("console.open_offline", median(_opened_offline(browser, computer)), "ms", budget=1000)


@contextmanager
def _browser(computer: MeasuredComputer) -> Iterator[tuple[Person, CDPSession]]:
    program = shutil.which("chromium")
    if program is None:
        raise NotMeasurable("Chromium is missing.")
    unboxed = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=unboxed)
        person = Person(browser, computer, DESKTOP, service_workers="block")
        yield person, person.context.new_cdp_session(person.page)
        browser.close()


def _first_load(person: Person, devtools: CDPSession) -> float:
    """Kilobytes of everything that is loaded until the first screen stands, the API's answers included."""
    loaded: list[float] = []
    devtools.on("Network.loadingFinished", lambda event: loaded.append(event["encodedDataLength"]))
    devtools.send("Network.enable")
    person.sign_in()
    person.page.locator("main h1").wait_for()
    person.page.wait_for_timeout(1000)
    devtools.send("Network.disable")
    return sum(loaded) / 1024


def _long_conversation(computer: MeasuredComputer) -> str:
    """An imported conversation with many messages."""
    nodes = [exports.node("root", None)]
    for number in range(_MESSAGES):
        said = _PARAGRAPH * 3 + (_CODE if number % 10 == 1 else "")
        words = "The last answer" if number == _MESSAGES - 1 else said
        role = "assistant" if number % 2 else "user"
        nodes.append(exports.node(f"n{number}", nodes[-1]["id"], role, words, time=1_700_000_000 + number))
    data = [exports.tree(*nodes, title="Long", current=nodes[-1]["id"])]
    assert computer.command("setup", "--yes", "--modules", "imports").returncode == 0
    answer = httpx2.post(f"{computer.url}/api/import", json={"data": data, "archived": False}, timeout=120, **PLAIN)
    answer.raise_for_status()
    return str(answer.json()["session_ids"][0])


def _opened(person: Person, session: str) -> Iterator[float]:
    for _ in range(_REPEATS):
        person.open("chat")
        yield float(person.page.evaluate(_OPEN, session))


def _opened_offline(browser: Browser, computer: MeasuredComputer) -> Iterator[float]:
    person = Person(browser, computer, PHONE, **WITH_WORKER)
    page = person.sign_in()
    wait_for_worker(page)
    page.goto(f"{computer.url}/#/conversations")
    page.reload()  # the worker sees it from the beginning
    page.locator("main").get_by_text("Long").first.wait_for()
    asked = page.evaluate("performance.getEntriesByType('resource').map((each) => each.name)")
    lists = [each.removeprefix(computer.url) for each in asked if each.startswith(f"{computer.url}/api/chat?")]
    wait_for(page, *lists, "/api/pairing/me")
    person.context.add_init_script(_SEEN)
    person.context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": _SLOWER})
    person.context.set_offline(True)
    for _ in range(_REPEATS):
        page.reload()
        page.wait_for_function("() => window.seen")
        yield float(page.evaluate("window.seen"))
    person.context.close()


def _worst(person: Person, model: MessagesAPI) -> float:
    """The longest task of the page while an answer of 10 KB comes in, in processor time of its thread.

    The slowing down is in it, since it keeps the thread busy; what other programs take of the machine is not.
    """
    model.script(text(_ANSWER, chunks=200, delay=0.02))
    page = person.open("chat")
    page.wait_for_timeout(500)
    page.get_by_label("Message", exact=True).fill("Please.")
    page.get_by_role("button", name="Send").click()
    stop = page.get_by_role("button", name="Stop", exact=True)
    stop.wait_for()
    browser = person.context.browser
    assert browser is not None
    browser.start_tracing(page=page, categories=["toplevel", "disabled-by-default-devtools.timeline", "__metadata"])
    stop.wait_for(state="detached")
    events = json.loads(browser.stop_tracing())["traceEvents"]
    threads = {
        (each["pid"], each["tid"])
        for each in events
        if each["name"] == "thread_name" and each["args"]["name"] == "CrRendererMain"
    }
    tasks = [each for each in events if each["name"].endswith(_TASK) and (each["pid"], each["tid"]) in threads]
    return max(each.get("tdur", 0) for each in tasks) / 1000
