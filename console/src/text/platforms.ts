/** Names of messengers, the same everywhere. */
const NAMES: Record<string, string> = { telegram: "Telegram", discord: "Discord", matrix: "Matrix" };

export const platformName = (platform: string) => NAMES[platform] ?? platform;
