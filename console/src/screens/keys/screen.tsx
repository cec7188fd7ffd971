import { useState } from "preact/hooks";
import { api, type Schema } from "~/api/client";
import { Button } from "~/components/button";
import { confirm } from "~/components/dialog";
import { Facts, Loaded, Page, Section } from "~/components/layout";
import { ConnectPhone } from "~/components/phone";
import { countDrafts } from "~/state/drafts";
import { all } from "~/state/letter_store";
import { useResource } from "~/state/resource";
import { may, me, signOut } from "~/state/session";
import { titles } from "./about";
import { AddDevice } from "./add";
import { Browsers } from "./browsers";
import { Device, rights } from "./device_row";
import { t } from "./texts";
import { Told } from "./told";

type Key = Schema<"ShownKey">;

export default function Keys() {
  const isAdmin = may("auth", "admin");
  const [isAdding, setAdding] = useState(false);
  const add = isAdmin && <Button label={t("add")} icon="plus" onPress={() => setAdding(true)} />;
  return (
    <Page title={titles("title")} actions={add}>
      {isAdmin && <Phone />}
      <ThisBrowser />
      {may("inbox") && <Told />}
      {isAdmin && <Browsers />}
      {isAdmin && <KeyList />}
      {isAdding && <AddDevice onClose={() => setAdding(false)} />}
    </Page>
  );
}

function ThisBrowser() {
  const current = me.value;
  const leave = async () => {
    // With recordings that go on in other windows, which are not listed.
    const kept = await all().catch(() => []);
    const n = kept.length + countDrafts();
    if (n === 0 || (await confirm(t("unsent_title"), t("unsent_text", { n }), t("sign_out")))) await signOut();
  };
  return (
    <Section title={t("this_browser")} actions={current?.kind === "session" && <Button label={t("sign_out")} onPress={leave} />}>
      {current?.name && (
        <Facts
          facts={[
            [t("name"), <bdi>{current.name}</bdi>],
            [t("may"), <bdi>{rights(current.scopes)}</bdi>],
          ]}
        />
      )}
    </Section>
  );
}

function Phone() {
  return (
    <Section title={t("phone")}>
      <ConnectPhone onChange={() => undefined} />
    </Section>
  );
}

function KeyList() {
  const found = useResource((signal) => api.get("/api/auth/keys", { signal }), "keys", ["keys"]);
  const revoke = async (key: Key) => {
    if (!(await confirm(t("revoke_title", { name: key.label }), t("revoke_text"), t("revoke")))) return;
    await api.delete("/api/auth/keys/{identifier}", { params: { identifier: key.id } });
    await found.reload();
  };
  return (
    <Section title={t("keys")}>
      <Loaded of={found}>
        {({ keys }) =>
          keys.length === 0 ? (
            <p class="muted">{t("keys_none")}</p>
          ) : (
            <ul class="rows">
              {keys.map((key) => (
                <Device key={key.id} name={key.label} scopes={key.scopes} seen={key.last_used_at} address={key.address} onRevoke={() => revoke(key)} />
              ))}
            </ul>
          )
        }
      </Loaded>
    </Section>
  );
}
