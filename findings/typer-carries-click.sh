#!/usr/bin/env bash
# typer 0.29.2 beside click 8.5.1.
# Expected: Typer stands on click: click's exceptions end a command, click.get_current_context() is its context.
# Seen: Typer does not require click any more and carries a copy. An installed click is a stranger whose exceptions
# are bugs: Exit(3) ends with a traceback and status 1, UsageError likewise and not with 2; there is no context.
#   typer requires click: False, its command is a click.Command: False
#   typer.Exit(3)             status 3  traceback False
#   click Exit(3)             status 1  traceback True
#   typer.BadParameter        status 2  traceback False
#   click.BadParameter        status 1  traceback True
#   click.get_current_context(silent=True) is None: True
# 2026-11-29
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q typer==0.29.2 click==8.5.1
cd "$folder"
cat >program.py <<'PYTHON'
import click
import typer

program = typer.Typer()


@program.command()
def end(how: str):
    if how == "context":
        print(click.get_current_context(silent=True) is None)
    elif how == "typer exit":
        raise typer.Exit(3)
    elif how == "click exit":
        raise click.exceptions.Exit(3)
    elif how == "typer parameter":
        raise typer.BadParameter("no")
    elif how == "click parameter":
        raise click.BadParameter("no")


if __name__ == "__main__":
    program()
PYTHON
cat >compare.py <<'PYTHON'
import importlib.metadata
import re
import subprocess
import sys

import click
import typer

import program

required = any(re.match(r"click\b", line) for line in importlib.metadata.requires("typer"))
ours = isinstance(typer.main.get_command(program.program), click.Command)
print(f"typer requires click: {required}, its command is a click.Command: {ours}")
assert not required and not ours
cases = [("typer exit", "typer.Exit(3)", 3), ("click exit", "click Exit(3)", 1)]
cases += [("typer parameter", "typer.BadParameter", 2), ("click parameter", "click.BadParameter", 1)]
for how, shown, status in cases:
    done = subprocess.run([sys.executable, "program.py", how], capture_output=True, text=True)
    print(f"{shown:<25} status {done.returncode}  traceback {'Traceback' in done.stderr}")
    assert done.returncode == status and ("Traceback" in done.stderr) == how.startswith("click")
without = subprocess.check_output([sys.executable, "program.py", "context"], text=True).strip()
print(f"click.get_current_context(silent=True) is None: {without}")
assert without == "True"
PYTHON
"$folder/venv/bin/python" compare.py
