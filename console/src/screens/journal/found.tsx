/** Entries with all the words, newest first, and then some that mean the same, each leading to its day. */
import { Badge, Empty, Loaded, Row } from "~/components/layout";
import { useResource } from "~/state/resource";
import { to } from "~/state/router";
import { plain } from "~/text/plain";
import { type Filter, search } from "./data";
import { dayName } from "./dates";
import { t } from "./texts";

export function Found({ words, filter }: { words: string; filter: Filter }) {
  const found = useResource((signal) => search(words, filter, signal), JSON.stringify([words, filter]), ["data"]);
  return (
    <Loaded of={found}>
      {(entries) =>
        entries.length === 0 ? (
          <Empty icon="search" title={t("nothing_found")} text={t("nothing_found_text")} />
        ) : (
          <ul class="rows" aria-label={t("found")}>
            {entries.map((entry, index) => (
              <Row
                key={entry.id ?? index}
                title={dayName(entry.date)}
                href={to("journal", [entry.date])}
                badges={entry.found_by === "meaning" && <Badge text={t("by_meaning")} />}
                text={<bdi>{plain((entry.snippet || entry.content).slice(0, 400))}</bdi>}
              />
            ))}
          </ul>
        )
      }
    </Loaded>
  );
}
