/** Entities linked with one in two steps: as a picture, and as a table. */
import { LinkButton } from "~/components/button";
import { Badge, Empty, Loaded, Notice, Page, Section } from "~/components/layout";
import { useResource } from "~/state/resource";
import { to } from "~/state/router";
import { number } from "~/text/messages";
import { typeName } from "~/text/names";
import { type Neighbourhood, neighbourhood } from "./data";
import { Picture } from "./picture";
import { t } from "./texts";

export function Around({ id }: { id: string }) {
  const found = useResource((signal) => neighbourhood(id, signal), id, ["data"]);
  const back = to("knowledge", ["entity", id]);
  return (
    <Page title={found.value ? t("around_name", { name: found.value.name }) : t("around")} back={back} isWide>
      <Loaded of={found}>
        {(near) =>
          near.nodes.length < 2 ? (
            <Empty icon="knowledge" title={t("alone")} text={t("alone_text")}>
              <LinkButton label={t("to_entity")} kind="primary" href={back} />
            </Empty>
          ) : (
            <Shown near={near} />
          )
        }
      </Loaded>
    </Page>
  );
}

function Shown({ near }: { near: Neighbourhood }) {
  const types = [...new Set(near.nodes.map(({ type }) => type))].sort();
  return (
    <>
      {near.truncated && (
        <Notice>
          <p>{t("cut", { n: near.nodes.length })}</p>
        </Notice>
      )}
      <Picture of={near} types={types} />
      <ul class="legend" aria-hidden="true">
        {types.map((type, index) => (
          <li key={type} class={`node-${index % 6}`}>
            <bdi>{typeName(type)}</bdi>
          </li>
        ))}
      </ul>
      <Section title={t("as_table")}>
        <Table near={near} />
      </Section>
    </>
  );
}

function Table({ near }: { near: Neighbourhood }) {
  const names = new Map(near.nodes.map(({ para_id, name }) => [para_id, name]));
  const around = (id: string) => {
    const notes = new Map<string, string>();
    for (const { source, target, note } of near.links) {
      const other = source === id ? target : target === id ? source : undefined;
      if (other) notes.set(other, notes.get(other) || note);
    }
    return [...notes].map(([other, note]) => (note ? `${names.get(other)} (${note})` : names.get(other))).join(", ");
  };
  return (
    <div class="table" role="region" aria-label={t("as_table")} tabIndex={0}>
      <table>
        <thead>
          <tr>
            <th scope="col">{t("name")}</th>
            <th scope="col">{t("type")}</th>
            <th scope="col">{t("steps")}</th>
            <th scope="col">{t("linked_with")}</th>
          </tr>
        </thead>
        <tbody>
          {near.nodes.slice(1).map((node) => (
            <tr key={node.para_id}>
              <th scope="row">
                <a href={to("knowledge", ["entity", node.para_id])}>
                  <bdi>{node.name}</bdi>
                </a>
              </th>
              <td>
                <Badge text={typeName(node.type)} />
              </td>
              <td>{number(node.ring)}</td>
              <td>
                <bdi>{around(node.para_id)}</bdi>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
