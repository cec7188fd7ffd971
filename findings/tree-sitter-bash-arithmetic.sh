#!/usr/bin/env bash
# tree-sitter-bash 0.25.1, tree-sitter 0.26.1.
# Expected: the tree of an arithmetic expression groups as bash does, since it has no ERROR node.
# Seen: unary operators bind weaker than +, * and **; ** and ?: group to the left. Nothing says so.
#   2**3**2       bash 512  tree 64  ((2 ** 3) ** 2)
#   -2**2         bash 4  tree -4  (- (2 ** 2))
#   ~1+2          bash 0  tree -4  (~ (1 + 2))
#   1?2:0?3:4     bash 2  tree 3  ((1 ? 2 : 0) ? 3 : 4)
# 2026-11-29
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q tree-sitter==0.26.1 tree-sitter-bash==0.25.1
"$folder/venv/bin/python" - <<'PYTHON'
import operator
import subprocess

import tree_sitter
import tree_sitter_bash

parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))
binary = {"**": operator.pow, "+": operator.add, "*": operator.mul}
unary = {"-": operator.neg, "~": operator.invert}


def value(node):
    kids = node.children
    if node.type == "number":
        return int(node.text)
    if node.type == "unary_expression":
        return unary[kids[0].type](value(kids[1]))
    if node.type == "binary_expression":
        return binary[kids[1].type](value(kids[0]), value(kids[2]))
    assert node.type == "ternary_expression", node.type
    return value(kids[2]) if value(kids[0]) else value(kids[4])


def grouping(node):
    return "(" + " ".join(map(grouping, node.children)) + ")" if node.child_count else node.text.decode()


expected = {"2**3**2": (512, 64), "-2**2": (4, -4), "~1+2": (0, -4), "1?2:0?3:4": (2, 3)}
for text, pair in expected.items():
    tree = parser.parse(f"echo $(({text}))".encode()).root_node
    assert not tree.has_error
    expression = tree.children[0].child_by_field_name("argument").named_children[0]
    bash = int(subprocess.check_output(["bash", "-c", f"echo $(({text}))"]))
    print(f"{text:<13} bash {bash}  tree {value(expression)}  {grouping(expression)}")
    assert (bash, value(expression)) == pair
PYTHON
