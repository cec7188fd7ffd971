"""Shapes of conversations that went back, forked, or were written by two programs."""

from .writing import Talk


def straight(talk: Talk) -> None:
    talk.turn()
    talk.turn()


def one_question(talk: Talk) -> None:
    talk.asks()


def gone_back(talk: Talk) -> None:
    _, first = talk.turn()
    talk.turn()
    talk.asks(parentUuid=first)
    talk.prompts(talk.answers())


def gone_back_without_a_note_of_it(talk: Talk) -> None:
    _, first = talk.turn()
    talk.turn()
    talk.turn(parentUuid=first)


def gone_back_to_the_beginning(talk: Talk) -> None:
    talk.turn()
    talk.turn()
    talk.turn(parentUuid=None)


def gone_back_twice(talk: Talk) -> None:
    _, first = talk.turn()
    talk.turn()
    talk.turn(parentUuid=first)
    talk.turn(parentUuid=first)


def gone_back_behind_what_was_gone_back_to(talk: Talk) -> None:
    _, first = talk.turn()
    _, second = talk.turn()
    talk.turn(parentUuid=first)
    talk.turn(parentUuid=second)


def gone_back_further_each_time(talk: Talk) -> None:
    _, first = talk.turn()
    _, second = talk.turn()
    talk.turn()
    talk.turn(parentUuid=second)
    talk.turn(parentUuid=first)


def gone_back_and_nothing_said_since(talk: Talk) -> None:
    _, first = talk.turn()
    talk.turn()
    talk.prompts(first, rewound=True, explicit=True)


def gone_back_to_nothing_and_nothing_said_since(talk: Talk) -> None:
    talk.turn()
    talk.prompts(None, rewound=True, explicit=True)


def gone_back_and_on(talk: Talk) -> None:
    _, first = talk.turn()
    talk.turn()
    talk.prompts(first, rewound=True, explicit=True)
    talk.turn(parentUuid=first)
    talk.turn()


def gone_back_behind_a_note_of_the_program(talk: Talk) -> None:
    talk.turn()
    note = talk.system("turn_duration", durationMs=1)
    talk.turn()
    talk.system("turn_duration", durationMs=1)
    talk.turn(parentUuid=note)


def gone_back_behind_an_attachment(talk: Talk) -> None:
    talk.turn()
    attached = talk.attaches("todo_reminder", {"content": [], "itemCount": 0})
    talk.turn()
    talk.turn(parentUuid=attached)


def gone_back_in_a_turn_with_tools(talk: Talk) -> None:
    _, first = talk.turn()
    talk.asks()
    talk.returns(talk.calls()[1])
    talk.answers()
    talk.turn(parentUuid=first)


def gone_back_to_a_place_in_a_turn(talk: Talk) -> None:
    talk.asks()
    result = talk.returns(talk.calls()[1])
    talk.answers()
    talk.turn(parentUuid=result)


def an_answer_that_was_asked_for_again(talk: Talk) -> None:
    question, _ = talk.turn()
    talk.answers(parentUuid=question)


def two_programs_at_once(talk: Talk) -> None:
    _, first = talk.turn()
    one = talk.asks()
    two = talk.asks(parentUuid=first)
    talk.answers(parentUuid=one)
    talk.answers(parentUuid=two)


def two_programs_and_a_note_which_one_counts(talk: Talk) -> None:
    _, first = talk.turn()
    _, one = talk.turn()
    talk.turn(parentUuid=first)
    talk.prompts(one)


def a_note_of_the_answer_that_was_asked_for_again(talk: Talk) -> None:
    question, first = talk.turn()
    talk.answers(parentUuid=question)
    talk.prompts(first)


def a_note_of_the_answer_before_that_went_on(talk: Talk) -> None:
    talk.turn()
    question, second = talk.turn()
    talk.answers(parentUuid=question)
    talk.turn()
    talk.prompts(second)


def a_note_of_a_question_beside_an_answer(talk: Talk) -> None:
    _, first = talk.turn()
    _, third = talk.turn()
    talk.answers(parentUuid=first)
    talk.prompts(third)


def a_note_of_an_answer_to_the_same_result(talk: Talk) -> None:
    talk.asks()
    _, call = talk.calls()
    result = talk.returns(call)
    second = talk.answers()
    talk.answers(parentUuid=result)
    talk.prompts(second)


def a_note_of_an_answer_to_another_result(talk: Talk) -> None:
    talk.asks()
    line, call = talk.calls()
    talk.returns(call)
    second = talk.answers()
    talk.returns(call, parentUuid=line)
    talk.answers()
    talk.prompts(second)


def a_note_that_is_older_than_the_conversation(talk: Talk) -> None:
    _, first = talk.turn()
    talk.prompts(first)
    talk.turn()


def a_note_of_a_line_that_is_not_there(talk: Talk) -> None:
    talk.turn()
    talk.turn()
    talk.prompts("00000000-cccc-4ccc-8ccc-cccccccccccc")


def a_parent_that_is_not_there(talk: Talk) -> None:
    talk.turn()
    talk.turn(parentUuid="00000000-cccc-4ccc-8ccc-cccccccccccc")


def no_parents_at_all(talk: Talk) -> None:
    talk.asks(parentUuid=None)
    talk.answers(parentUuid=None)
    talk.asks(parentUuid=None)
    talk.answers(parentUuid=None)


def a_circle(talk: Talk) -> None:
    talk.turn(parentUuid="00000004-bbbb-4bbb-8bbb-bbbbbbbbbbbb")
    talk.turn()


def a_branch_with_copies_of_its_beginning(talk: Talk) -> None:
    talk.turn()
    talk.turn()
    talk.again(0, 1)
    talk.turn()


def everything_once_more(talk: Talk) -> None:
    talk.turn()
    talk.turn()
    talk.again(0, 1, 2, 3)


def the_last_line_once_more(talk: Talk) -> None:
    talk.turn()
    talk.turn()
    talk.again(3)


def a_fork_with_another_session(talk: Talk) -> None:
    talk.turn(sessionId="0000000b-aaaa-4aaa-8aaa-aaaaaaaaaaaa", forkedFrom={"sessionId": "x", "messageUuid": "y"})
    talk.turn()


def a_helper_in_the_same_file(talk: Talk) -> None:
    talk.asks()
    _, call = talk.calls()
    before = talk.last
    talk.asks("noted: to the helper", isSidechain=True, parentUuid=None, agentId="a1")
    talk.last = before
    talk.returns(call)
    talk.answers()


def progress_between(talk: Talk) -> None:
    talk.asks()
    _, call = talk.calls()
    talk.row("progress", data={"type": "bash_progress", "output": "noted"}, toolUseID=call, parentToolUseID=call)
    talk.returns(call)
    talk.answers()


def times_that_go_back(talk: Talk) -> None:
    talk.turn()
    talk.asks(timestamp="2026-11-20T09:00:00.000Z")
    talk.answers(timestamp="2026-11-20T09:00:01.000Z")
