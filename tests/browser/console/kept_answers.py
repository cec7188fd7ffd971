"""Answers that a browser keeps for reading without a connection, as they lie on its disk."""

from playwright.sync_api import Page

from tests.browser.console.people import wait_for_promise

_ALL = """async () => {
  const known = (await indexedDB.databases()).some(({name}) => name === "parachute-reading");
  if (!known) return [];
  const database = await new Promise((resolve, reject) => {
    const asked = indexedDB.open("parachute-reading");
    asked.onerror = () => reject(asked.error);
    asked.onsuccess = () => resolve(asked.result);
  });
  const store = database.transaction("answers").objectStore("answers");
  const got = (request) => new Promise((resolve) => (request.onsuccess = () => resolve(request.result)));
  const [names, values] = await Promise.all([got(store.getAllKeys()), got(store.getAll())]);
  database.close();
  return names.map((name, index) => [name, values[index].data ? new TextDecoder("latin1").decode(values[index].data) : ""]);
}"""
_NAME = """async (address) => {
  const part = /parachute-reading=([\\w-]{43})/.exec(document.cookie)?.[1];
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(`${part} ${address}`)));
  return [...digest].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}"""


def kept(page: Page) -> dict[str, str]:
    """All that is kept, by its names."""
    return dict(page.evaluate(_ALL))


def wait_for(page: Page, *addresses: str) -> None:
    """Wait until the answers of these addresses are kept."""
    for address in addresses:
        name = page.evaluate(_NAME, address)
        there = f"async (name) => (await ({_ALL})()).some(([known]) => known === name)"
        wait_for_promise(page, there, f"{address} is kept", name)


def wait_for_nothing(page: Page) -> None:
    """Wait until nothing is kept."""
    wait_for_promise(page, f"async () => (await ({_ALL})()).length === 0", "nothing is kept")
