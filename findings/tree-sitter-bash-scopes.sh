#!/usr/bin/env bash
# tree-sitter-bash 0.25.1, tree-sitter 0.26.1.
# Expected: "!" negates the pipeline behind it, and "> c" belongs to the command that it stands beside, as in bash.
# Seen: "!" takes only the first command of the pipeline, and "> c" takes the whole list or pipeline before it;
# a reader of the tree takes the output of "a" for redirected. No ERROR node.
#   ! a | b       pipeline[negated_command[command] command]
#   a && b > c    redirected_statement[list[command command] file_redirect]
#   a | b > c     redirected_statement[pipeline[command command] file_redirect]
#   a && b <<< c  list[command command[herestring_redirect]]
# The last line is right, so it is not a rule of the grammar for all redirections.
# 2026-11-29
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q tree-sitter==0.26.1 tree-sitter-bash==0.25.1
"$folder/venv/bin/python" - <<'PYTHON'
import tree_sitter
import tree_sitter_bash

parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))


def shape(node):
    kids = " ".join(shape(kid) for kid in node.named_children if kid.type not in ("command_name", "word"))
    return node.type + (f"[{kids}]" if kids else "")


expected = {
    "! a | b": "pipeline[negated_command[command] command]",
    "a && b > c": "redirected_statement[list[command command] file_redirect]",
    "a | b > c": "redirected_statement[pipeline[command command] file_redirect]",
    "a && b <<< c": "list[command command[herestring_redirect]]",
}
for text, form in expected.items():
    tree = parser.parse(text.encode()).root_node
    seen = shape(tree.children[0])
    print(f"{text:<13} {seen}")
    assert not tree.has_error and seen == form
PYTHON
