import { messages } from "~/text/messages";

export const t = messages("inbox", {
  empty: "Nothing needs your decision",
  empty_text: "Questions of agents, hosts they want to reach, suggestions, and everything else that needs your decision appear here.",
  talk: "Start a conversation",
  conversation: "Conversation",
  only_here: "Decide on the computer itself: {command}",
  not_yours: "This device may not decide this.",
  newer: "Reload this page to answer it.",
  open: "Open the link",
  undo: "Undo",
  undone: "Undone.",
  all_done_one: "{n} answered.",
  all_done_other: "All {n} answered.",
});
