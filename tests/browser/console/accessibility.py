"""What axe-core finds on a page; its context has to be made with `bypass_csp=True`."""

from pathlib import Path

from playwright.sync_api import Page

_PROGRAM = Path(__file__).parents[3] / "console" / "node_modules" / "axe-core" / "axe.min.js"


def violations(page: Page) -> list[str]:
    """A line for each rule that the page breaks, with the elements that do."""
    if not page.evaluate("'axe' in window"):
        page.add_script_tag(content=_PROGRAM.read_text())
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
    return [f"{each['id']}: {', '.join(str(node['target']) for node in each['nodes'][:5])}" for each in found]
