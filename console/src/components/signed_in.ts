/** A browser that signs in while this page waits for it. */
import { useEffect } from "preact/hooks";
import { api, type Schema } from "~/api/client";
import { listen } from "~/state/live";

type Session = Schema<"Session">;

/** Call `onSignedIn` with the first browser that signs in from now on; with `isElsewhere` one of another device. */
export function useSignedIn(onSignedIn: (session: Session) => void, isElsewhere = false): void {
  useEffect(() => {
    let before: Set<string> | undefined;
    let isOver = false;
    const look = async () => {
      const { sessions } = await api.get("/api/pairing/sessions");
      const added = before && sessions.find(({ id, is_elsewhere }) => (is_elsewhere || !isElsewhere) && !before?.has(id));
      before ??= new Set(sessions.map(({ id }) => id));
      if (added && !isOver) onSignedIn(added);
    };
    void look();
    const end = listen(["keys"], () => void look());
    return () => {
      isOver = true;
      end();
    };
  }, []);
}
