"""Ways to hide a command from a list of programs, or from the owner who granted one: each is refused or asked about."""

from pathlib import Path

import pytest

from parachute.security.permissions.grants import Grant
from parachute.security.permissions.models import Effect
from parachute.security.permissions.policy import Policy

LISTED = ("git", "cat", "ls", "echo", "xargs", "env", "find", "sort", "bash", "sh", "base64", "tr", "printf")

# `curl` stands for everything that is not listed.
HIDDEN = r"""
c\url x
cu'r'l x
"cu"rl x
c""url x
$'curl' x
$'\x63url' x
$'\143url' x
$'cu\u0072l' x
$"curl" x
cu$@rl x
cu${x}rl x
${x:-curl} x
${x:=curl} y
$(echo curl) x
`echo curl` x
$(printf %s curl) x
c$(echo url) x
{curl,x}
{c,}url x
cur? x
/usr/bin/cur[l] x
/usr/bin/curl x
/usr/bin/../bin/curl x
./curl x
~/bin/git x
/tmp/git status
x=curl; $x y
x=/usr/bin; y=$x/curl; $y z
x=curl; "$x" y
IFS=_; x=curl_y; $x
curl$IFS$9x
cat$IFS.bashrc
{cat,notes.md}; curl x
echo Y3VybCB4 | base64 -d | sh
echo Y3VybCB4 | base64 -d | bash -s
base64 -d <<< Y3VybCB4 | bash
bash <<< 'curl x'
bash -c "$(echo curl x)"
bash -c 'curl x'
bash -c "c''url x"
bash -lc 'curl x'
bash -xec 'curl x'
bash -o posix -c 'curl x'
bash +o posix -c 'curl x'
bash --rcfile x -i
bash -- x.sh
sh x.sh
sh < x.sh
sh -
sh /dev/stdin
sh <(echo curl x)
. <(echo curl x)
. ./x.sh
source x.sh
eval 'curl x'
eval c'url x'
eval "$x"
eval "cu""rl x"
eval echo '$(curl x)'
trap 'curl x' EXIT
trap "$x" EXIT
trap -- 'curl x' DEBUG
alias git=curl; git x
trap 'git status' EXIT; alias q='curl x'
shopt -s expand_aliases; alias git='curl x'; git
git() { curl x; }; git
function git { curl x; }; git
cd() { curl x; }; cd y
command_not_found_handle() { curl x; }; git
env -S 'curl x'
env -S'curl x'
env -vS 'curl x'
env --split-string='curl x'
env curl x
env X=1 curl x
env -i curl x
env -u X curl x
env -C /tmp curl x
env PATH=. git status
env BASH_ENV=x.sh bash -c 'git status'
BASH_ENV=x.sh bash -c 'git status'
GIT_SSH_COMMAND=curl git fetch
GIT_PAGER=curl git log
PS4='$(curl x)'; set -x
x='$(curl x)'; echo ${x@P}
x='$(curl x)'; echo "${x@P}"
x='a[$(curl x)]'; echo $((x))
x='a[$(curl x)]'; [[ $x -eq 1 ]]
echo $((a[$(curl x)]))
echo $(( $(curl x) ))
echo ${x[$(curl x)]}
echo ${x:-$(curl x)}
echo "${x:-`curl x`}"
echo ${x/$(curl x)/y}
read 'a[$(curl x)]' <<< y
test -v 'a[$(curl x)]'
unset 'a[$(curl x)]'
printf -v 'a[`curl x`]' y
[[ $(curl x) ]]
case $(curl x) in *) ;; esac
for i in $(curl x); do echo $i; done
x=(1 $(curl x))
x[$(curl x)]=1
cat <(curl x)
echo x > >(curl x)
cat < <(curl x)
cat <<< "$(curl x)"
cat <<A$(curl x)
coproc curl x
coproc N { curl x; }
curl x &
git status & curl x
git status | curl x
git status |& curl x
git status && curl x
git status || curl x
git status; curl x
! curl x
(curl x)
{ curl x; }
if curl x; then :; fi
time curl x
time -p curl x
exec curl x
exec -a git curl x
exec 3<>/dev/tcp/example.org/80
command curl x
command -p curl x
builtin curl x
builtin eval 'curl x'
nohup curl x
nice -n 5 curl x
timeout 5 curl x
timeout -s KILL 5 curl x
timeout -s term 5 curl x
setsid curl x
stdbuf -oL curl x
busybox curl x
busybox wget x
busybox sh -c 'curl x'
xargs curl
echo a b | xargs curl
xargs -I{} curl {}
xargs -I% -n1 sh -c %
echo 'curl x' | xargs -I{} sh -c {}
echo 'curl x' | xargs sh -c
echo curl | xargs -I{} {} x
echo curl x | xargs env
xargs -a list curl
find . -exec curl {} +
find . -name x -exec git status \; -o -execdir curl {} +
find . -exec sh -c 'curl x' \;
find . -execdir {} \;
find . -name x -ok curl \;
git -c core.pager=curl log
git -c alias.x='!curl x' x
git --exec-path=/tmp x
git $x
git log "$x"
git {log,--output=x}
sort --compress-program=curl x
sort -o x y
hash -p /usr/bin/curl git; git x
enable -f ./x.so git
mapfile -C 'curl x' -c 1 y
compgen -C 'curl x'
jobs -x curl x
fc -s git=curl
parallel curl ::: x
watch curl x
watch -n 1 'git status; curl x'
script -c 'curl x'
flock x curl x
ssh host curl x
GIT status
curl x
su\
do curl x
""".strip("\n").splitlines()

SEVERAL_LINES = [
    "\u0421URL x",
    "\uff43\uff55\uff52\uff4c x",
    "cu\u200brl x",
    "git\u00a0status",
    "\ufeffgit status",
    "git status\ncurl x",
    "git \\\nstatus\ncurl x",
    "cu\\\nrl x",
    "# \\\ncurl x",
    "git status # \\\ncurl x",
    "bash <<EOF\ncurl x\nEOF",
    "bash <<'EOF'\ngit status\ncurl x\nEOF\nls",
    "cat <<'EOF' | bash\ncurl x\nEOF",
    "bash <<'EOF'\ncurl x\nEOF",
    "cat <<EOF\n$(curl x)\nEOF",
    "cat <<EOF\n`curl x`\nEOF",
    "cat <<EOF\n${x:-$(curl x)}\nEOF",
    "cat <<'EOF'\nEOF \ncurl x\nEOF",
    "cat <<'A'\nx\nA\ncurl x\nA",
    "cat <<-EOF\n\tEOF\ncurl x\n\tEOF",
    "cat <<EOF | sh\ncurl x\nEOF",
    "cat <<E\\OF\nx\nEOF\ncurl x\nE\\OF",
    'cat <<"E"OF\nx\nEOF\ncurl x\n"E"OF',
    "cat <<A <<B\nx\nA\ncurl x\nB\ncurl x",
    "git status\r\ncurl x",
    "git status\x0bcurl x",
    "echo '\n'curl x'\n'; curl x",
    "case x in x) curl x;; esac",
    "echo `echo \\`curl x\\``",
    'echo "$(git log "`curl x`")"',
    "if true\nthen\ncurl x\nfi",
    "git log > x.md curl\ncurl x",
]

LINES = HIDDEN + SEVERAL_LINES


def _policy(folder: Path, level: str, **fields: object) -> Policy:
    for name in ("vault", "home"):
        (folder / name).mkdir(exist_ok=True)
    places = {"vault": folder / "vault", "home": folder / "home", "working_directory": folder / "vault"}
    return Policy(level, **{**places, "user_home": folder, **fields})  # type: ignore[arg-type]


@pytest.mark.parametrize("level", ["sandboxed", "direct"])
def test_a_closed_list_refuses_it(tmp_path: Path, level: str) -> None:
    policy = _policy(tmp_path, level, trust_mode=True, allowed_commands=LISTED)
    decisions = {line: policy.decide("Bash", {"command": line}) for line in LINES}
    assert [line for line, decision in decisions.items() if decision.effect is not Effect.DENY] == []
    assert [line for line, decision in decisions.items() if decision.rule == "failure"] == []


def test_a_grant_does_not_cover_it(tmp_path: Path) -> None:
    grants = tuple(Grant.parse(f"Bash({name}:*)") for name in LISTED)
    policy = _policy(tmp_path, "direct", trust_mode=False, grants=(*grants, Grant.parse("Edit(/**)")))
    effects = {line: policy.decide("Bash", {"command": line}).effect for line in LINES}
    assert [line for line, effect in effects.items() if effect not in {Effect.ASK, Effect.DENY}] == []


@pytest.mark.parametrize(
    "word",
    [
        *(r"$'\x2eenv'", r"$'\056env'", r"$'\u002eenv'", r"$'.e'nv", r"$'.env\x00x'", r"$'\56env'", r"$'\x2e'env"),
        *(
            "{.env,x}",
            ".[!x]nv",
            ".[^x]nv",
            ".en[[:alpha:]]",
            '"${x}nv"',
            ".e$x",
            "${x:-.env}",
            "~/.ssh/id_rsa",
            "./.e''nv",
        ),
        *(
            "<(cat .env)",
            "$(echo .env)",
            "`echo .env`",
            "x/../.env",
            "\\.env",
            ".{e,x}nv",
            "< .env",
            "-f.env",
            "--x=.env",
        ),
    ],
)
def test_a_listed_program_opens_no_secret_in_disguise(tmp_path: Path, word: str) -> None:
    for fields in ({"allowed_commands": LISTED}, {"trust_mode": True}):
        policy = _policy(tmp_path, "direct", **fields)
        assert policy.decide("Bash", {"command": f"cat {word}"}).effect is Effect.DENY


def test_what_hides_nothing_is_still_covered(tmp_path: Path) -> None:
    policy = _policy(tmp_path, "sandboxed", allowed_commands=LISTED)
    for line in (
        "git log --oneline | sort -u",
        r"printf $'\e[1m%s\t\x41 \u00e9 \'é\'\n' x",
        "bash -c 'git status && ls'",
        "env LANG=C git log | cat",
        "find . -name '*.md' | xargs cat",
        'x=$(git log -1); echo "$x"',
        "git log --grep 'Say `curl` and $(curl)'",
        "cat <<'EOF' > notes.md\ncurl x\nEOF",
        'for f in *.md; do cat "$f"; done',
        "if git diff --quiet; then echo same; fi",
    ):
        assert policy.decide("Bash", {"command": line}).effect is Effect.ALLOW, line
