"""An evaluated configuration as the files that NixOS would make of it; for systemd-analyze, and for a guest that boots them.

`write(evaluate(EXAMPLES / "lan.nix"), root)` fills `root` with /etc/systemd/user and /etc/systemd/system (units, drop-ins, what is
wanted at boot), the scripts that units run, /etc/tmpfiles.d, /etc/avahi/services, the files of environment.etc, and the marks of
users who linger. A Debian guest gives the packages the places that they have there:

    evaluated = evaluate(file, folders={"parachute": "/opt/parachute/environment", "python": "/opt/parachute/environment", …})
    write(evaluated, root)

The package `parachute` needs bin/parachute, `python` needs bin/python3; all others are only looked up along PATH, so "/usr" will do.
"""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

UNITS = {"services": "service", "sockets": "socket", "timers": "timer"}

Json = Mapping[str, Any]


def write(evaluated: Json, root: Path) -> list[Path]:
    """Write all files below `root`; returns the units among them, drop-ins not included."""
    units = [
        unit
        for manager, parts in (("user", evaluated["systemd"]["user"]), ("system", evaluated["systemd"]))
        for kind in UNITS
        for name, definition in parts.get(kind, {}).items()
        if (unit := _write_unit(root, manager, f"{name}.{UNITS[kind]}", definition))
    ]
    for name, entry in evaluated["environment"]["etc"].items():
        _write(root / "etc" / name, entry["text"])
    for name, text in evaluated["services"]["avahi"]["extraServiceFiles"].items():
        _write(root / "etc/avahi/services" / f"{name}.service", text)
    for name, rules in evaluated["systemd"]["tmpfiles"]["settings"].items():
        _write(root / "etc/tmpfiles.d" / f"{name}.conf", "".join(_rules(rules)))
    for name, user in evaluated["users"]["users"].items():
        if user["linger"]:
            _write(root / "var/lib/systemd/linger" / name, "")
    return units


def unit_text(name: str, definition: Json) -> str:
    """The text of a unit, in the order in which NixOS writes it; scripts stand as their paths."""
    section = {"service": "Service", "socket": "Socket", "timer": "Timer"}[name.rpartition(".")[2]]
    lines = ["[Unit]", *_directives(definition["unitConfig"]), "", f"[{section}]"]
    if section == "Service":
        environment = definition["environment"]
        lines += [f"Environment={json.dumps(f'{key}={environment[key]}')}" for key in sorted(environment)]
        settings = dict(definition["serviceConfig"])
        if definition["script"]:
            settings["ExecStart"] = f"{_script(name)} "
        lines += _directives(settings)
    elif section == "Socket":
        lines += _directives(definition["socketConfig"])
        lines += [f"ListenStream={address}" for address in definition["listenStreams"]]
    else:
        lines += _directives(definition["timerConfig"])
    if definition["wantedBy"]:
        lines += ["", "[Install]", f"WantedBy={' '.join(definition['wantedBy'])}"]
    return "\n".join(lines) + "\n"


def _write_unit(root: Path, manager: str, name: str, definition: Json) -> Path | None:
    folder = root / "etc/systemd" / manager
    for target in definition["wantedBy"]:
        _link(folder / f"{target}.wants" / name, f"../{name}")
    if not definition["enable"]:
        _link(folder / name, "/dev/null")
        return None
    if definition.get("script"):
        path = root / _script(name).lstrip("/")
        _write(path, f"#!/bin/sh\nset -e\n\n{definition['script']}\n")
        path.chmod(0o755)
    if definition.get("overrideStrategy") == "asDropin":
        _write(folder / f"{name}.d" / "overrides.conf", unit_text(name, definition))
        return None
    _write(folder / name, unit_text(name, definition))
    return folder / name


def _script(name: str) -> str:
    plain = name.rpartition(".")[0]
    return f"/nix/store/00000000000000000000000000000000-unit-script-{plain}-start/bin/{plain}-start"


def _directives(settings: Json) -> Iterable[str]:
    for name in sorted(settings):
        values = settings[name] if isinstance(settings[name], list) else [settings[name]]
        yield from (f"{name}={_value(value)}" for value in values)


def _value(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _rules(rules: Json) -> Iterable[str]:
    for path, kinds in sorted(rules.items()):
        for kind, rule in sorted(kinds.items()):
            yield f"{kind} '{path}' {rule['mode']} {rule['user']} {rule['group']} -\n"


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def _link(path: Path, target: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    path.symlink_to(target)
