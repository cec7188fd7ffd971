/** The workspaces, offered where the first message is written. */
import { Chips } from "~/components/layout";
import { may } from "~/state/session";
import { attempt } from "~/state/toasts";
import type { Beginning } from "./conversation";
import { t } from "./header_texts";
import { levelOf, mayBecome, type Place } from "./rights";

/** More than these are in the menu of the header. */
const MOST = 4;

interface Props {
  workspaces: readonly Place[];
  beginning: Beginning;
  onBeginning: (beginning: Beginning) => void;
}

export function OfferedWorkspaces({ workspaces, beginning, onBeginning }: Props) {
  if (workspaces.length === 0 || !may("chat", "write")) return null;
  const chosen = workspaces.find(({ slug }) => slug === beginning.workspaceId);
  const first = workspaces.slice(0, MOST);
  const shown = chosen && !first.includes(chosen) ? [...first.slice(0, MOST - 1), chosen] : first;
  const choose = (slug: string) => attempt(() => begunIn(slug === beginning.workspaceId ? "" : slug, beginning, workspaces, onBeginning));
  return (
    <Chips
      label={t("workspace")}
      value={beginning.workspaceId ?? ""}
      options={shown.map(({ slug, name }) => ({ value: slug, label: name }))}
      onChange={(slug) => void choose(slug)}
    />
  );
}

/** Begin in a workspace, or in none; one that gives full rights is asked about. */
export async function begunIn(slug: string, beginning: Beginning, workspaces: readonly Place[], onBeginning: Props["onBeginning"]): Promise<void> {
  const after = { ...beginning, workspaceId: slug || undefined };
  if (await mayBecome(levelOf(after, workspaces), levelOf(beginning, workspaces))) onBeginning(after);
}
