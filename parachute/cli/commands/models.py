"""`parachute models`: the models that conversations can choose, and what their servers showed."""

from typing import Any

from parachute.cli.api import Api
from parachute.cli.commands import JSON, group
from parachute.cli.output import print_note, print_rows


def list_(as_json: bool = JSON) -> None:
    """List every model by the name that chooses it, with its provider's window and abilities."""
    found = Api.find().get_slowly("/api/provider/models")
    rows = [
        {**{name: value for name, value in each.items() if name != "models"}, "provider": each["name"], "model": model}
        for each in found["providers"]
        for model in each["models"] or [None]
    ]
    print_rows(
        rows,
        as_json,
        ["Model", "Provider", "Where", "Window", "Tools", "Counts"],
        lambda each: (
            each["model"] or "-",
            each["provider"],
            "at home" if each["at_home"] else "elsewhere",
            f"{each['window']:,}" if each["window"] else "?",
            _word(each["tools"]),
            _word(each["counts"]),
        ),
        "There is no model.",
    )
    if not as_json:
        for each in found["providers"]:
            if each["problem"]:
                print_note(f"{each['name']}: {each['problem']}")
        if found["fallback"]:
            print_note(f"In place of one that does not answer: {', '.join(found['fallback'])}.")


def _word(value: Any) -> str:
    return {True: "yes", False: "no"}.get(value, "?")


app = group(list_)
