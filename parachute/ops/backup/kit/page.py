"""The emergency kit as a page for a printer, in both languages; it loads nothing, and no program is in it."""

from collections.abc import Mapping
from html import escape

import segno

from parachute import __version__
from parachute.ops.backup.kit.models import Kit, Need, fingerprint

NEEDS: Mapping[Need, tuple[str, str]] = {
    "ssh_key": ("a key of ssh that the other computer lets in", "ein SSH-Schlüssel, den der andere Computer einlässt"),
    "rclone": ("the configuration of rclone", "die Konfiguration von rclone"),
    "google": ("the file of your Google account", "die Datei deines Google-Kontos"),
}
"""Needs of a place besides the kit, in both languages."""

_STEPS = (
    (
        "To restore",
        "Set a new computer up, and choose “Restore from a backup” in the browser.",
        "Plug the disk in, if the backups are on one.",
        "Scan this code, or type the place and the password.",
        "Choose the newest backup, and leave the page open until it says that everything is back.",
    ),
    (
        "So kommt alles zurück",
        "Richte einen neuen Computer ein und wähle im Browser „Aus einer Sicherung wiederherstellen“.",
        "Steck die Platte ein, falls die Sicherungen auf einer liegen.",
        "Scanne diesen Code, oder tippe Ort und Passwort ab.",
        "Wähle die neueste Sicherung, und lass die Seite offen, bis sie sagt, dass alles wieder da ist.",
    ),
)

_STYLE = """
body { font: 11pt/1.45 system-ui, sans-serif; color: #000; background: #fff; max-width: 42rem; margin: 2rem auto; padding: 0 1rem; }
dt { color: #444; } dd { margin: 0 0 .6rem; } code { font: 600 12pt ui-monospace, monospace; overflow-wrap: anywhere; }
svg { width: 6cm; height: 6cm; } section { break-inside: avoid; }
"""


def page(kit: Kit, made_on: str) -> str:
    """The page as HTML, with the kit's code as a picture."""
    code = segno.make_qr(kit.text, error="m", encoding="utf-8").svg_inline(border=4, omitsize=True)
    facts = [
        ("Place of the backups · Ort der Sicherungen", kit.repository),
        ("Password · Passwort", kit.password),
        *kit.variables.items(),
        ("Fingerprint · Fingerabdruck", fingerprint(kit.identity or "")),
        *([("Also needed · Außerdem nötig", " · ".join(NEEDS[kit.needs]))] if kit.needs else []),
        ("Version, date · Version, Datum", f"Parachute Computer {__version__}, {made_on}"),
    ]
    rows = "".join(f"<dt>{escape(name)}</dt><dd><code>{escape(value)}</code></dd>\n" for name, value in facts)
    return f"""<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Parachute · Emergency kit · Notfallblatt</title>
<style>{_STYLE}</style>
<h1>Emergency kit · Notfallblatt</h1>
<p>Keep this sheet away from the computer: whoever has it and the backups can read everything.<br>
Bewahre dieses Blatt nicht beim Computer auf: Wer es und die Sicherungen hat, kann alles lesen.</p>
{code}
<dl>
{rows}</dl>
{"".join(map(_steps, _STEPS))}</html>"""


def _steps(texts: tuple[str, ...]) -> str:
    title, *steps = texts
    items = "".join(f"<li>{escape(step)}</li>" for step in steps)
    return f"<section><h2>{escape(title)}</h2><ol>{items}</ol></section>\n"
