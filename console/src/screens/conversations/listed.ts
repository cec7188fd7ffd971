/** Conversations that a list shows: those on top, a page of the others, and more of them on demand. */
import { useRef } from "preact/hooks";
import { useResource } from "~/state/resource";
import { answering, further, newest, PAGE, pinned, type Session, type Shown, versionsOf } from "./data";

export function useConversations(shown: Shown) {
  const key = JSON.stringify(shown);
  const count = useRef({ key, of: PAGE });
  if (count.current.key !== key) count.current = { key, of: PAGE };
  const active = useResource(answering, "active", ["runs", "sessions"]);
  const onTop = useResource((signal) => pinned(shown.workspace, signal), `pinned ${shown.workspace}`, ["sessions"]);
  const page = useResource((signal) => newest(shown, count.current.of, signal), key, ["sessions", "imports"]);
  return {
    page,
    onTop: shown.search || shown.archived ? [] : (onTop.value ?? []),
    isActive: (session: Session) => versionsOf(session).some((id) => active.value?.has(id)),
    reload: async () => void (await Promise.all([page.reload(), onTop.reload()])),
    more: async () => {
      if (!page.value) return;
      const next = await further(shown, page.value);
      count.current.of = Math.max(PAGE, next.sessions.length);
      page.set(next);
    },
  };
}
