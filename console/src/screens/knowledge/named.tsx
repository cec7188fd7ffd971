/** Target of a link in a text: the entity of that name, or a note that there is none yet. */
import { useEffect } from "preact/hooks";
import { LinkButton } from "~/components/button";
import { Empty, Loaded, Page } from "~/components/layout";
import { useResource } from "~/state/resource";
import { go, to } from "~/state/router";
import { may } from "~/state/session";
import { meant } from "./data";
import { t } from "./texts";

export function Named({ name }: { name: string }) {
  const found = useResource((signal) => meant(name, signal), name, ["data"]);
  useEffect(() => {
    if (found.value) go(to("knowledge", ["entity", found.value]), { replace: true });
  }, [found.value]);
  return (
    <Page title={name} back={to("knowledge")}>
      <Loaded of={found}>
        {() => (
          <Empty icon="knowledge" title={t("unknown")} text={t("unknown_text", { name })}>
            {may("brain", "write") && (
              <LinkButton label={t("create_it")} icon="plus" kind="primary" href={to("knowledge", ["new"], { name })} />
            )}
          </Empty>
        )}
      </Loaded>
    </Page>
  );
}
