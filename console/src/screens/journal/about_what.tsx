/** Subjects of an entry: people, projects and topics that Brain knows, and conversations. */
import { api } from "~/api/client";
import { useResource } from "~/state/resource";
import { to } from "~/state/router";
import { may } from "~/state/session";
import { t } from "./texts";

const MOST = 12;

async function named(ids: string[], signal: AbortSignal): Promise<{ id: string; name: string }[]> {
  const found = await Promise.allSettled(
    ids.map((id) => api.module<{ name: string }>("GET", "/api/brain/entities/by_id", { query: { id }, signal })),
  );
  return found.flatMap((each, index) => (each.status === "fulfilled" ? [{ id: ids[index] ?? "", name: each.value.name }] : []));
}

export function About({ mentions }: { mentions: string[] }) {
  const ids = may("brain") ? mentions.filter((id) => id.startsWith("para:brain:")).slice(0, MOST) : [];
  const talks = mentions.filter((id) => id.startsWith("para:chat:")).slice(0, MOST);
  const known = useResource((signal) => (ids.length ? named(ids, signal) : Promise.resolve([])), ids.join(), ["data"]);
  if (!talks.length && !known.value?.length) return null;
  return (
    <ul class="about-what" aria-label={t("about")}>
      {known.value?.map(({ id, name }) => (
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
