/** Hooks: which commands answer events, whether they may, and how they failed. */
import { api } from "~/api/client";
import { Ago, Badge, Empty, Loaded, Notice, Row, Section } from "~/components/layout";
import { LinkButton } from "~/components/button";
import { to } from "~/state/router";
import { useResource } from "~/state/resource";
import { described, said } from "~/text/server_sentences";
import { t } from "./texts";

export function Hooks() {
  const found = useResource(
    async (signal) => {
      const [{ hooks, problems }, { errors }] = await Promise.all([
        api.get("/api/hooks", { signal }),
        api.get("/api/hooks/errors", { signal }),
      ]);
      return { hooks, problems, errors };
    },
    "hooks",
    ["hooks", "plugins"],
  );
  return (
    <Loaded of={found}>
      {({ hooks, problems, errors }) => (
        <>
          {problems.map((problem) => (
            <Notice key={problem} kind="warning">
              <p>{problem}</p>
            </Notice>
          ))}
          {hooks.length === 0 ? (
            <Empty icon="branch" title={t("no_hooks")} text={t("no_hooks_text")}>
              <LinkButton label={t("plugins")} kind="primary" icon="capabilities" href={to("capabilities", ["plugins"])} />
            </Empty>
          ) : (
            <ul class="rows">
              {hooks.map((hook) => (
                <Row
                  key={`${hook.source}/${hook.name}/${hook.command}`}
                  title={<bdi>{hook.name}</bdi>}
                  badges={
                    <>
                      {!hook.approved && <Badge text={t("hook_waits")} kind="warning" />}
                      {hook.problem && <Badge text={t("problem")} kind="danger" />}
                      {hook.off && <Badge text={t("hook_off")} />}
                    </>
                  }
                  text={
                    <>
                      <bdi>{hook.problem || hook.off ? said(hook.problem ?? hook.off ?? "") : described(hook.description ?? "")}</bdi>
                      <br />
                      <bdi>{hook.events.join(", ")}</bdi>
                      {" · "}
                      <bdi>{hook.source}</bdi>
                    </>
                  }
                />
              ))}
            </ul>
          )}
          {errors.length > 0 && (
            <Section title={t("hook_failures")}>
              <ul class="rows">
                {errors.map((error, index) => (
                  <Row
                    key={index}
                    title={<bdi>{error.hook}</bdi>}
                    text={
                      <>
                        <bdi>{said(error.message)}</bdi>
                        <br />
                        <bdi>{error.event}</bdi>
                        {" · "}
                        <Ago time={error.timestamp} />
                      </>
                    }
                  />
                ))}
              </ul>
            </Section>
          )}
        </>
      )}
    </Loaded>
  );
}
