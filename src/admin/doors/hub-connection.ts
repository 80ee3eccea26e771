// A connection to the admin port of a hub, and what may be wrong with it, in words. docs/protocol.md API-23.

import type { RequestOptions } from 'node:https'
import {
  classifyConnectionFailure,
  describeConnectionFailure,
} from '../../platform/connection-failure.ts'
import { SvcError, UserError } from '../../platform/errors.ts'
import { type HubReply, parseReply } from './hub-calls.ts'
import type { HubAddress } from './hub-options.ts'

/** Where it leads, and by which root. */
export function connectionOf({
  url,
  caPem,
}: HubAddress): Pick<RequestOptions, 'host' | 'port' | 'ca'> {
  return {
    // An IPv6 address stands in brackets in a URL, and nowhere else.
    host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: url.port === '' ? 443 : Number(url.port),
    ...(caPem === undefined ? {} : { ca: caPem }),
  }
}

/** A hub answers JSON under a request id; else something other than a hub answered. */
export function readBody(hub: HubAddress, { headers, text }: HubReply): object {
  const body = headers['x-request-id'] === undefined ? undefined : tryParse(text)
  if (typeof body === 'object' && body !== null) return body
  throw notAHub(hub, 'its answer does not come from a Cartorio hub')
}

function tryParse(text: string): unknown {
  try {
    return parseReply(text)
  } catch {
    return undefined
  }
}

export function notAHub({ url }: HubAddress, why: string, cause?: unknown): UserError {
  return new UserError('not_a_hub', `${url.origin}: ${why}`, {
    cause,
    hint: 'the hub’s SVC_ADMIN_BIND says where the admin port is (default 127.0.0.1:8445)',
  })
}

export function explainConnection(hub: HubAddress, error: unknown): SvcError {
  if (error instanceof SvcError) return error
  const where = hub.url.origin
  const reason = describeConnectionFailure(error)
  switch (classifyConnectionFailure(error)) {
    case 'untrusted':
      return new UserError(
        'hub_untrusted',
        `svc does not trust the certificate of ${where}: ${reason}`,
        {
          cause: error,
          hint: '--hub-ca (SVC_HUB_CA) names the root of the hub’s CA, PEM: ca.crt in its vault',
        },
      )
    case 'other_names':
      return new UserError('hub_untrusted', `${where} has other names: ${reason}`, {
        cause: error,
        hint: 'call the hub by SVC_SERVER_CN, or give it more names by SVC_SERVER_SANS',
      })
    case 'clock':
      return new SvcError('hub_untrusted', `${where}: ${reason}`, {
        cause: error,
        hint: 'compare the clocks; the hub renews its certificate by itself while its CA answers',
      })
    case 'no_tls':
    case 'tls_refused':
      return notAHub(
        hub,
        'the program that answers there does not speak TLS as the admin port does',
        error,
      )
    case 'unreachable':
      return new SvcError('hub_unreachable', `cannot reach ${where}: ${reason}`, {
        cause: error,
        hint: 'does svc-server run there? SVC_ADMIN_BIND of the hub says where the admin port is, and by default no other machine reaches it',
      })
    case 'timeout':
      return new SvcError('hub_timeout', `${where} did not answer in time`, { cause: error })
    default:
      return new SvcError('hub_connection_broke', `the connection to ${where} broke: ${reason}`, {
        cause: error,
        hint: 'the hub may have done the operation; look before you repeat it',
      })
  }
}
