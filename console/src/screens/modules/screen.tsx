import { useState } from "preact/hooks";
import { api } from "~/api/client";
import { Button } from "~/components/button";
import { Empty, Loaded, Notice, Page, Row, Section } from "~/components/layout";
import type { ScreenProps } from "~/screens";
import { useResource } from "~/state/resource";
import { to } from "~/state/router";
import { may } from "~/state/session";
import { moduleName } from "~/text/names";
import { described, said } from "~/text/server_sentences";
import { titles } from "./about";
import { StateBadge } from "./badge";
import { InstallDialog, OfficialDialog } from "./install";
import type { Offered } from "./models";
import { ModulePage } from "./page";
import { t } from "./texts";

export default function Modules({ rest }: ScreenProps) {
  return rest[0] ? <ModulePage key={rest[0]} name={rest[0]} /> : <ModuleList />;
}

function ModuleList() {
  const isAdmin = may("modules", "admin");
  const installed = useResource((signal) => api.get("/api/modules", { signal }), "installed", ["modules"]);
  const official = useResource(
    async (signal) => (isAdmin ? api.get("/api/modules/official", { signal }) : { modules: [] }),
    "official",
    ["modules"],
  );
  const [isInstalling, setInstalling] = useState(false);
  const [looked, setLooked] = useState<Offered>();
  const reload = async () => void (await Promise.all([installed.reload(), official.reload()]));
  const others = official.value?.modules.filter((module) => !module.installed) ?? [];
  const available = others.filter((module): module is Offered => "hash" in module);
  const problems = others.filter((module) => "problem" in module);
  return (
    <Page title={titles("title")} actions={isAdmin && <Button label={t("add")} icon="plus" onPress={() => setInstalling(true)} />}>
      <Loaded of={installed}>
        {({ modules }) =>
          modules.length === 0 ? (
            <Empty icon="modules" title={t("none")} text={t("none_text")} />
          ) : (
            <ul class="rows">
              {modules.map((module) => (
                <Row
                  key={module.name}
                  title={
                    <>
                      <span class="module-icon small" aria-hidden="true">{module.icon || "◍"}</span> <bdi>{module.title || moduleName(module.name)}</bdi>
                    </>
                  }
                  href={to("modules", [module.name])}
                  badges={<StateBadge module={module} />}
                  text={<bdi>{said(module.problem ?? module.reason ?? module.permissions?.description ?? "")}</bdi>}
                />
              ))}
            </ul>
          )
        }
      </Loaded>
      {problems.map(({ name, problem }) => (
        <Notice key={name} kind="warning">
          <p>
            {name}: {said(problem ?? "")}
          </p>
        </Notice>
      ))}
      {available.length > 0 && (
        <Section title={t("available")}>
          <ul class="rows">
            {available.map((module) => (
              <Row
                key={module.name}
                title={
                  <>
                    <span class="module-icon small" aria-hidden="true">{module.permissions.icon || "◍"}</span>{" "}
                    {module.permissions.title || moduleName(module.name)}
                  </>
                }
                text={described(module.permissions.description)}
                actions={<Button label={t("install")} onPress={() => setLooked(module)} />}
              />
            ))}
          </ul>
        </Section>
      )}
      {isInstalling && <InstallDialog onClose={() => setInstalling(false)} onInstalled={reload} />}
      {looked && <OfficialDialog module={looked} onClose={() => setLooked(undefined)} onInstalled={reload} />}
    </Page>
  );
}
