import { messages } from "~/text/messages";

/** Texts of what a conversation shows between and below its messages. */
export const t = messages("chat_log", {
  edit: "Edit this message",
  edited: "Edited message",
  edit_text: "The conversation goes on from here as a version of its own. The other version stays.",
  send: "Send",
  cancel: "Cancel",
  another: "Try again",
  versions: "Versions",
  version_of: "{shown}/{all}",
  previous: "Previous version",
  next: "Next version",
  compare: "Compare answers",
  compare_title: "Answers side by side",
  open_version: "Go on with this one",
  no_answer: "This version has no answer yet.",
  show_all: "Show all",
  to_end: "Jump to the end",
  find: "Find in this conversation",
  found: "{shown} of {all}",
  found_none: "Not found",
  find_previous: "Previous match",
  find_next: "Next match",
  close_find: "Close the search",
  today: "Today",
});
