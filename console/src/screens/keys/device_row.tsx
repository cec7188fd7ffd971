/** One browser or key: its rights, and where and when it was used last. */
import type { ComponentChildren } from "preact";
import { Button } from "~/components/button";
import { Ago, Badge, Row } from "~/components/layout";
import { t } from "./texts";

const PARTS = ["chat", "inbox", "daily", "brain"] as const;

/** Rights as a person reads them; a part that has no word here keeps its name. */
export function rights(scopes: string[]): string {
  if (scopes.some((scope) => scope.startsWith("*:") && scope.endsWith("admin"))) return t("everything");
  const one = (scope: string) => {
    const [name = "", words = ""] = scope.split(":");
    const part = PARTS.find((known) => known === name);
    const may = words.includes("admin") ? "may_admin" : words.includes("write") ? "may_write" : "may_read";
    return t(may, { part: part ? t(`part_${part}`) : name });
  };
  return scopes.map(one).join(", ");
}

interface Props {
  name: string;
  scopes: string[];
  seen: string | null;
  address: string | null;
  isCurrent?: boolean;
  onRevoke: () => Promise<void>;
  children?: ComponentChildren;
}

export function Device({ name, scopes, seen, address, isCurrent, onRevoke, children }: Props) {
  const when = seen ? (
    <>
      {t("last_seen")} <Ago time={seen} />
      {address && (
        <>
          {" "}
          {t("from")} <bdi>{address}</bdi>
        </>
      )}
    </>
  ) : (
    t("never")
  );
  return (
    <Row
      title={<bdi>{name}</bdi>}
      badges={isCurrent && <Badge text={t("current")} kind="accent" />}
      text={
        <>
          <bdi>{rights(scopes)}</bdi> · {when}
        </>
      }
      actions={
        <>
          {children}
          {!isCurrent && <Button label={t("revoke")} onPress={onRevoke} />}
        </>
      }
    />
  );
}
