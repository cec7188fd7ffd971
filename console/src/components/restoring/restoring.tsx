/** Restoring a backup, from its place and password to a computer that has come up with it. */
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { api } from "~/api/client";
import { Button } from "~/components/button";
import { Loaded, Notice, Progress } from "~/components/layout";
import { useResource } from "~/state/resource";
import { load as loadMe } from "~/state/session";
import { number } from "~/text/messages";
import { said } from "~/text/server_sentences";
import { Access } from "./access";
import { Choice } from "./choice";
import { type Known, load, type Running } from "./models";
import { Earlier, Outcome } from "./outcome";
import { t } from "./texts";

interface Props {
  /** A fresh computer: the list is shown at once, and everything comes back unless somebody says otherwise. */
  isFresh?: boolean;
  /** Next step for somebody who has just restored. */
  next: (trust: boolean) => ComponentChildren;
  /** Content above the list. */
  children?: ComponentChildren;
  /** Content in its place, as long as nothing is being restored. */
  otherwise?: ComponentChildren;
}

const SECOND = 1000;

export function Restoring({ isFresh = false, next, children, otherwise }: Props) {
  const found = useResource(load, "restoring", ["backups", "settings"]);
  // When the restore before had ended: another one is ours. Undefined until one was begun here.
  const [before, setBefore] = useState<string | null>();
  // Whether it was seen at work, or away: only then can it have been broken off.
  const [isSeen, setSeen] = useState(false);
  const { value } = found;
  const isRestoring = value?.status.running?.kind === "restore";
  const isAway = found.error !== undefined;
  const isOurs = before !== undefined || isRestoring;
  const isOver = value !== undefined && before !== undefined && (value.last?.at ?? null) !== before;
  const begin = async () => {
    const was = value?.last?.at ?? null;
    setSeen(false);
    await found.reload();
    setBefore(was);
  };
  useEffect(() => {
    if (isOurs && (isRestoring || isAway)) setSeen(true);
  }, [isOurs, isRestoring, isAway]);
  useEffect(() => {
    // The computer is away in between, and its stream of changes with it.
    if (!isOurs || isOver) return;
    if (before === undefined) setBefore(value?.last?.at ?? null);
    const timer = setInterval(() => void found.reload(), SECOND);
    return () => clearInterval(timer);
  }, [isOurs, isOver, found.reload]);
  useEffect(() => {
    // Who is signed in may do something else now.
    if (isOver) void loadMe();
  }, [isOver]);
  const isOnItsWay = before !== undefined && !isSeen && !isRestoring;
  if (isOurs && !isOver && (isAway || isOnItsWay)) return <Away />;
  return (
    <Loaded of={found}>
      {(known) =>
        isOver && known.last ? (
          <Outcome last={known.last} reload={found.reload} onBegun={begin}>
            {known.last.result === "restored" && next(known.last.trust)}
          </Outcome>
        ) : known.status.running?.kind === "restore" ? (
          <UnderWay running={known.status.running} reload={found.reload} />
        ) : (
          <>
            <Start known={known} isFresh={isFresh} isBrokenOff={before !== undefined} reload={found.reload} onBegun={begin}>
              {children}
            </Start>
            {otherwise}
          </>
        )
      }
    </Loaded>
  );
}

interface StartProps {
  known: Known;
  isFresh: boolean;
  isBrokenOff: boolean;
  reload: () => Promise<void>;
  onBegun: () => unknown;
  children?: ComponentChildren;
}

function Start({ known: { status, last }, isFresh, isBrokenOff, reload, onBegun, children }: StartProps) {
  const [isElsewhere, setElsewhere] = useState(false);
  const opened = async () => {
    await reload();
    setElsewhere(false);
  };
  return (
    <>
      {isBrokenOff && (
        <Notice kind="danger">
          <p role="alert">{status.problem ? said(status.problem) : t("broken")}</p>
        </Notice>
      )}
      {last && <Earlier last={last} reload={reload} onBegun={onBegun} />}
      {!status.configured || isElsewhere ? (
        <Access place={status.repository ?? ""} onOpened={opened} />
      ) : (
        <>
          {children}
          <Choice key={status.repository} isWhole={isFresh} onBegun={onBegun} />
          <div>
            <Button label={t("other_place")} kind="quiet" onPress={() => setElsewhere(true)} />
          </div>
        </>
      )}
    </>
  );
}

function UnderWay({ running, reload }: { running: Running; reload: () => Promise<void> }) {
  const stop = async () => {
    await api.delete("/api/backups/running");
    await reload();
  };
  return (
    <div role="status">
      <Notice>
        <p>
          <strong>{t("under_way")}</strong>
        </p>
        <p>
          <Step text={running.step} />
          {running.part !== null && ` · ${number(running.part, { style: "percent" })}`}
        </p>
        <Progress value={running.part ?? undefined} label={t("under_way")} />
        <Button label={t("stop")} onPress={stop} />
      </Notice>
    </div>
  );
}

function Step({ text }: { text: string | null }) {
  switch (text) {
    case null:
      return <>{t("begin")}</>;
    case "Restoring vault":
      return <>{t("step_vault")}</>;
    case "Restoring trust":
      return <>{t("step_trust")}</>;
    case "Comparing every file":
      return <>{t("step_compare")}</>;
    case "Writing it to the disk":
      return <>{t("step_disk")}</>;
    default:
      return <bdi>{said(text)}</bdi>;
  }
}

function Away() {
  return (
    <div role="status">
      <Notice>
        <p>{t("away")}</p>
        <Progress label={t("away")} />
      </Notice>
    </div>
  );
}
