import { useState } from "preact/hooks";
import { LinkButton } from "~/components/button";
import { Ago, Badge, Empty, Loading, Notice, Page, Row } from "~/components/layout";
import { Button } from "~/components/button";
import type { ScreenProps } from "~/screens";
import { inbox, type Item } from "~/state/inbox";
import { go, to } from "~/state/router";
import { ItemDialog } from "./item";
import { t } from "./texts";

export default function Waiting({ rest }: ScreenProps) {
  const shown = inbox.value;
  const [opened, setOpened] = useState<Item>();
  const item = shown?.items.find(({ id }) => id === (rest[0] ?? opened?.id));
  const close = () => {
    setOpened(undefined);
    if (rest[0]) go(to("inbox"), { replace: true });
  };
  return (
    <Page title={t("title")}>
      {!shown && <Loading />}
      {shown?.problems.map((problem) => (
        <Notice key={problem} kind="warning">
          <p>{problem}</p>
        </Notice>
      ))}
      {shown?.items.length === 0 && (
        <Empty icon="inbox" title={t("empty")} text={t("empty_text")}>
          <LinkButton label={t("talk")} icon="chat" kind="primary" href={to("chat")} />
        </Empty>
      )}
      {shown && shown.items.length > 0 && (
        <ul class="rows">
          {shown.items.map((waiting) => (
            <Line key={waiting.id} item={waiting} onOpen={() => setOpened(waiting)} />
          ))}
        </ul>
      )}
      {item && <ItemDialog item={item} onClose={close} />}
    </Page>
  );
}

function Line({ item, onOpen }: { item: Item; onOpen: () => void }) {
  return (
    <Row
      title={<bdi>{item.title}</bdi>}
      badges={<Badge text={t(`kind_${item.kind}` as "kind_question")} kind={item.kind === "problem" ? "warning" : "accent"} />}
      text={
        <>
          <bdi>{t("from", { source: item.source })}</bdi>
          {item.since && (
            <>
              {" · "}
              <Ago time={item.since} />
            </>
          )}
        </>
      }
      actions={<Button label={t("look")} onPress={onOpen} />}
    />
  );
}
