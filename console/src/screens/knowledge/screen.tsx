import { WithModule } from "~/components/with_module";
import type { ScreenProps } from "~/screens";
import { titles } from "./about";
import { Around } from "./around";
import { Duplicates } from "./duplicates";
import { EditEntity, NewEntity } from "./edit";
import { EntityPage } from "./entity";
import { List } from "./list";
import { Named } from "./named";
import { t } from "./texts";
import { EditType, NewType } from "./type_form";
import { Types } from "./types";

export default function Knowledge(props: ScreenProps) {
  return (
    <WithModule name="brain" screen={titles("title")} title={t("module")} icon="knowledge" text={t("module_text")}>
      <Part {...props} />
    </WithModule>
  );
}

function Part({ rest, query }: ScreenProps) {
  const [part, name, action] = rest;
  if (part === "entity" && name) {
    if (action === "edit") return <EditEntity key={name} id={name} />;
    if (action === "around") return <Around key={name} id={name} />;
    return <EntityPage key={name} id={name} />;
  }
  if (part === "named" && name) return <Named key={name} name={name} />;
  if (part === "new") return <NewEntity type={query.get("type") ?? undefined} name={query.get("name") ?? ""} />;
  if (part === "types") {
    if (name === "new") return <NewType />;
    return name ? <EditType key={name} name={name} /> : <Types />;
  }
  if (part === "duplicates") return <Duplicates type={name} />;
  return <List type={part === "type" ? name : undefined} />;
}
