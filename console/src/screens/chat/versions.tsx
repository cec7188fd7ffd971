/** The versions of a message: the way between them, and their answers beside one another. */
import { useState } from "preact/hooks";
import { api, type Schema } from "~/api/client";
import { Button, LinkButton } from "~/components/button";
import { Dialog } from "~/components/dialog";
import { Loaded } from "~/components/layout";
import { useResource } from "~/state/resource";
import { to } from "~/state/router";
import { type Message, stored } from "./events";
import { t } from "./log_texts";
import { Parts } from "./message";

export type Point = Schema<"VersionPoint">;
type Version = Schema<"Version">;

/** ‹ 2/3 ›: each arrow leads to the conversation that has the version. */
export function Switch({ point, message }: { point: Point; message: string }) {
  const place = point.versions.findIndex((version) => version.message === message);
  const way = (version: Version | undefined, label: string, icon: "back" | "forward") =>
    version ? (
      <LinkButton label={label} icon={icon} iconOnly kind="quiet" href={to("chat", [version.session], { message: version.message })} />
    ) : (
      <Button label={label} icon={icon} iconOnly kind="quiet" disabled />
    );
  return (
    <div class="versions" role="group" aria-label={t("versions")}>
      {way(point.versions[place - 1], t("previous"), "back")}
      <span>{t("version_of", { shown: place + 1, all: point.versions.length })}</span>
      {way(point.versions[place + 1], t("next"), "forward")}
    </div>
  );
}

/** The answer to one version: all that the agent said until the person's next message. */
async function answerOf({ session, message }: Version, signal: AbortSignal): Promise<Message | undefined> {
  for (const limit of [500, 5000]) {
    const found = await api.get("/api/chat/{session}", { params: { session }, query: { limit }, signal });
    const messages = stored(session, found.messages);
    const asked = messages.findIndex(({ id }) => id === message);
    if (asked >= 0) return messages[asked + 1]?.role === "assistant" ? messages[asked + 1] : undefined;
    if (found.messages.length < limit) break;
  }
  return undefined;
}

/** Two answers, side by side where there is room. */
export function Compare({ point, message, onClose }: { point: Point; message: string; onClose: () => void }) {
  const here = point.versions.findIndex((version) => version.message === message);
  const [shown, setShown] = useState<[number, number]>(here > 0 ? [here - 1, here] : [0, 1]);
  return (
    <Dialog title={t("compare_title")} onClose={onClose} isWide>
      <div class="compare">
        {shown.map((place, side) => (
          <Side
            key={side}
            point={point}
            place={place}
            onPlace={(chosen) => setShown(side ? [shown[0], chosen] : [chosen, shown[1]])}
            onClose={onClose}
          />
        ))}
      </div>
    </Dialog>
  );
}

interface SideProps {
  point: Point;
  place: number;
  onPlace: (place: number) => void;
  onClose: () => void;
}

function Side({ point, place, onPlace, onClose }: SideProps) {
  const version = point.versions[place];
  const name = t("version_of", { shown: place + 1, all: point.versions.length });
  const answer = useResource(async (signal) => ({ said: version && (await answerOf(version, signal)) }), `${version?.session}/${version?.message}`);
  return (
    <section aria-label={name}>
      <header class="versions">
        <Button label={t("previous")} icon="back" iconOnly kind="quiet" disabled={place === 0} onPress={() => onPlace(place - 1)} />
        <span>{name}</span>
        <Button label={t("next")} icon="forward" iconOnly kind="quiet" disabled={place === point.versions.length - 1} onPress={() => onPlace(place + 1)} />
      </header>
      <Loaded of={answer}>
        {({ said }) => (said ? <div class="message assistant"><Parts message={said} isLive={false} /></div> : <p class="muted">{t("no_answer")}</p>)}
      </Loaded>
      {version && (
        <span onClick={onClose}>
          <LinkButton label={t("open_version")} href={to("chat", [version.session], { message: version.message })} />
        </span>
      )}
    </section>
  );
}
