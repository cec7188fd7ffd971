/** One entity: what is known of it, its text, what it is linked with, and where it is mentioned. */
import type { ComponentChildren } from "preact";
import { Button, LinkButton } from "~/components/button";
import { Details } from "~/components/details";
import { confirm } from "~/components/dialog";
import { Badge, Facts, Loaded, Page } from "~/components/layout";
import { leave, useResource } from "~/state/resource";
import { go, to } from "~/state/router";
import { may } from "~/state/session";
import { toast } from "~/state/toasts";
import { Markdown } from "~/text/markdown";
import { fieldLabel, typeName } from "~/text/names";
import { type Entity, entity, kinds, links, remove } from "./data";
import { LinksOf } from "./links";
import { MentionsOf } from "./mentions";
import { t } from "./texts";
import { isSimple, ownFields, withLinks } from "./values";

export function EntityPage({ id }: { id: string }) {
  const found = useResource((signal) => entity(id, signal), id, ["data"]);
  const around = useResource((signal) => links(id, signal), id, ["data"]);
  const types = useResource((signal) => kinds(signal), "types", ["data"]);
  const icon = types.value?.find(({ name }) => name === found.value?.type)?.icon ?? "";
  const changed = async () => {
    await Promise.all([found.reload(), around.reload()]);
  };
  return (
    <Page title={found.value?.name ?? t("entity")} back={to("knowledge")} actions={found.value && <Actions of={found.value} />}>
      <Loaded of={found}>
        {(shown) => (
          <>
            <div class="entity-kind">
              <a href={to("knowledge", ["type", shown.type])}>
                <Badge text={`${icon} ${typeName(shown.type)}`.trim()} kind="accent" />
              </a>
              {shown.tags.map((tag) => (
                <Badge key={tag} text={`#${tag}`} />
              ))}
            </div>
            <FactsOf entity={shown} />
            {shown.content && <Markdown text={withLinks(shown.content)} />}
            <Loaded of={around}>
              {({ links: all, mentions }) => (
                <>
                  <LinksOf entity={shown} links={all} onChange={changed} />
                  <MentionsOf entity={shown} mentions={mentions} onChange={changed} />
                </>
              )}
            </Loaded>
            <p class="muted entity-path">
              <bdi>{shown.path}</bdi>
            </p>
          </>
        )}
      </Loaded>
    </Page>
  );
}

function Actions({ of }: { of: Entity }) {
  const drop = async () => {
    if (!(await confirm(t("delete_question", { name: of.name }), t("delete_text"), t("delete")))) return;
    await leave(async () => {
      await remove(of);
      toast(t("deleted", { name: of.name }));
      go(to("knowledge"));
    });
  };
  return (
    <>
      <LinkButton label={t("around")} icon="knowledge" iconOnly kind="quiet" href={to("knowledge", ["entity", of.para_id, "around"])} />
      {may("brain", "write") && (
        <>
          <LinkButton label={t("edit")} icon="edit" iconOnly kind="quiet" href={to("knowledge", ["entity", of.para_id, "edit"])} />
          <Button label={t("delete")} icon="trash" iconOnly kind="quiet" onPress={drop} />
        </>
      )}
    </>
  );
}

function FactsOf({ entity: of }: { entity: Entity }) {
  const facts: [string, ComponentChildren][] = [];
  if (of.aliases.length) facts.push([t("aliases"), <bdi>{of.aliases.join(", ")}</bdi>]);
  for (const [name, value] of ownFields(of)) facts.push([fieldLabel(name), <Value value={value} />]);
  return facts.length ? <Facts facts={facts} /> : null;
}

function Value({ value }: { value: unknown }) {
  if (typeof value === "boolean") return <>{value ? t("yes") : t("no")}</>;
  if (typeof value === "string" && /^https?:\/\/\S+$/.test(value)) {
    return (
      <a href={value} target="_blank" rel="noopener noreferrer">
        <bdi>{value}</bdi>
      </a>
    );
  }
  if (isSimple(value)) return <bdi>{String(value)}</bdi>;
  if (Array.isArray(value) && value.every(isSimple)) return <bdi>{value.join(", ")}</bdi>;
  return <Details value={value} />;
}
