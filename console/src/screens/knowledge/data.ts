/** Answers of the module Brain; its README describes these routes. */
import { api } from "~/api/client";

export interface Brief {
  para_id: string;
  type: string;
  name: string;
  aliases: string[];
  tags: string[];
  path: string;
  version: string;
  summary: string;
  snippet?: string;
  found_by?: string;
  [field: string]: unknown;
}

export interface Entity extends Brief {
  content: string;
  relationships?: unknown;
}

export interface Field {
  name: string;
  type: string;
  required: boolean;
  values?: string[];
  items?: string;
  description?: string;
  /** Field with any value, shown as text. */
  is_any?: boolean;
}

export interface Kind {
  name: string;
  icon: string;
  folder: string;
  description: string;
  entity_count: number;
  fields: Field[];
}

export interface Link {
  direction: "out" | "in";
  kind: string;
  note: string;
  target: string;
  /** The target as the file has it. */
  written: string;
  para_id: string | null;
  name: string | null;
  type: string | null;
}

export interface Mention {
  source_id: string;
  at: string;
}

export interface Links {
  links: Link[];
  mentions: Mention[];
}

export interface Neighbour {
  para_id: string;
  name: string;
  type: string;
  ring: number;
}

export interface Neighbourhood {
  para_id: string;
  name: string;
  nodes: Neighbour[];
  links: { source: string; target: string; note: string }[];
  truncated: boolean;
}

export interface Duplicates {
  duplicates: { one: Brief; other: Brief; reason: "same_name" | "same_words" | "similar" | "part"; confidence: number }[];
  merged: { para_id: string; name: string; into: string; into_name: string }[];
}

export const PAGE = 50;
const BASE = "/api/brain";

export const kinds = (signal?: AbortSignal) => api.module<Kind[]>("GET", `${BASE}/types`, { signal });

export async function listed(type: string | undefined, offset: number, limit: number, signal?: AbortSignal): Promise<Brief[]> {
  const query = { type, offset, limit };
  return (await api.module<{ results: Brief[] }>("GET", `${BASE}/entities`, { query, signal })).results;
}

export async function search(q: string, type: string | undefined, signal?: AbortSignal): Promise<Brief[]> {
  const query = { q, type, limit: PAGE };
  return (await api.module<{ results: Brief[] }>("GET", `${BASE}/search`, { query, signal })).results;
}

export const entity = (id: string, signal?: AbortSignal) =>
  api.module<Entity>("GET", `${BASE}/entities/by_id`, { query: { id }, signal });

export const links = (id: string, signal?: AbortSignal) => api.module<Links>("GET", `${BASE}/links`, { query: { id }, signal });

export const neighbourhood = (id: string, signal: AbortSignal) =>
  api.module<Neighbourhood>("GET", `${BASE}/neighbourhood`, { query: { id }, signal });

/** The para-id that a name means for sure, or null. */
export async function meant(text: string, signal?: AbortSignal): Promise<string | null> {
  return (await api.module<{ para_id: string | null }>("POST", `${BASE}/resolve`, { body: { text }, signal })).para_id;
}

export const create = (type: string, name: string, data: Record<string, unknown>, content: string) =>
  api.module<Brief>("POST", `${BASE}/entities`, { body: { entity_type: type, name, data, content } });

export interface Change {
  name?: string;
  type?: string;
  content?: string;
  data?: Record<string, unknown>;
}

/** Change an entity, if it is still the one that was read. */
export const change = ({ para_id, version }: Brief, body: Change) =>
  api.module<Brief>("PUT", `${BASE}/entities/{id}`, { params: { id: para_id }, body: { ...body, expected_version: version } });

export const remove = ({ para_id, version }: Brief) =>
  api.module("DELETE", `${BASE}/entities/{id}`, { params: { id: para_id }, query: { expected_version: version } });

export const mention = (source_id: string, para_id: string) =>
  api.module("POST", `${BASE}/link`, { body: { source_id, para_id } });

export const forgetMention = (source_id: string, para_id: string) =>
  api.module("DELETE", `${BASE}/link`, { query: { source_id, para_id } });

export async function problems(signal: AbortSignal): Promise<{ path: string; problem: string }[]> {
  return (await api.module<{ problems: { path: string; problem: string }[] }>("GET", `${BASE}/problems`, { signal })).problems;
}

export interface TypeBody {
  fields?: Field[];
  icon: string;
  description: string;
}

export const createType = (name: string, body: TypeBody) => api.module("POST", `${BASE}/types`, { body: { name, ...body } });

export const changeType = (name: string, body: TypeBody) =>
  api.module("PUT", `${BASE}/types/{name}`, { params: { name }, body });

export const removeType = (name: string) => api.module("DELETE", `${BASE}/types/{name}`, { params: { name } });

export const duplicates = (type: string, signal: AbortSignal) =>
  api.module<Duplicates>("GET", `${BASE}/duplicates`, { query: { type }, signal });

/** Make two entities one, if the first is still the one that was read. */
export const merge = (keep: Brief, other: Brief) =>
  api.module<Brief>("POST", `${BASE}/merge`, { body: { keep: keep.para_id, other: other.para_id, expected_version: keep.version } });

export const unmerge = (para_id: string) => api.module<Brief & { exact: boolean }>("POST", `${BASE}/unmerge`, { body: { para_id } });

export const tellApart = (one: Brief, other: Brief) =>
  api.module("POST", `${BASE}/duplicates/different`, { body: { one: one.para_id, other: other.para_id } });
