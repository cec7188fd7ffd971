/** The backups that there are, newest first, and the question before one of them is restored. */
import { useState } from "preact/hooks";
import { api } from "~/api/client";
import { Button } from "~/components/button";
import { ask, Dialog } from "~/components/dialog";
import { Switch } from "~/components/field";
import { Badge, Facts, Loaded, Notice, Row } from "~/components/layout";
import { useResource } from "~/state/resource";
import { bytes, moment } from "~/text/messages";
import type { Backup } from "./models";
import { t } from "./texts";

interface Props {
  /** True if keys and settings are to come back as well, by default. */
  isWhole: boolean;
  onBegun: () => unknown;
}

export function Choice({ isWhole, onBegun }: Props) {
  const found = useResource((signal) => api.get("/api/backups/list", { signal }), "list");
  const choose = async (backup: Backup) => {
    const trust = await ask<boolean>((close) => <Question backup={backup} isWhole={isWhole} close={close} />);
    if (trust === undefined) return;
    await api.post("/api/backups/restore", { body: { backup: backup.id, trust } });
    await onBegun();
  };
  return (
    <Loaded of={found}>
      {({ backups }) =>
        backups.length === 0 ? (
          <Notice>
            <p>{t("none")}</p>
            <p class="muted">{t("none_text")}</p>
          </Notice>
        ) : (
          <ul class="rows" aria-label={t("backups")}>
            {[...backups].reverse().map((backup) => (
              <Line key={backup.id} backup={backup} isOther={!backup.own && backups.some(({ own }) => own)} choose={() => choose(backup)} />
            ))}
          </ul>
        )
      }
    </Loaded>
  );
}

function Line({ backup, isOther, choose }: { backup: Backup; isOther: boolean; choose: () => Promise<void> }) {
  return (
    <Row
      title={moment(backup.made_at)}
      badges={
        <>
          {isOther && <Badge text={t("of_other")} />}
          {!backup.finished && <Badge text={t("unfinished")} kind="warning" />}
        </>
      }
      text={
        <>
          <bdi>{backup.computer}</bdi>
          {backup.bytes !== null && ` · ${bytes(backup.bytes)}`}
        </>
      }
      actions={
        backup.finished && <Button label={t("choose")} onPress={choose} />
      }
    />
  );
}

function Question({ backup, isWhole, close }: { backup: Backup; isWhole: boolean; close: (trust?: boolean) => void }) {
  const [trust, setTrust] = useState(isWhole);
  return (
    <Dialog
      title={t("restore_title")}
      onClose={() => close()}
      actions={
        <>
          <Button label={t("cancel")} onPress={() => close()} />
          <Button label={t("restore")} kind="primary" onPress={() => close(trust)} />
        </>
      }
    >
      <Facts
        facts={[
          [t("made"), moment(backup.made_at)],
          [t("computer"), <bdi>{backup.computer}</bdi>],
          ...(backup.bytes === null ? [] : [[t("size"), bytes(backup.bytes)] as const]),
        ]}
      />
      <Switch label={t("trust")} hint={t(trust ? "trust_on" : "trust_off")} isOn={trust} onChange={setTrust} />
      <p>{t("restore_text")}</p>
      <p>{t("restore_kept")}</p>
      {trust && location.protocol === "https:" && (
        <Notice kind="warning">
          <p>{t("certificate")}</p>
        </Notice>
      )}
    </Dialog>
  );
}
