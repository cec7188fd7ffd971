#!/usr/bin/env bash
# pyrate-limiter 4.5.1.
# Expected: Limiter(Rate(2, 60000)).try_acquire(name) counts per name; the name is its first argument.
# Seen: all names share the one bucket; the name only marks the entry. Counting per name takes a BucketFactory.
#   anna True, anna True, ben False
# 2026-11-29
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q pyrate-limiter==4.5.1
"$folder/venv/bin/python" - <<'PYTHON'
from pyrate_limiter import Limiter, Rate

limiter = Limiter(Rate(2, 60_000))
seen = [(name, limiter.try_acquire(name, blocking=False)) for name in ("anna", "anna", "ben")]
print(", ".join(f"{name} {taken}" for name, taken in seen))
assert seen == [("anna", True), ("anna", True), ("ben", False)]
PYTHON
