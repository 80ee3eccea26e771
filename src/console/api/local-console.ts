// What only `svc console` answers: that this page came from there, and for whom it may seal. docs/protocol.md LOC.

import type {
  JudgedRecipients,
  JudgeRequest,
  KeepRequest,
  LocalConsole,
} from '../../protocol/admin/local-console.ts'
import { reach, readError } from './client.ts'
import { HubError } from './hub-error.ts'
import { endedByHub, ownHalf, sessionHeaders } from './session.ts'

export type { JudgedRecipients }

const LOCAL = '/v1/console/local'
const RECIPIENTS = '/v1/console/recipients'

/** Undefined where a hub served this page. */
export async function findLocalConsole(): Promise<LocalConsole | undefined> {
  try {
    return (await askOwnServer('GET', LOCAL)) as LocalConsole
  } catch (error) {
    if (error instanceof HubError && error.status === 404) return undefined
    throw error
  }
}

export async function judgeRecipients(request: JudgeRequest): Promise<JudgedRecipients> {
  return (await askOwnServer('POST', RECIPIENTS, request)) as JudgedRecipients
}

export async function keepRecipients(request: KeepRequest): Promise<void> {
  await askOwnServer('POST', `${RECIPIENTS}/keep`, request)
}

/** The server of this page, asked for what is no operation of the admin API. */
export async function askOwnServer(
  method: 'GET' | 'POST',
  path: string,
  body?: object,
): Promise<unknown> {
  const used = ownHalf()
  const response = await reach(path, {
    method,
    headers: { ...sessionHeaders(used), 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  if (response.ok) return response.json()
  const error = await readError(response)
  if (error.status === 401) endedByHub(used)
  throw error
}
