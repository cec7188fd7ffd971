"""The walk over the syntax tree of a command line."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from parachute.permissions.expansion import WORD_TYPES, is_dynamic, output_of, source_of, value_of, words_of
from parachute.permissions.heredocs import text_of
from parachute.permissions.script import NESTING_LIMIT, Redirect, SimpleCommand, State, Stdin, Stream
from parachute.permissions.started import Assignments, Started
from parachute.permissions.syntax import tree_of
from parachute.permissions.words import UNKNOWN, Unparsable, Word, to_word

if TYPE_CHECKING:
    from tree_sitter import Node


# The shell reads them in places of their own; as the name of a command they show a line that the grammar misread.
_RESERVED = frozenset(
    {"if", "then", "elif", "else", "fi", "for", "while", "until", "do", "done", "case", "esac", "select", "function"}
    | {"{", "}", "[[", "]]", "!"}
)


@dataclass(frozen=True, slots=True)
class Redirected:
    """Redirects that stand behind a body: to files, the standard input where they change it, and words between them."""

    redirects: tuple[Redirect, ...]
    stdin: Stdin | None
    words: tuple[Word, ...]


class Walker:
    """Walks one script and the scripts inside it, collecting simple commands in the state."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.roots: list[Node] = []
        self.started = Started(state, self.run, self.parse)

    def parse(self, source: str, stdin: Stdin) -> None:
        """Walk a script given as text, in folders of its own."""
        self.state.nesting += 1
        if self.state.nesting > NESTING_LIMIT:
            raise Unparsable("The command line nests scripts too deeply.", "Run the inner command directly.")
        saved = list(self.state.folders)
        self.roots.append(tree_of(source))
        self.walk(self.roots[-1], stdin)
        self.roots.pop()
        self.state.nesting -= 1
        # `eval` shares the folder of its caller, another shell does not: both stay possible.
        self.state.folders = list(dict.fromkeys([*saved, *self.state.folders]))
        self.state.arrived = None

    def walk(self, node: "Node", stdin: Stdin) -> None:
        """Visit a node and everything below it."""
        match node.type:
            case "command":
                self._command(node, stdin)
            case "redirected_statement":
                self._redirected(node, stdin)
            case "pipeline":
                self._pipeline(node.named_children, stdin)
            case "list":
                self._list(node, stdin)
            case "subshell" | "command_substitution" | "process_substitution":
                self._apart(node, stdin)
            case "function_definition":
                self._function(node)
            case "variable_assignment":
                label = self._assignment(node)
                self._emit(SimpleCommand("", ""), (), [(label, Word(""))])
            case "declaration_command" | "unset_command" | "test_command":
                keyword = "[" if node.type == "test_command" else source_of(node.children[0])
                self._emit(SimpleCommand(keyword, keyword), ())
                self._children(node, stdin)
            case "for_statement" | "c_style_for_statement" | "while_statement":
                self._loop(node, stdin)
            case "file_redirect" | "herestring_redirect" | "heredoc_redirect":
                redirects, _, _ = self._redirects([node], stdin)
                self._emit(SimpleCommand("", ""), redirects)
            case _:
                self._children(node, stdin)

    def run(
        self, words: list[Word], stdin: Stdin, redirects: Sequence[Redirect] = (), assignments: Assignments = ()
    ) -> None:
        """Record one simple command and follow it into what it starts."""
        program = words[0]
        if program.pattern is not None or program.shifts:
            raise Unparsable("The name of a command is only known when it runs.", "Write the name out.")
        if program.text in _RESERVED:
            raise Unparsable(
                f"The command line has {program.text!r} in an unexpected place.", "Run it in simpler parts."
            )
        name = program.text.rsplit("/", 1)[-1].lower()
        command = SimpleCommand(name, program.text, tuple(words[1:]))
        place = len(self.state.commands)
        recorded = self._emit(command, redirects, assignments)
        if self.started.follow(command, stdin):
            self.state.commands[place] = replace(recorded, wrapper=True)

    def _emit(
        self, command: SimpleCommand, redirects: Sequence[Redirect], assignments: Assignments = ()
    ) -> SimpleCommand:
        recorded = replace(
            command,
            redirects=tuple(redirects),
            assignments=tuple(assignments),
            folders=tuple(self.state.folders),
            lost=self.state.lost,
        )
        self.state.add(recorded)
        return recorded

    def _children(self, node: "Node", stdin: Stdin) -> None:
        for child in node.named_children:
            self.walk(child, stdin)

    def _apart(self, node: "Node", stdin: Stdin) -> None:
        saved = list(self.state.folders), self.state.lost
        inner: Stdin = Stream.UNSEEN if source_of(node).startswith(">(") else stdin
        self._children(node, inner)
        self.state.folders, self.state.lost = saved
        self.state.arrived = None

    def _loop(self, node: "Node", stdin: Stdin) -> None:
        self.state.repeats = True
        variable = node.child_by_field_name("variable")
        if variable is not None:
            values = node.children_by_field_name("value")
            for value in values:
                for pieces in value_of(value, self.state):
                    self.state.assign(source_of(variable), pieces)
            if not values:
                self.state.assign(source_of(variable), (UNKNOWN,))
        self._children(node, stdin)

    def _list(self, node: "Node", stdin: Stdin, end: Redirected | None = None) -> None:
        left, right = node.named_children[0], node.named_children[-1]
        self.state.arrived = None
        self.walk(left, stdin)
        sure = any(child.type == "&&" for child in node.children)
        if not sure or self.state.arrived is None:
            self._end(right, stdin, end)
            return
        # Behind `cd x &&` the line is in x for certain; behind the whole list it may be anywhere it was before, too.
        before, self.state.folders = self.state.folders, list(self.state.arrived)
        self._end(right, stdin, end)
        self.state.folders = list(dict.fromkeys([*self.state.folders, *before]))

    def _pipeline(self, stages: Sequence["Node"], stdin: Stdin, end: Redirected | None = None) -> None:
        for number, stage in enumerate(stages):
            saved = list(self.state.folders), self.state.lost
            self._end(stage, stdin, end if number == len(stages) - 1 else None)
            self.state.folders, self.state.lost = saved
            printed = output_of(stage, self.state)
            stdin = Stream.UNSEEN if printed is None else printed

    def _end(self, node: "Node", stdin: Stdin, end: Redirected | None) -> None:
        """Walk a node whose last command has the redirects: the grammar hangs them on the whole pipeline or list."""
        if end is None:
            self.walk(node, stdin)
        elif node.type == "command":
            self._command(node, stdin if end.stdin is None else end.stdin, end.redirects, end.words)
        elif node.type == "pipeline":
            self._pipeline(node.named_children, stdin, end)
        elif node.type == "list":
            self._list(node, stdin, end)
        elif node.type == "negated_command":
            self._end(node.named_children[-1], stdin, end)
        elif end.words:
            raise Unparsable("Words behind a redirect belong to no command.", "Put the redirect at the end.")
        else:
            self._emit(SimpleCommand("", ""), end.redirects)
            self.walk(node, stdin if end.stdin is None else end.stdin)

    def _function(self, node: "Node") -> None:
        self.state.repeats = True
        name = node.child_by_field_name("name")
        body = node.child_by_field_name("body")
        if name is None or body is None:
            raise Unparsable("A function in the command line cannot be read.", "Write it in another way.")
        label = source_of(name)
        calls, multiplies = _calls(body)
        self.state.functions.setdefault(label, set()).update(calls)
        if multiplies:
            self.state.multiplying.add(label)
        self.walk(body, Stream.UNSEEN)

    def _assignment(self, node: "Node") -> str:
        name = node.child_by_field_name("name")
        value = node.child_by_field_name("value")
        label = source_of(name).split("[")[0] if name is not None else ""
        for pieces in value_of(value, self.state):
            self.state.assign(label, pieces)
        if any(child.type == "+=" for child in node.children):
            self.state.assign(label, (UNKNOWN,))
        if label == "IFS" and (
            node.parent is None or not source_of(node.parent).lstrip().startswith(("IFS= read", "IFS=$"))
        ):
            self._refuse_separator(node)
        self._children(node, Stream.UNSEEN)
        return label

    def _refuse_separator(self, node: "Node") -> None:
        parent = node.parent
        name = parent.child_by_field_name("name") if parent is not None and parent.type == "command" else None
        if name is None or source_of(name) not in {"read", "mapfile", "readarray"}:
            raise Unparsable("The command line changes how words are split (IFS).", "Write the words out.")

    def _command(self, node: "Node", stdin: Stdin, outer: Sequence[Redirect] = (), more: Sequence[Word] = ()) -> None:
        assignments: list[tuple[str, Word]] = []
        words: list[Word] = []
        nodes: list[Node] = []
        end = -1
        for child in node.named_children:
            if child.start_byte == end and child.type in WORD_TYPES:
                # One word for the shell, two for the grammar.
                raise Unparsable("The command line has a word that cannot be told from the next.", "Put it in quotes.")
            end = child.end_byte if child.type in WORD_TYPES else -1
            if child.type == "variable_assignment":
                label = self._assignment(child)
                value = child.child_by_field_name("value")
                assignments.extend((label, word) for word in (words_of(value, self.state) if value is not None else []))
            elif child.type == "command_name":
                if is_dynamic(child):
                    raise Unparsable(
                        f"The name of the command {source_of(child)[:80]!r} is only known when it runs.",
                        "Write the name out.",
                    )
                words.extend(words_of(child, self.state))
            elif child.type.endswith("_redirect"):
                nodes.append(child)
            else:
                words.extend(words_of(child, self.state))
        redirects, stdin, extra = self._redirects(nodes, stdin)
        for child in node.named_children:
            if child.type not in {"variable_assignment", "herestring_redirect", "heredoc_redirect", "file_redirect"}:
                self._inside(child, stdin)
        if not words:
            raise Unparsable("A command of the line has no name.", "Write the name out.")
        self.run([*words, *extra, *more], stdin, [*outer, *redirects], assignments)

    def _redirected(self, node: "Node", stdin: Stdin) -> None:
        body = node.child_by_field_name("body")
        nodes = node.children_by_field_name("redirect")
        redirects, inner, extra = self._redirects(nodes, stdin)
        if body is None:
            self._emit(SimpleCommand("", ""), redirects)
        else:
            self._end(body, stdin, Redirected(tuple(redirects), None if inner is stdin else inner, tuple(extra)))
        for redirect in nodes:
            self._behind_heredoc(redirect, body)

    def _behind_heredoc(self, redirect: "Node", body: "Node | None") -> None:
        """Walk what stands behind `<<EOF` on the same line: the rest of a pipeline or list."""
        if redirect.type != "heredoc_redirect":
            return
        for child in redirect.named_children:
            if child.type == "pipeline":
                printed = None
                if body is not None and source_of(body).strip() == "cat":
                    printed = self._heredoc_text(redirect)
                self._pipeline(child.named_children, Stream.UNSEEN if printed is None else printed)
            elif redirect.child_by_field_name("right") == child:
                self.walk(child, Stream.UNSEEN)

    def _redirects(self, nodes: Sequence["Node"], stdin: Stdin) -> tuple[list[Redirect], Stdin, list[Word]]:
        """Return the redirects to files, the standard input they leave, and words that stand between them."""
        redirects: list[Redirect] = []
        extra: list[Word] = []
        for node in nodes:
            if node.type == "file_redirect":
                operator = next((source_of(child) for child in node.children if not child.is_named), ">")
                targets = node.children_by_field_name("destination")
                for number, target in enumerate(targets):
                    words = words_of(target, self.state)
                    if number:
                        extra.extend(words)
                    elif operator in {">&", "<&"} and source_of(target).rstrip("-").isdigit():
                        stdin = Stream.UNSEEN if operator == "<&" else stdin
                    else:
                        redirects.extend(Redirect(operator, word) for word in words)
                        if operator in {"<", "<&", "<>"}:
                            stdin = Stream.UNSEEN if target.type == "process_substitution" else Stream.FILE
                    self._inside(target)
            elif node.type == "herestring_redirect":
                for target in node.named_children:
                    if target.type == "file_descriptor":
                        continue
                    # No splitting and no wildcards here: the value goes to the program as it is.
                    words = [to_word(pieces) for pieces in value_of(target, self.state)]
                    known = len(words) == 1 and not words[0].unknown
                    stdin = words[0].text if known else Stream.UNSEEN
                    # What is known of it may be a name that xargs or `read` hands on.
                    redirects.extend(Redirect("<", word) for word in words if not known)
                    self._inside(target)
            else:
                text = self._heredoc_text(node)
                stdin = Stream.UNSEEN if text is None else text
                nested, _, more = self._redirects(node.children_by_field_name("redirect"), stdin)
                redirects.extend(nested)
                extra.extend(more)
                for argument in node.children_by_field_name("argument"):
                    extra.extend(words_of(argument, self.state))
                    self._inside(argument)
                for child in node.named_children:
                    if child.type == "heredoc_body":
                        self._children(child, Stream.UNSEEN)
        return redirects, stdin, extra

    def _inside(self, word: "Node", stdin: Stdin = Stream.UNSEEN) -> None:
        """Walk the substitutions in a word."""
        if word.type in {"command_substitution", "process_substitution"}:
            self._apart(word, stdin)
        else:
            self._children(word, stdin)

    def _heredoc_text(self, node: "Node") -> str | None:
        text, commands = text_of(node, self.roots[-1])
        for command in commands:
            self.parse(command, Stream.UNSEEN)
        return text


def _calls(body: "Node") -> tuple[set[str], bool]:
    """Return the names of the commands in a function, and whether it runs several things at once."""
    calls: set[str] = set()
    multiplies = False
    nodes = [body]
    while nodes:
        node = nodes.pop()
        if node.type == "command_name":
            calls.add(source_of(node))
        multiplies = multiplies or node.type in {"pipeline", "&", "command_substitution", "process_substitution"}
        nodes.extend(node.children)
    return calls, multiplies
