import { messages } from "~/text/messages";

export const t = messages("chat_header", {
  title: "Workspace, model, rights and folder",
  workspace: "Workspace",
  no_workspace: "No workspace",
  model: "Model",
  default_model: "Default model",
  rights: "Rights",
  sandboxed: "In a sandbox",
  direct: "With your own rights",
  direct_title: "Run with your own rights?",
  direct_text: "The agent can then read, change and delete everything that you can, on this computer and wherever you are signed in. No sandbox holds it back, and not all of it can be undone.",
  direct_yes: "Give it my rights",
  folder: "Folder",
  no_folder: "No folder",
  other_folder: "Another folder",
  folder_label: "Path in your vault, or from the root of this computer",
  folder_stays: "A conversation stays in the folder in which it began.",
  begin_elsewhere: "New conversation",
  choose: "Choose",
});
