/** Bots as the API has them (docs/messengers.md). */
import type { Schema } from "~/api/client";
export type Platform = "telegram" | "discord" | "matrix";

export const PLATFORMS: readonly Platform[] = ["telegram", "discord", "matrix"];

export type Connector = Schema<"ConnectorStatus">;

export interface BotSettings {
  template: string;
  daily_dollars: number | null;
  daily_tokens: number | null;
  /** People of Telegram and Discord who are let in unasked. */
  allowed_users?: (string | number)[];
  allowed_rooms?: string[];
  server_url?: string;
  homeserver_url?: string;
  user_id?: string;
}

export type Notices = Schema<"NoticeSettings">;

export type Configuration = Record<Platform, BotSettings> & { language: "en" | "de"; notices: Notices };

export type Request = Schema<"PairingRequestShown">;

export type Chat = Schema<"LinkedChatShown">;

export const TEMPLATES = ["guest", "family", "project", "personal"] as const;
export type Template = (typeof TEMPLATES)[number];
