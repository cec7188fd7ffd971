#!/usr/bin/env bash
# jsonschema 4.26.0 beside jsonschema-rs 0.60.3.
# Expected: numbers of JSON have no size, Python's integers neither, so both answer the same, and is_valid answers.
# Seen: jsonschema compares exactly but divides with floats: a bound is right at any size, multipleOf is not. Beyond
# the range of a float, is_valid raises OverflowError with 0.5 (but not with 2). jsonschema-rs is right in all lines.
#   {"multipleOf": 2}      2**1100      jsonschema True           jsonschema-rs True
#   {"multipleOf": 0.5}    2**1100      jsonschema OverflowError  jsonschema-rs True
#   {"multipleOf": 0.5}    2**1000      jsonschema True           jsonschema-rs True
#   {"multipleOf": 2.5}    10**400      jsonschema OverflowError  jsonschema-rs True
# 2026-11-29
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q jsonschema==4.26.0 jsonschema-rs==0.60.3
"$folder/venv/bin/python" - <<'PYTHON'
import json

import jsonschema
import jsonschema_rs


def answer(validator, number):
    try:
        return str(validator.is_valid(number))
    except OverflowError:
        return "OverflowError"


cases = [(2, "2**1100", "True"), (0.5, "2**1100", "OverflowError"), (0.5, "2**1000", "True")]
for divisor, power, expected in [*cases, (2.5, "10**400", "OverflowError")]:
    schema, number = {"multipleOf": divisor}, eval(power)
    one = answer(jsonschema.Draft202012Validator(schema), number)
    other = answer(jsonschema_rs.Draft202012Validator(schema), number)
    print(f"{json.dumps(schema):<22} {power:<12} jsonschema {one:<14} jsonschema-rs {other}")
    assert (one, other) == (expected, "True")
PYTHON
