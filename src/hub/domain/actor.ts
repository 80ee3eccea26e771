/** On whose behalf the hub acts: whoever has the vault or its socket is the admin, an admin token acts under its name. */
export type Actor = 'admin' | `token:${string}`
