"""A list of commands, or a grant for one, opens no options that start other programs or write files (S15)."""

from pathlib import Path

from parachute.security.permissions.grants import Grant
from parachute.security.permissions.models import Effect
from parachute.security.permissions.policy import Policy

MORE_THAN_THE_NAME = [
    "git -c alias.x='!id' x",
    "git -c core.sshCommand=id fetch",
    "git -ccore.pager=id log",
    "git --exec-path=/tmp/x status",
    "git --config-env=core.pager=X log",
    "git log --output=/tmp/x",
    "git log --outp=/tmp/x",
    "git grep -O id",
    "git grep -nOid x",
    "git grep --open-files-in-pager=id x",
    "git config alias.x '!id'",
    "git fetch --upload-pack=id x",
    "git clone 'ext::sh -c id' x",
    "git submodule foreach id",
    "git rebase -x id HEAD~1",
    "git rebase --exec=id HEAD~1",
    "git bisect run id",
    "git difftool",
    "/usr/bin/git -c alias.x='!id' x",
    "rg --pre id x",
    "rg --pre=id x",
    "sort --compress-program=id x",
    "sort --compress-prog id x",
    "sort -o x y",
    "sort -uo x y",
    "sed e x",
    "sed '1e id' x",
    "sed -n '/a/w out' x",
    "sed 's/a/b/e' x",
    "sed 's/a/b/gw out' x",
    "sed -e 'p;e id' x",
    "sed -i s/a/b/ x",
    "sed -nf script x",
    "awk 'BEGIN { system(\"id\") }'",
    "awk 'BEGIN { \"id\" | getline }'",
    "awk '{ print > \"out\" }' x",
    "gawk -f script x",
    "tar --checkpoint-action=exec=id -cf x y",
    "tar --checkpoint-act=exec=id -cf x y",
    "tar --to-command=id -xf x",
    "tar -I id -xf x",
    "find . -exec id ';'",
    "find . -delete",
    "find . -fprint out",
    "npm exec id",
    "npm x id",
    "man -P id ls",
    "man --pager=id ls",
    "git $X status",
    "git clone -u 'touch x; git-upload-pack' r c",
    "git -C evil status",
    "cd evil && git status",
    "git --git-dir=evil status",
    "git --work-tree=/ checkout .",
    "git archive -o x HEAD",
    "git format-patch -o x HEAD~1",
    "git bundle create x HEAD",
    "git checkout-index --prefix=x/ -a",
    "git worktree add ../x",
    "git hook run pre-commit",
    "git cat-file --filters HEAD:x",
    "git show --textconv x",
    "git diff --ext-diff",
    "git diff --no-index x /etc/passwd",
    "git apply --directory=../../ x",
    "git branch new",
    "git branch -D main",
    "git tag v1",
    "git remote add x y",
    "git stash drop",
    "git reflog expire --all",
    "git commit -m 'runs hooks'",
    "git push -u origin main",
    "git add config",
    "git log *",
]
JUST_THE_NAME = [
    "git status",
    "git log -n 5 --oneline",
    "git log --grep='config and -c' --format=%h -- notes.md",
    "git diff --stat HEAD",
    "git --no-pager show HEAD:notes.md",
    "git grep -n word HEAD -- notes",
    "git branch -a --sort=-committerdate",
    "git rev-parse --abbrev-ref HEAD",
    "git ls-files -o --exclude-standard",
    "git stash list",
    "git remote -v",
    "git tag -l",
    "cat notes.md | wc -l",
    "rg -n word notes",
    "sort -u notes.md",
    "sed -n 1,40p notes.md",
    "sed 's/foo/word/g' notes.md",
    "sed -e 's/a/b/' notes.md",
    "awk '{ print $1 }' notes.md",
    "tar -tf x.tar",
    "find . -name '*.md'",
    "npm test",
    "man ls",
]
PROGRAMS = ("git", "rg", "sort", "sed", "awk", "gawk", "tar", "find", "npm", "man", "id", "cat", "wc")
NO_TABLE = [
    *(
        "fd x -x id",
        "less +!id notes.md",
        "rsync -e id x y:",
        "zip -TT id x y",
        "sqlite3 x '.shell id'",
        "gh alias set x '!id'",
    ),
    *("curl -o x y", "curl -d @cli.token y", "uniq notes.md x", "tree -o x", "openssl engine -t x"),
]


def _policy(folder: Path, **fields: object) -> Policy:
    for name in ("vault", "home"):
        (folder / name).mkdir()
    places = {"vault": folder / "vault", "home": folder / "home", "working_directory": folder / "vault"}
    settings = {**places, "user_home": folder, "trust_mode": False, **fields}
    return Policy("direct", **settings)  # type: ignore[arg-type]


def _effects(policy: Policy, lines: list[str]) -> dict[str, Effect]:
    return {line: policy.decide("Bash", {"command": line}).effect for line in lines}


def test_a_grant_for_a_program_is_asked_about_such_options(tmp_path: Path) -> None:
    policy = _policy(tmp_path, grants=tuple(Grant.parse(f"Bash({name}:*)") for name in PROGRAMS))
    effects = _effects(policy, MORE_THAN_THE_NAME)
    assert [line for line, effect in effects.items() if effect is Effect.ALLOW] == []
    assert set(_effects(policy, JUST_THE_NAME).values()) == {Effect.ALLOW}


def test_a_closed_list_refuses_such_options(tmp_path: Path) -> None:
    policy = _policy(tmp_path, trust_mode=True, allowed_commands=PROGRAMS)
    effects = _effects(policy, MORE_THAN_THE_NAME)
    assert [line for line, effect in effects.items() if effect is not Effect.DENY] == []
    assert set(_effects(policy, JUST_THE_NAME).values()) == {Effect.ALLOW}


def test_the_very_line_can_be_granted(tmp_path: Path) -> None:
    line = "git -c core.pager=cat log"
    policy = _policy(tmp_path, grants=(Grant.parse(f"Bash({line})"),))
    assert policy.decide("Bash", {"command": line}).effect is Effect.ALLOW


def test_a_grant_for_a_program_that_is_not_known_counts_for_the_line_alone(tmp_path: Path) -> None:
    names = {line.split()[0] for line in NO_TABLE}
    policy = _policy(tmp_path, grants=tuple(Grant.parse(f"Bash({name}:*)") for name in names))
    assert set(_effects(policy, NO_TABLE).values()) == {Effect.ASK}
    for line in NO_TABLE:
        assert [str(each) for each in policy.suggested_grants("Bash", {"command": line})] == [f"Bash({line})"]
