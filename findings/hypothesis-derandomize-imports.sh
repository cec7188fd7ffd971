#!/usr/bin/env bash
# hypothesis 6.170.15.
# Expected: derandomize=True or @seed(1) gives the same examples for the same test, whatever else the process has imported.
# Seen: constants in the source of one's own imported modules join the values that are drawn, so an import that the
# test does not use changes the examples; a test that runs alone and in a suite sees different ones.
#   derandomize alone      200 examples, 31337 among them: False
#   derandomize + notes    200 examples, 31337 among them: True
#   seed        alone      200 examples, 31337 among them: False
#   seed        + notes    200 examples, 31337 among them: True
# Each repeats exactly: two runs with the same imports have the same examples.
# 2026-11-29
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q hypothesis==6.170.15
mkdir "$folder/project"
cd "$folder/project"
echo 'LIMIT = 31337' >notes.py
cat >examples.py <<'PYTHON'
import json
import sys

from hypothesis import given, seed, settings, strategies

if "notes" in sys.argv:
    import notes  # noqa: F401
seen = []


@given(strategies.integers())
def collect(number):
    seen.append(number)


if "seed" in sys.argv:
    seed(1)(settings(database=None, max_examples=200)(collect))()
else:
    settings(database=None, max_examples=200, derandomize=True)(collect)()
print(json.dumps(seen))
PYTHON
cat >compare.py <<'PYTHON'
import json
import subprocess
import sys


def examples(*words):
    return json.loads(subprocess.check_output([sys.executable, "examples.py", *words]))


for way in ("derandomize", "seed"):
    alone, beside = examples(way), examples(way, "notes")
    print(f"{way:<11} alone      {len(alone)} examples, 31337 among them: {31337 in alone}")
    print(f"{way:<11} + notes    {len(beside)} examples, 31337 among them: {31337 in beside}")
    assert 31337 not in alone and 31337 in beside
    assert alone == examples(way) and beside == examples(way, "notes")
PYTHON
"$folder/venv/bin/python" compare.py
