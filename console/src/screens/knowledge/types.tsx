/** The types of what is known, with their fields. */
import { LinkButton } from "~/components/button";
import { Loaded, Page, Row } from "~/components/layout";
import { useResource } from "~/state/resource";
import { to } from "~/state/router";
import { may } from "~/state/session";
import { fieldName, typeName } from "~/text/names";
import { kinds } from "./data";
import { t } from "./texts";

export function Types() {
  const types = useResource((signal) => kinds(signal), "types", ["data"]);
  const canWrite = may("brain", "write");
  return (
    <Page
      title={t("types")}
      back={to("knowledge")}
      actions={canWrite && <LinkButton label={t("new_type")} icon="plus" kind="primary" href={to("knowledge", ["types", "new"])} />}
    >
      <p class="muted">{t("types_text")}</p>
      <Loaded of={types}>
        {(all) => (
          <ul class="rows" aria-label={t("types")}>
            {all.map((kind) => (
              <Row
                key={kind.name}
                title={<bdi>{`${kind.icon} ${typeName(kind.name)}`.trim()}</bdi>}
                href={canWrite ? to("knowledge", ["types", kind.name]) : undefined}
                text={
                  <>
                    {t("count", { n: kind.entity_count })}
                    {kind.fields.length > 0 && (
                      <>
                        {" · "}
                        <bdi>{kind.fields.map(({ name }) => fieldName(name)).join(", ")}</bdi>
                      </>
                    )}
                  </>
                }
              />
            ))}
          </ul>
        )}
      </Loaded>
    </Page>
  );
}
