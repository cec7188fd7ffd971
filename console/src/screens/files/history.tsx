/** Changes of these files from a device, each of which can be taken back. */
import { api } from "~/api/client";
import { Button } from "~/components/button";
import { Dialog } from "~/components/dialog";
import { Ago, Badge, Loaded, Row } from "~/components/layout";
import { useResource } from "~/state/resource";
import { may } from "~/state/session";
import { toast } from "~/state/toasts";
import { titles } from "./about";
import { type Change, nameOf } from "./models";
import { t } from "./texts";

const SHOWN = 3;

export function HistoryDialog({ path, onClose }: { path: string; onClose: () => void }) {
  return (
    <Dialog title={t("history_of", { name: nameOf(path) || titles("title") })} onClose={onClose} isWide>
      <History path={path} />
    </Dialog>
  );
}

function History({ path }: { path: string }) {
  const found = useResource(
    (signal) => api.get("/api/files/changes", { query: { path }, signal }),
    `changes/${path}`,
    ["files"],
  );
  const back = async (change: number) => {
    await undo(change);
    await found.reload();
  };
  return (
    <Loaded of={found}>
      {({ changes }) =>
        changes.length === 0 ? (
          <p class="muted">{t("no_history")}</p>
        ) : (
          <ul class="rows">
            {changes.map((change) => (
              <Row
                key={change.change}
                title={
                  <>
                    {change.kind === "undo" ? t("was_undo", { change: change.of ?? 0 }) : what(change)} <Ago time={change.at} />
                  </>
                }
                badges={change.files.every(({ undone }) => undone) && <Badge text={t("taken_back")} />}
                text={
                  <>
                    {change.files.slice(0, SHOWN).map((file) => (
                      <div key={file.path}>
                        <bdi>{file.path}</bdi>
                      </div>
                    ))}
                    {change.total > SHOWN && t("and_more", { n: change.total - SHOWN })}
                  </>
                }
                actions={
                  may("vault", "write") &&
                  change.files.some(({ undone }) => !undone) && <Button label={t("take_back")} onPress={() => back(change.change)} />
                }
              />
            ))}
          </ul>
        )
      }
    </Loaded>
  );
}

function what({ files }: Change): string {
  const kinds = new Set(files.map(({ change }) => change));
  const [only] = kinds;
  return kinds.size === 1 && only ? t(`was_${only}` as "was_created") : t("was_moved");
}

/** Take a change back, and say what could not be. */
export async function undo(change: number): Promise<void> {
  const { restored, conflicts } = await api.post("/api/files/undo", { body: { change } });
  if (restored.length) toast(t("undone", { n: restored.length }));
  if (conflicts.length) toast(t("undo_conflicts", { names: conflicts.join(", ") }), { isError: true });
}
