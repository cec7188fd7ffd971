/** Things that other apps have shared with this one, and the choice where each goes. */
import { useEffect, useState } from "preact/hooks";
import { Empty, Notice, Page } from "~/components/layout";
import type { ScreenProps } from "~/screens";
import { letters, refresh } from "~/state/letters";
import { PROBLEMS } from "~/state/shared";
import { titles } from "./about";
import { SharedLetter } from "./letter";
import { t } from "./texts";

export default function Share({ query }: ScreenProps) {
  const [isRead, setIsRead] = useState(false);
  useEffect(() => void refresh().finally(() => setIsRead(true)), []);
  const found = letters.value.filter(({ kind }) => kind === "shared").reverse();
  const problem = PROBLEMS.find((each) => each === query.get("problem"));
  return (
    <Page title={titles("title")}>
      {problem && (
        <Notice kind="warning">
          <p>{t(problem)}</p>
        </Notice>
      )}
      {found.map((letter) => (
        <SharedLetter key={letter.id} letter={letter} />
      ))}
      {isRead && found.length === 0 && !problem && <Empty icon="upload" title={t("none")} text={t("none_text")} />}
    </Page>
  );
}
