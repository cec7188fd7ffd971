/** Suggestions that wait, a card each, and all of them at the end. */
import { useState } from "preact/hooks";
import { api } from "~/api/client";
import { Button, LinkButton } from "~/components/button";
import { Dialog } from "~/components/dialog";
import { Badge, Empty, Loaded } from "~/components/layout";
import { mayDecide, named, type Suggestion, SuggestionCard } from "~/components/suggestion";
import { useResource } from "~/state/resource";
import { to } from "~/state/router";
import { approve, approveAll, reject, type Result } from "./actions";
import { EditDialog } from "./edit";
import { t } from "./texts";

const MOST = 200;

export function Pending() {
  const query = { status: "pending", limit: MOST };
  const found = useResource(
    (signal) => api.get("/api/suggestions", { query, signal }),
    "pending",
    ["suggestions"],
  );
  const [edited, setEdited] = useState<Suggestion>();
  const [results, setResults] = useState<{ of: Suggestion[]; results: Result[] }>();
  return (
    <>
      <Loaded of={found}>
        {({ suggestions, total }) =>
          suggestions.length === 0 ? (
            <Empty icon="suggestions" title={t("empty")} text={t("empty_text")}>
              <LinkButton label={t("write")} icon="chat" kind="primary" href={to("chat")} />
            </Empty>
          ) : (
            <>
              {suggestions.map((suggestion) => (
                <SuggestionCard
                  key={suggestion.id}
                  suggestion={suggestion}
                  actions={mayDecide(suggestion) && <Decide {...{ suggestion, reload: found.reload }} onEdit={() => setEdited(suggestion)} />}
                />
              ))}
              {total > suggestions.length && <p class="muted">{t("more", { n: total - suggestions.length })}</p>}
              <All
                shown={suggestions.filter(mayDecide)}
                onDone={async (of, results) => {
                  setResults({ of, results });
                  await found.reload();
                }}
              />
            </>
          )
        }
      </Loaded>
      {edited && <EditDialog suggestion={edited} onClose={() => setEdited(undefined)} />}
      {results && <Results {...results} onClose={() => setResults(undefined)} />}
    </>
  );
}

function Decide({ suggestion, reload, onEdit }: { suggestion: Suggestion; reload: () => Promise<void>; onEdit: () => void }) {
  const isEditable = suggestion.action !== "batch" && Object.keys(suggestion.payload).length > 0;
  return (
    <>
      <Button label={t("reject")} onPress={() => reject(suggestion).finally(reload)} />
      {isEditable && <Button label={t("edit")} onPress={onEdit} />}
      <Button label={t("approve")} kind="primary" onPress={() => approve(suggestion).finally(reload)} />
    </>
  );
}

function All({ shown, onDone }: { shown: Suggestion[]; onDone: (of: Suggestion[], results: Result[]) => Promise<void> }) {
  return (
    <div class="buttons">
      <LinkButton label={t("later")} href={to("chat")} />
      {shown.length > 1 && (
        <Button label={t("approve_all", { n: shown.length })} kind="primary" onPress={async () => onDone(shown, await approveAll(shown))} />
      )}
    </div>
  );
}

function Results({ of, results, onClose }: { of: Suggestion[]; results: Result[]; onClose: () => void }) {
  const names = new Map(of.map((suggestion) => [suggestion.id, named(suggestion)]));
  return (
    <Dialog title={t("results")} onClose={onClose} actions={<Button label={t("close")} kind="primary" onPress={onClose} />}>
      <ul class="card-members">
        {results.map(({ id, error }) => (
          <li key={id}>
            <bdi>{names.get(id) ?? id}</bdi> <Badge text={error ? t("result_failed") : t("result_approved")} kind={error ? "danger" : "good"} />
            {error && <p>{error}</p>}
          </li>
        ))}
      </ul>
    </Dialog>
  );
}
