import { useState } from "preact/hooks";
import { api } from "~/api/client";
import { Button, LinkButton } from "~/components/button";
import { confirm } from "~/components/dialog";
import { Badge, Empty, Loaded, Page, Row } from "~/components/layout";
import { useResource } from "~/state/resource";
import { to } from "~/state/router";
import { may } from "~/state/session";
import { titles } from "./about";
import { Contexts } from "./contexts";
import { Editor } from "./editor";
import { NEW, type Workspace } from "./models";
import { t } from "./texts";

export default function Workspaces() {
  const found = useResource((signal) => api.get("/api/workspaces", { signal }), "workspaces", ["workspaces"]);
  const [edited, setEdited] = useState<Workspace>();
  const isAdmin = may("workspaces", "admin");
  const create = isAdmin && <Button label={t("create")} icon="plus" kind="primary" onPress={() => setEdited(NEW)} />;
  const remove = async (workspace: Workspace) => {
    if (!(await confirm(t("delete_title", { name: workspace.name }), t("delete_text"), t("delete")))) return;
    await api.delete("/api/workspaces/{slug}", { params: { slug: workspace.slug } });
    await found.reload();
  };
  return (
    <Page title={titles("title")} actions={found.value?.workspaces.length ? create : undefined}>
      <Loaded of={found}>
        {({ workspaces }) =>
          workspaces.length === 0 ? (
            <Empty icon="workspaces" title={t("empty")} text={t("empty_text")}>
              {create}
            </Empty>
          ) : (
            <ul class="rows">
              {workspaces.map((workspace) => (
                <Row
                  key={workspace.slug}
                  title={<bdi>{workspace.name}</bdi>}
                  badges={
                    <>
                      {workspace.default_trust_level === "direct" && <Badge text={t("level_direct")} kind="warning" />}
                      {workspace.declared && <Badge text={t("declared")} />}
                    </>
                  }
                  text={<bdi>{[workspace.description, workspace.working_directory ?? t("no_folder")].filter(Boolean).join(" · ")}</bdi>}
                  actions={
                    <>
                      <LinkButton label={t("open")} icon="list" iconOnly kind="quiet" href={to("conversations", [], { workspace: workspace.slug })} />
                      {isAdmin && !workspace.declared && (
                        <>
                          <Button label={t("edit", { name: workspace.name })} icon="edit" iconOnly kind="quiet" onPress={() => setEdited(workspace)} />
                          <Button label={t("delete_one", { name: workspace.name })} icon="trash" iconOnly kind="quiet" onPress={() => remove(workspace)} />
                        </>
                      )}
                    </>
                  }
                />
              ))}
            </ul>
          )
        }
      </Loaded>
      {may("chat") && <Contexts />}
      {edited && <Editor workspace={edited} onClose={() => setEdited(undefined)} onSaved={found.reload} />}
    </Page>
  );
}
