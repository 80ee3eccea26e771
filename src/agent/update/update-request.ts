// What agent and root's helper say to each other of an announced update: two short files in the agent's state. The agent may write anything into
// the first, and only the agent reads the second. Each is one form, or nothing. docs/protocol.md UPD-25, UPD-27.

import { join } from 'node:path'

/** What the helper is asked for: a version, and no place to take it from. */
export interface UpdateRequest {
  readonly version: string
  readonly rollout: string
  /** Of the same rollout, from 1. */
  readonly attempt: number
}

export interface UpdateOutcome extends UpdateRequest {
  readonly failure: UpdateFailure | undefined
}

export interface UpdateFailure {
  readonly code: string
  readonly message: string
}

export const REQUEST_BYTES_MAX = 128
/** Of the longest reason, however wide its characters are. */
export const OUTCOME_BYTES_MAX = 4096
const MESSAGE_CHARACTERS_MAX = 600

const WHAT = `version=(?<version>\\d{1,9}\\.\\d{1,9}\\.\\d{1,9}) rollout=(?<rollout>[0-9a-f]{16}) attempt=(?<attempt>[1-9])`
const REQUEST = new RegExp(`^${WHAT}\n$`)
const OUTCOME = new RegExp(
  `^${WHAT} (?:result=installed|result=failed code=(?<code>[a-z_]{1,64}) (?<message>[^\n]*))\n$`,
)

export function updateRequestPath(stateDir: string): string {
  return join(stateDir, 'update-request')
}

export function updateOutcomePath(stateDir: string): string {
  return join(stateDir, 'update-outcome')
}

export function formatRequest({ version, rollout, attempt }: UpdateRequest): string {
  return `version=${version} rollout=${rollout} attempt=${attempt}\n`
}

/** Undefined for anything but what formatRequest writes. */
export function parseRequest(text: string): UpdateRequest | undefined {
  return toRequest(REQUEST.exec(text)?.groups)
}

export function formatOutcome({ failure, ...request }: UpdateOutcome): string {
  const what = formatRequest(request).trimEnd()
  if (failure === undefined) return `${what} result=installed\n`
  const message = failure.message.replaceAll(/\s+/g, ' ').slice(0, MESSAGE_CHARACTERS_MAX)
  return `${what} result=failed code=${failure.code} ${message}\n`
}

export function parseOutcome(text: string): UpdateOutcome | undefined {
  const groups = OUTCOME.exec(text)?.groups
  const request = toRequest(groups)
  if (request === undefined) return undefined
  const code = groups?.['code']
  return {
    ...request,
    failure: code === undefined ? undefined : { code, message: groups?.['message'] ?? '' },
  }
}

function toRequest(
  groups: Readonly<Record<string, string | undefined>> | undefined,
): UpdateRequest | undefined {
  const version = groups?.['version']
  const rollout = groups?.['rollout']
  if (version === undefined || rollout === undefined) return undefined
  return { version, rollout, attempt: Number(groups?.['attempt']) }
}
