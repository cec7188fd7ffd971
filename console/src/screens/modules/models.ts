/** Modules as the API has them (docs/installing-modules.md). */
import type { Schema } from "~/api/client";

export type Permissions = Schema<"Consent">;
export type Module = Schema<"ModuleStatus">;
/** Consent shown before an approval; the approval names its hash. */
export type Consent = Schema<"Review">;
export type Offered = Schema<"OfficialOffer">;
/** A staged module, and at last the event that tells of its end. */
export type Staged = Schema<"Staged">;
