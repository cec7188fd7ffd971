"""Shapes of answers that call tools, think, or come in pieces."""

from .writing import Talk, text

_PICTURE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def one_call(talk: Talk) -> None:
    talk.asks()
    talk.returns(talk.calls()[1])
    talk.answers()


def calls_at_once(talk: Talk) -> None:
    talk.asks()
    first, one = talk.calls(message="msg_a")
    second, two = talk.calls(message="msg_a")
    talk.returns(one, parentUuid=first, sourceToolAssistantUUID=first)
    talk.returns(two, parentUuid=second, sourceToolAssistantUUID=second)
    talk.answers()


def calls_at_once_whose_results_come_in_another_order(talk: Talk) -> None:
    talk.asks()
    first, one = talk.calls(message="msg_a")
    second, two = talk.calls(message="msg_a")
    talk.returns(two, parentUuid=second, sourceToolAssistantUUID=second)
    talk.returns(one, parentUuid=first, sourceToolAssistantUUID=first)
    talk.answers()


def calls_at_once_with_a_result_between(talk: Talk) -> None:
    talk.asks()
    first, one = talk.calls(message="msg_a")
    talk.returns(one, sourceToolAssistantUUID=first)
    second, two = talk.calls(message="msg_a", parentUuid=first)
    talk.returns(two, sourceToolAssistantUUID=second)
    talk.answers()


def calls_at_once_and_the_next_question(talk: Talk) -> None:
    talk.asks()
    first, one = talk.calls(message="msg_a")
    second, two = talk.calls(message="msg_a")
    talk.returns(two, parentUuid=second)
    talk.returns(one, parentUuid=first)
    talk.answers()
    talk.turn()


def a_text_and_a_call_in_pieces(talk: Talk) -> None:
    talk.asks()
    talk.answers(text(talk.mark("answered")), message="msg_a")
    talk.returns(talk.calls(message="msg_a")[1])
    talk.answers()


def a_thought_before_the_answer(talk: Talk) -> None:
    talk.asks()
    talk.answers({"type": "thinking", "thinking": "noted", "signature": "x"}, message="msg_a")
    talk.answers(message="msg_a")
    talk.turn()


def a_call_without_a_result(talk: Talk) -> None:
    talk.asks()
    talk.calls()
    talk.turn()


def a_call_at_the_end(talk: Talk) -> None:
    talk.turn()
    talk.asks()
    talk.calls()


def a_result_at_the_end(talk: Talk) -> None:
    talk.asks()
    talk.returns(talk.calls()[1])


def a_result_without_its_call(talk: Talk) -> None:
    talk.turn()
    talk.returns("called_never", "noted")
    talk.turn()


def a_result_of_blocks(talk: Talk) -> None:
    talk.asks()
    talk.returns(talk.calls()[1], [text(talk.mark("result"))])
    talk.answers()


def a_picture_in_a_question(talk: Talk) -> None:
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": _PICTURE}}
    talk.asks([picture, text(talk.mark("asked"))])
    talk.answers()


def a_large_picture_in_a_question(talk: Talk) -> None:
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": _PICTURE * 20_000}}
    talk.asks([picture, text(talk.mark("asked"))])
    talk.answers()


def several_texts_in_a_question(talk: Talk) -> None:
    talk.asks([text(talk.mark("asked")), text(talk.mark("asked"))])
    talk.answers()


def an_answer_that_is_a_text(talk: Talk) -> None:
    talk.asks()
    talk.row(
        "assistant",
        message={"id": "msg_x", "role": "assistant", "model": "claude-opus-4-6", "content": talk.mark("answered")},
    )
    talk.turn()


def an_empty_answer(talk: Talk) -> None:
    talk.asks()
    talk.answers(text(""))
    talk.turn()


def a_block_of_an_unknown_kind(talk: Talk) -> None:
    talk.asks()
    talk.answers({"type": "from_the_future", "data": "noted"}, text(talk.mark("answered")))
    talk.turn()
