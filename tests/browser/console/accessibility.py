"""Findings of axe-core on a page; its context has to be made with `bypass_csp=True`."""

from pathlib import Path

from playwright.sync_api import Page

_PROGRAM = Path(__file__).parents[3] / "console" / "node_modules" / "axe-core" / "axe.min.js"
_LOOK = """async () => {
  // With reduced motion each change of a style is a transition, though a short one: until the next frame it has not begun.
  const changes = document.getAnimations().filter((each) => each instanceof CSSTransition);
  await Promise.allSettled(changes.map((each) => each.finished));
  return axe.run(document, { resultTypes: ['violations'] });
}"""


def violations(page: Page) -> list[str]:
    """A line for each rule that the page breaks, with the elements that do."""
    if not page.evaluate("'axe' in window"):
        page.add_script_tag(content=_PROGRAM.read_text())
    found = page.evaluate(_LOOK)["violations"]
    return [f"{each['id']}: {', '.join(str(node['target']) for node in each['nodes'][:5])}" for each in found]
