#!/usr/bin/env bash
# openapi-typescript 7.13.0, typescript 5.9.3.
# Expected: an object with properties of its own beside "anyOf" has them AND those of an alternative, as in JSON Schema.
# "allOf" and "oneOf" come out so, as intersections.
# Seen: beside "anyOf" the own properties become one more alternative; TypeScript takes an object without the required "id".
#   allOf: { id: number; } & { mail: string; };  without "id" it compiles: no
#   oneOf: { id: number; } & ({ mail: string; } | { phone: string; });  without "id" it compiles: no
#   anyOf: { id: number; } | { mail: string; } | { phone: string; };  without "id" it compiles: yes
# 2026-11-29
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo "{}" >package.json
npm install --silent --no-audit --no-fund openapi-typescript@7.13.0 typescript@5.9.3
cat >api.js <<'JS'
const has = (name, type) => ({ type: "object", properties: { [name]: { type } }, required: [name] });
const ways = [has("mail", "string"), has("phone", "string")];
const schemas = {
  allOf: { ...has("id", "integer"), allOf: ways.slice(0, 1) },
  oneOf: { ...has("id", "integer"), oneOf: ways },
  anyOf: { ...has("id", "integer"), anyOf: ways },
};
console.log(JSON.stringify({ openapi: "3.1.0", info: { title: "t", version: "1" }, paths: {}, components: { schemas } }));
JS
node api.js >api.json
npx openapi-typescript api.json -o api.ts >/dev/null 2>&1
for kind in allOf oneOf anyOf; do
  type=$(tr -s '\n ' ' ' <api.ts | grep -oE "$kind: \{ id.*" | sed -E 's/ (oneOf|anyOf): \{ id.*//; s/ \}; responses: .*//')
  printf "import type { components } from './api';\nexport const value: components['schemas']['%s'] = { mail: 'a' };\n" "$kind" >"$kind.ts"
  if npx tsc --noEmit --strict "$kind.ts" >/dev/null; then compiles=yes; else compiles=no; fi
  echo "$type  without \"id\" it compiles: $compiles"
  expected=no
  if [ "$kind" = anyOf ]; then expected=yes; fi
  [ "$compiles" = "$expected" ]
done
