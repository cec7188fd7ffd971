/** Names of messengers, the same everywhere. */
export const platformName = (platform: string) => platform.charAt(0).toUpperCase() + platform.slice(1);
