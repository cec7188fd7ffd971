"""Shapes of conversations that were summarized on their way."""

from typing import Any

from .writing import Talk, text


def _compact(talk: Talk, **metadata: Any) -> tuple[str, str]:
    about = {"trigger": "manual", "preTokens": 100, **metadata}
    before = talk.last
    boundary = talk.system(
        "compact_boundary",
        content="Conversation compacted",
        parentUuid=None,
        logicalParentUuid=before,
        compactMetadata=about,
    )
    summary = talk.notes(talk.mark("summary"), isCompactSummary=True, isVisibleInTranscriptOnly=True)
    return boundary, summary


def summarized(talk: Talk) -> None:
    talk.turn()
    _compact(talk)
    talk.turn()


def summarized_twice(talk: Talk) -> None:
    talk.turn()
    _compact(talk)
    talk.turn()
    _compact(talk)
    talk.turn()


def summarized_at_the_end(talk: Talk) -> None:
    talk.turn()
    _compact(talk)


def summarized_by_a_command(talk: Talk) -> None:
    talk.turn()
    _compact(talk)
    talk.notes("<local-command-caveat>noted</local-command-caveat>", isMeta=True)
    talk.notes(
        "<command-name>/compact</command-name>\n<command-message>compact</command-message>\n<command-args></command-args>"
    )
    talk.notes(f"<local-command-stdout>Compacted {talk.mark('noted')}</local-command-stdout>")
    talk.turn()


def gone_back_behind_a_summary(talk: Talk) -> None:
    talk.turn()
    _, summary = _compact(talk)
    talk.turn()
    talk.turn(parentUuid=summary)


def gone_back_to_before_a_summary(talk: Talk) -> None:
    _, first = talk.turn()
    talk.turn()
    _compact(talk)
    talk.turn()
    talk.turn(parentUuid=first)


def a_summary_with_copies_of_what_was_said(talk: Talk) -> None:
    talk.turn()
    talk.turn()
    _compact(talk)
    talk.again(2, 3)
    talk.turn()


def a_summary_that_keeps_the_end(talk: Talk) -> None:
    talk.turn()
    head, tail = talk.turn()
    talk.last = tail
    number = len(talk.lines) + 2
    anchor = f"{number:08x}-bbbb-4bbb-8bbb-bbbbbbbbbbbb"
    _compact(talk, preservedSegment={"headUuid": head, "tailUuid": tail, "anchorUuid": anchor})
    talk.turn()


def a_summary_that_lists_what_it_keeps(talk: Talk) -> None:
    talk.turn()
    kept = talk.turn()
    number = len(talk.lines) + 2
    anchor = f"{number:08x}-bbbb-4bbb-8bbb-bbbbbbbbbbbb"
    _compact(talk, preservedMessages={"uuids": list(kept), "anchorUuid": anchor})
    talk.turn()


def a_small_boundary(talk: Talk) -> None:
    talk.turn()
    talk.system(
        "microcompact_boundary",
        content="Context microcompacted",
        microcompactMetadata={
            "trigger": "auto",
            "preTokens": 1,
            "tokensSaved": 1,
            "compactedToolIds": [],
            "clearedAttachmentUUIDs": [],
        },
    )
    talk.turn()


def a_title_line_between(talk: Talk) -> None:
    talk.turn()
    talk.add({"type": "summary", "summary": "noted", "leafUuid": talk.last})
    talk.add({"type": "custom-title", "customTitle": "noted", "sessionId": "x"})
    talk.turn()


def tools_before_and_behind(talk: Talk) -> None:
    talk.asks()
    talk.returns(talk.calls()[1])
    talk.answers(text(talk.mark("answered")))
    _compact(talk)
    talk.asks()
    talk.returns(talk.calls()[1])
    talk.answers()
