import { Chips, Page } from "~/components/layout";
import type { ScreenProps } from "~/screens";
import { go, to } from "~/state/router";
import { titles } from "./about";
import { Decided } from "./decided";
import { Pending } from "./pending";
import { Sorting } from "./sorting";
import { t } from "./texts";

const VIEWS = ["pending", "decided", "sorting"] as const;
type View = (typeof VIEWS)[number];

export default function Suggestions({ rest }: ScreenProps) {
  const view = VIEWS.find((name) => name === rest[0]) ?? "pending";
  const show = (name: View) => go(to("suggestions", name === "pending" ? [] : [name]));
  return (
    <Page title={titles("title")}>
      <Chips label={t("views")} value={view} options={VIEWS.map((value) => ({ value, label: t(value) }))} onChange={show} />
      {view === "pending" && <Pending />}
      {view === "decided" && <Decided />}
      {view === "sorting" && <Sorting />}
    </Page>
  );
}
