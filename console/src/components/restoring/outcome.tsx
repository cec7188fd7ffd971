/** Result of the last restore, the folders that it has kept, and the way back. */
import type { ComponentChildren } from "preact";
import { api } from "~/api/client";
import { Button } from "~/components/button";
import { confirm } from "~/components/dialog";
import { Notice } from "~/components/layout";
import { toast } from "~/state/toasts";
import { ago, moment } from "~/text/messages";
import type { LastRestore } from "./models";
import { t } from "./texts";

interface Props {
  last: LastRestore;
  reload: () => Promise<void>;
  onBegun: () => unknown;
  /** Next step for somebody who has just restored. */
  children?: ComponentChildren;
}

/** Result of an earlier restore, as long as there is something to do about it. */
export function Earlier({ last, reload, onBegun }: Omit<Props, "children">) {
  if (last.result !== "restored") return <Outcome last={last} reload={reload} onBegun={onBegun} />;
  if (last.kept.length === 0) return null;
  const { at, made_at, computer } = last;
  return (
    <>
      <p>
        <bdi>{t("was_restored", { ago: ago(at), time: moment(made_at), computer })}</bdi>
      </p>
      <Kept last={last} reload={reload} onBegun={onBegun} />
    </>
  );
}

/** Result of a restore that has just ended. */
export function Outcome({ last, reload, onBegun, children }: Props) {
  return (
    <>
      <div role="status">
        <Notice kind={last.result === "restored" ? "good" : last.result === "failed" ? "danger" : "warning"}>
          <Told last={last} />
        </Notice>
      </div>
      {children}
      {last.kept.length > 0 && <Kept last={last} reload={reload} onBegun={onBegun} />}
    </>
  );
}

function Told({ last: { result, made_at, trust, problem } }: { last: LastRestore }) {
  switch (result) {
    case "restored":
      return (
        <>
          <p>
            <strong>{t(trust ? "back" : "back_data")}</strong>
          </p>
          <p>{t("back_text", { time: moment(made_at) })}</p>
          <p>{t(trust ? "back_trust" : "back_vault")}</p>
        </>
      );
    case "failed":
      return (
        <p>
          <bdi>{t("failed", { problem: problem ?? "" })}</bdi>
        </p>
      );
    case "back":
      return (
        <p>
          <bdi>{problem === null ? t("returned") : t("returned_because", { problem })}</bdi>
        </p>
      );
  }
}

function Kept({ last, reload, onBegun }: Omit<Props, "children">) {
  const undo = async () => {
    if (!(await confirm(t("undo_title"), t("undo_text"), t("undo")))) return;
    await api.post("/api/backups/restore/undo");
    await onBegun();
  };
  const remove = async () => {
    if (!(await confirm(t("remove_title"), t("remove_text"), t("remove_yes")))) return;
    await api.delete("/api/backups/restore/kept");
    toast(t("removed"));
    await reload();
  };
  return (
    <div class="restoring-kept">
      <p>{t(last.result === "back" ? "kept_back" : "kept")}</p>
      <ul class="plain-list">
        {last.kept.map((path) => (
          <li key={path}>
            <code>
              <bdi>{path}</bdi>
            </code>
          </li>
        ))}
      </ul>
      <div class="buttons">
        <Button label={t("remove")} icon="trash" onPress={remove} />
        <Button label={t("undo")} icon="undo" onPress={undo} />
      </div>
    </div>
  );
}
