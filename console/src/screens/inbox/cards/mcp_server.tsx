/** An MCP server that waits for an approval or a sign-in. */
import { Details } from "~/components/details";
import { Facts } from "~/components/layout";
import { messages } from "~/text/messages";
import { said } from "~/text/server_sentences";
import { type BodyProps, type Card, Files, part, Whole, whole } from "../card";

const t = messages("inbox_cards_mcp_server", {
  sentence_local: "The MCP server {server} wants to run on this computer.",
  sentence_remote: "Agents want to use the MCP server {server} at {address}.",
  sentence_words: "The MCP server {server} says something new about its tools; agents do not use it until you approve.",
  sentence_login: "The MCP server {server} wants you to sign in at {address}.",
  read: "Read it",
  environment: "Environment",
  headers: "Headers",
  secrets: "Secrets that it is given",
  hosts: "Hosts that it may reach",
  folders: "Folders that it may write",
  label_approve: "Approve",
  label_sign_in: "Sign in",
  done_approve: "{server} is approved.",
  done_sign_in: "The link for signing in to {server} is ready.",
});

const LISTS = ["environment", "headers", "secrets", "hosts", "folders"] as const;

function Body({ item: { details } }: BodyProps) {
  const facts = LISTS.flatMap((name) => {
    const found = details[name];
    return Array.isArray(found) && found.length ? ([[t(name), <bdi>{found.map((each) => whole(each)).join(", ")}</bdi>]] as const) : [];
  });
  return (
    <>
      {details.tools ? <Details value={details.tools} /> : null}
      <Whole text={details.command ?? details.address} />
      <Facts facts={facts} />
      <Files of={details.files} />
      <Whole text={said(String(details.problem ?? ""))} />
    </>
  );
}

export const card: Card = {
  icon: "capabilities",
  t,
  parts: ({ details, title }) => ({ server: part(details.server ?? title.replace(/^MCP server /, "")), address: part(details.address) }),
  sentence: ({ details, answers }) => {
    if (details.tools) return "sentence_words";
    if (answers.includes("sign_in")) return "sentence_login";
    return details.address ? "sentence_remote" : "sentence_local";
  },
  Body,
  isRead: true,
};
