"""Messages of ChatGPT: what was said in each, the documents of its canvas, and its reports of Deep Research."""

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

from imports.reading.attached import Attached
from imports.reading.citations import cited
from imports.reading.conversation import (
    Attachment,
    Conversation,
    Role,
    fields_of,
    items_of,
    moment,
    name_of,
    text_of,
    unknown,
)
from imports.reading.documents import Documents

_TOOLS = frozenset({"execution_output", "tether_browsing_display", "tether_quote", "computer_output"})
_THOUGHTS = frozenset({"thoughts", "reasoning_recap"})
_HIDDEN = frozenset({"user_editable_context", "model_editable_context", "system_message", "system_error"})
_ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant"}
_TASK = "automations.create"
_UNSEEN = "is_visually_hidden_from_conversation"
_WIDGET = "The latest state of the widget is: "
_LANGUAGE = 40
_REPORTS = 100


def role_of(message: dict[str, Any]) -> Role | None:
    """The side that a message is of; None for tools and instructions."""
    return _ROLES.get(text_of(fields_of(message.get("author")).get("role")))


def author_of(message: dict[str, Any]) -> str | None:
    """The name of the person that a message is of, which it has where several talk."""
    author = fields_of(message.get("author"))
    return name_of(author.get("name")) if author.get("role") == "user" else None


class Messages:
    """Adds those of one conversation, or of one branch of it; `has_people`: several persons talk in it."""

    def __init__(self, found: Conversation, attached: Attached, *, has_people: bool) -> None:
        self._found = found
        self._attached = attached
        self._has_people = has_people
        self._documents = Documents(found)
        self._reports = 0

    def settle(self) -> None:
        """Write the documents, after the last message."""
        self._documents.settle()

    def add(self, node: str, message: dict[str, Any], following: dict[str, Any], left_out: Counter[str]) -> None:
        """Add what stands in a node; `following` is the message after it, which has the id of a document."""
        content, metadata = fields_of(message.get("content")), fields_of(message.get("metadata"))
        if not content:
            return
        kind, recipient = text_of(content.get("content_type")), text_of(message.get("recipient")) or "all"
        role = role_of(message)
        if role is None:
            self._add_others(node, message, content, left_out)
        elif kind in _THOUGHTS:
            left_out["thoughts"] += 1
        elif recipient.startswith("canmore.") and self._document(node, message, recipient, following, left_out):
            pass
        elif recipient == _TASK and (task := _task(content)):
            self._say(role, task, node, message)
        elif kind in _HIDDEN or metadata.get(_UNSEEN) is True:
            left_out["hidden_messages"] += 1
        elif kind in _TOOLS or recipient != "all":
            left_out["tool_calls"] += 1
        elif kind == "code":
            language = text_of(content.get("language"))[:_LANGUAGE].strip("\n`")
            language = "" if language == "unknown" else language
            if text := text_of(content.get("text")):
                self._say(role, f"```{language}\n{text}\n```", node, message)
        elif kind in ("text", "multimodal_text"):
            texts, files = self._parts(items_of(content.get("parts")), metadata, left_out)
            self._say(role, cited("\n\n".join(filter(None, texts)), metadata), node, message, files)
        else:
            left_out[unknown(kind)] += 1

    def _parts(
        self, parts: list[Any], metadata: dict[str, Any], left_out: Counter[str]
    ) -> tuple[list[str], list[Attachment]]:
        """The texts and the files of a message; where the export has no such file, the text says that there was one."""
        listed = [fields_of(each) for each in items_of(metadata.get("attachments"))]
        names = {name: text_of(each.get("name")) for each in listed if (name := name_of(each.get("id")))}
        texts: list[str] = []
        files: dict[str, Attachment] = {}
        for part in parts:
            if isinstance(part, str) or fields_of(part).get("content_type") == "audio_transcription":
                texts.append(part if isinstance(part, str) else text_of(part.get("text")))
                continue
            kind, pointers = text_of(fields_of(part).get("content_type")), _pointers(fields_of(part))
            found = [self._attached.find(each, names.get(each.rpartition("://")[2])) for each in pointers]
            files |= {file.key: file for file in found if file}
            if not any(found):
                what = "images" if "image" in kind else "audio" if "audio" in kind or "video" in kind else unknown(kind)
                left_out[what] += 1
                texts += ["[Picture]"] if what == "images" else []
        for name, each in names.items():
            if name not in files and (file := self._attached.find(name, each)):
                files[file.key] = file
        # A picture stands among the parts as well, and was counted there.
        left_out["files"] += sum(not _is_image(each) and name_of(each.get("id")) not in files for each in listed)
        return texts, list(files.values())

    def _say(self, role: Role, text: str, node: str, message: dict[str, Any], files: Sequence[Attachment] = ()) -> None:
        metadata = fields_of(message.get("metadata"))
        if self._has_people and text and (author := author_of(message)):
            text = f"{author}: {text}"
        time, model = moment(message.get("create_time")), name_of(metadata.get("model_slug"))
        self._found.say(role, text, time, model, name=node, files=files)

    def _add_others(self, node: str, message: dict[str, Any], content: dict[str, Any], left_out: Counter[str]) -> None:
        """Add a report, which lies in a message of a tool; count what else tools and instructions say."""
        is_tool = fields_of(message.get("author")).get("role") == "tool"
        texts = [part for part in items_of(content.get("parts")) if isinstance(part, str) and part]
        metadata = fields_of(message.get("metadata"))
        report = _report(metadata, texts) if is_tool else ""
        shown = items_of(content.get("parts")) if is_tool and not metadata.get(_UNSEEN) else []
        if pictures := [part for part in shown if "image" in text_of(fields_of(part).get("content_type"))]:
            shown_texts, files = self._parts(pictures, metadata, left_out)
            self._say("assistant", "\n\n".join(shown_texts), node, message, files)
        elif not report or self._reports >= _REPORTS:
            left_out["tool_calls" if is_tool else "hidden_messages"] += is_tool or bool(texts)
        elif all(report not in each.text for each in self._found.messages):
            self._reports += 1
            self._say("assistant", report, node, message)

    def _document(
        self,
        node: str,
        message: dict[str, Any],
        recipient: str,
        following: dict[str, Any],
        left_out: Counter[str],
    ) -> bool:
        """Make or change a document of the canvas; False for what is no such call."""
        called = _called(fields_of(message.get("content")))
        canvas = fields_of(fields_of(following.get("metadata")).get("canvas"))
        name = name_of(canvas.get("textdoc_id"))
        if recipient == "canmore.create_textdoc" and isinstance(called.get("content"), str):
            kind = text_of(called.get("type")) or text_of(canvas.get("textdoc_type"))
            title = name_of(called.get("name")) or name_of(canvas.get("title"))
            language = kind.partition("/")[2][:_LANGUAGE] if kind.startswith("code") else None
            document = self._documents.write(name or node, title, called["content"], language)
        elif recipient == "canmore.update_textdoc" and (changed := self._documents.get(name)):
            document = changed
            for each in map(fields_of, items_of(called.get("updates"))):
                pattern, replacement = text_of(each.get("pattern")), text_of(each.get("replacement"))
                everywhere = each.get("multiple") is True
                self._documents.change(document, pattern, replacement, everywhere=everywhere)
        else:
            return False
        model = name_of(fields_of(message.get("metadata")).get("model_slug"))
        self._documents.show(document, moment(message.get("create_time")), model, node, left_out)
        return True


def _report(metadata: dict[str, Any], texts: list[str]) -> str:
    """The report of Deep Research in the state of its widget, or nothing."""
    states = [text_of(fields_of(metadata.get("chatgpt_sdk")).get("widget_state"))]
    states += [text.partition(_WIDGET)[2] for text in texts if text.startswith(_WIDGET)]
    for state in filter(None, states):
        message = fields_of(_json(state).get("report_message"))
        parts = items_of(fields_of(message.get("content")).get("parts"))
        if text := "\n\n".join(part for part in parts if isinstance(part, str) and part):
            return cited(text, fields_of(message.get("metadata")))
    return ""


def _called(content: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a call."""
    parts = items_of(content.get("parts")) or [content.get("text")]
    return _json("".join(part for part in parts if isinstance(part, str)))


def _task(content: dict[str, Any]) -> str:
    """The text of a task that was made: what is to be done, and when; nothing for what is no such call."""
    called = _called(content)
    title, prompt, schedule = (text_of(called.get(name)).strip() for name in ("title", "prompt", "schedule"))
    rule = next((line for line in schedule.splitlines() if line.startswith("RRULE:")), "")
    return "\n\n".join(filter(None, (f"[Task: {title or 'without a name'}]", prompt, rule))) if prompt else ""


def _json(text: str) -> dict[str, Any]:
    try:
        return fields_of(json.loads(text))
    except (ValueError, RecursionError):
        return {}


def _pointers(part: dict[str, Any]) -> list[str]:
    """The addresses of the files in a part; a part of a call has those of its recording and its film."""
    members = (part, fields_of(part.get("audio_asset_pointer")), fields_of(part.get("video_container_asset_pointer")))
    return [pointer for each in members if (pointer := text_of(each.get("asset_pointer")))]


def _is_image(attachment: dict[str, Any]) -> bool:
    return text_of(attachment.get("mime_type") or attachment.get("mimeType")).startswith("image/")
