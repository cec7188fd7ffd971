#!/usr/bin/env bash
# ijson 3.6.0, its compiled backend yajl2_c (the one that is taken by itself) and its backend "python".
# Expected: use_float=True says how numbers with a fraction or exponent arrive; integers have any size, as without it.
# Seen: with it yajl2_c refuses integers from 2**63 on, which it reads without it, and which "python" reads always.
#   python   use_float=False  9223372036854775807 9223372036854775808
#   python   use_float=True   9223372036854775807 9223372036854775808
#   yajl2_c  use_float=False  9223372036854775807 9223372036854775808
#   yajl2_c  use_float=True   9223372036854775807 IncompleteJSONError: parse error: integer overflow
# So an unsigned 64-bit hash in valid JSON is "incomplete JSON", on some machines only.
# 2026-11-29
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q ijson==3.6.0
"$folder/venv/bin/python" - <<'PYTHON'
import io

import ijson


def read(backend, number, use_float):
    source = io.BytesIO(f"[{number}]".encode())
    try:
        return next(ijson.get_backend(backend).items(source, "item", use_float=use_float))
    except ijson.IncompleteJSONError as error:
        return f"IncompleteJSONError: {str(error).splitlines()[0].strip()}"


assert ijson.backend_name == "yajl2_c"
for backend in ("python", "yajl2_c"):
    for use_float in (False, True):
        small, large = read(backend, 2**63 - 1, use_float), read(backend, 2**63, use_float)
        print(f"{backend:<8} use_float={use_float!s:<6} {small} {large}")
        refused = backend == "yajl2_c" and use_float
        assert small == 2**63 - 1
        assert large == ("IncompleteJSONError: parse error: integer overflow" if refused else 2**63)
PYTHON
