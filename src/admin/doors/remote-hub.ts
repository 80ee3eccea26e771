// A hub somewhere else: its admin port, with an admin token.

import { randomUUID } from 'node:crypto'
import { request as httpsRequest } from 'node:https'
import { SvcError, UserError } from '../../platform/errors.ts'
import {
  ADMIN_OPERATIONS,
  type AdminOperationName,
  operationsBy,
} from '../../protocol/admin/operations.ts'
import type { AdminErrorBody } from '../../protocol/admin/errors.ts'
import type { AdminSession } from './admin-session.ts'
import { signInAgain } from './hints.ts'
import { type BeginRequest, errorOfReply, exchange, type HubReply } from './hub-calls.ts'
import { type ChangesDoor, openChangeStream } from './hub-changes.ts'
import { HubBusy } from './hub-busy.ts'
import { connectionOf, explainConnection, notAHub, readBody } from './hub-connection.ts'
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

function beginAt(hub: RemoteHub): BeginRequest {
  return ({ headers, ...options }) =>
    httpsRequest({
      ...options,
      ...connectionOf(hub),
      headers: { ...headers, authorization: `Bearer ${hub.token.reveal()}` },
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

function explainRefusal(
  hub: RemoteHub,
  { name, request }: { readonly name: AdminOperationName; readonly request: object },
  { status, headers }: HubReply,
  body: AdminErrorBody,
): SvcError {
  switch (body.error) {
    case 'admin_token_invalid':
      return tokenRefused(hub)
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

function tokenRefused({ from }: RemoteHub): UserError {
  if ('file' in from) {
    return new UserError(
      'admin_token_invalid',
      `the hub does not accept the token of ${from.file}: it is unknown, expired or revoked`,
      { hint: 'svc admin token list shows the tokens; svc admin token create makes one' },
    )
  }
  const { hub, name } = from.login
  return new UserError('login_ended', `${hub} has ended the login of ${name}`, {
    hint: `sign in again: ${signInAgain(hub)}`,
  })
}
