/** The folders that a conversation is told from, with what each costs. */
import { api } from "~/api/client";
import { Loaded } from "~/components/layout";
import { useResource } from "~/state/resource";
import { t } from "./texts";

export function Folders({ chosen, onChange }: { chosen: string[]; onChange: (paths: string[]) => void }) {
  const folders = useResource((signal) => api.get("/api/contexts/folders", { signal }), "folders", ["files"]);
  const chain = useResource(
    (signal) => api.get("/api/contexts/chain", { query: { folders: chosen.join(",") }, signal }),
    chosen.join(","),
  );
  const comes = new Set(chain.value?.files.filter(({ exists }) => exists).map(({ folder_path }) => folder_path));
  return (
    <fieldset class="question">
      <legend>{t("contexts")}</legend>
      <Loaded of={folders}>
        {({ folders: known }) =>
          known.length === 0 ? (
            <p class="muted">{t("contexts_none")}</p>
          ) : (
            <>
              {known.map(({ path, display_name, tokens }) => {
                const isChosen = chosen.includes(path);
                const isIncluded = !isChosen && comes.has(path);
                return (
                  <label key={path} class="option">
                    <input
                      type="checkbox"
                      checked={isChosen || isIncluded}
                      disabled={isIncluded}
                      onChange={(event) =>
                        onChange(event.currentTarget.checked ? [...chosen, path] : chosen.filter((other) => other !== path))
                      }
                    />
                    <span>
                      <bdi>{path || display_name}</bdi>
                      <small>{[t("tokens", { n: tokens }), isIncluded && t("included")].filter(Boolean).join(" · ")}</small>
                    </span>
                  </label>
                );
              })}
              {chain.value && <p class="muted">{t("total", { n: chain.value.total_tokens })}</p>}
            </>
          )
        }
      </Loaded>
    </fieldset>
  );
}
