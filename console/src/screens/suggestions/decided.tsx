/** Decided suggestions, the newest first, and taking them back. */
import { useState } from "preact/hooks";
import { api } from "~/api/client";
import { Button, LinkButton } from "~/components/button";
import { Dialog } from "~/components/dialog";
import { Ago, Badge, Empty, Loaded, Row } from "~/components/layout";
import { mayUndo, named, Source, type Suggestion, SuggestionBody } from "~/components/suggestion";
import { useResource } from "~/state/resource";
import { to } from "~/state/router";
import { undo } from "./actions";
import { t } from "./texts";

const MOST = 100;
const STATUSES = ["approved", "modified", "rejected"] as const;

async function load(signal: AbortSignal): Promise<Suggestion[]> {
  const pages = await Promise.all(
    STATUSES.map((status) => api.get("/api/suggestions", { query: { status, limit: MOST }, signal })),
  );
  const found = pages.flatMap(({ suggestions }) => suggestions);
  return found.sort((one, other) => (other.resolved_at ?? "").localeCompare(one.resolved_at ?? "")).slice(0, MOST);
}

export function Decided() {
  const found = useResource(load, "decided", ["suggestions"]);
  const [shown, setShown] = useState<Suggestion>();
  return (
    <>
      <Loaded of={found}>
        {(suggestions) =>
          suggestions.length === 0 ? (
            <Empty icon="suggestions" title={t("none_decided")} text={t("none_decided_text")}>
              <LinkButton label={t("look_waiting")} kind="primary" href={to("suggestions")} />
            </Empty>
          ) : (
            <ul class="rows">
              {suggestions.map((suggestion) => (
                <Line key={suggestion.id} suggestion={suggestion} onLook={() => setShown(suggestion)} reload={found.reload} />
              ))}
            </ul>
          )
        }
      </Loaded>
      {shown && (
        <Dialog title={named(shown)} onClose={() => setShown(undefined)} isWide>
          <Source of={shown} />
          <SuggestionBody suggestion={shown} />
        </Dialog>
      )}
    </>
  );
}

function Line({ suggestion, onLook, reload }: { suggestion: Suggestion; onLook: () => void; reload: () => Promise<void> }) {
  const { status, resolved_by, resolved_at, target_module } = suggestion;
  return (
    <Row
      title={<bdi>{named(suggestion)}</bdi>}
      badges={
        <>
          {target_module && <Badge text={target_module} />}
          <Badge text={t(`status_${status}` as "status_approved")} kind={status === "rejected" ? "plain" : "good"} />
        </>
      }
      text={
        <>
          <bdi>{t("by", { who: resolved_by === "user" || !resolved_by ? t("user") : resolved_by })}</bdi>
          {resolved_at && (
            <>
              {" · "}
              <Ago time={resolved_at} />
            </>
          )}
        </>
      }
      actions={
        <>
          {suggestion.action !== "batch" && <Button label={t("look")} onPress={onLook} />}
          {mayUndo(suggestion) && <Button label={t("undo")} icon="undo" onPress={() => undo(suggestion).finally(reload)} />}
        </>
      }
    />
  );
}
