/** One assistant: everything that it may have, and everything that it got. */
import { useState } from "preact/hooks";
import { api, type Schema } from "~/api/client";
import { Button } from "~/components/button";
import { confirm, Dialog } from "~/components/dialog";
import { Ago, Facts, Loaded, Page, Progress, Row, Section } from "~/components/layout";
import { useResource, type Resource } from "~/state/resource";
import { go, to } from "~/state/router";
import { bytes, moment } from "~/text/messages";
import { Choosing, kindName } from "./choosing";
import { ANY, body, chosen, isEnough } from "./limits";
import { t } from "./texts";

type Whole = Schema<"ClientWithSum">;
type Receipt = { timestamp: string; target_endpoint: string; success: boolean; bytes?: number; sentences?: number; files?: { path: string }[] };
type Receipts = { records: Receipt[]; next: string | null };

export function Client({ id }: { id: string }) {
  const found = useResource((signal) => api.get("/api/mcp-clients/{client}", { params: { client: id }, signal }), `client/${id}`, ["keys"]);
  return <Loaded of={found}>{(client) => <Shown client={client} found={found} />}</Loaded>;
}

function Shown({ client, found }: { client: Whole; found: Resource<Whole> }) {
  const [isChanging, setChanging] = useState(false);
  const end = async () => {
    if (!(await confirm(t("end_title", { name: client.name }), t("end_text"), t("end")))) return;
    await api.delete("/api/mcp-clients/{client}", { params: { client: client.id } });
    go(to("clients"), { replace: true });
  };
  const { today, total, limits } = client;
  const used = t("budget_used", { used: bytes(today.bytes), most: bytes(limits.bytes_a_day) });
  return (
    <Page title={client.name} back={to("clients")} actions={<Button label={t("end")} icon="stop" kind="danger" onPress={end} />}>
      <Facts
        facts={[
          [t("since"), <Ago time={client.since} />],
          [t("last"), client.last_request ? <Ago time={client.last_request} /> : t("never")],
          [t("all_in_all"), t("sums", { answers: total.answers, bytes: bytes(total.bytes), n: total.sentences })],
          [t("sent_to"), <bdi>{client.returns_to}</bdi>],
          [t("at"), <bdi>{client.address}</bdi>],
        ]}
      />
      <p>{used}</p>
      <Progress value={Math.min(1, today.bytes / limits.bytes_a_day)} label={used} />
      <Section title={t("may")} actions={<Button label={t("change")} icon="edit" onPress={() => setChanging(true)} />}>
        <May limits={limits} />
      </Section>
      <Section title={t("requests")}>
        <Requests id={client.id} />
      </Section>
      {isChanging && <Change client={client} onClose={() => setChanging(false)} onSaved={found.reload} />}
    </Page>
  );
}

function May({ limits }: { limits: Whole["limits"] }) {
  const list = (names: string[], shown = (name: string) => name) => (names.includes(ANY) ? t("everything") : names.map(shown).join(", ") || "–");
  const workspace = (name: string) => (name === "-" ? t("no_workspace") : name);
  const day = (date: string | null) => (date ? moment(`${date}T12:00:00Z`, { dateStyle: "medium", timeZone: "UTC" }) : "…");
  return (
    <Facts
      facts={[
        [t("tools"), list(limits.tools)],
        [t("folders"), list(limits.folders)],
        [t("kinds"), list(limits.kinds, kindName)],
        [t("workspaces"), list(limits.workspaces, workspace)],
        [t("entries"), limits.since || limits.until ? `${day(limits.since)} – ${day(limits.until)}` : t("times_all")],
        [t("ends"), day(limits.ends_on)],
      ]}
    />
  );
}

function Requests({ id }: { id: string }) {
  const params = { client: id };
  const [more, setMore] = useState<Receipts>();
  const first = useResource((signal) => api.get<Receipts>("/api/mcp-clients/{client}/requests", { params, signal }), `requests/${id}`);
  const load = async (before: string) => {
    const { records, next } = await api.get<Receipts>("/api/mcp-clients/{client}/requests", { params, query: { before } });
    setMore({ records: [...(more?.records ?? []), ...records], next });
  };
  return (
    <Loaded of={first}>
      {(page) => {
        const records = [...page.records, ...(more?.records ?? [])];
        const { next } = more ?? page;
        if (records.length === 0) return <p class="muted">{t("requests_none")}</p>;
        return (
          <>
            <ul class="rows">
              {records.map((each, index) => (
                <Row key={index} title={each.target_endpoint} text={<Got of={each} />} />
              ))}
            </ul>
            {next && <Button label={t("more")} onPress={() => load(next)} />}
          </>
        );
      }}
    </Loaded>
  );
}

function Got({ of }: { of: Receipt }) {
  const size = t("today_sum", { bytes: bytes(of.bytes ?? 0), n: of.sentences ?? 0 });
  return (
    <>
      {moment(of.timestamp)} · {of.success ? size : t("failed")}
      {of.files?.map(({ path }) => <bdi key={path} class="receipt-path">{path}</bdi>)}
    </>
  );
}

function Change({ client, onClose, onSaved }: { client: Whole; onClose: () => void; onSaved: () => Promise<void> }) {
  const options = useResource((signal) => api.get("/api/mcp-clients/options", { signal }), "options");
  const [value, setValue] = useState(() => chosen(client.limits));
  const save = async () => {
    await api.put("/api/mcp-clients/{client}/limits", { params: { client: client.id }, body: body(value, options.value?.today ?? "") });
    await onSaved();
    onClose();
  };
  const actions = <Button label={t("save")} kind="primary" disabled={!isEnough(value) || !options.value} onPress={save} />;
  return (
    <Dialog title={t("change")} onClose={onClose} actions={actions} isWide>
      <Loaded of={options}>{(of) => <Choosing options={of} value={value} onChange={setValue} />}</Loaded>
    </Dialog>
  );
}
