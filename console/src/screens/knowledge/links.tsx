/** Links of an entity, both ways; those that stand in its `relationships` are added and taken away here. */
import { useState } from "preact/hooks";
import { Button, LinkButton } from "~/components/button";
import { ask, Dialog } from "~/components/dialog";
import { TextField } from "~/components/field";
import { Badge, Loaded, Row, Section } from "~/components/layout";
import { useDebounced } from "~/state/debounced";
import { useResource } from "~/state/resource";
import { to } from "~/state/router";
import { may } from "~/state/session";
import { attempt, toast } from "~/state/toasts";
import { typeName } from "~/text/names";
import { titles } from "./about";
import { type Brief, change, type Entity, entity as read, type Link, meant, search } from "./data";
import { t } from "./texts";
import { targetOf } from "./values";

interface Props {
  entity: Entity;
  links: Link[];
  onChange: () => Promise<void>;
}

/** The items of `relationships` as a list, if they are written as one. */
function relationships({ relationships: given }: Entity): unknown[] | undefined {
  if (given === undefined || given === null) return [];
  return Array.isArray(given) ? given : undefined;
}

async function store(entity: Entity, items: unknown[]): Promise<void> {
  await change(entity, { data: { relationships: items.length ? items : null } });
}

export function LinksOf({ entity, links, onChange }: Props) {
  const items = relationships(entity);
  const canWrite = may("brain", "write") && items !== undefined;
  const add = async () => {
    const chosen = await ask<{ target: Brief; note: string }>((close) => <Choose without={entity.para_id} close={close} />);
    if (!chosen || !items) return;
    const { target, note } = chosen;
    // A name that several have is told apart by its folder.
    const isClear = (await meant(target.name)) === target.para_id;
    const name = isClear ? target.name : target.path.replace(/^Brain\/entities\//, "").replace(/\.md$/, "");
    await store(entity, [...items, `[[${name}]]${note ? ` - ${note}` : ""}`]);
    toast(t("linked", { name: target.name }));
    await onChange();
  };
  return (
    <Section title={t("links")} actions={canWrite && <Button label={t("add_link")} icon="link" kind="quiet" onPress={add} />}>
      {links.length === 0 ? (
        <p class="muted">{t("no_links")}</p>
      ) : (
        <ul class="rows" aria-label={t("links")}>
          {together(links).map((both) => (
            <One key={both[0].para_id ?? both[0].target} links={both} entity={entity} items={canWrite ? items : undefined} onChange={onChange} />
          ))}
        </ul>
      )}
    </Section>
  );
}

type Some = [Link, ...Link[]];

/** The links with the same one together: it may be linked both ways. */
function together(links: Link[]): Some[] {
  const found = new Map<string, Some>();
  for (const link of links) {
    const key = link.para_id ?? link.target;
    const known = found.get(key);
    if (known) known.push(link);
    else found.set(key, [link]);
  }
  return [...found.values()];
}

function how(links: Some): string {
  const ways = new Set(links.map(({ direction }) => direction));
  return ways.size > 1 ? t("both_ways") : ways.has("in") ? t("links_here") : t("linked_from_here");
}

function One({ links, entity, items, onChange }: { links: Some; entity: Entity; items?: unknown[]; onChange: () => Promise<void> }) {
  const [link] = links;
  const name = link.name ?? link.target;
  const notes = [...new Set(links.map(({ note }) => note).filter(Boolean))].join(", ");
  const targets = new Set(links.filter(({ direction }) => direction === "out").map(({ written }) => written));
  const position = items?.findIndex((item) => targets.has(targetOf(item))) ?? -1;
  const unlink = async () => {
    if (!items) return;
    await store(entity, items.filter((_, index) => index !== position));
    const undo = async () => {
      const now = await read(entity.para_id);
      await store(now, [...(relationships(now) ?? []), items[position]]);
      await onChange();
    };
    toast(t("unlinked", { name }), { action: { label: t("undo"), run: () => void attempt(undo) } });
    await onChange();
  };
  return (
    <Row
      title={<bdi>{name}</bdi>}
      href={link.para_id ? to("knowledge", ["entity", link.para_id]) : undefined}
      badges={
        <>
          {link.type && <Badge text={typeName(link.type)} />}
          {!link.para_id && <Badge text={t("not_there")} kind="warning" />}
        </>
      }
      text={
        <>
          {how(links)}
          {notes && (
            <>
              {" · "}
              <bdi>{notes}</bdi>
            </>
          )}
        </>
      }
      actions={
        <>
          {!link.para_id && may("brain", "write") && <LinkButton label={t("create_it")} href={to("knowledge", ["new"], { name })} />}
          {position >= 0 && <Button label={t("unlink", { name })} icon="close" iconOnly kind="quiet" onPress={unlink} />}
        </>
      }
    />
  );
}

function Choose({ without, close }: { without: string; close: (value?: { target: Brief; note: string }) => void }) {
  const [text, setText] = useState("");
  const [note, setNote] = useState("");
  const words = useDebounced(text).trim();
  const found = useResource(async (signal) => (words ? search(words, undefined, signal) : []), words);
  return (
    <Dialog title={t("add_link")} onClose={() => close()}>
      <TextField label={t("link_note")} hint={t("link_note_hint")} value={note} onInput={setNote} autocomplete="off" />
      <TextField label={t("link_with")} type="search" value={text} onInput={setText} autofocus />
      <Loaded of={found}>
        {(entities) => (
          <ul class="menu" aria-label={titles("title")}>
            {entities
              .filter(({ para_id }) => para_id !== without)
              .slice(0, 8)
              .map((target) => (
                <li key={target.para_id}>
                  <button type="button" class="menu-entry" onClick={() => close({ target, note: note.trim() })}>
                    <bdi>{target.name}</bdi> <Badge text={typeName(target.type)} />
                  </button>
                </li>
              ))}
            {words && entities.length === 0 && <li class="muted">{t("nothing_found")}</li>}
          </ul>
        )}
      </Loaded>
    </Dialog>
  );
}
