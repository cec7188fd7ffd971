/** Transfers under way, each with how far it is and a button that ends it. */
import { Button } from "~/components/button";
import { Progress } from "~/components/layout";
import { bytes } from "~/text/messages";
import { t } from "./texts";
import { moving } from "./transfers";

export function Transfers() {
  if (moving.value.length === 0) return null;
  return (
    <ul class="rows" aria-label={t("transfers")}>
      {moving.value.map((each) => {
        const label = each.isUpload ? t("uploading", { name: each.name }) : t("downloading", { name: each.name });
        return (
          <li key={each.id} class="row">
            <div class="row-main">
              <div class="row-title">
                <bdi>{label}</bdi>
              </div>
              <Progress label={label} value={each.total ? each.bytes / each.total : undefined} />
              <div class="row-text">{each.total === null ? bytes(each.bytes) : t("of_size", { done: bytes(each.bytes), total: bytes(each.total) })}</div>
            </div>
            <div class="row-actions">
              <Button label={t("cancel")} onPress={each.cancel} />
            </div>
          </li>
        );
      })}
    </ul>
  );
}
