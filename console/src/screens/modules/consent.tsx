/** Permissions of a module, in the words of the specification's consent screen. */
import { Details } from "~/components/details";
import { Difference } from "~/components/difference";
import { Section } from "~/components/layout";
import { NamedList } from "~/components/named_list";
import { moduleName } from "~/text/names";
import { described } from "~/text/server_sentences";
import type { Consent, Permissions } from "./models";
import { allowance, t } from "./texts";

export function ConsentView({ consent }: { consent: Consent }) {
  return (
    <div class="consent">
      <Identity permissions={consent.permissions} trust={consent.trust_level} />
      {consent.changes !== null && (
        <Section title={t("differences")}>
          <Details value={consent.changes} />
        </Section>
      )}
      <Rights permissions={consent.permissions} />
      {consent.files.length > 0 && (
        <details class="fold">
          <summary>{t("files")}</summary>
          <ul>
            {consent.files.map((file) => (
              <li key={file.path}>
                <bdi>{`${file.kind} ${file.path}`}</bdi>
                {file.diff && <Difference text={file.diff} />}
              </li>
            ))}
          </ul>
        </details>
      )}
    </div>
  );
}

function Identity({ permissions, trust }: { permissions: Permissions; trust: string }) {
  const facts = [t("version", { version: permissions.version }), permissions.author && t("by", { author: permissions.author }), trust === "verified" && t("verified")];
  return (
    <header class="module-identity">
      <span class="module-icon" aria-hidden="true">
        {permissions.icon || "◍"}
      </span>
      <div>
        <strong>
          <bdi>{permissions.title || moduleName(permissions.name)}</bdi>
        </strong>
        <p>
          <bdi>{described(permissions.description)}</bdi>
        </p>
        <p class="muted">{facts.filter(Boolean).join(" · ")}</p>
      </div>
    </header>
  );
}

export function Rights({ permissions }: { permissions: Permissions }) {
  const { reasons } = permissions;
  const lists = (["folders", "write", "read", "network", "commands"] as const).filter((name) => permissions[name].length > 0);
  const others = [
    // Modules that were approved by an earlier version have the names of interfaces only.
    ...(permissions.gives.length > 0 ? permissions.gives.map(described) : permissions.interfaces),
    ...permissions.mcp_used,
  ];
  return (
    <>
      <h3>{t("asks")}</h3>
      {lists.length === 0 && others.length === 0 && <p class="muted">{t("nothing")}</p>}
      <dl class="facts">
        {lists.map((name) => (
          <Right key={name} name={t(name)} values={permissions[name]} reason={reasons[name]} />
        ))}
        {others.length > 0 && <Right name={t("uses")} values={others} reason={reasons.interfaces} />}
        {permissions.hooks.length > 0 && <Right name={t("reacts")} values={permissions.hooks} reason={reasons.hooks} />}
      </dl>
      {permissions.without_effect.length > 0 && (
        <dl class="facts">
          <Right name={t("without_effect")} values={permissions.without_effect.map(described)} />
        </dl>
      )}
      {permissions.agents.length > 0 && (
        <>
          <h3>{t("agents")}</h3>
          <ul class="details-list">
            {permissions.agents.map((agent) => (
              <li key={agent.name}>
                <strong>
                  <bdi>{agent.name}</bdi>
                </strong>{" "}
                <bdi>{described(agent.description)}</bdi>
                <p class="muted">
                  <bdi>
                    {[
                      t("agent_network", { value: allowance(agent.network) }),
                      t("agent_files", { value: allowance(agent.files) }),
                      agent.can_suggest.length > 0 && t("agent_suggests", { names: agent.can_suggest.map(moduleName).join(", ") }),
                    ]
                      .filter(Boolean)
                      .join(" · ")}
                  </bdi>
                </p>
              </li>
            ))}
          </ul>
        </>
      )}
      {permissions.mcp_tools.length > 0 && (
        <>
          <h3>{t("tools")}</h3>
          <NamedList entries={permissions.mcp_tools.map((tool) => ({ ...tool, description: described(tool.description) }))} />
        </>
      )}
    </>
  );
}

function Right({ name, values, reason }: { name: string; values: string[]; reason?: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        {values.map((value) => (
          <div key={value}>
            <bdi>{value}</bdi>
          </div>
        ))}
        {reason && (
          <div class="muted">
            <bdi>{reason}</bdi>
          </div>
        )}
      </dd>
    </div>
  );
}
