"""The files of the console as a browser gets them, without signing in."""

import re
from collections.abc import AsyncIterator

import httpx2
import pytest
from fastapi import FastAPI

from parachute import __version__
from parachute.server.console.api import router
from parachute.server.console.files import PAGE, console_files
from parachute.web.http.errors import install_error_handlers

HTML = {"accept": "text/html,application/xhtml+xml", "accept-encoding": "gzip"}


@pytest.fixture
async def browser() -> AsyncIterator[httpx2.AsyncClient]:
    """A browser that nobody has signed in."""
    app = FastAPI()
    install_error_handlers(app)
    app.include_router(router)
    transport = httpx2.ASGITransport(app=app)
    async with httpx2.AsyncClient(transport=transport, base_url="http://computer.test") as client:
        yield client


async def test_the_page_names_files_that_are_there_for_ever(browser: httpx2.AsyncClient) -> None:
    page = await browser.get("/", headers=HTML)
    assert page.status_code == 200
    assert page.headers["cache-control"] == "no-cache"
    named = re.findall(r'(?:src|href)="([^"]+)"', page.text)
    assert len(named) == 5
    for address in named:
        found = await browser.get(f"/{address}")
        assert found.status_code == 200, address
        assert found.headers["cache-control"].endswith("immutable")
        assert re.search(r"-[A-Za-z0-9]{8}\.\w+$", address), "it is named by its content"


async def test_the_page_begins_with_few_files(browser: httpx2.AsyncClient) -> None:
    page = await browser.get("/", headers=HTML)
    wanted = re.findall(r'<script[^>]* src="console/([^"]+)"', page.text)
    for name in wanted:
        program = (await browser.get(f"/console/{name}")).text
        wanted += {*re.findall(r'(?:from|import)"\./([^"]+)"', program)} - {*wanted}
    assert 1 <= len(wanted) <= 3


async def test_the_worker_answers_for_the_whole_page_and_is_looked_for_anew(browser: httpx2.AsyncClient) -> None:
    worker = await browser.get("/console/worker.js")
    assert worker.headers["service-worker-allowed"] == "/"
    assert worker.headers["cache-control"] == "no-cache"
    kept = set(re.findall(r'"([\w-]+-[A-Za-z0-9]{8}\.\w+)"', worker.text))
    assert {name.partition("-")[0] for name in kept} >= {"main", "style", "screen", "icon", "manifest"}
    for name in kept:
        other = await browser.get(f"/console/{name}")
        assert other.status_code == 200, name
        assert "service-worker-allowed" not in other.headers


async def test_nothing_runs_that_is_not_a_file_of_ours(browser: httpx2.AsyncClient) -> None:
    page = await browser.get("/", headers=HTML)
    policy = page.headers["content-security-policy"]
    for word in ("unsafe", "http:", "https:", "*"):
        assert word not in policy
    for word in ("default-src 'none'", "frame-ancestors 'none'", "require-trusted-types-for 'script'"):
        assert word in policy
    assert not re.search(r"<script(?![^>]*src)|<style|\son\w+=|style=", page.text)
    for name, file in console_files().items():
        if name.startswith("diagrams-"):
            continue
        assert (await browser.get(f"/console/{name}", headers=HTML)).headers.get(
            "content-security-policy", policy
        ) == policy
        text = file.path.read_text(errors="replace")
        assert not re.search(r"\beval\(|new Function\(", text), name


async def test_diagrams_are_drawn_where_nothing_is_in_reach(browser: httpx2.AsyncClient) -> None:
    files = {name: file for name, file in console_files().items() if name.startswith("diagrams-")}
    assert sorted(file.path.suffix for file in files.values()) == [".html", ".js"]
    for name, file in files.items():
        headers = (await browser.get(f"/console/{name}", headers=HTML)).headers
        rules = dict(rule.strip().partition(" ")[::2] for rule in headers["content-security-policy"].split(";"))
        assert rules.pop("sandbox") == "allow-scripts"
        assert rules == {
            "default-src": "'none'",
            "script-src": "'self'",
            "style-src": "'unsafe-inline'",
            "base-uri": "'none'",
            "form-action": "'none'",
            "frame-ancestors": "'self'",
        }
        assert not re.search(r"\beval\(|new Function\(", file.path.read_text())
    worker = (await browser.get("/console/worker.js")).text
    assert not any(name in worker for name in files), "it is loaded when needed"


async def test_a_file_is_sent_compressed_and_once(browser: httpx2.AsyncClient) -> None:
    name = next(name for name in console_files() if name.startswith("main-"))
    plain = await browser.get(f"/console/{name}", headers={"accept-encoding": "identity"})
    assert "content-encoding" not in plain.headers
    for accepted, coding in (("gzip, deflate, br", "br"), ("gzip", "gzip"), ("br;q=0, gzip", "gzip")):
        packed = await browser.get(f"/console/{name}", headers={"accept-encoding": accepted})
        assert packed.headers["content-encoding"] == coding
        assert int(packed.headers["content-length"]) < len(plain.content)
    again = await browser.get(f"/console/{name}", headers={"if-none-match": plain.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


@pytest.mark.parametrize("name", [PAGE, "main.js", "..%2Ffiles.py", "%2e%2e/api.py", "main-*.js", "x" * 5000, "%00"])
async def test_other_names_lead_nowhere(browser: httpx2.AsyncClient, name: str) -> None:
    answer = await browser.get(f"/console/{name}")
    assert answer.status_code == 404
    assert "content-security-policy" not in answer.headers


async def test_programs_get_json(browser: httpx2.AsyncClient) -> None:
    answer = await browser.get("/", headers={"accept": "*/*"})
    assert answer.json() == {"name": "Parachute Computer", "status": "ok", "version": __version__}


async def test_nothing_that_is_shared_is_taken_by_the_server(browser: httpx2.AsyncClient) -> None:
    answer = await browser.post("/console/share", files={"files": ("a.txt", b"x")}, data={"text": "y"})
    assert answer.status_code == 409
    assert answer.headers["content-type"].startswith("text/plain")


async def test_the_manifest_names_where_things_are_shared(browser: httpx2.AsyncClient) -> None:
    page = await browser.get("/", headers=HTML)
    address = re.search(r'rel="manifest" href="([^"]+)"', page.text)
    assert address is not None
    manifest = (await browser.get(f"/{address[1]}")).json()
    target = manifest["share_target"]
    assert (target["action"], target["method"], target["enctype"]) == ("/console/share", "POST", "multipart/form-data")
    assert len(manifest["shortcuts"]) == 4
