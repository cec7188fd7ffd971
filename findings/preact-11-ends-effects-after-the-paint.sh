#!/usr/bin/env bash
# preact 11.2.0 and 10.29.0, linkedom 0.18.12.
# Expected: what an effect returned has run when `render(null, place)` comes back, so that a listener of a component that is gone
# hears nothing more; in version 10 it is so.
# Seen: in version 11 it runs after the next frame, and a timer of 0 ms comes before it. `useLayoutEffect` is as it was.
#   preact 11.2.0: at once: layout effect; after 0 ms: layout effect; in the end: effect, layout effect
#   preact 10.29.0: at once: effect, layout effect; after 0 ms: effect, layout effect; in the end: effect, layout effect
# 2026-11-30
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat >"$folder/program.mjs" <<'JS'
import { parseHTML } from "linkedom";
import { h, render } from "preact";
import { useEffect, useLayoutEffect } from "preact/hooks";

globalThis.document = parseHTML("<html><body></body></html>").document;
const ended = [];
function Part() {
  useEffect(() => () => ended.push("effect"), []);
  useLayoutEffect(() => () => ended.push("layout effect"), []);
  return h("p", null, "Here.");
}
const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
render(h(Part), document.body);
await pause(300);
render(null, document.body);
const said = [`at once: ${[...ended].sort().join(", ")}`];
await pause(0);
said.push(`after 0 ms: ${[...ended].sort().join(", ")}`);
await pause(300);
said.push(`in the end: ${[...ended].sort().join(", ")}`);
console.log(said.join("; "));
JS
for version in 11.2.0 10.29.0; do
  mkdir "$folder/$version"
  cd "$folder/$version"
  echo "{}" >package.json
  npm install --silent --no-audit --no-fund "preact@$version" linkedom@0.18.12
  cp ../program.mjs .
  said=$(node program.mjs)
  echo "preact $version: $said"
  expected="at once: layout effect; after 0 ms: layout effect;"
  if [ "$version" = 10.29.0 ]; then expected="at once: effect, layout effect;"; fi
  [[ $said == "$expected"* ]]
done
