/** Bots as the API has them (docs/bots.md). */
export type Platform = "telegram" | "discord" | "matrix";

export const PLATFORMS: readonly Platform[] = ["telegram", "discord", "matrix"];

export interface Connector {
  running: boolean;
  enabled: boolean;
  has_token: boolean;
  is_available: boolean;
  state: "stopped" | "connecting" | "connected" | "waiting" | "refused";
  reason: string | null;
  bot_name: string | null;
  waiting_messages: number;
  unsent: number;
  undelivered: number;
}

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

export interface Notices {
  enabled: boolean;
  quiet_from: string;
  quiet_until: string;
}

export type Configuration = Record<Platform, BotSettings> & { language: "en" | "de"; notices: Notices };

/** Somebody who wants to talk to a bot; `name` and `title` are what they call themselves. */
export interface Request {
  id: string;
  platform: Platform;
  chat_id: string;
  chat_type: "dm" | "group";
  user_id: string;
  name: string;
  title: string;
  code: string | null;
  session_id: string;
  since: string;
  ends: string;
}

export interface Chat {
  platform: Platform;
  chat_id: string;
  chat_type: "dm" | "group";
  title: string;
  session_id: string | null;
  template: string;
  approved_at: string;
  is_owner: boolean;
}

export interface Undelivered {
  id: number;
  platform: Platform;
  chat_id: string;
  text: string;
  problem: string | null;
  since: string;
}

export const TEMPLATES = ["guest", "family", "project", "personal"] as const;
export type Template = (typeof TEMPLATES)[number];
