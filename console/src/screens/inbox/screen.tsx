import { useState } from "preact/hooks";
import { Button, LinkButton } from "~/components/button";
import { Empty, Loading, Notice, Page } from "~/components/layout";
import type { ScreenProps } from "~/screens";
import { Unsent } from "~/components/unsent";
import { inbox, isAnswered } from "~/state/inbox";
import { go, to } from "~/state/router";
import { titles } from "./about";
import { ItemCard, ItemDialog } from "./item";
import { giveAll, groups, shown } from "./kinds";
import { t } from "./texts";

export default function Waiting({ rest }: ScreenProps) {
  const page = inbox.value;
  const items = (page?.items ?? []).filter((item) => !isAnswered(item));
  const [opened, setOpened] = useState<string>();
  const cards = items.map((item) => [item, shown(item)] as const);
  const card = cards.find(([{ id }]) => id === (rest[0] ?? opened))?.[1];
  const close = () => {
    setOpened(undefined);
    if (rest[0]) go(to("inbox"), { replace: true });
  };
  return (
    <Page title={titles("title")}>
      {!page && <Loading />}
      {page?.problems.map((problem) => (
        <Notice key={problem} kind="warning">
          <p>{problem}</p>
        </Notice>
      ))}
      <Unsent kinds={["answer"]} />
      {page && items.length === 0 && (
        <Empty icon="inbox" title={t("empty")} text={t("empty_text")}>
          <LinkButton label={t("talk")} icon="chat" kind="primary" href={to("chat")} />
        </Empty>
      )}
      {cards.map(([item, each]) =>
        each ? (
          <ItemCard key={item.id} shown={each} onRead={() => setOpened(item.id)} />
        ) : (
          <p key={item.id}>
            <bdi>{item.sentence}</bdi> {t("newer")}
          </p>
        ),
      )}
      <div class="buttons">
        {groups(items).map(({ word, label, items }) => (
          <Button key={label} label={label} onPress={() => giveAll(items, word)} />
        ))}
      </div>
      {card && <ItemDialog shown={card} onClose={close} />}
    </Page>
  );
}
