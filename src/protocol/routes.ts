// The routes of the ports; the admin operations have a table of their own.

export const ROUTES = {
  health: { port: 'health', method: 'GET', path: '/health' },
  enroll: { port: 'enroll', method: 'POST', path: '/v1/enroll' },
  tpmChallenge: { port: 'enroll', method: 'POST', path: '/v1/join/tpm' },
  recover: { port: 'enroll', method: 'POST', path: '/v1/recover' },
  issue: { port: 'mtls', method: 'POST', path: '/v1/certs/issue' },
  manifest: { port: 'mtls', method: 'GET', path: '/v1/manifest' },
  events: { port: 'mtls', method: 'POST', path: '/v1/events' },
  recipient: { port: 'mtls', method: 'PUT', path: '/v1/recipient' },
  bundle: { port: 'mtls', method: 'GET', path: '/v1/bundle' },
  blob: { port: 'mtls', method: 'GET', path: '/v1/blobs/:id' },
  log: { port: 'mtls', method: 'GET', path: '/v1/log' },
  consistency: { port: 'mtls', method: 'GET', path: '/v1/log/consistency' },
  receipt: { port: 'mtls', method: 'GET', path: '/v1/receipt' },
  stream: { port: 'mtls', method: 'GET', path: '/v1/stream' },
  /** On the admin port, beside the operations of protocol/admin/routes.ts. */
  openapi: { port: 'admin', method: 'GET', path: '/v1/openapi.json' },
} as const

/** With each manifest: the number of the set of roots that is in force. */
export const BUNDLE_NUMBER_HEADER = 'x-bundle-numero'
/** Its época, when that is not the first. */
export const BUNDLE_EPOCH_HEADER = 'x-bundle-epoca'

/** With each answer to an agent: the newest checkpoint of the audit log, in base64. */
export const LOG_CHECKPOINT_HEADER = 'x-log-checkpoint'

/** What an agent shows when a hub that was restored does not know its identity: a receipt, in base64. */
export const IDENTITY_RECEIPT_HEADER = 'x-identity-receipt'

export type RouteName = keyof typeof ROUTES
type RoutePort = (typeof ROUTES)[RouteName]['port']
/** `enroll_tls` has the routes of `enroll`, over TLS. */
export type PortName = RoutePort | 'enroll_tls'
