"""Letters that a browser keeps on its disk until the computer has them."""

from collections.abc import Mapping

from playwright.sync_api import Page

_STORE = """async (work) => {
  const {promise, resolve} = Promise.withResolvers();
  const asked = indexedDB.open("parachute-outbox");
  asked.onupgradeneeded = () => asked.result.createObjectStore("letters");
  asked.onsuccess = () => resolve(asked.result);
  const database = await promise;
  const letters = database.transaction("letters", "readwrite").objectStore("letters");
  await new Promise((done) => (work(letters).onsuccess = done));
  database.close();
}"""


def kept(page: Page, letter: Mapping[str, object]) -> None:
    """Keep a letter, as a page or the service worker does."""
    page.evaluate(f"(letter) => ({_STORE})((letters) => letters.put(letter, ['letter', letter.id]))", letter)


def forgotten(page: Page) -> None:
    """Forget all letters; a page goes on showing those that it has read."""
    page.evaluate(f"() => ({_STORE})((letters) => letters.clear())")
