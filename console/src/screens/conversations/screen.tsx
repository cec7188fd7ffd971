import { WithModule } from "~/components/with_module";
import type { ScreenProps } from "~/screens";
import { ClaudeCode } from "./claude_code";
import { Import } from "./import";
import { Imports } from "./imports";
import { List } from "./list";
import { t } from "./texts";

export default function Conversations({ rest }: ScreenProps) {
  const [part, id] = rest;
  if (part === "claude-code") return <ClaudeCode />;
  if (part === "import") {
    return (
      <WithModule name="imports" screen={t("import")} title={t("import_module")} icon="upload" text={t("import_text")}>
        {id ? <Import key={id} id={id} /> : <Imports />}
      </WithModule>
    );
  }
  return <List />;
}
