/** Decisions, each with a note that can take it back. */
import { api, type Schema } from "~/api/client";
import { canTakeBack, named, type Suggestion } from "~/components/suggestion";
import { attempt, toast } from "~/state/toasts";
import { t } from "./texts";

export type Result = Schema<"ApprovalResult">;

const at = ({ id }: Suggestion) => ({ params: { identifier: id } });

export async function approve(suggestion: Suggestion): Promise<void> {
  await api.post("/api/suggestions/{identifier}/approve", at(suggestion));
  said("approved", suggestion);
}

export async function modify(suggestion: Suggestion, payload: Record<string, unknown>): Promise<void> {
  await api.post("/api/suggestions/{identifier}/modify", { ...at(suggestion), body: { payload } });
  said("approved", suggestion);
}

export async function reject(suggestion: Suggestion): Promise<void> {
  await api.post("/api/suggestions/{identifier}/reject", at(suggestion));
  said("rejected", suggestion);
}

export async function undo(suggestion: Suggestion): Promise<void> {
  await api.post("/api/suggestions/{identifier}/undo", at(suggestion));
  toast(t("undone", { name: named(suggestion) }));
}

/** The oldest first: a later one may build on what an earlier one made. */
export async function approveAll(shown: Suggestion[]): Promise<Result[]> {
  const ids = shown.map(({ id }) => id).reverse();
  return (await api.post("/api/suggestions/approve-all", { body: { ids } })).results;
}

function said(what: "approved" | "rejected", suggestion: Suggestion): void {
  const canUndo = what === "rejected" || canTakeBack(suggestion);
  const run = () => void attempt(() => undo(suggestion));
  toast(t(what, { name: named(suggestion) }), canUndo ? { action: { label: t("undo"), run } } : {});
}
