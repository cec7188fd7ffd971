/** Possible duplicates: merging two into one, and taking that back. */
import { Button, LinkButton } from "~/components/button";
import { Badge, Empty, Loaded, Page, Row, Section } from "~/components/layout";
import { useResource } from "~/state/resource";
import { to } from "~/state/router";
import { may } from "~/state/session";
import { attempt, toast } from "~/state/toasts";
import { type Brief, type Duplicates as Found, duplicates, merge, tellApart, unmerge } from "./data";
import { t } from "./texts";

const PERSON = "person";

async function takeApart(para_id: string, name: string): Promise<void> {
  const { exact } = await unmerge(para_id);
  toast(t(exact ? "unmerged" : "unmerged_partly", { name }));
}

export function Duplicates({ type = PERSON }: { type?: string | undefined }) {
  const found = useResource((signal) => duplicates(type, signal), type, ["data"]);
  return (
    <Page title={t("duplicates")} back={to("knowledge")}>
      <p class="muted">{t("duplicates_text")}</p>
      <Loaded of={found}>
        {({ duplicates: pairs, merged }) => (
          <>
            {pairs.length === 0 ? (
              <Empty icon="knowledge" title={t("no_duplicates")} text={t("no_duplicates_text")}>
                <LinkButton label={t("all")} href={to("knowledge")} />
              </Empty>
            ) : (
              <ul class="rows" aria-label={t("duplicates")}>
                {pairs.map((pair) => (
                  <Pair key={`${pair.one.para_id} ${pair.other.para_id}`} pair={pair} reload={found.reload} />
                ))}
              </ul>
            )}
            {merged.length > 0 && (
              <Section title={t("merged")}>
                <ul class="rows" aria-label={t("merged")}>
                  {merged.map(({ para_id, name, into, into_name }) => (
                    <Row
                      key={para_id}
                      title={<bdi>{name}</bdi>}
                      text={
                        <a href={to("knowledge", ["entity", into])}>
                          <bdi>{t("merged_into", { name: into_name })}</bdi>
                        </a>
                      }
                      actions={
                        may("brain", "write") && (
                          <Button label={t("unmerge")} icon="undo" onPress={() => takeApart(para_id, name).finally(found.reload)} />
                        )
                      }
                    />
                  ))}
                </ul>
              </Section>
            )}
          </>
        )}
      </Loaded>
    </Page>
  );
}

function Pair({ pair: { one, other, reason }, reload }: { pair: Found["duplicates"][number]; reload: () => Promise<void> }) {
  const keep = async (kept: Brief, gone: Brief) => {
    await merge(kept, gone);
    const run = () => void attempt(() => takeApart(gone.para_id, gone.name).finally(reload));
    toast(t("merged_now", { name: gone.name, into: kept.name }), { action: { label: t("undo_merge"), run } });
    await reload();
  };
  const apart = async () => {
    await tellApart(one, other);
    await reload();
  };
  return (
    <Row
      title={
        <>
          <Named entity={one} /> · <Named entity={other} />
        </>
      }
      badges={<Badge text={t(`reason_${reason}`)} />}
      text={<bdi>{`${one.path} · ${other.path}`}</bdi>}
      actions={
        may("brain", "write") && (
          <>
            <Button label={t("different")} onPress={apart} />
            <Button label={t("keep", { name: other.name })} onPress={() => keep(other, one)} />
            <Button label={t("keep", { name: one.name })} kind="primary" onPress={() => keep(one, other)} />
          </>
        )
      }
    />
  );
}

function Named({ entity }: { entity: Brief }) {
  return (
    <a href={to("knowledge", ["entity", entity.para_id])}>
      <bdi>{entity.name}</bdi>
    </a>
  );
}
