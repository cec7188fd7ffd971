/** Chats that may talk to a bot, each with its conversation. */
import { api } from "~/api/client";
import { Button } from "~/components/button";
import { confirm } from "~/components/dialog";
import { Ago, Badge, Loaded, Row, Section } from "~/components/layout";
import { useResource } from "~/state/resource";
import { to } from "~/state/router";
import { may } from "~/state/session";
import { toast } from "~/state/toasts";
import { platformName } from "~/text/platforms";
import type { Chat } from "./models";
import { t } from "./texts";

export function Chats() {
  const found = useResource(async (signal) => (await api.get("/api/bots/chats", { signal })).chats, "chats", ["bots", "inbox"]);
  const unlink = async (chat: Chat) => {
    const name = chat.title || chat.chat_id;
    if (!(await confirm(t("unlink_title", { name }), t("unlink_text"), t("unlink")))) return;
    await api.delete("/api/bots/chats/{platform}/{chat}", { params: { platform: chat.platform, chat: chat.chat_id } });
    toast(t("unlinked", { name }));
    await found.reload();
  };
  return (
    <Section title={t("chats")}>
      <Loaded of={found}>
        {(chats) =>
          chats.length === 0 ? (
            <p class="muted">{t("chats_none")}</p>
          ) : (
            <ul class="rows">
              {chats.map((chat) => (
                <Row
                  key={`${chat.platform}/${chat.chat_id}`}
                  title={<bdi>{chat.title || chat.chat_id}</bdi>}
                  href={chat.session_id && may("chat") ? to("chat", [chat.session_id]) : undefined}
                  badges={
                    <>
                      <Badge text={platformName(chat.platform)} />
                      {chat.chat_type === "group" && <Badge text={t("group")} />}
                      {chat.is_owner && <Badge text={t("yours")} kind="accent" />}
                    </>
                  }
                  text={
                    <>
                      {t(`template_${chat.template}` as "template_guest")} · {t("since")} <Ago time={chat.approved_at} />
                    </>
                  }
                  actions={
                    may("bots", "admin") && (
                      <Button label={t("unlink_one", { name: chat.title || chat.chat_id })} icon="trash" iconOnly kind="quiet" onPress={() => unlink(chat)} />
                    )
                  }
                />
              ))}
            </ul>
          )
        }
      </Loaded>
    </Section>
  );
}
