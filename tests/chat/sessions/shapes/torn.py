"""Shapes of files that a program, a disk or a person has damaged."""

from .writing import Talk


def a_mark_of_utf_8(talk: Talk) -> None:
    talk.turn()
    talk.lines[0] = b"\xef\xbb\xbf" + talk.lines[0]
    talk.turn()


def a_torn_line_at_the_end(talk: Talk) -> None:
    talk.turn()
    talk.turn()
    talk.lines[-1] = talk.lines[-1][:60]


def a_torn_line_with_the_next_one_behind_it(talk: Talk) -> None:
    talk.turn()
    talk.asks()
    talk.add(talk.lines[0][:70])
    talk.answers()
    talk.turn()


def a_torn_line_of_its_own(talk: Talk) -> None:
    talk.turn()
    talk.add(talk.lines[0][:70] + b"\n")
    talk.turn()


def two_lines_in_one(talk: Talk) -> None:
    talk.turn()
    talk.lines[0] = talk.lines[0].rstrip(b"\n")
    talk.turn()


def zeroes_between(talk: Talk) -> None:
    talk.turn()
    talk.add(b"\0" * 4096 + b"\n")
    talk.turn()


def zeroes_before_a_line(talk: Talk) -> None:
    talk.turn()
    talk.add(b"\0" * 512)
    talk.turn()


def empty_lines(talk: Talk) -> None:
    talk.turn()
    talk.add(b"\n\n")
    talk.turn()


def lines_as_windows_ends_them(talk: Talk) -> None:
    talk.turn()
    talk.turn()
    talk.lines = [line.replace(b"\n", b"\r\n") for line in talk.lines]


def no_end_of_the_last_line(talk: Talk) -> None:
    talk.turn()
    talk.turn()
    talk.lines[-1] = talk.lines[-1].rstrip(b"\n")


def halves_of_characters(talk: Talk) -> None:
    talk.asks()
    talk.lines[0] = talk.lines[0].replace(b"asked1", b"asked1 \\ud83d")
    talk.answers()


def lines_that_are_no_objects(talk: Talk) -> None:
    talk.turn()
    talk.add(b'[1]\n"x"\nnull\n7\n')
    talk.turn()


def a_kind_that_nobody_knows(talk: Talk) -> None:
    talk.turn()
    talk.row("from-the-future", data="noted")
    talk.turn()


def spaces_after_colons(talk: Talk) -> None:
    talk.turn()
    talk.turn()
    talk.lines = [line.replace(b'":', b'": ') for line in talk.lines]


def several_sessions_in_one_file(talk: Talk) -> None:
    talk.turn(sessionId="0000000c-aaaa-4aaa-8aaa-aaaaaaaaaaaa")
    talk.turn()
