#!/usr/bin/env bash
# zensical 0.0.73, `zensical build --strict`.
# Expected: as it refuses links to pages that are not there, and as MkDocs does, it refuses a page of `nav` that is not there.
# Seen: only links that end in .md, and anchors, are looked at. It ends with 0 and says no word of a page of `nav` that is not
# there, which readers then find in the menu, of a picture that is not there, and of a link without .md to nothing.
#   nav entry, picture, link without .md: exit 0, "No issues found"; the page links to gone.md, none.png and nowhere
#   link to nowhere.md:                   exit 1, "page does not exist"
# 2026-11-29
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q zensical==0.0.73
mkdir -p "$folder/project/docs"
cd "$folder/project"
printf '[project]\nsite_name = "Boats"\nnav = [{ "Start" = "index.md" }, { "Gone" = "gone.md" }]\n' >zensical.toml

build() {
  printf '%b' "$1" >docs/index.md
  code=0
  "$folder/venv/bin/zensical" build --clean --strict >output 2>&1 || code=$?
  echo "$2: exit $code"
}

build '# Start\n\n![A boat](none.png) [Elsewhere](nowhere)\n' "nav entry, picture, link without .md"
test "$code" = 0
if grep -qE 'gone|none\.png|nowhere|not exist' output; then exit 1; fi
grep -q "No issues found" output
grep -q 'href="./gone.md"' site/index.html
grep -q 'src="none.png"' site/index.html
grep -q 'href="nowhere"' site/index.html
test ! -e site/gone

build '# Start\n\n[Elsewhere](nowhere.md)\n' "link to nowhere.md"
test "$code" = 1
grep -q 'page does not exist' output
