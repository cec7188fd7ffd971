import { useState } from "preact/hooks";
import { api } from "~/api/client";
import { Button } from "~/components/button";
import { Dialog } from "~/components/dialog";
import { Form, TextField } from "~/components/field";
import { Badge, Loaded, Row } from "~/components/layout";
import { useResource } from "~/state/resource";
import { may } from "~/state/session";
import { attempt } from "~/state/toasts";
import { Opener } from "./agents";
import { Part, removing } from "./part";
import { t } from "./texts";

interface Skill {
  name: string;
  description: string;
  content: string | null;
  source: string;
  allowed_tools: string[];
  files: { name: string; size: number }[];
}

export function Skills() {
  const found = useResource(async (signal) => (await api.get<{ skills: Skill[] }>("/api/skills", { signal })).skills, "skills", ["skills", "plugins"]);
  const [shown, setShown] = useState<string>();
  const isAdmin = may("skills", "admin");
  return (
    <>
      <Part
        icon="suggestions"
        name={t("skills")}
        text={t("skills_text")}
        add={t("add_skill")}
        mayAdd={isAdmin}
        found={found}
        line={(skill) => (
          <Row
            key={skill.name}
            title={<Opener name={`/${skill.name}`} onOpen={() => setShown(skill.name)} />}
            badges={<Badge text={skill.source} />}
            text={<bdi>{skill.description}</bdi>}
            actions={
              isAdmin &&
              skill.source === "vault" && (
                <Button
                  label={t("remove_one", { name: skill.name })}
                  icon="trash"
                  iconOnly
                  kind="quiet"
                  onPress={() => removing(skill.name, () => api.delete("/api/skills/{name}", { params: { name: skill.name } }), found.reload)}
                />
              )
            }
          />
        )}
        dialog={(close) => <SkillDialog onClose={close} />}
      />
      {shown && <Shown name={shown} onClose={() => setShown(undefined)} />}
    </>
  );
}

function Shown({ name, onClose }: { name: string; onClose: () => void }) {
  const skill = useResource((signal) => api.get<Skill>("/api/skills/{name}", { params: { name }, signal }), name, ["skills"]);
  return (
    <Dialog title={`/${name}`} onClose={onClose} isWide>
      <Loaded of={skill}>
        {(found) => (
          <>
            <p>
              <bdi>{found.description}</bdi>
            </p>
            {found.files.length > 0 && (
              <p class="muted">
                <bdi>{found.files.map((file) => file.name).join(", ")}</bdi>
              </p>
            )}
            <pre class="text-block" tabIndex={0}>{found.content}</pre>
          </>
        )}
      </Loaded>
    </Dialog>
  );
}

function SkillDialog({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState("");
  const [description, setDescription] = useState("");
  const [content, setContent] = useState("");
  const save = () =>
    attempt(async () => {
      await api.post("/api/skills", { body: { name, content, ...(description && { description }) } });
      onClose();
    });
  return (
    <Dialog title={t("add_skill")} onClose={onClose} isWide>
      <Form onSubmit={save}>
        <TextField label={t("name")} value={name} onInput={setName} required autofocus />
        <TextField label={t("description")} value={description} onInput={setDescription} />
        <TextField label={t("content")} value={content} onInput={setContent} rows={10} required />
        <Button label={t("save")} kind="primary" submit />
      </Form>
    </Dialog>
  );
}
