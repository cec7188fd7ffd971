/** Titles of settings and topics, units and words that settings take, in German; English ones are the server's. */
import { language } from "~/state/preferences";
import type { Setting } from "./models";

const TITLES: Record<string, string> = {
  vault: "Ordner deiner Daten",
  host: "Adresse, auf der er antwortet",
  port: "Port",
  auth_mode: "Wer einen Schlüssel braucht",
  hostnames: "Weitere Namen dieses Computers",
  origins: "Webseiten, die diesen Computer aufrufen dürfen",
  trusted_proxies: "Vertraute Reverse-Proxys",
  provider: "Wo das Modell läuft",
  base_url: "Adresse des Modell-Servers",
  model: "Modell",
  allowed_models: "Modelle, die Agenten benutzen dürfen",
  daily_spending_limit: "Ausgabengrenze für einen Tag",
  daily_token_limit: "Token-Grenze für einen Tag",
  project_folders: "Ordner deiner Projekte",
  trust_mode: "Arbeiten, ohne jedes Mal zu fragen",
  session_idle_minutes: "Ein Gespräch endet nach",
  "sandbox.required": "Nur mit Sandbox",
  "sandbox.idle_minutes": "Eine Sandbox endet nach",
  "sandbox.scratch_megabytes": "Arbeitsordner eines Gesprächs",
  "sandbox.transcript_megabytes": "Größtes Protokoll eines Gesprächs",
  "sandbox.cache_megabytes": "Paket-Caches eines Projekts",
  "sandbox.engine": "Art der Sandbox",
  "sandbox.hosts": "Rechner für Agenten von Modulen",
  "sandbox.packages": "Weitere Debian-Pakete",
  "sandbox.without": "Programme, die fehlen dürfen",
  "sandbox.memory_megabytes": "Speicher einer Sandbox",
  "sandbox.total_memory_megabytes": "Speicher aller Sandboxen",
  "sandbox.cpus": "Prozessoren einer Sandbox",
  "sandbox.processes": "Prozesse einer Sandbox",
  "sandbox.limits": "Grenzen von Containern",
  "network.mode": "Was Gespräche erreichen",
  "network.presets": "Listen von Rechnern mit Namen",
  "network.hosts": "Rechner, die immer erlaubt sind",
  "git.ca_file": "Zertifizierungsstellen für git",
  "mcp.ca_file": "Zertifizierungsstellen für MCP-Server",
  "changes.apply": "Wie Änderungen in ein Projekt kommen",
  "changes.keep_days": "Rückgängig geht so lange",
  "changes.keep_megabytes": "Platz für Rückgängig",
  "changes.file_megabytes": "Größte Datei, die übernommen wird",
  "agents.warm": "Bereitgehaltene Gespräche",
  "agents.warm_minutes": "Bereitgehalten für",
  "agents.spare": "Neue Gespräche schneller beginnen",
  "agents.memory_floor_megabytes": "Speicher, der frei bleibt",
  "agents.approval_minutes": "Auf dein Ja warten",
  "default_capabilities.mcps": "MCP-Server und Module in Gesprächen",
  "default_capabilities.agents": "Agenten in Gesprächen",
  "default_capabilities.skills": "Skills in Gesprächen",
  "default_capabilities.plugins": "Plugins in Gesprächen",
  "capabilities.read_home": "Auch benutzen, was Claude Code hat",
  "offline.model": "Eine andere Modelldatei",
  "offline.idle_minutes": "Das Offline-Modell endet nach",
  "offline.context_tokens": "Länge seines Gedächtnisses",
  "voice.server": "Server, der Sprache in Text verwandelt",
  "voice.server_model": "Modell dieses Servers",
  "voice.key_file": "Datei mit dem Schlüssel dieses Servers",
  "voice.model": "Sprachmodell auf diesem Computer",
  "voice.model_kind": "Art dieses Modells",
  "voice.language": "Sprache, die du sprichst",
  "voice.longest_minutes": "Längste Aufnahme",
  "voice.memory_megabytes": "Speicher für das Umwandeln",
  "voice.idle_minutes": "Das Sprachmodell endet nach",
  "meaning.enabled": "Nach Bedeutung suchen",
  "meaning.folder": "Ein anderes Modell für die Suche",
  "meaning.server": "Server für die Suche nach Bedeutung",
  "meaning.server_model": "Modell dieses Servers",
  "meaning.server_batch": "Texte je Anfrage",
  "meaning.key_file": "Datei mit dem Schlüssel dieses Servers",
  "messengers.quiet_from": "Ruhe ab",
  "messengers.quiet_until": "Ruhe bis",
  "messengers.language": "Sprache in Messengern",
  "messengers.notices": "Nachrichten in deinem Messenger",
  "suggestions.from_chats": "Was Gespräche sich merken",
  "orchestrator.time": "Vorschläge sortieren, täglich um",
  "orchestrator.resolves": "Vorschläge, die er entscheiden darf",
  "curator.mode": "Anpassen verbundener Anweisungen",
  "curator.reviews_per_day": "Prüfungen an einem Tag",
  "curator.quiet_seconds": "Warten nach einer Änderung",
  "backup.repository": "Wohin Sicherungen gehen",
  "backup.password_file": "Datei mit dem Passwort",
  "backup.environment_file": "Datei mit dem Zugang zum Ort",
  "backup.time": "Sichern, täglich um",
  "backup.drill": "Wiederherstellen erproben",
  "backup.keep_daily": "Tägliche Sicherungen behalten",
  "backup.keep_weekly": "Wöchentliche Sicherungen behalten",
  "backup.keep_monthly": "Monatliche Sicherungen behalten",
  "backup.prune": "Alte Sicherungen entfernen",
  "audit.keep_days": "Audit-Protokoll behalten für",
  "audit.keep_megabytes": "Platz für das Audit-Protokoll",
  "tls.enabled": "Verschlüsselung (https)",
  "tls.certificate": "Eigenes Zertifikat",
  "tls.key": "Schlüssel dieses Zertifikats",
  "updates.source": "Woher neue Versionen kommen",
  "updates.automatic": "Jede Nacht aktualisieren",
  "updates.time": "Aktualisieren um",
  "updates.probation_minutes": "Eine neue Version beobachten für",
};

const TOPICS: Record<string, string> = {
  reach: "Adresse und Geräte",
  model: "Modelle und Kosten",
  privacy: "Privatsphäre und Netz",
  agents: "Agenten",
  suggestions: "Vorschläge",
  voice: "Stimme",
  search: "Suche",
  messengers: "Messenger",
  backup: "Daten und Sicherung",
  updates: "Aktualisierung",
  sandbox: "Sandbox",
};

const UNITS: Record<string, string> = { minutes: "Minuten", seconds: "Sekunden", days: "Tage", MB: "MB", tokens: "Token", "US dollars": "US-Dollar" };

const isGerman = () => language.value === "de";

export function titleOf({ name, title }: Setting): string {
  return (isGerman() && TITLES[name]) || title || name;
}

export function topicTitle({ key, title }: { key: string; title: string }): string {
  return (isGerman() && TOPICS[key]) || title;
}

/** Title of a setting with what its number counts. */
export function labelOf(setting: Setting): string {
  const { unit } = setting;
  if (!unit || unit === "time") return titleOf(setting);
  return `${titleOf(setting)} (${(isGerman() && UNITS[unit]) || unit})`;
}
