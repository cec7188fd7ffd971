/** All that is known: by type, found by words. */
import { useRef, useState } from "preact/hooks";
import { Button, LinkButton } from "~/components/button";
import { TextField } from "~/components/field";
import { Badge, Chips, Empty, Loaded, Notice, Page, Row } from "~/components/layout";
import { useDebounced } from "~/state/debounced";
import { useResource } from "~/state/resource";
import { go, to } from "~/state/router";
import { may } from "~/state/session";
import { number } from "~/text/messages";
import { typeName } from "~/text/names";
import { plainJoined } from "~/text/plain";
import { titles } from "./about";
import { type Brief, kinds, listed, PAGE, problems, search } from "./data";
import { t } from "./texts";

interface Shown {
  entities: Brief[];
  hasMore: boolean;
}

export function List({ type }: { type: string | undefined }) {
  const [text, setText] = useState("");
  const words = useDebounced(text).trim();
  const count = useRef(PAGE);
  const types = useResource((signal) => kinds(signal), "types", ["data"]);
  const broken = useResource(problems, "problems", ["data"]);
  const load = async (signal: AbortSignal): Promise<Shown> => {
    if (words) return { entities: await search(words, type, signal), hasMore: false };
    const found = await listed(type, 0, Math.min(count.current + 1, 1000), signal);
    return { entities: found.slice(0, count.current), hasMore: found.length > count.current };
  };
  const found = useResource(load, `${type ?? ""} ${words}`, ["data"]);
  const more = async () => {
    if (!found.value) return;
    const next = await listed(type, found.value.entities.length, PAGE + 1);
    const entities = [...found.value.entities, ...next.slice(0, PAGE)];
    count.current = Math.min(entities.length, 999);
    found.set({ entities, hasMore: next.length > PAGE });
  };
  const icons = new Map((types.value ?? []).map(({ name, icon }) => [name, icon]));
  const all = (types.value ?? []).reduce((sum, kind) => sum + kind.entity_count, 0);
  const chips = [
    { value: "", label: `${t("all")} ${number(all)}` },
    ...(types.value ?? []).map(({ name, icon, entity_count }) => ({ value: name, label: `${icon} ${typeName(name)} ${number(entity_count)}`.trim() })),
  ];
  const canWrite = may("brain", "write");
  const begin = to("knowledge", ["new"], type ? { type } : {});
  return (
    <Page
      title={titles("title")}
      actions={canWrite && <LinkButton label={t("new")} icon="plus" kind="primary" href={begin} />}
    >
      <div class="search-row">
        <TextField label={t("search")} placeholder={t("search")} isLabelHidden type="search" value={text} onInput={setText} />
        <LinkButton label={t("duplicates")} icon="copy" iconOnly kind="quiet" href={to("knowledge", type ? ["duplicates", type] : ["duplicates"])} />
        <LinkButton label={t("types")} icon="settings" iconOnly kind="quiet" href={to("knowledge", ["types"])} />
      </div>
      <Chips
        label={t("types")}
        value={type ?? ""}
        options={chips}
        onChange={(value) => {
          count.current = PAGE;
          go(value ? to("knowledge", ["type", value]) : to("knowledge"));
        }}
      />
      {broken.value?.slice(0, 5).map(({ path, problem }) => (
        <Notice key={path} kind="warning">
          <p>
            <bdi>{path}</bdi>: {problem}
          </p>
        </Notice>
      ))}
      <Loaded of={found}>
        {({ entities, hasMore }) =>
          entities.length === 0 ? (
            <Nothing words={words} begin={begin} onClear={() => setText("")} />
          ) : (
            <>
              <ul class="rows" aria-label={titles("title")}>
                {entities.map((each) => (
                  <Row
                    key={each.para_id}
                    title={<bdi>{each.name}</bdi>}
                    href={to("knowledge", ["entity", each.para_id])}
                    badges={
                      <>
                        {!type && <Badge text={`${icons.get(each.type) ?? ""} ${typeName(each.type)}`.trim()} />}
                        {each.found_by === "meaning" && <Badge text={t("by_meaning")} />}
                      </>
                    }
                    text={<bdi>{plainJoined((each.snippet || each.summary).slice(0, 300))}</bdi>}
                  />
                ))}
              </ul>
              {hasMore && (
                <div class="center">
                  <Button label={t("more")} icon="down" onPress={more} />
                </div>
              )}
            </>
          )
        }
      </Loaded>
    </Page>
  );
}

function Nothing({ words, begin, onClear }: { words: string; begin: string; onClear: () => void }) {
  if (words) {
    return (
      <Empty icon="search" title={t("nothing_found")} text={t("nothing_found_text", { words })}>
        <Button label={t("clear")} onPress={onClear} />
      </Empty>
    );
  }
  return (
    <Empty icon="knowledge" title={t("empty")} text={t("empty_text")}>
      {may("brain", "write") && <LinkButton label={t("begin")} icon="plus" kind="primary" href={begin} />}
    </Empty>
  );
}
