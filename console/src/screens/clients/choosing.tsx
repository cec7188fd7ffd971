/** The boxes of a grant, each off at first. */
import type { Schema } from "~/api/client";
import { Choice, Switch, TextField } from "~/components/field";
import { Section } from "~/components/layout";
import { typeName } from "~/text/names";
import { described } from "~/text/server_sentences";
import { ANY, TIMES, type Chosen, type Times } from "./limits";
import { t } from "./texts";

interface Props {
  options: Schema<"Options">;
  value: Chosen;
  onChange: (value: Chosen) => void;
}

export function Choosing({ options, value, onChange }: Props) {
  const set = (fields: Partial<Chosen>) => onChange({ ...value, ...fields });
  const groups = [
    [t("reading"), options.tools.filter(({ suggests }) => !suggests)],
    [t("writing"), options.tools.filter(({ suggests }) => suggests)],
  ] as const;
  const workspaces = [["-", t("no_workspace")], ...options.workspaces.map(({ slug, name }) => [slug, name])] as [string, string][];
  return (
    <>
      {groups.map(([title, tools]) => tools.length > 0 && (
        <Section key={title} title={title}>
          {tools.map((tool) => (
            <Box
              key={tool.name}
              name={tool.name}
              label={described(tool.description)}
              hint={tool.suggests ? t("suggests") : tool.needs_everything ? t("needs_everything") : tool.name}
              among={value.tools}
              onChange={(tools) => set({ tools })}
            />
          ))}
        </Section>
      ))}
      <Boxes title={t("folders")} of={options.folders.map((name) => [name, name])} among={value.folders} onChange={(folders) => set({ folders })} />
      <Boxes title={t("kinds")} of={options.kinds.map((name) => [name, kindName(name)])} among={value.kinds} onChange={(kinds) => set({ kinds })} />
      <Boxes title={t("workspaces")} of={workspaces} among={value.workspaces} onChange={(workspaces) => set({ workspaces })} />
      <Choice
        label={t("entries")}
        value={value.times}
        options={TIMES.map((times) => ({ value: times, label: t(`times_${times || "none"}`) }))}
        onChange={(times: Times) => set({ times })}
      />
      {value.times === "span" && (
        <>
          <TextField label={t("from")} type="date" value={value.since} onInput={(since) => set({ since })} />
          <TextField label={t("until")} type="date" value={value.until} onInput={(until) => set({ until })} />
        </>
      )}
      <TextField label={t("ends")} type="date" value={value.ends} onInput={(ends) => set({ ends })} />
      <TextField label={t("budget")} type="number" value={value.kilobytes} onInput={(kilobytes) => set({ kilobytes })} />
    </>
  );
}

interface BoxesProps {
  title: string;
  of: [string, string][];
  among: string[];
  onChange: (among: string[]) => void;
}

function Boxes({ title, of, among, onChange }: BoxesProps) {
  return (
    <Section title={title}>
      <Box name={ANY} label={t("everything")} among={among} onChange={onChange} />
      {!among.includes(ANY) && of.map(([name, label]) => <Box key={name} name={name} label={label} among={among} onChange={onChange} />)}
    </Section>
  );
}

interface BoxProps {
  name: string;
  label: string;
  hint?: string;
  among: string[];
  onChange: (among: string[]) => void;
}

function Box({ name, label, hint, among, onChange }: BoxProps) {
  const change = (isOn: boolean) => onChange(!isOn ? among.filter((each) => each !== name) : name === ANY ? [ANY] : [...among, name]);
  return <Switch label={label} hint={hint} isOn={among.includes(name)} onChange={change} />;
}

/** The name of a kind for a person; those of entities are the owner's own words. */
export function kindName(name: string): string {
  return name === "entry" || name === "conversation" || name === "file" ? t(`kind_${name}`) : typeName(name);
}
