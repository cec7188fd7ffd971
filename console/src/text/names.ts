/** Names that the computer itself gives, as people say them: of its modules, of kinds of knowledge, of fields, and of the parts of its API. */
import { messages } from "./messages";

const t = messages("names", {
  module_brain: "Knowledge",
  module_daily: "Journal",
  module_chat: "Chat",
  module_imports: "Imports",
  module_conversation: "A conversation",
  module_settings: "Settings",
  module_memory: "Memory",
  module_contexts: "Instructions",
  agent_reflection: "Reflection",
  agent_Reflection: "Reflection",
  type_person: "person",
  type_project: "project",
  type_topic: "topic",
  type_resource: "resource",
  field_status: "status",
  field_work_path: "folder",
  field_aliases: "other names",
  field_tags: "tags",
  field_relationships: "relationships",
  field_url: "address",
  field_append: "added text",
  field_section: "section",
  field_source: "source",
  field_name: "name",
  field_content: "text",
  field_description: "description",
  part_agents: "agents",
  part_audit: "activity",
  part_auth: "keys",
  part_backup: "backups",
  part_bots: "bots",
  part_brain: "knowledge",
  part_chat: "conversations",
  part_config: "settings",
  part_daily: "the journal",
  part_doctor: "the doctor",
  part_files: "files",
  part_git: "repositories",
  part_hooks: "hooks",
  part_import: "imports",
  part_inbox: "the inbox",
  part_mcps: "MCP servers",
  part_modules: "modules",
  part_network: "hosts on the internet",
  part_pairing: "signed-in devices",
  part_plugins: "plugins",
  part_scheduler: "scheduled agents",
  part_skills: "skills",
  part_suggestions: "suggestions",
  part_updates: "updates",
  part_usage: "costs",
  part_workspaces: "workspaces",
  part_write: "files",
});

type Kind = "module" | "agent" | "type" | "field" | "part";

/** The name of ours in words; the name itself where somebody else gave it. */
function called(kind: Kind, name: string): string {
  const key = `${kind}_${name}`;
  const text = t(key as "type_person");
  return text === key ? name : text;
}

export const moduleName = (name: string) => called("module", name);
export const agentName = (name: string) => called("agent", name);
export const typeName = (name: string) => called("type", name);
export const partName = (name: string) => called("part", name);

/** A field of an entity or of a suggestion: its words, without the signs between them. */
export const fieldName = (name: string) => {
  const known = called("field", name);
  return known === name ? name.replace(/_/g, " ") : known;
};

/** The same above a field or a value. */
export const fieldLabel = (name: string) => fieldName(name).replace(/^./u, (letter) => letter.toUpperCase());
