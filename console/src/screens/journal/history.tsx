/** Earlier versions of a day's file: reading one, and bringing it back. */
import { useState } from "preact/hooks";
import { Button } from "~/components/button";
import { ask, Dialog } from "~/components/dialog";
import { Empty, Loaded, Page, Row } from "~/components/layout";
import { useResource } from "~/state/resource";
import { to } from "~/state/router";
import { may } from "~/state/session";
import { attempt, toast } from "~/state/toasts";
import { bytes, moment } from "~/text/messages";
import { bringBack, type Version, versions, versionText } from "./data";
import { dayName } from "./dates";
import { t } from "./texts";

export function History({ date }: { date: string }) {
  const found = useResource((signal) => versions(date, signal), date, ["data"]);
  const look = async (version: Version) => {
    const isWanted = await ask<boolean>((close) => <Look version={version} close={close} />);
    if (!isWanted) return;
    await bringBack(version.id);
    await found.reload();
    // The version that was replaced is the newest one now.
    const undo = async () => {
      const [newest] = await versions(date, new AbortController().signal);
      if (newest) await bringBack(newest.id);
      await found.reload();
    };
    toast(t("brought_back"), { action: { label: t("undo"), run: () => void attempt(undo) } });
  };
  return (
    <Page title={t("history")} back={to("journal", [date])}>
      <p class="muted">{t("history_text", { day: dayName(date) })}</p>
      <Loaded of={found}>
        {(all) =>
          all.length === 0 ? (
            <Empty icon="undo" title={t("no_history")} text={t("no_history_text")} />
          ) : (
            <ul class="rows" aria-label={t("history")}>
              {all.map((version) => (
                <Row
                  key={version.id}
                  title={moment(version.kept_at)}
                  text={`${t(`why_${version.why}` as "why_changed")} · ${bytes(version.size)}`}
                  actions={<Button label={t("look")} onPress={() => look(version)} />}
                />
              ))}
            </ul>
          )
        }
      </Loaded>
    </Page>
  );
}

function Look({ version, close }: { version: Version; close: (isWanted?: boolean) => void }) {
  const [isLong, setLong] = useState(false);
  const text = useResource((signal) => versionText(version.id, signal), String(version.id));
  return (
    <Dialog
      title={moment(version.kept_at)}
      isWide
      onClose={() => close()}
      actions={
        <>
          <Button label={t("cancel")} onPress={() => close()} />
          {may("daily", "write") && <Button label={t("bring_back")} icon="undo" kind="primary" onPress={() => close(true)} />}
        </>
      }
    >
      <Loaded of={text}>
        {(whole) => (
          <>
            <pre class="text-block" tabIndex={0}>
              {isLong ? whole : whole.slice(0, 20_000)}
            </pre>
            {whole.length > 20_000 && !isLong && <Button label={t("all_of_it")} onPress={() => setLong(true)} />}
          </>
        )}
      </Loaded>
    </Dialog>
  );
}
