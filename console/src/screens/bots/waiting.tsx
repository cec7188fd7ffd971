/** Requests to talk to a bot, and their approval or denial. */
import { useState } from "preact/hooks";
import { api } from "~/api/client";
import { Button } from "~/components/button";
import { Dialog } from "~/components/dialog";
import { Choice, Form } from "~/components/field";
import { Ago, Badge, Facts, Loaded, Notice, Row, Section } from "~/components/layout";
import { useResource } from "~/state/resource";
import { may } from "~/state/session";
import { attempt, toast } from "~/state/toasts";
import { moment } from "~/text/messages";
import { platformName } from "~/text/platforms";
import { type Configuration, type Request, settingsOf, type Template } from "./models";
import { TemplateChoice } from "./settings";
import { t } from "./texts";

/** Return the person's own name, or the number where there is none. */
const called = (request: Request) => (request.chat_type === "group" ? request.title : request.name) || request.chat_id;

export function Waiting({ configuration }: { configuration: Configuration }) {
  const found = useResource(async (signal) => (await api.get("/api/bots/pairing", { signal })).requests, "pairing", ["bots", "inbox"]);
  const [shown, setShown] = useState<Request>();
  const isOwner = may("bots", "admin");
  const refuse = async (request: Request) => {
    await api.post("/api/bots/pairing/{identifier}/deny", { params: { identifier: request.id } });
    toast(t("refused", { name: called(request) }));
    await found.reload();
  };
  return (
    <Section title={t("waiting")}>
      <Loaded of={found}>
        {(requests) =>
          requests.length === 0 ? (
            <p class="muted">{t("waiting_none")}</p>
          ) : (
            <ul class="rows">
              {requests.map((request) => (
                <Row
                  key={request.id}
                  title={<bdi>{called(request)}</bdi>}
                  badges={
                    <>
                      <Badge text={platformName(request.platform)} />
                      {request.chat_type === "group" && <Badge text={t("group")} />}
                    </>
                  }
                  text={
                    <>
                      <Ago time={request.since} />
                      {request.code && (
                        <>
                          {" · "}
                          {t("code")} <strong class="bots-code">{request.code}</strong>
                        </>
                      )}
                    </>
                  }
                  actions={
                    isOwner && (
                      <>
                        <Button label={t("refuse")} onPress={() => refuse(request)} />
                        <Button label={t("let_in")} kind="primary" onPress={() => setShown(request)} />
                      </>
                    )
                  }
                />
              ))}
            </ul>
          )
        }
      </Loaded>
      {shown && (
        <LetIn
          request={shown}
          usual={settingsOf(configuration, shown.platform).template as Template}
          onClose={() => setShown(undefined)}
          onDone={found.reload}
        />
      )}
    </Section>
  );
}

interface Props {
  request: Request;
  usual: Template;
  onClose: () => void;
  onDone: () => Promise<void>;
}

function LetIn({ request, usual, onClose, onDone }: Props) {
  const [template, setTemplate] = useState(usual);
  const [mode, setMode] = useState<"mention_only" | "all_messages">("mention_only");
  const isGroup = request.chat_type === "group";
  const letIn = () =>
    attempt(async () => {
      const body = { template, trust_level: "sandboxed", ...(isGroup && { response_mode: mode }) };
      await api.post("/api/bots/pairing/{identifier}/approve", { params: { identifier: request.id }, body });
      toast(t("is_in", { name: called(request) }));
      await onDone();
      onClose();
    });
  return (
    <Dialog title={t("let_in_title")} onClose={onClose}>
      <Form onSubmit={letIn}>
        {request.code && (
          <Notice>
            <p>{t("compare")}</p>
            <p class="pairing-code">{request.code}</p>
          </Notice>
        )}
        <Facts
          facts={[
            [isGroup ? t("group") : t("name"), <bdi>{called(request)}</bdi>],
            [t("platform"), platformName(request.platform)],
            [t("number"), <bdi>{isGroup ? request.chat_id : request.user_id}</bdi>],
            [t("until"), moment(request.ends, { timeStyle: "short", dateStyle: isGroup ? "short" : undefined })],
          ]}
        />
        <p class="muted">{t("names_prove_nothing")}</p>
        <TemplateChoice label={t("may_use")} value={template} onChange={setTemplate} />
        {isGroup && (
          <Choice
            label={t("answers")}
            value={mode}
            options={(["mention_only", "all_messages"] as const).map((value) => ({ value, label: t(value) }))}
            onChange={setMode}
          />
        )}
        <p class="muted">{t("level_text")}</p>
        <Button label={t("let_in")} kind="primary" submit />
      </Form>
    </Dialog>
  );
}
