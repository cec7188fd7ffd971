#!/usr/bin/env bash
# tree-sitter-bash 0.25.1, tree-sitter 0.26.1.
# Expected: what "bash -n" accepts parses without ERROR or MISSING nodes, at least where it is ordinary.
# Seen: it depends on the neighbour. Of these pairs bash accepts both, the grammar only the first:
#   yes  f() if a; then b; fi         no  f() while a; do b; done
#   yes  coproc { a; }                no  coproc N ( a )
#   yes  exec 3<file                  no  exec 3<>file
#   yes  echo "${@:2}"                no  echo "${@:$#}"
#   yes  for x in a; do b; done       no  for x do b; done
#   yes  (a | b)                      no  ((a) | b)
# 2026-11-29
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q tree-sitter==0.26.1 tree-sitter-bash==0.25.1
"$folder/venv/bin/python" - <<'PYTHON'
import subprocess

import tree_sitter
import tree_sitter_bash

parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))
pairs = [
    ("f() if a; then b; fi", "f() while a; do b; done"),
    ("coproc { a; }", "coproc N ( a )"),
    ("exec 3<file", "exec 3<>file"),
    ('echo "${@:2}"', 'echo "${@:$#}"'),
    ("for x in a; do b; done", "for x do b; done"),
    ("(a | b)", "((a) | b)"),
]
for pair in pairs:
    seen = []
    for text in pair:
        subprocess.run(["bash", "-n", "-c", text], check=True)
        seen.append("no" if parser.parse(text.encode()).root_node.has_error else "yes")
    print(f"{seen[0]:<4} {pair[0]:<28} {seen[1]:<3} {pair[1]}")
    assert seen == ["yes", "no"], pair
PYTHON
