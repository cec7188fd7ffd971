/** Mentions of an entity: entries of the journal, conversations, and whatever else modules have linked. */
import { useState } from "preact/hooks";
import { api } from "~/api/client";
import { Button } from "~/components/button";
import { Ago, Row, Section } from "~/components/layout";
import { useResource } from "~/state/resource";
import { to } from "~/state/router";
import { may } from "~/state/session";
import { attempt, toast } from "~/state/toasts";
import { moment } from "~/text/messages";
import { plain } from "~/text/plain";
import { type Entity, forgetMention, mention, type Mention } from "./data";
import { t } from "./texts";

const STEP = 10;

interface Source {
  title: string;
  text: string;
  href: string | undefined;
}

interface Resolved {
  title?: string | null;
  name?: string | null;
  date?: string;
  content?: string;
}

async function source({ source_id: id }: Mention, signal: AbortSignal): Promise<Source> {
  const [, module = "", key = ""] = id.split(":");
  let found: Resolved = {};
  try {
    const options = { params: { identifier: id }, signal };
    if (may("para")) found = (await api.get<{ item: Resolved | null }>("/api/para/{identifier}", options)).item ?? {};
  } catch {
    // It is gone, or belongs to a module that is not there; the mention stays.
  }
  const href =
    module === "daily" && found.date ? to("journal", [found.date]) : module === "chat" ? to("chat", [key]) : undefined;
  const day = found.date && moment(`${found.date}T12:00:00Z`, { dateStyle: "long", timeZone: "UTC" });
  // Without a title of its own an entry has its time there.
  const name = /^\d\d:\d\d$/.test(found.title ?? "") ? undefined : (found.title ?? found.name);
  const title = [day, name].filter(Boolean).join(" · ") || id;
  return { title, text: plain((found.content ?? "").slice(0, 300)), href };
}

interface Props {
  entity: Entity;
  mentions: Mention[];
  onChange: () => Promise<void>;
}

export function MentionsOf({ entity, mentions, onChange }: Props) {
  const [count, setCount] = useState(STEP);
  const shown = mentions.slice(0, count);
  const key = shown.map(({ source_id }) => source_id).join();
  const sources = useResource((signal) => Promise.all(shown.map((each) => source(each, signal))), key);
  if (mentions.length === 0) return null;
  const forget = async ({ source_id }: Mention) => {
    await forgetMention(source_id, entity.para_id);
    const undo = () => void attempt(() => mention(source_id, entity.para_id).then(onChange));
    toast(t("mention_gone"), { action: { label: t("undo"), run: undo } });
    await onChange();
  };
  return (
    <Section title={t("mentions")}>
      <ul class="rows" aria-label={t("mentions")}>
        {shown.map((each, index) => {
          const from = sources.value?.[index];
          return (
            <Row
              key={each.source_id}
              title={<bdi>{from?.title ?? (sources.isLoading ? "…" : each.source_id)}</bdi>}
              href={from?.href}
              text={from?.text ? <bdi>{from.text}</bdi> : <Ago time={each.at} />}
              actions={
                may("brain", "write") && (
                  <Button
                    label={t("forget_mention", { title: from?.title ?? each.source_id })}
                    icon="close"
                    iconOnly
                    kind="quiet"
                    onPress={() => forget(each)}
                  />
                )
              }
            />
          );
        })}
      </ul>
      {mentions.length > count && (
        <div class="center">
          <Button label={t("more")} icon="down" onPress={() => setCount(count + STEP)} />
        </div>
      )}
    </Section>
  );
}
