// Everything that comes from outside is bounded here.

export const LIMITS = {
  bodyBytesMax: 64 * 1024,
  csrCharactersMax: 16 * 1024,
  eventPayloadBytesMax: 16 * 1024,
  jsonDepthMax: 32,
  tokenCharactersMax: 256,
  hostnameCharactersMax: 253,
  roleCharactersMax: 128,
  requestIdCharactersMax: 128,
  /** What an agent accepts from a hub. */
  replyBytesMax: 1024 * 1024,
  manifestDeliveriesMax: 1000,
} as const
