/** One conversation of a list, and what can be done with it. */
import { Button } from "~/components/button";
import { Ago, Badge, Row } from "~/components/layout";
import { platformName } from "~/text/platforms";
import { chooseAction, titleOf } from "./actions";
import { passageOf, placeOf, type Session, versionsOf } from "./data";
import { t } from "./texts";

interface Props {
  session: Session;
  workspace?: string;
  isActive: boolean;
  /** The words by which it was found. */
  search: string;
  onChange: () => Promise<void>;
}

export function Line({ session, workspace, isActive, search, onChange }: Props) {
  const title = titleOf(session);
  return (
    <Row
      title={<bdi>{title}</bdi>}
      href={placeOf(session, search)}
      badges={
        <>
          {session.versions && <Badge text={t("versions", { n: versionsOf(session).length })} />}
          {session.pinned && <Badge text={t("pinned")} />}
          {isActive && <Badge text={t("active")} kind="accent" />}
          {session.trustLevel === "direct" && <Badge text={t("direct")} kind="warning" />}
          {session.linkedBotPlatform && <Badge text={platformName(session.linkedBotPlatform)} />}
          {session.found_by === "meaning" && <Badge text={t("by_meaning")} />}
          {session.source === "claude-code" && <Badge text={t("from_claude_code")} />}
        </>
      }
      text={
        <>
          {passageOf(session) && <bdi class="passage">{passageOf(session)}</bdi>}
          <Ago time={session.updatedAt} />
          {" · "}
          {t("messages", { n: session.messageCount })}
          {workspace && (
            <>
              {" · "}
              <bdi>{workspace}</bdi>
            </>
          )}
        </>
      }
      actions={<Button label={t("actions", { title })} icon="more" iconOnly kind="quiet" onPress={() => chooseAction(session, isActive, onChange)} />}
    />
  );
}
