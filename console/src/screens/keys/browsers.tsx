/** Browsers that are signed in, those of one device together. */
import { api, type Schema } from "~/api/client";
import { Button } from "~/components/button";
import { confirm } from "~/components/dialog";
import { Loaded, Section } from "~/components/layout";
import { askText } from "~/components/prompt";
import { useResource } from "~/state/resource";
import { attempt } from "~/state/toasts";
import { Device } from "./device_row";
import { t } from "./texts";

type Session = Schema<"Session">;

export function Browsers() {
  const found = useResource((signal) => api.get("/api/pairing/sessions", { signal }), "browsers", ["keys"]);
  const revoke = async (session: Session) => {
    if (!(await confirm(t("revoke_title", { name: session.name }), t("revoke_text"), t("revoke")))) return;
    await api.delete("/api/pairing/sessions/{identifier}", { params: { identifier: session.id } });
    await found.reload();
  };
  const rename = (session: Session) =>
    attempt(async () => {
      const name = await askText({ title: t("rename_title"), label: t("name"), value: session.name, yes: t("rename") });
      if (!name) return;
      await api.patch("/api/pairing/sessions/{identifier}", { params: { identifier: session.id }, body: { name } });
      await found.reload();
    });
  const row = (session: Session) => (
    <Device
      key={session.id}
      name={session.name}
      scopes={session.scopes}
      seen={session.last_seen_at ?? session.created_at}
      address={session.address}
      isCurrent={session.is_current}
      onRevoke={() => revoke(session)}
    >
      <Button label={t("rename")} kind="quiet" onPress={() => rename(session)} />
    </Device>
  );
  return (
    <Section title={t("browsers")}>
      <Loaded of={found}>
        {({ sessions }) =>
          sessions.length === 0 ? (
            <p class="muted">{t("browsers_none")}</p>
          ) : (
            <ul class="rows">
              {byDevice(sessions).map(([first, ...others]) => (
                <>
                  {first && row(first)}
                  {others.length > 0 && (
                    <li class="folded">
                      <details>
                        <summary>{t("others", { n: others.length, name: first?.name ?? "" })}</summary>
                        <ul class="rows">{others.map(row)}</ul>
                      </details>
                    </li>
                  )}
                </>
              ))}
            </ul>
          )
        }
      </Loaded>
    </Section>
  );
}

/** Sign-ins of the same name at the same address are one device's; this browser comes first, then those seen last. */
function byDevice(sessions: Session[]): Session[][] {
  const seen = (session: Session) => session.last_seen_at ?? session.created_at;
  const sorted = [...sessions].sort((one, other) => Number(other.is_current) - Number(one.is_current) || seen(other).localeCompare(seen(one)));
  const devices = new Map<string, Session[]>();
  for (const session of sorted) {
    const device = `${session.name} ${session.is_elsewhere ? session.address : ""} ${session.scopes.join()}`;
    devices.set(device, [...(devices.get(device) ?? []), session]);
  }
  return [...devices.values()];
}
