/** The ways in for other assistants. */
import { api, download } from "~/api/client";
import { Button, LinkButton } from "~/components/button";
import { Loaded, Notice, Page, Section } from "~/components/layout";
import { Qr } from "~/components/qr";
import { useResource } from "~/state/resource";
import { to } from "~/state/router";
import { toast } from "~/state/toasts";
import { copy } from "~/text/clipboard";
import { t } from "./texts";

export function Connect() {
  const found = useResource((signal) => api.get("/api/mcp-clients/connect", { signal }), "connect");
  return (
    <Page title={t("connect")} back={to("clients")}>
      <Loaded of={found}>
        {(way) => (
          <>
            {!way.can_sign_in && <Notice kind="warning">{t("no_tls")}</Notice>}
            <Line title={t("address")} text={way.address} />
            {way.qr.length > 0 && (
              <div class="pairing">
                <Qr rows={way.qr} label={way.address} />
                <p class="muted connect-scan">{t("scan")}</p>
              </div>
            )}
            <Line title={t("claude_code")} text={way.claude_code} />
            <Section title={t("bundle")} actions={<Button label={t("bundle")} icon="download" iconOnly onPress={saveBundle} />}>
              <p class="muted">{t("bundle_text")}</p>
            </Section>
            <Line title={t("inspector")} text={way.inspector} hint={t("inspector_text")} />
            {way.certificate && (
              <Section title={t("download_certificate")} actions={<LinkButton label={t("download_certificate")} icon="download" iconOnly href={way.certificate} />}>
                <p class="muted">{t("certificate")}</p>
              </Section>
            )}
            <p class="muted">{t("cloud")}</p>
          </>
        )}
      </Loaded>
    </Page>
  );
}

function Line({ title, text, hint }: { title: string; text: string; hint?: string }) {
  const take = async () => {
    await copy(text);
    toast(t("copied"));
  };
  return (
    <Section title={title} actions={<Button label={t("copy")} icon="copy" onPress={take} />}>
      <code class="connect-line">{text}</code>
      {hint && <p class="muted">{hint}</p>}
    </Section>
  );
}

async function saveBundle(): Promise<void> {
  const file = await download("/api/mcp-clients/bundle");
  const link = document.createElement("a");
  link.href = URL.createObjectURL(file);
  link.download = "parachute.mcpb";
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href));
}
