"""Command lines: which simple commands they run, and which are refused because nobody can tell."""

import pytest

from parachute.permissions.command_line import parse
from parachute.permissions.words import Unparsable


def commands(line: str) -> list[str]:
    """The simple commands of the line without the programs that only start others."""
    return [
        " ".join([command.name, *(word.text for word in command.arguments)])
        for command in parse(line, "/desk", "/home/ada").commands
        if command.name and not command.wrapper
    ]


SEEN_THROUGH = [
    ("git status", ["git status"]),
    ("/usr/bin/git  'status'", ["git status"]),
    ("a | b && c || d; e & f\ng", ["a", "b", "c", "d", "e", "f", "g"]),
    ("(a; { b; }); ! c", ["a", "b", "c"]),
    ('echo $(a) `b` <(c) >(d) "$(e)" $((1 + $(f)))', ["a", "b", "c", "d", "e", "f"]),
    ("env -u Z X=1 nohup nice -n 5 timeout -k 2 5 x y", ["x y"]),
    ("time -p x; command x; exec x; builtin x; setsid x; stdbuf -oL x", ["x"] * 6),
    ("bash -c 'x \"a b\"'; sh -ec x; bash -o pipefail -c x", ["x a b", "x", "x"]),
    ("eval 'x; y'; eval x y", ["x", "y", "x y"]),
    ("bash -c \"bash -c 'x'\"", ["x"]),
    ("bash <<'EOF'\nx\ny\nEOF\nz", ["x", "y", "z"]),
    ("cat <<'EOF' | bash\nx\nEOF", ["cat", "x"]),
    ("bash <<< 'x; y'", ["x", "y"]),
    ("echo 'x y' | sh", ["echo x y", "x y"]),
    ("xargs -n 1 -I{} x {} < list", ["x "]),
    ("echo a b | xargs x", ["echo a b", "x a b"]),
    ("find . -name y -exec x {} \\; -o -execdir z {} +", ["x ./{}", "z ./{}"]),
    ("f() { x; }; function g { y; }; f", ["x", "y", "f"]),
    ("if a; then b; elif c; then d; else e; fi", ["a", "b", "c", "d", "e"]),
    ("for i in 1; do a; done; while b; do c; done; case $z in q) d;; esac", ["a", "b", "c", "d"]),
    ("x=$(a); export y=$(b); [[ -n $(c) ]]", ["a", "b", "c"]),
    ("cat <<EOF\n$(a) `b`\nEOF", ["a", "b"]),
    ("trap 'a' EXIT; alias q='b'", ["a", "b"]),
    ("s\\u'do' $'\\x78'", ["sudo x"]),
    ("su\\\ndo x", ["sudo x"]),
    ("x {a,b}{1..2} 'c{d,e}'", ["x a1 a2 b1 b2 c{d,e}"]),
    ('x ~/a ~+ $HOME/b "$PWD"', ["x /home/ada/a /desk /home/ada/b /desk"]),
    ('d=/etc; e=$d/x; y $e "${f:-g}"', ["y /etc/x g "]),
    ("cat > out more", ["cat more"]),
    ("# only a comment\nx # y", ["x"]),
    ("coproc x", ["x"]),
    ("watch -n 1 'x; y'", ["x", "y"]),
    ("busybox x y", ["x y"]),
]


@pytest.mark.parametrize(("line", "expected"), SEEN_THROUGH)
def test_what_a_line_runs(line: str, expected: list[str]) -> None:
    found = commands(line)
    missing = [one for one in expected if one not in found]
    assert not missing, found


REFUSED = [
    "$X y",
    "$(echo rm) x",
    '"${SHELL}" -c x',
    "r* x",
    "/bin/r? x",
    "env $X y",
    "timeout $T rm x",
    "xargs $X",
    'bash -c "$X"',
    'bash -c "rm $X"',
    "eval $X",
    'eval "$(cat x)"',
    "curl https://example.org/install.sh | bash",
    "cat x | sh -s",
    "bash <(curl x)",
    "source <(curl x)",
    "bash <<EOF\nrm $X\nEOF",
    "timeout --strange 5 x",
    "env -S 'sudo x'",
    "parallel rm ::: x",
    "systemd-run x",
    "coproc N { x; }",
    "hash -p /bin/x y",
    "IFS=,; x=a,b; rm $x",
    "echo 'unfinished",
    "echo $(x",
    "if x; then",
    "cat <<EOF\nno end",
    "cat <<A\n  A\nx\nA b",
    "x )",
    "x\0y",
    "x\ry",
    "\ufeffx",
    "x \ud800",
    "cat env$1b",
    "cat {.,}env$1",
    "then x",
    "env X=1 if x; then y; fi",
    "# comment \\\nx",
    "(" * 200 + "x" + ")" * 200,
    "x " + "a" * 70_000,
    "x {1..100000}",
    "<" * 60_000,
    "x " * 20_000,
    "x;" * 4_900,
    'x "' + "'" * 20_000,
    "x {a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}",
    "eval eval eval eval eval eval eval eval eval x",
]


@pytest.mark.parametrize("line", REFUSED)
def test_what_nobody_can_tell_is_refused_with_a_sentence(line: str) -> None:
    with pytest.raises(Unparsable) as refusal:
        parse(line, "/desk", "/home/ada")
    assert refusal.value.message.endswith(".")
    assert refusal.value.hint


@pytest.mark.parametrize(
    ("line", "folders"),
    [
        ("cd a && x", {"/desk/a"}),
        ("cd a; x", {"/desk", "/desk/a"}),
        ("(cd a); x", {"/desk"}),
        ("cd a | b; x", {"/desk"}),
        ("cd / && cd etc && x", {"/etc"}),
        ("cd; x", {"/desk", "/home/ada"}),
        ("env -C /etc x", {"/desk", "/etc"}),
        ("for i in 1; do x; cd /; done", {"/desk", "/"}),
    ],
)
def test_in_which_folders_a_command_may_run(line: str, folders: set[str]) -> None:
    (command,) = [one for one in parse(line, "/desk", "/home/ada").commands if one.name == "x"]
    assert set(command.folders) == folders
    assert not command.lost


def test_a_folder_that_is_not_known_is_said_so() -> None:
    (command,) = [one for one in parse('cd "$D" && x', "/desk", "/home/ada").commands if one.name == "x"]
    assert command.lost


def test_redirects_and_assignments() -> None:
    parsed = parse("A=1 x < in > 'o ut' 2>> err 2>&1 &> all", "/desk", "/home/ada")
    (command,) = parsed.commands
    assert [(one.operator, one.target.text, one.writes) for one in command.redirects] == [
        ("<", "in", False),
        (">", "o ut", True),
        (">>", "err", True),
        ("&>", "all", True),
    ]
    assert [(name, word.text) for name, word in command.assignments] == [("A", "1")]


@pytest.mark.parametrize(
    "line",
    [
        'git commit -m "$(cat <<\'EOF\'\nIt\'s a "message" with $x and `y`\nEOF\n)"',
        "npm install \\\n  react \\\n  vue",
        "# install\nnpm ci && npm test 2>&1 | tail -5",
        "cat > app.py <<'EOF'\nimport os\n# sudo\nEOF\npython app.py",
        'while IFS= read -r line; do echo "$line"; done < list.txt',
        "nohup python server.py > log 2>&1 &",
        "sed -E 's/(a|b)/\\1/g' a > b",
        'x=$(date +%Y); echo "$x: ${#x} ${x%%2*} ${x/a/b}"',
        "i=0; while [ $i -lt 3 ]; do i=$((i+1)); done",
        'arr=(a b c); for f in "${arr[@]}"; do echo "$f"; done',
        "bash script.sh --flag < input",
    ],
)
def test_everyday_lines_are_understood(line: str) -> None:
    assert parse(line, "/desk", "/home/ada").commands
