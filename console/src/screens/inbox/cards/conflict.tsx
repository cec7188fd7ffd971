/** Two versions of a file that two devices made apart from each other. */
import { Difference } from "~/components/difference";
import { bytes, messages } from "~/text/messages";
import { type BodyProps, type Card, part, whole } from "../card";

const t = messages("inbox_cards_conflict", {
  sentence_device: "{path} was changed here and by {device} at the same time.",
  sentence_copy: "A program for synchronising left two versions of {path}.",
  legend: "Red is only in the version here, green only in the other one.",
  copy: "The other version: {copy}",
  sizes: "The version here has {here}, the other one {there}.",
  cut: "There are more differences.",
  label_merge: "Merge",
  label_this: "Keep the one here",
  label_that: "Keep the other one",
  label_both: "Keep both as files",
  done_merge: "{path} has the paragraphs of both versions.",
  done_this: "{path} stays as it is.",
  done_that: "{path} is the other version now.",
  done_both: "The other version of {path} is a file beside it.",
});

type Details = {
  path: string;
  copy: string | null;
  device: string | null;
  this_size: number;
  that_size: number;
  diff: string;
  is_cut: boolean;
};
const of = (details: unknown) => details as Details;

function Body({ item }: BodyProps) {
  const { copy, diff, is_cut, this_size, that_size } = of(item.details);
  return (
    <>
      {copy && (
        <p class="muted">
          <bdi>{t("copy", { copy: whole(copy) })}</bdi>
        </p>
      )}
      <p class="muted">{diff ? t("legend") : t("sizes", { here: bytes(this_size), there: bytes(that_size) })}</p>
      {diff && <Difference text={diff} />}
      {is_cut && <p class="muted">{t("cut")}</p>}
    </>
  );
}

export const card: Card = {
  icon: "files",
  t,
  parts: ({ details }) => ({ path: part(of(details).path), device: part(of(details).device) }),
  sentence: ({ details }) => (of(details).device ? "sentence_device" : "sentence_copy"),
  Body,
};
