import { WithModule } from "~/components/with_module";
import type { ScreenProps } from "~/screens";
import { titles } from "./about";
import { isDate } from "./dates";
import { Day } from "./day";
import { History } from "./history";
import { t } from "./texts";

export default function Journal({ rest }: ScreenProps) {
  const date = isDate(rest[0]) ? rest[0] : undefined;
  return (
    <WithModule name="daily" screen={titles("title")} title={t("module")} icon="journal" text={t("module_text")}>
      {date && rest[1] === "history" ? <History date={date} /> : <Day date={date} />}
    </WithModule>
  );
}
