/** Bots as the API has them (docs/messengers.md). */
import type { Schema } from "~/api/client";
export type Connector = Schema<"ConnectorStatus">;

export interface BotSettings {
  template: string;
  daily_dollars: number | null;
  daily_tokens: number | null;
  /** People who are let in unasked. */
  allowed_users?: (string | number)[];
  allowed_rooms?: string[];
  server_url?: string;
  homeserver_url?: string;
  user_id?: string;
}


export type Configuration = Schema<"ConfigurationShown">;

/** The settings of one messenger's bot, by its name there. */
export const settingsOf = (configuration: Configuration, platform: string) => configuration[platform as keyof Configuration] as unknown as BotSettings;

export type Request = Schema<"PairingRequestShown">;

export type Chat = Schema<"LinkedChatShown">;

export const TEMPLATES = ["guest", "family", "project", "personal"] as const;
export type Template = (typeof TEMPLATES)[number];
