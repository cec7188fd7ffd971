/** The exact prompt of the next turn, and where its parts come from. */
import { api } from "~/api/client";
import { Dialog } from "~/components/dialog";
import { Facts, Loaded, Notice } from "~/components/layout";
import { useResource } from "~/state/resource";
import type { Beginning } from "./conversation";
import { t } from "./texts";

export function PromptDialog({ session, beginning, onClose }: { session?: string; beginning: Beginning; onClose: () => void }) {
  const query = session ? { sessionId: session } : { agentPath: beginning.agentPath, contexts: beginning.contexts?.join(",") };
  const preview = useResource((signal) => api.get("/api/prompt/preview", { query, signal }), JSON.stringify(query));
  return (
    <Dialog title={t("prompt")} onClose={onClose} isWide>
      <Loaded of={preview}>
        {(found) => (
          <>
            <p class="muted">{t("prompt_text", { n: found.totalPromptTokens })}</p>
            {found.problems.map((problem) => (
              <Notice key={problem} kind="warning">
                <p>{problem}</p>
              </Notice>
            ))}
            {found.contextFiles.length > 0 && <Facts facts={[[t("contexts"), <bdi>{found.contextFiles.join(", ")}</bdi>]]} />}
            <pre class="text-block" tabIndex={0}>{found.prompt}</pre>
          </>
        )}
      </Loaded>
    </Dialog>
  );
}
