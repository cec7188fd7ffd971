/** Screens that a module answers: without it they say what it does, and install it after its consent was read. */
import type { ComponentChildren } from "preact";
import { api, ApiError } from "~/api/client";
import { useResource } from "~/state/resource";
import { to } from "~/state/router";
import { may } from "~/state/session";
import { toast } from "~/state/toasts";
import { messages } from "~/text/messages";
import { Button, LinkButton } from "./button";
import { ask, Dialog } from "./dialog";
import type { IconName } from "./icons";
import { Empty, Loaded, Page } from "./layout";

const t = messages("with_module", {
  install: "Install",
  installed: "{name} is installed.",
  read_first: "What it may do",
  consent: "Install {name}?",
  cancel: "Cancel",
  not_installed: "{name} is not installed",
  owner: "The owner of this computer can install it.",
  off: "{name} is turned off",
  off_text: "Its data is kept. Turn it on to continue.",
  turn_on: "Turn on",
  turned_on: "{name} is on.",
  waits: "{name} needs your approval",
  waits_text: "It has changed, or its files are not the ones you approved. Review it before it runs.",
  look: "Review",
});

/** A module that came with the program. */
export interface Offer {
  name: string;
  source: string;
  installed: boolean;
  hash?: string;
  text?: string;
  description?: string;
  problem?: string;
}

interface Props {
  /** The module, such as `daily`. */
  name: string;
  /** The title of the screen. */
  screen: string;
  /** Its name for people. */
  title: string;
  icon: IconName;
  /** Purpose of the screen. */
  text: string;
  children: ComponentChildren;
}

type State = "ready" | "disabled" | "not_installed" | "pending_approval" | "missing" | "damaged" | "installing";

async function stateOf(name: string, signal: AbortSignal): Promise<State> {
  if (!may("modules")) return "ready";
  const { modules } = await api.get<{ modules: { name: string; state: State }[] }>("/api/modules", { signal });
  return modules.find((each) => each.name === name)?.state ?? "not_installed";
}

export function WithModule({ name, screen, title, icon, text, children }: Props) {
  const state = useResource((signal) => stateOf(name, signal), name, ["modules"]);
  const isOwner = may("modules", "admin");
  const turnOn = async () => {
    await api.post("/api/modules/{name}/enable", { params: { name } });
    toast(t("turned_on", { name: title }));
    await state.reload();
  };
  const now = state.value;
  if (now === "ready" || now === "installing") return <>{children}</>;
  return (
    <Page title={screen}>
      <Loaded of={state}>
        {() => {
          if (now === "not_installed") {
            return (
              <Empty icon={icon} title={t("not_installed", { name: title })} text={isOwner ? text : t("owner")}>
                {isOwner && (
                  <Button label={t("read_first")} icon="download" kind="primary" onPress={() => install(name, title, state.reload)} />
                )}
              </Empty>
            );
          }
          if (now === "disabled") {
            return (
              <Empty icon={icon} title={t("off", { name: title })} text={t("off_text")}>
                {isOwner && <Button label={t("turn_on")} kind="primary" onPress={turnOn} />}
              </Empty>
            );
          }
          return (
            <Empty icon={icon} title={t("waits", { name: title })} text={t("waits_text")}>
              <LinkButton label={t("look")} kind="primary" href={to("inbox")} />
            </Empty>
          );
        }}
      </Loaded>
    </Page>
  );
}

async function install(name: string, title: string, reload: () => Promise<void>): Promise<void> {
  const { modules } = await api.get<{ modules: Offer[] }>("/api/modules/official");
  const offer = modules.find((each) => each.name === name);
  if (offer?.problem) throw new ApiError(409, "problem", offer.problem);
  if (offer && !offer.installed) {
    const isAgreed = await ask<boolean>((close) => (
      <Dialog
        title={t("consent", { name: title })}
        isWide
        onClose={() => close(false)}
        actions={
          <>
            <Button label={t("cancel")} onPress={() => close(false)} />
            <Button label={t("install")} kind="primary" onPress={() => close(true)} />
          </>
        }
      >
        <pre class="text-block" tabIndex={0}>
          {offer.text}
        </pre>
      </Dialog>
    ));
    if (!isAgreed) return;
    await api.post("/api/modules/install", { body: { source: offer.source, hash: offer.hash } });
    toast(t("installed", { name: title }));
  }
  await reload();
}
