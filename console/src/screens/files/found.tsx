/** Files of the whole vault with the words, and then some that mean the same. */
import { api, type Schema } from "~/api/client";
import { Ago, Badge, Empty, Loaded, Notice, Row } from "~/components/layout";
import { Sentence } from "~/components/sentence";
import { useResource } from "~/state/resource";
import { plainJoined } from "~/text/plain";
import { type FilePlace, UNITS, folderOf, placeOf } from "./models";
import { t } from "./texts";

export function Found({ words }: { words: string }) {
  const found = useResource((signal) => api.get("/api/files/search", { query: { q: words }, signal }), `found/${words}`, ["files"]);
  return (
    <Loaded of={found}>
      {({ results, problem, not_read }) => (
        <>
          {problem && (
            <Notice kind="warning">
              <p>
                <Sentence text={problem} />
              </p>
            </Notice>
          )}
          {results.length === 0 ? (
            <Empty icon="search" title={t("nothing_found")} text={t("nothing_found_text")} />
          ) : (
            <ul class="rows" aria-label={t("found")}>
              {results.map(({ path, name, snippet, lastModified, found_by, page, chapter, line }) => (
                <Row
                  key={path}
                  icon="list"
                  title={<bdi>{name}</bdi>}
                  href={placeOf(folderOf(path), name, { page, chapter, line })}
                  badges={found_by === "meaning" && <Badge text={t("by_meaning")} />}
                  text={
                    <>
                      {folderOf(path) && <bdi>{folderOf(path)} · </bdi>}
                      <Ago time={lastModified} />
                      {where({ page, chapter, line })}
                      <br />
                      <bdi>{plainJoined(snippet)}</bdi>
                    </>
                  }
                />
              ))}
            </ul>
          )}
          <Unread files={not_read} />
        </>
      )}
    </Loaded>
  );
}

function where(at: FilePlace): string {
  return UNITS.flatMap((unit) => (at[unit] ? [` · ${t(unit, { n: at[unit] })}`] : [])).join("");
}

const REASONS = ["damaged", "encrypted", "no_text", "too_large", "too_much", "gone"] as const;

/** The files that are not searched by what is in them, and the reasons. */
function Unread({ files: { pictures, pdf, total, files } }: { files: Schema<"NotRead"> }) {
  const said = (reason: string) => REASONS.flatMap((each) => (each === reason ? [t(`is_${each}`)] : []))[0] ?? reason;
  return (
    <>
      {pictures > 0 && <p class="muted">{t("pictures_not_read", { n: pictures })}</p>}
      {pdf > 0 && <p class="muted">{t("pdf_not_read", { n: pdf })}</p>}
      {total > 0 && (
        <details class="muted">
          <summary>{t("unreadable", { n: total })}</summary>
          <ul>
            {files.map(({ path, reason }) => (
              <li key={path}>
                <bdi>{path}</bdi>: {said(reason)}
              </li>
            ))}
          </ul>
        </details>
      )}
    </>
  );
}
