// A hub somewhere else: its admin port, with an admin token.

import { randomUUID } from 'node:crypto'
import { request as httpsRequest } from 'node:https'
import {
  classifyConnectionFailure,
  describeConnectionFailure,
} from '../../platform/connection-failure.ts'
import { SvcError, UserError } from '../../platform/errors.ts'
import {
  ADMIN_OPERATIONS,
  type AdminOperationName,
  operationsBy,
} from '../../protocol/admin/operations.ts'
import type { AdminErrorBody } from '../../protocol/admin/errors.ts'
import type { AdminSession } from './admin-session.ts'
import {
  type BeginRequest,
  errorOfReply,
  exchange,
  type HubReply,
  parseReply,
} from './hub-calls.ts'
import { type ChangesDoor, openChangeStream } from './hub-changes.ts'
import { HubBusy } from './hub-busy.ts'
import type { RemoteHub } from './hub-options.ts'

export function openRemoteHub(hub: RemoteHub, timeoutMs?: number): AdminSession {
  return {
    operations: operationsBy((name, request) => callHub({ ...hub, timeoutMs }, name, request)),
    isThroughHub: true,
    openChanges: (after, signal) => openChangeStream(changesDoor(hub), after, signal),
    openBackup: () => Promise.reject(backupElsewhere()),
    close: () => Promise.resolve(),
  }
}

function backupElsewhere(): UserError {
  return new UserError('vault_elsewhere', 'a hub hands out no backup over the network', {
    hint: 'run svc backup on the machine that has the vault',
  })
}

interface CalledHub extends RemoteHub {
  readonly timeoutMs: number | undefined
}

async function callHub(hub: CalledHub, name: AdminOperationName, request: object): Promise<object> {
  // One key for both tries: what was done and not answered is not done again.
  const idempotencyKey = ADMIN_OPERATIONS[name].does === 'creates' ? randomUUID() : undefined
  try {
    return await callOnce(hub, name, request, idempotencyKey)
  } catch (error) {
    const isWorthATry = error instanceof SvcError && error.code === 'hub_connection_broke'
    if (!isWorthATry || idempotencyKey === undefined) throw error
    return callOnce(hub, name, request, idempotencyKey)
  }
}

async function callOnce(
  hub: CalledHub,
  name: AdminOperationName,
  request: object,
  idempotencyKey: string | undefined,
): Promise<object> {
  const own = idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }
  const reply = await exchange(
    ({ headers, ...options }) => beginAt(hub)({ ...options, headers: { ...headers, ...own } }),
    name,
    request,
    hub.timeoutMs,
  ).catch((error: unknown) => {
    throw explainConnection(hub, error)
  })
  const body = readBody(hub, reply)
  if (reply.status < 300) return body
  throw explainRefusal(hub, { name, request }, reply, body as AdminErrorBody)
}

function beginAt({ url, caPem, token }: RemoteHub): BeginRequest {
  const { hostname, port } = url
  return ({ headers, ...options }) =>
    httpsRequest({
      ...options,
      // An IPv6 address stands in brackets in a URL, and nowhere else.
      host: hostname.replace(/^\[(.*)\]$/, '$1'),
      port: port === '' ? 443 : Number(port),
      ...(caPem === undefined ? {} : { ca: caPem }),
      headers: { ...headers, authorization: `Bearer ${token.reveal()}` },
    })
}

function changesDoor(hub: RemoteHub): ChangesDoor {
  return {
    begin: beginAt(hub),
    refuse: (reply) => {
      const body = readBody(hub, reply) as AdminErrorBody
      return explainRefusal(hub, { name: 'listEntries', request: {} }, reply, body)
    },
    explain: (error) => explainConnection(hub, error),
  }
}

/** A hub answers JSON under a request id; else something other than a hub answered. */
function readBody(hub: RemoteHub, { headers, text }: HubReply): object {
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

function explainRefusal(
  hub: RemoteHub,
  { name, request }: { readonly name: AdminOperationName; readonly request: object },
  { status, headers }: HubReply,
  body: AdminErrorBody,
): SvcError {
  switch (body.error) {
    case 'admin_token_invalid':
      return new UserError(
        body.error,
        `the hub does not accept the token of ${hub.tokenFile}: it is unknown, expired or revoked`,
        { hint: 'svc admin token list shows the tokens; svc admin token create makes one' },
      )
    case 'role_insufficient':
      return new UserError(body.error, body.message, {
        hint: `it needs an admin token of the role ${ADMIN_OPERATIONS[name].role}`,
      })
    case 'token_bounded':
      return new UserError(body.error, body.message, {
        hint: 'it lists, shows, syncs, rotates and revokes the agents that it is for; anything else needs a token without --only',
      })
    case 'rate_limited':
      return new HubBusy(body.error, 'the hub refused too many requests from this address', {
        retryAfter: headers['retry-after'],
        hint: `try again in ${headers['retry-after'] ?? 'a few'} seconds`,
      })
    case 'unavailable':
      return new HubBusy(body.error, 'the hub has too much to do', {
        retryAfter: headers['retry-after'],
        hint: 'try again in a few seconds',
      })
    default:
      // An agent's port speaks in codes alone.
      return typeof body.message === 'string'
        ? errorOfReply(name, request, status, body, headers['retry-after'])
        : notAHub(hub, 'the answer does not come from the admin port')
  }
}

function notAHub({ url }: RemoteHub, why: string, cause?: unknown): UserError {
  return new UserError('not_a_hub', `${url.origin}: ${why}`, {
    cause,
    hint: 'the hub’s SVC_ADMIN_BIND says where the admin port is (default 127.0.0.1:8445)',
  })
}

function explainConnection(hub: RemoteHub, error: unknown): SvcError {
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
      return new UserError(
        'hub_untrusted',
        `the certificate of ${where} has other names: ${reason}`,
        {
          cause: error,
          hint: 'call the hub by SVC_SERVER_CN, or give it more names by SVC_SERVER_SANS',
        },
      )
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
      return new SvcError('hub_unreachable', `cannot reach ${where}: ${reason}`, { cause: error })
    case 'timeout':
      return new SvcError('hub_timeout', `${where} did not answer in time`, { cause: error })
    default:
      return new SvcError('hub_connection_broke', `the connection to ${where} broke: ${reason}`, {
        cause: error,
        hint: 'the hub may have done the operation; look before you repeat it',
      })
  }
}
