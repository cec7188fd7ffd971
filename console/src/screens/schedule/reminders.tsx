/** The owner's reminders, and a form that makes one. */
import { useState } from "preact/hooks";
import { api, type Schema } from "~/api/client";
import { Button } from "~/components/button";
import { Form, TextField } from "~/components/field";
import { Badge, Loaded, Row, Section } from "~/components/layout";
import { useResource } from "~/state/resource";
import { may } from "~/state/session";
import { attempt, toast } from "~/state/toasts";
import { moment } from "~/text/messages";
import { t } from "./texts";

type Reminder = Schema<"Reminder">;

export function Reminders() {
  const found = useResource((signal) => api.get("/api/reminders", { signal }), "reminders", ["schedule", "inbox"]);
  return (
    <Section title={t("reminders")}>
      {may("scheduler", "write") && <NewReminder reload={found.reload} />}
      <Loaded of={found}>
        {({ reminders }) =>
          reminders.length === 0 ? (
            <p class="muted">{t("no_reminders")}</p>
          ) : (
            <ul class="rows">
              {reminders.map((reminder) => (
                <Line key={reminder.id} reminder={reminder} reload={found.reload} />
              ))}
            </ul>
          )
        }
      </Loaded>
    </Section>
  );
}

function NewReminder({ reload }: { reload: () => Promise<void> }) {
  const [when, setWhen] = useState("");
  const [text, setText] = useState("");
  const add = async () => {
    const made = await api.post("/api/reminders", { body: { when, text } });
    toast(t("reminder_made", { time: moment(made.at) }));
    setWhen("");
    setText("");
    await reload();
  };
  return (
    <Form onSubmit={() => attempt(add)}>
      <TextField label={t("remind_text")} value={text} onInput={setText} required />
      <TextField label={t("remind_when")} hint={t("remind_hint")} value={when} onInput={setWhen} required />
      <Button label={t("remind")} kind="primary" submit />
    </Form>
  );
}

function Line({ reminder, reload }: { reminder: Reminder; reload: () => Promise<void> }) {
  const remove = async () => {
    await api.delete("/api/reminders/{identifier}", { params: { identifier: reminder.id } });
    await reload();
  };
  return (
    <Row
      icon="schedule"
      title={<bdi>{reminder.text}</bdi>}
      badges={reminder.since && <Badge text={t("in_inbox")} kind="accent" />}
      text={
        <>
          {moment(reminder.since ?? reminder.at)}
          {reminder.schedule && <> · <bdi>{reminder.schedule}</bdi></>}
        </>
      }
      actions={may("scheduler", "write") && <Button label={t("remove")} onPress={remove} />}
    />
  );
}
