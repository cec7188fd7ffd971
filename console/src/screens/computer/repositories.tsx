/** Repositories: which workspace reads and writes which one (docs/network.md#git). */
import { useState } from "preact/hooks";
import { api, type Schema } from "~/api/client";
import { Button, LinkButton } from "~/components/button";
import { Dialog } from "~/components/dialog";
import { Choice, Form, TextField } from "~/components/field";
import { Badge, Loaded, Row, Section } from "~/components/layout";
import { useResource } from "~/state/resource";
import { to } from "~/state/router";
import { may } from "~/state/session";
import { attempt } from "~/state/toasts";
import { Decisions } from "./decisions";
import { t } from "./git_texts";
import type { Decision } from "./models";

interface Known {
  decisions: Decision[];
  workspaces: Schema<"Workspace">[];
}

async function load(signal: AbortSignal): Promise<Known> {
  const [{ decisions }, { workspaces }] = await Promise.all([
    api.get("/api/git/decisions", { signal }),
    may("workspaces")
      ? api.get("/api/workspaces", { signal })
      : Promise.resolve({ workspaces: [] }),
  ]);
  return { decisions, workspaces };
}

export function Repositories() {
  const found = useResource(load, "repositories", ["network", "workspaces"]);
  const [isDeciding, setDeciding] = useState(false);
  return (
    <Section
      title={t("repositories")}
      actions={may("git", "admin") && found.value && <Button label={t("decide")} icon="plus" onPress={() => setDeciding(true)} />}
    >
      <Loaded of={found}>
        {({ decisions, workspaces }) => {
          const listed = workspaces.flatMap(({ git, name }) => git.map((each) => ({ ...each, name })));
          return (
            <>
              {decisions.length + listed.length === 0 && <p class="muted">{t("none")}</p>}
              {decisions.length > 0 && <Decisions decisions={decisions} reload={found.reload} />}
              {listed.length > 0 && (
                <ul class="rows">
                  {listed.map(({ repository, access, name }) => (
                    <Row
                      key={`${name}/${repository}`}
                      title={<bdi>{repository}</bdi>}
                      badges={<Badge text={t(`listed_${access}`)} kind="good" />}
                      text={<bdi>{t("listed", { name })}</bdi>}
                      actions={<LinkButton label={t("to_workspaces")} icon="workspaces" iconOnly kind="quiet" href={to("workspaces")} />}
                    />
                  ))}
                </ul>
              )}
            </>
          );
        }}
      </Loaded>
      {isDeciding && found.value && (
        <DecisionDialog workspaces={found.value.workspaces} onClose={() => setDeciding(false)} onSaved={found.reload} />
      )}
    </Section>
  );
}

interface Props {
  workspaces: Schema<"Workspace">[];
  onClose: () => void;
  onSaved: () => Promise<void>;
}

/** Rights of a workspace to a repository. */
const RIGHTS = {
  fetch: { access: "fetch", choice: "always" },
  push: { access: "push", choice: "always" },
  never: { access: "fetch", choice: "never" },
} as const;
type Right = keyof typeof RIGHTS;

function DecisionDialog({ workspaces, onClose, onSaved }: Props) {
  const [repository, setRepository] = useState("");
  const [workspace, setWorkspace] = useState(workspaces[0]?.slug ?? "");
  const [right, setRight] = useState<Right>("fetch");
  // Chats without a workspace are allowed a repository once, when they ask.
  const rights: Right[] = workspace ? ["fetch", "push", "never"] : ["never"];
  const chosen = rights.includes(right) ? right : "never";
  const save = () =>
    attempt(async () => {
      await api.put("/api/git/decisions", { body: { repository, workspace, ...RIGHTS[chosen] } });
      await onSaved();
      onClose();
    });
  return (
    <Dialog title={t("decide")} onClose={onClose}>
      <Form onSubmit={save}>
        <TextField label={t("repository")} hint={t("repository_hint")} value={repository} onInput={setRepository} required autofocus autocomplete="off" />
        <Choice
          label={t("workspace")}
          value={workspace}
          options={[...workspaces.map(({ slug, name }) => ({ value: slug, label: name })), { value: "", label: t("without") }]}
          onChange={setWorkspace}
        />
        <Choice
          label={t("right")}
          hint={workspace ? t("right_hint") : t("right_without")}
          value={chosen}
          options={rights.map((value) => ({ value, label: t(`right_${value}`) }))}
          onChange={setRight}
        />
        <Button label={t("save")} kind="primary" submit />
      </Form>
    </Dialog>
  );
}
