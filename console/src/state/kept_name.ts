/** The cache of the lists that are kept for reading without a connection. */
export const KEPT_LISTS = "lists";
