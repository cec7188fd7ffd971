import { useState } from "preact/hooks";
import { api, type Schema } from "~/api/client";
import { Button } from "~/components/button";
import { Dialog } from "~/components/dialog";
import { Form, TextField } from "~/components/field";
import { Badge, Loaded, Row } from "~/components/layout";
import { keepDraft, useDrafts } from "~/state/drafts";
import { useResource } from "~/state/resource";
import { may } from "~/state/session";
import { attempt } from "~/state/toasts";
import { said } from "~/text/server_sentences";
import { Opener } from "./agents";
import { changing, Part, Remark, removing } from "./part";
import { t } from "./texts";

type Skill = Schema<"SkillRow">;

export function Skills() {
  const found = useResource(async (signal) => (await api.get("/api/skills", { signal })).skills, "skills", ["skills", "plugins"]);
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
            badges={<Badge text={t(`source_${skill.source}` as "source_vault")} />}
            text={<bdi>{skill.problem ? said(skill.problem) : skill.description}</bdi>}
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
  // As it was read: what arrives while it is edited must not be taken for seen.
  const [edited, setEdited] = useState<Skill>();
  const skill = useResource((signal) => api.get("/api/skills/{name}", { params: { name }, signal }), name, ["skills"]);
  if (edited) return <SkillDialog skill={edited} onClose={onClose} />;
  const canChange = may("skills", "admin") && skill.value?.source === "vault" && !skill.value.problem;
  return (
    <Dialog
      title={`/${name}`}
      onClose={onClose}
      isWide
      actions={canChange && <Button label={t("change")} icon="edit" kind="primary" onPress={() => setEdited(skill.value)} />}
    >
      <Loaded of={skill}>
        {(found) => (
          <>
            <Remark of={found} />
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

/** Write a skill, or change the instructions of one: its other fields and files stay. */
function SkillDialog({ skill, onClose }: { skill?: Skill; onClose: () => void }) {
  const [name, setName] = useState("");
  const kept = `skill/${skill?.name ?? ""}`;
  const first = { description: skill?.description ?? "", content: skill?.instructions ?? "" };
  const [draft, setDraft, etag] = useDrafts(kept, first, skill?.etag);
  const { description, content } = draft;
  const save = () =>
    attempt(async () => {
      const wanted = { content, ...(description && { description }) };
      if (!skill) await api.post("/api/skills", { body: { name, ...wanted } });
      else {
        const params = { name: skill.name };
        const write = async (text: "new" | "before", etag: string) => {
          const sent = { params, body: text === "new" ? wanted : { content: skill.content }, headers: { "if-match": etag } };
          return (await api.put("/api/skills/{name}", sent)).skill.etag;
        };
        const reread = async () => (await api.get("/api/skills/{name}", { params })).etag;
        if (!(await changing({ name: `/${skill.name}`, etag, write, reread }))) return;
      }
      keepDraft(kept, "");
      onClose();
    });
  return (
    <Dialog title={skill ? t("change_one", { name: `/${skill.name}` }) : t("add_skill")} onClose={onClose} isWide>
      <Form onSubmit={save}>
        {!skill && <TextField label={t("name")} value={name} onInput={setName} required autofocus />}
        <TextField label={t("description")} value={description} onInput={(typed) => setDraft({ ...draft, description: typed })} required={!!skill} autofocus={!!skill} />
        <TextField label={t("content")} value={content} onInput={(typed) => setDraft({ ...draft, content: typed })} rows={10} required />
        <Button label={t("save")} kind="primary" submit />
      </Form>
    </Dialog>
  );
}
