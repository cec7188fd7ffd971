"""Names of browsers that give none."""

_BROWSERS = (("Firefox", "Firefox"), ("Edg", "Edge"), ("OPR/", "Opera"), ("Chrome", "Chrome"), ("Safari", "Safari"))
_SYSTEMS = (
    ("Android", "Android"),
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Windows", "Windows"),
    ("Mac OS", "Mac"),
    ("CrOS", "Chromebook"),
    ("Linux", "Linux"),
)
"""Parts of User-Agent and their names for people; the first match counts."""


def name_of(user_agent: str) -> str:
    """A name such as `Firefox on Android`."""
    browser = next((name for mark, name in _BROWSERS if mark in user_agent), "Browser")
    system = next((name for mark, name in _SYSTEMS if mark in user_agent), None)
    return f"{browser} on {system}" if system else browser
