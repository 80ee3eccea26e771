// Where the package of hub and CLI puts settings. docs/protocol.md ENV-33.

export const HUB_SETTINGS = {
  packagePath: '/usr/lib/svc-server/defaults.env',
  path: '/etc/svc-server/svc-server.env',
} as const
