/** The tasks in the notes and the journal, to be ticked in their files. */
import { useState } from "preact/hooks";
import { api, type Schema } from "~/api/client";
import { Badge, Chips, Loaded, Row, Section } from "~/components/layout";
import { useResource } from "~/state/resource";
import { to } from "~/state/router";
import { may } from "~/state/session";
import { attempt, toast } from "~/state/toasts";
import { moment } from "~/text/messages";
import { t } from "./texts";

type Task = Schema<"Task">;
type Shown = "open" | "done";

export function Tasks() {
  const [shown, setShown] = useState<Shown>("open");
  const done = shown === "done";
  const found = useResource((signal) => api.get("/api/tasks", { query: { done }, signal }), `tasks/${shown}`, ["files", "data"]);
  return (
    <Section title={t("tasks")}>
      <Chips
        label={t("tasks")}
        value={shown}
        options={[
          { value: "open", label: t("tasks_open") },
          { value: "done", label: t("tasks_done") },
        ]}
        onChange={setShown}
      />
      <Loaded of={found}>
        {({ tasks, total, left_out, is_cut }) => (
          <>
            {tasks.length === 0 ? (
              <p class="muted">{t(done ? "no_tasks_done" : "no_tasks")}</p>
            ) : (
              <ul class="rows">
                {tasks.map((task) => (
                  <Line key={task.id} task={task} reload={found.reload} />
                ))}
              </ul>
            )}
            {total > tasks.length && <p class="muted">{t("tasks_first", { shown: tasks.length, total })}</p>}
            {is_cut && <p class="muted">{t("tasks_cut")}</p>}
            {left_out > 0 && <p class="muted">{t("tasks_left_out", { n: left_out })}</p>}
          </>
        )}
      </Loaded>
    </Section>
  );
}

/** The day of the journal that a file is, or the line in any other file. */
function place({ path, line }: Task): string {
  const day = /^Daily\/journals\/(\d{4}-\d\d-\d\d)\.md$/.exec(path)?.[1];
  if (day && may("daily", "read")) return to("journal", [day]);
  const folders = path.split("/");
  const file = folders.pop() ?? "";
  return to("files", folders, { file, line: String(line) });
}

function Line({ task, reload }: { task: Task; reload: () => Promise<void> }) {
  const answer = async (done: boolean) => {
    await api.post("/api/tasks/answer", { body: { id: task.id, done } });
    await reload();
  };
  const tick = async (done: boolean) => {
    await answer(done);
    toast(t(done ? "task_ticked" : "task_open", { text: task.text }), {
      action: { label: t("task_undo"), run: () => void attempt(() => answer(!done)) },
    });
  };
  const isLate = !task.done && task.due !== null && new Date(`${task.due}T23:59:59`) < new Date();
  return (
    <Row
      title={
        <label class="tick">
          <input
            type="checkbox"
            checked={task.done}
            disabled={!may("vault", "write")}
            onChange={(event) => {
              const box = event.currentTarget;
              // What cannot be written is shown as it is.
              void attempt(() => tick(box.checked)).finally(() => (box.checked = task.done));
            }}
          />
          <bdi>{task.text}</bdi>
        </label>
      }
      badges={task.due && <Badge text={moment(`${task.due}T00:00`, { dateStyle: "medium" })} kind={isLate ? "warning" : undefined} />}
      text={
        <a href={place(task)}>
          <bdi>
            {task.path}
            {task.heading && ` · ${task.heading}`}
          </bdi>
        </a>
      }
    />
  );
}
