"""`parachute remind`: reminders, which come into the inbox at their time."""

from typing import Any

import typer

from parachute.cli.api import Api, quoted
from parachute.cli.commands import JSON
from parachute.cli.help import Group
from parachute.cli.output import local, print_answer, print_rows

_PATH = "/api/reminders"


class _Remind(Group):
    """The commands of reminders; without one, `remind TIME TEXT` is `remind me TIME TEXT`."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that is meant."""
        known = not args or args[0] in self.commands or args[0].startswith("-")
        return super().resolve_command(ctx, args if known else ["me", *args])


app = typer.Typer(cls=_Remind, no_args_is_help=True, rich_markup_mode=None)


@app.command()
def me(
    when: str = typer.Argument(help='Such as "in two hours", "tomorrow at 9" or "every weekday at 7".'),
    text: str = typer.Argument(help="What you are reminded of."),
    as_json: bool = JSON,
) -> None:
    """Remind you of something; `me` may be left out."""
    made = Api.find().post(_PATH, {"when": when, "text": text})
    again = f" It comes again: {made['schedule']}." if made["schedule"] else ""
    print_answer(made, as_json, f"You are reminded at {local(made['at'])} ({made['id']}).{again}")


@app.command("list")
def list_(as_json: bool = JSON) -> None:
    """List your reminders, the next one first."""
    print_rows(
        Api.find().get(_PATH),
        as_json,
        ["Reminder", "When", "Again", "Text"],
        lambda each: (
            each["id"],
            "waits in the inbox" if each["since"] else local(each["at"]),
            each["schedule"] or "",
            each["text"],
        ),
        "There are no reminders.",
        of="reminders",
    )


@app.command()
def remove(reminder: str = typer.Argument(help="Its id."), as_json: bool = JSON) -> None:
    """Forget a reminder."""
    removed = Api.find().delete(f"{_PATH}/{quoted(reminder)}")
    print_answer(removed, as_json, f"The reminder is removed: {removed['text']}")
