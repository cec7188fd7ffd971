import type { ScreenProps } from "~/screens";
import { ClaudeCode } from "./claude_code";
import { Import } from "./import";
import { Imports } from "./imports";
import { List } from "./list";

export default function Conversations({ rest }: ScreenProps) {
  const [part, id] = rest;
  if (part === "claude-code") return <ClaudeCode />;
  if (part === "import") return id ? <Import key={id} id={id} /> : <Imports />;
  return <List />;
}
