/** Subjects of an entry: people, projects and topics that Brain knows, and conversations. */
import { api } from "~/api/client";
import { useResource } from "~/state/resource";
import { to } from "~/state/router";
import { may } from "~/state/session";
import type { Entry } from "./data";
import { t } from "./texts";

const MOST = 12;
const MOST_OF_ALL = 100;

export type Subjects = ReadonlyMap<string, string>;

/** The names of what Brain knows of all entries, each asked for once: people of a day are in many of its entries. */
export function useSubjects(entries: Entry[]): Subjects | undefined {
  const all = may("brain") ? entries.flatMap(({ mentions }) => known(mentions)) : [];
  const ids = [...new Set(all)].sort().slice(0, MOST_OF_ALL);
  return useResource((signal) => named(ids, signal), ids.join(), ["data"]).value;
}

const known = (mentions: string[]) => mentions.filter((id) => id.startsWith("para:brain:")).slice(0, MOST);

async function named(ids: string[], signal: AbortSignal): Promise<Subjects> {
  const found = await Promise.allSettled(
    ids.map((id) => api.module<{ name: string }>("GET", "/api/brain/entities/by_id", { query: { id }, signal })),
  );
  return new Map(found.flatMap((each, index) => (each.status === "fulfilled" ? [[ids[index] ?? "", each.value.name]] : [])));
}

export function About({ mentions, subjects }: { mentions: string[]; subjects: Subjects | undefined }) {
  const named = known(mentions).map((id) => ({ id, name: subjects?.get(id) ?? "" })).filter(({ name }) => name);
  const talks = mentions.filter((id) => id.startsWith("para:chat:")).slice(0, MOST);
  if (!talks.length && !named.length) return null;
  return (
    <ul class="about-what" aria-label={t("about")}>
      {named.map(({ id, name }) => (
        <li key={id}>
          <a href={to("knowledge", ["entity", id])}>
            <bdi>{name}</bdi>
          </a>
        </li>
      ))}
      {talks.map((id) => (
        <li key={id}>
          <a href={to("chat", [id.slice("para:chat:".length)])}>{t("conversation")}</a>
        </li>
      ))}
    </ul>
  );
}
