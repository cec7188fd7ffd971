import { useEffect, useState } from "preact/hooks";
import { api, type Schema } from "~/api/client";
import { Button, LinkButton } from "~/components/button";
import { confirm, Dialog } from "~/components/dialog";
import { Choice, Form, TextField } from "~/components/field";
import { Badge, Loaded, Notice, Row, Section } from "~/components/layout";
import { NamedList } from "~/components/named_list";
import { Sentence } from "~/components/sentence";
import { useResource } from "~/state/resource";
import { may } from "~/state/session";
import { attempt, toast } from "~/state/toasts";
import { said } from "~/text/server_sentences";
import { Opener } from "./agents";
import { Part, removing } from "./part";
import { t } from "./texts";

type Server = Schema<"ServerRow">;

export function Mcps() {
  const found = useResource(async (signal) => (await api.get("/api/mcps", { signal })).servers, "mcps", ["mcps", "plugins"]);
  const [name, setName] = useState<string>();
  const shown = found.value?.find((server) => server.name === name);
  return (
    <>
      <Part
        icon="link"
        name={t("mcps")}
        text={t("mcps_text")}
        add={t("add_mcp")}
        mayAdd={may("mcps", "admin")}
        found={found}
        line={(server) => (
          <Row
            key={server.name}
            title={<Opener name={server.name} onOpen={() => setName(server.name)} />}
            badges={
              <>
                <Badge text={t(server.builtin ? "builtin" : server.displayType === "stdio" ? "runs_here" : "runs_elsewhere")} />
                <Status server={server} />
              </>
            }
            text={<bdi>{server.problem ? said(server.problem) : (server.validationErrors?.map((each) => said(each)).join(" ") ?? (server.builtin ? t("builtin_text") : server.displayCommand))}</bdi>}
          />
        )}
        dialog={(close) => <AddDialog onClose={close} />}
      />
      {shown && <ServerDialog server={shown} onClose={() => setName(undefined)} reload={found.reload} />}
    </>
  );
}

function Status({ server }: { server: Server }) {
  if (server.state !== "approved") return <Badge text={t("unapproved")} kind="warning" />;
  const kind = ({ connected: "good", error: "danger", needs_login: "warning", untested: "plain" } as const)[server.status];
  return <Badge text={t(server.status)} kind={kind} />;
}

const lines = (text: string) => text.split("\n").map((line) => line.trim()).filter(Boolean);

function pairs(text: string, separator: string): Record<string, string> {
  const split = lines(text).map((line) => [line.slice(0, line.indexOf(separator)).trim(), line.slice(line.indexOf(separator) + 1).trim()]);
  return Object.fromEntries(split.filter(([name]) => name));
}

function AddDialog({ onClose }: { onClose: () => void }) {
  const [kind, setKind] = useState<"http" | "stdio">("http");
  const [draft, setDraft] = useState({ name: "", url: "", headers: "", command: "", args: "", env: "" });
  const field = (name: keyof typeof draft) => (value: string) => setDraft({ ...draft, [name]: value });
  const save = () =>
    attempt(async () => {
      const body =
        kind === "http"
          ? { name: draft.name, type: "http", url: draft.url, ...(draft.headers && { headers: pairs(draft.headers, ":") }) }
          : { name: draft.name, command: draft.command, args: lines(draft.args), ...(draft.env && { env: pairs(draft.env, "=") }) };
      await api.post("/api/mcps", { body });
      onClose();
    });
  return (
    <Dialog title={t("add_mcp")} onClose={onClose}>
      <Form onSubmit={save}>
        <TextField label={t("name")} value={draft.name} onInput={field("name")} required autofocus />
        <Choice
          label={t("kind")}
          value={kind}
          options={(["http", "stdio"] as const).map((value) => ({ value, label: t(`kind_${value}`) }))}
          onChange={setKind}
        />
        {kind === "http" ? (
          <>
            <TextField label={t("url")} type="url" value={draft.url} onInput={field("url")} required />
            <TextField label={t("headers")} hint={t("headers_hint")} value={draft.headers} onInput={field("headers")} rows={2} monospace />
          </>
        ) : (
          <>
            <TextField label={t("command")} value={draft.command} onInput={field("command")} required monospace />
            <TextField label={t("arguments")} hint={t("arguments_hint")} value={draft.args} onInput={field("args")} rows={3} monospace />
            <TextField label={t("environment")} hint={t("environment_hint")} value={draft.env} onInput={field("env")} rows={2} monospace />
          </>
        )}
        <Button label={t("save")} kind="primary" submit />
      </Form>
    </Dialog>
  );
}

interface ServerDialogProps {
  server: Server;
  onClose: () => void;
  reload: () => Promise<void>;
}

function ServerDialog({ server, onClose, reload }: ServerDialogProps) {
  const params = { name: server.name };
  const isAdmin = may("mcps", "admin") && !server.builtin;
  const tools = useResource(
    (signal) => api.get("/api/mcps/{name}/tools", { params, signal }),
    server.name,
    ["mcps"],
  );
  // What it answers is its status in the list, which may have been fetched before.
  useEffect(() => {
    if (!tools.isLoading) void reload();
  }, [tools.value, tools.error]);
  const [link, setLink] = useState<string>();
  const [answer, setAnswer] = useState("");
  const test = async () => {
    const found = await api.post("/api/mcps/{name}/test", { params });
    if (found.error) toast(said(found.error), { isError: true });
    else toast(t("works", { name: server.name, n: found.tools_count ?? 0 }));
    await tools.reload();
  };
  const signIn = async () => setLink((await api.post("/api/mcps/{name}/login", { params, body: {} })).link);
  const signOut = async () => {
    if (!(await confirm(t("sign_out_title", { name: server.name }), t("sign_out_text"), t("sign_out")))) return;
    await api.delete("/api/mcps/{name}/login", { params });
    toast(t("signed_out", { name: server.name }));
    await tools.reload();
  };
  const finish = () =>
    attempt(async () => {
      await api.post("/api/mcps/{name}/login/answer", { params, body: { answer } });
      toast(t("signed_in"));
      setLink(undefined);
      await tools.reload();
    });
  return (
    <Dialog title={server.name} onClose={onClose} isWide>
      <pre class="text-block">{server.displayCommand}</pre>
      <Loaded of={tools}>
        {({ tools: offered, error, left_out: leftOut }) => (
          <>
            {error && (
              <Notice kind="warning">
                <p>
                  <Sentence text={error} />
                </p>
              </Notice>
            )}
            <NamedList entries={offered} />
            {leftOut.length > 0 && (
              <Section title={t("left_out")}>
                <NamedList entries={leftOut.map(({ name, reason }) => ({ name, description: said(reason) }))} />
              </Section>
            )}
          </>
        )}
      </Loaded>
      {link && (
        <Form onSubmit={finish}>
          <LinkButton label={t("open_login")} icon="link" kind="primary" href={link} isElsewhere />
          <TextField label={t("paste")} value={answer} onInput={setAnswer} />
          <Button label={t("finish")} submit disabled={!answer} />
        </Form>
      )}
      {isAdmin && (
        <div class="buttons">
          <Button label={t("remove")} onPress={() => removing(server.name, () => api.delete("/api/mcps/{name}", { params }), reload, onClose)} />
          {server.displayType !== "stdio" && !server.signed_in && <Button label={t("sign_in")} onPress={signIn} />}
          {server.signed_in && <Button label={t("sign_out")} onPress={signOut} />}
          <Button label={t("test")} kind="primary" onPress={test} />
        </div>
      )}
    </Dialog>
  );
}
