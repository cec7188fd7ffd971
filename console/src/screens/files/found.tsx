/** Texts of the whole vault with the words, and then some that mean the same. */
import { api } from "~/api/client";
import { Ago, Badge, Empty, Loaded, Notice, Row } from "~/components/layout";
import { useResource } from "~/state/resource";
import { plain } from "~/text/plain";
import { folderOf, placeOf } from "./models";
import { t } from "./texts";

export function Found({ words }: { words: string }) {
  const found = useResource((signal) => api.get("/api/files/search", { query: { q: words }, signal }), `found/${words}`, ["files"]);
  return (
    <Loaded of={found}>
      {({ results, problem }) => (
        <>
          {problem && (
            <Notice kind="warning">
              <p>{problem}</p>
            </Notice>
          )}
          {results.length === 0 ? (
            <Empty icon="search" title={t("nothing_found")} text={t("nothing_found_text")} />
          ) : (
            <ul class="rows" aria-label={t("found")}>
              {results.map(({ path, name, snippet, lastModified, found_by }) => (
                <Row
                  key={path}
                  icon="list"
                  title={<bdi>{name}</bdi>}
                  href={placeOf(folderOf(path), name)}
                  badges={found_by === "meaning" && <Badge text={t("by_meaning")} />}
                  text={
                    <>
                      {folderOf(path) && <bdi>{folderOf(path)} · </bdi>}
                      <Ago time={lastModified} />
                      <br />
                      <bdi>{plain(snippet)}</bdi>
                    </>
                  }
                />
              ))}
            </ul>
          )}
        </>
      )}
    </Loaded>
  );
}
