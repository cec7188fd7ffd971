"""Changes for a newer version of this one, and for some that fail."""

from collections.abc import Mapping

Changes = Mapping[str, tuple[str, str]]

NEWER: Changes = {"parachute/__init__.py": ('__version__ = "0.1.0"', '__version__ = "0.2.0"')}
_COLOUR = """
def m0009_colours(connection: sqlite3.Connection) -> None:
    connection.execute("ALTER TABLE sessions ADD COLUMN colour TEXT")


ALL = (
    m0009_colours,"""
MIGRATES: Changes = {**NEWER, "parachute/chat/sessions/migrations.py": ("\nALL = (", _COLOUR)}
FAILS_AT_START: Changes = {
    **NEWER,
    "parachute/server/app.py": (
        "    first_boot = FirstBoot(",
        "    raise SystemExit('broken')\n    first_boot = FirstBoot(",
    ),
}
_SPOILING = """    with home.config.open("a") as file:
        file.write("of: another world\\n")
    raise SystemExit('broken')
    first_boot = FirstBoot("""
SPOILS_SETTINGS: Changes = {**NEWER, "parachute/server/app.py": ("    first_boot = FirstBoot(", _SPOILING)}
"""Leaves settings behind with which the version before does not start."""
FAILS_AFTER_MIGRATING: Changes = {
    **MIGRATES,
    "parachute/server/composition/storage.py": ("    recovery.start()\n", "    raise SystemExit('broken')\n"),
}
_MAIN, _WATCHED = "parachute/server/__main__.py", "    watchdog = asyncio.create_task(feed_watchdog())\n"
FAILS_LATER: Changes = {
    **MIGRATES,
    _MAIN: (_WATCHED, f"    asyncio.get_running_loop().call_later(3, os._exit, 1)\n{_WATCHED}"),
}
_ON_DEMAND = f"""
    async def fail_on_demand() -> None:
        from pathlib import Path

        while not (Path.home() / "Parachute" / "fail-now").exists():
            await asyncio.sleep(0.2)
        os._exit(1)

    failing = asyncio.create_task(fail_on_demand())
{_WATCHED}"""
FAILS_ON_DEMAND: Changes = {**MIGRATES, _MAIN: (_WATCHED, _ON_DEMAND)}
"""Ends as soon as there is a file `fail-now` in the vault."""
SUPERVISOR_FAILS: Changes = {
    **NEWER,
    "parachute/supervisor/main.py": ("    keep_private()\n", "    raise SystemExit('broken')\n"),
}
