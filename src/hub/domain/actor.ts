/** On whose behalf the hub acts: a caller with the vault or its socket is the admin, an admin token acts under its name. */
export type Actor = 'admin' | `token:${string}`
