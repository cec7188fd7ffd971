"""Twelve ways in which agents have lost people's files, as commands in the project of `PROJECT`.

They follow public reports of 2026 (issues of anthropics/claude-code), told in our own words and on a small folder.
"""

from pathlib import Path
from typing import NamedTuple


class Incident(NamedTuple):
    """A command that lost files."""

    name: str
    command: str


INCIDENTS = (
    Incident("clean-up of a test removes the home", 'HOME="$PWD"; rm -rf "$HOME"'),
    Incident("originals are moved, and the copies removed", "mkdir sorted && mv papers/*.pdf sorted/ && rm -rf sorted"),
    Incident("the parent of what was meant is removed", 'target=films/old; rm -rf "$(dirname "$target")"'),
    Incident("a rename on a disk that ignores case", "cp -r notes Notes.new && rm -rf notes && mv Notes.new Notes"),
    Incident("backups are removed to test that they are made", "rm -f backups/* && rmdir backups"),
    Incident("a folder is replaced by another one", "rm -rf notes && mkdir notes && echo fresh > notes/README.md"),
    Incident(
        "a synchronisation deletes what the source lacks",
        "mkdir empty && cp -r empty/. notes/ && find notes -type f -delete",
    ),
    Incident(
        "an update sets the working folder back",
        "git checkout -qf first -- . && git clean -qfdx && git reset -q --hard first",
    ),
    Incident(
        "a history is rewritten, and collected",
        "git checkout -q --orphan new && git rm -qrf . && git commit -qm new --allow-empty && git tag -d first && "
        "git reflog expire --expire=now --all && git branch -q -D main && git gc -q --prune=now",
    ),
    Incident(
        "a loop truncates what it should have read", 'for each in notes/*.md; do tr a-z A-Z < "$each" > "$each"; done'
    ),
    Incident(
        "an edit in place empties a table",
        "sed -i d ledger.csv && printf x | dd of=films/old/a.mov conv=notrunc 2>/dev/null; chmod -R 000 papers",
    ),
    Incident(
        "links are followed into what they point to",
        "ln -s ../notes films/link && rm -rf films/link/ ; find -L . -name '*.md' -exec rm {} +",
    ),
)


def furnish(project: Path) -> None:
    """Fill a folder with what people lose: notes, papers, films, a table, backups and a repository's files."""
    for number in range(3):
        for path, text in (
            (f"notes/day {number}.md", f"day {number}\n"),
            (f"papers/{number}.pdf", f"%PDF-1.7 {number}\n"),
            (f"films/old/{'abc'[number]}.mov", f"film {number}\n" * 1000),
            (f"backups/2026-0{number + 1}.tar", f"backup {number}\n"),
        ):
            file = project / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
    (project / "ledger.csv").write_text("day,cents\n1,200\n")
    (project / "latest").symlink_to("notes/day 2.md")
    (project / "ledger.csv").chmod(0o640)
