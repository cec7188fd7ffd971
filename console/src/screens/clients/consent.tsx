/** The owner's answer to a program that asks to come in. */
import { useState } from "preact/hooks";
import { api, type Schema } from "~/api/client";
import { Button } from "~/components/button";
import { Loaded, Notice, Page } from "~/components/layout";
import { useResource } from "~/state/resource";
import { Choosing } from "./choosing";
import { body, isEnough, nothing } from "./limits";
import { t } from "./texts";

export function Consent({ request }: { request: string }) {
  const params = { request };
  const found = useResource(
    async (signal) => {
      const asked = await api.get("/api/mcp-clients/requests/{request}", { params, signal });
      return { asked, options: await api.get("/api/mcp-clients/options", { signal }) };
    },
    `consent/${request}`,
  );
  return (
    <Page title={t("consent")}>
      <Loaded of={found}>{({ asked, options }) => <Asked asked={asked} options={options} />}</Loaded>
    </Page>
  );
}

function Asked({ asked, options }: { asked: Schema<"ShownRequest">; options: Schema<"Options"> }) {
  const [value, setValue] = useState(() => nothing(options.today));
  const params = { request: asked.id };
  const answer = async (isYes: boolean) => {
    const { address } = isYes
      ? await api.post("/api/mcp-clients/requests/{request}/agree", { params, body: body(value, options.today) })
      : await api.post("/api/mcp-clients/requests/{request}/refuse", { params });
    location.replace(address);
  };
  return (
    <>
      <Notice kind="warning">
        <p>{t("says", { name: asked.name })}</p>
        <p>{t(asked.is_here ? "returns_here" : "returns", { host: asked.returns_to })}</p>
      </Notice>
      <Choosing options={options} value={value} onChange={setValue} />
      {!isEnough(value) && <p class="muted">{t("choose")}</p>}
      <div class="consent-answer">
        <Button label={t("refuse")} onPress={() => answer(false)} />
        <Button label={t("agree")} kind="primary" disabled={!isEnough(value)} onPress={() => answer(true)} />
      </div>
    </>
  );
}
