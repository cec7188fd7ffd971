#!/usr/bin/env bash
# msgspec 0.23.0 with mypy 2.4.1, strict.
# Expected: a Struct is no dataclass, so that a checker of types refuses it for dataclasses.replace and asdict, which raise a TypeError.
# Seen: since Struct is marked with dataclass_transform, mypy takes it for one and finds nothing; who turns dataclasses into structs
# hears of each forgotten call only when it runs. The other way round, msgspec.structs.replace of a dataclass, is found.
#   dataclasses.replace, dataclasses.asdict of a struct: mypy "Success", Python "TypeError" for both
#   msgspec.structs.replace of a dataclass:              mypy "type-var"
# 2026-11-30
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q msgspec==0.23.0 mypy==2.4.1
cd "$folder"

cat >of_a_struct.py <<'PYTHON'
import dataclasses

import msgspec


class Boat(msgspec.Struct, frozen=True):
    name: str


for change in (lambda: dataclasses.replace(Boat("Elsa"), name="Ida"), lambda: dataclasses.asdict(Boat("Elsa"))):
    try:
        print("changed", change())
    except TypeError as error:
        print("TypeError", error)
PYTHON
venv/bin/mypy --strict of_a_struct.py | tee found
grep -q "Success" found
venv/bin/python of_a_struct.py | tee found
test "$(grep -c '^TypeError.*should be called on dataclass instances' found)" = 2

cat >of_a_dataclass.py <<'PYTHON'
from dataclasses import dataclass

import msgspec


@dataclass(frozen=True)
class Boat:
    name: str


print(msgspec.structs.replace(Boat("Elsa"), name="Ida"))
PYTHON
if venv/bin/mypy --strict of_a_dataclass.py >found; then exit 1; fi
cat found
grep -q 'type-var' found
