"""Commands of git that only read: what of them a list or a grant for `git` covers, word by word; everything else is asked about.

git has options by the hundred, and many of them start programs or write files. So these are the harmless ones.
"""

import re
from collections.abc import Sequence

_GLOBAL = re.compile(r"-P|--no-pager|--no-optional-locks|--literal-pathspecs")

_SHOWN = (
    r"-[abBMqRuUwWz]|-U\d+|-[CM]\d*%?|--|-[SG].*|--(?:abbrev|cached|check|color|color-words|diff-filter|exit-code|find-renames|full-index"
    r"|function-context|histogram|ignore-all-space|ignore-blank-lines|ignore-space-change|minimal|name-only|name-status|no-color|no-ext-diff"
    r"|no-patch|no-renames|no-textconv|numstat|patch|patience|pickaxe-all|pickaxe-regex|quiet|raw|relative|shortstat|staged|stat|summary"
    r"|text|unified|word-diff)"
)
_CHOSEN = (
    r"-\d+|-[EFPgip]|-n\d*|--(?:abbrev-commit|after|all|ancestry-path|author|before|boundary|branches|cherry-mark|cherry-pick|committer|date"
    r"|date-order|decorate|first-parent|follow|format|graph|grep|left-right|max-count|merges|no-decorate|no-merges|no-notes|no-walk|notes"
    r"|oneline|pretty|remotes|reverse|since|skip|source|tags|topo-order|until)"
)
_LOG = rf"{_CHOSEN}|{_SHOWN}"
_ANY, _NONE = "(?s:.*)", "(?!)"
_LISTED = r"--(?:color|contains|format|merged|no-color|no-contains|no-merged|points-at|sort)"
_NAMED = r"--(?:count|exclude|format|points-at|sort|merged|no-merged|contains|no-contains)"

_ROWS: dict[str, tuple[str, str]] = {
    "blame": (
        r"-[CLMefklnpstw]|-[CLM].+|--(?:date|line-porcelain|porcelain|root|show-email|show-name|show-number|since)|--",
        _ANY,
    ),
    "branch": (rf"-[arv]{{1,3}}|-vv|-avv|{_LISTED}|--(?:all|list|remotes|show-current|verbose)", _NONE),
    "cat-file": (r"-[epst]", _ANY),
    "count-objects": (r"-[vH]{1,2}|--(?:human-readable|verbose)", _NONE),
    "describe": (r"--(?:abbrev|all|always|contains|dirty|exact-match|exclude|first-parent|long|match|tags)", _ANY),
    "diff": (_SHOWN, _ANY),
    "diff-tree": (rf"{_SHOWN}|-[cmrst]|--(?:cc|no-commit-id|root)", _ANY),
    "for-each-ref": (_NAMED, _ANY),
    "grep": (
        r"-[EFGHIPacehilnopqvwz]+|-[ABCm]\d*|--(?:all-match|and|break|cached|color|count|fixed-strings|heading|ignore-case|line-number"
        r"|max-count|max-depth|name-only|no-color|not|or|perl-regexp|untracked|word-regexp)|--",
        _ANY,
    ),
    "log": (_LOG, _ANY),
    "ls-files": (
        r"-[cdikmostuz]+|--(?:cached|deleted|exclude-standard|full-name|ignored|modified|others|stage|unmerged)|--",
        _ANY,
    ),
    "ls-tree": (r"-[dlrtz]+|--(?:abbrev|full-name|full-tree|long|name-only)|--", _ANY),
    "merge-base": (r"-a|--(?:all|fork-point|independent|is-ancestor|octopus)", _ANY),
    "reflog": (_LOG, "(?!expire|delete|exists|write|drop).*"),
    "remote": (r"-v|--verbose", _NONE),
    "rev-list": (rf"{_CHOSEN}|--(?:count|left-only|objects|parents|right-only)|--", _ANY),
    "rev-parse": (
        r"-q|--(?:abbrev-ref|absolute-git-dir|git-common-dir|git-dir|is-bare-repository|is-inside-work-tree|quiet|short|show-cdup"
        r"|show-prefix|show-toplevel|symbolic-full-name|verify)",
        _ANY,
    ),
    "shortlog": (rf"{_CHOSEN}|-[ens]{{1,3}}|--(?:email|group|numbered|summary)|--", _ANY),
    "show": (_LOG, _ANY),
    "show-ref": (r"-[dhqs]|--(?:abbrev|dereference|hash|head|heads|quiet|tags|verify)", _ANY),
    "stash": (_NONE, "list"),
    "status": (
        r"-[bsuvz]{1,3}|--(?:ahead-behind|branch|ignored|long|porcelain|short|show-stash|untracked-files|verbose)|--",
        _ANY,
    ),
    "tag": (rf"-l|-n\d*|--list|{_LISTED}", _NONE),
    "whatchanged": (_LOG, _ANY),
}
"""Options of a subcommand, to which `=` and a value may be added, and its other words."""

_COMPILED = {
    name: (re.compile(rf"(?:{options})(?:=.*)?", re.DOTALL), re.compile(words))
    for name, (options, words) in _ROWS.items()
}


def only_reads(arguments: Sequence[str]) -> bool:
    """Return whether git with these arguments only reads the repository of the folder it runs in."""
    words = list(arguments)
    while words and _GLOBAL.fullmatch(words[0]):
        words.pop(0)
    if not words or words[0] not in _COMPILED:
        return False
    options, others = _COMPILED[words[0]]
    is_behind = False
    for word in words[1:]:
        is_option = word.startswith("-") and not is_behind
        if not (options if is_option else others).fullmatch(word):
            return False
        is_behind = is_behind or word == "--"
    return True
