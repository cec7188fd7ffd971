#!/usr/bin/env bash
# openapi-typescript 7.13.0 and typescript 5.9.3 read what pydantic 2.14.3 describes.
# Expected: dict[Literal["left", "right"], int] becomes a record of these two keys: the schema names them.
# Seen: "propertyNames" is passed over without a word; any key compiles, also one that the server refuses with 422.
#   pydantic describes {"additionalProperties": {"type": "integer"}, "propertyNames": {"enum": ["left", "right"]}, "type": "object"}
#   pydantic takes {"lift": 1}: False
#   openapi-typescript makes Seats: { [key: string]: number; };
#   tsc takes { lift: 1 }: True
# 2026-11-29
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q pydantic==2.14.3
cd "$folder"
echo "{}" >package.json
npm install --silent --no-audit --no-fund openapi-typescript@7.13.0 typescript@5.9.3
"$folder/venv/bin/python" - <<'PYTHON'
import json
import subprocess
from typing import Literal

from pydantic import TypeAdapter, ValidationError

seats = TypeAdapter(dict[Literal["left", "right"], int])
schema = seats.json_schema()
print("pydantic describes", json.dumps(schema, sort_keys=True))
assert schema["propertyNames"] == {"enum": ["left", "right"]}
try:
    taken = bool(seats.validate_python({"lift": 1}))
except ValidationError:
    taken = False
print('pydantic takes {"lift": 1}:', taken)
api = {"openapi": "3.1.0", "info": {"title": "t", "version": "1"}, "paths": {}, "components": {"schemas": {"Seats": schema}}}
with open("api.json", "w") as file:
    json.dump(api, file)
subprocess.run(["npx", "openapi-typescript", "api.json", "-o", "api.ts"], check=True, capture_output=True)
with open("api.ts") as file:
    text = " ".join(file.read().split())
made = text[text.index("Seats: {") :].split(" };")[0] + " };"
print("openapi-typescript makes", made)
with open("use.ts", "w") as file:
    file.write("import type { components } from './api';\n")
    file.write("export const seats: components['schemas']['Seats'] = { lift: 1 };\n")
compiles = subprocess.run(["npx", "tsc", "--noEmit", "--strict", "use.ts"], capture_output=True).returncode == 0
print("tsc takes { lift: 1 }:", compiles)
assert not taken and compiles and made == "Seats: { [key: string]: number; };"
PYTHON
