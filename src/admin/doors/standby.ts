// Part of the wiring of svc: the standby of a vault, or the hub of one, on this machine.

import { request as httpRequest } from 'node:http'
import { type TSchema, type Static } from 'typebox'
import { Check } from 'typebox/value'
import { parseHubNaming } from '../../hub/config.ts'
import { DOOR_ROUTES, PromoteReply, StandbyStatus } from '../../protocol/standby.ts'
import { makeStandbyDirectory } from '../../hub/standby/standby-role.ts'
import { unwrapDataKey } from '../../hub/vault/data-key.ts'
import { CONFIG_BYTES_MAX, parseVaultConfig } from '../../hub/vault/vault-config.ts'
import { vaultFiles } from '../../hub/vault/vault-files.ts'
import { becomeOwnerOf } from '../../platform/become-owner.ts'
import { errnoCode, SvcError, UserError } from '../../platform/errors.ts'
import { openSocketPath } from '../../platform/unix-socket.ts'
import type { StandbyControls } from './admin-session.ts'
import { explainFailure } from './explain-failure.ts'
import { send } from './hub-calls.ts'
import { prepareToReadPassphrase, type Surroundings } from './open-vault.ts'
import { readNamedFile } from './read-named-file.ts'
import { createPassphraseSource } from './passphrase.ts'

/** A promotion ends what is under way, and writes once. */
const TIMEOUT_MS = 60_000
const LOOK_MS_MAX = 4000
const REPLY_BYTES_MAX = 65_536

export function standbyControls(surroundings: Surroundings): StandbyControls {
  const { env, userId, ask } = surroundings
  const { vaultRoot: root } = parseHubNaming(env)
  return {
    init: async (file) => {
      const { text } = readNamedFile('--from', file, CONFIG_BYTES_MAX)
      const passphrases = createPassphraseSource({ ...prepareToReadPassphrase(env, userId), ask })
      if (userId === 0) becomeOwnerOf(root)
      try {
        const config = parseVaultConfig(text, file)
        await unwrapDataKey(config, await passphrases.read())
        await makeStandbyDirectory(root, text)
        return { path: root, vaultId: config.vaultId }
      } catch (error) {
        throw explainFailure(error, { root, action: `make a standby at ${root}` })
      }
    },
    status: () => {
      if (userId === 0) becomeOwnerOf(root)
      return askStatus(root, TIMEOUT_MS)
    },
    promote: (force) => {
      if (userId === 0) becomeOwnerOf(root)
      const content = JSON.stringify({ force })
      const question = { method: 'POST', path: DOOR_ROUTES.promote, content, timeoutMs: TIMEOUT_MS }
      return askDoor(root, question, PromoteReply)
    },
  }
}

/** Undefined when no svc-server runs with the vault. */
export async function findStandbyStatus(root: string): Promise<StandbyStatus | undefined> {
  try {
    return await askStatus(root, LOOK_MS_MAX)
  } catch (error) {
    if (error instanceof UserError && error.code === 'hub_not_running') return undefined
    throw error
  }
}

function askStatus(root: string, timeoutMs: number): Promise<StandbyStatus> {
  const question = { method: 'GET', path: DOOR_ROUTES.status, content: '', timeoutMs }
  return askDoor(root, question, StandbyStatus)
}

interface Question {
  readonly method: string
  readonly path: string
  readonly content: string
  readonly timeoutMs: number
}

async function askDoor<Schema extends TSchema>(
  root: string,
  question: Question,
  schema: Schema,
): Promise<Static<Schema>> {
  const address = openSocketPath(vaultFiles(root).standbySocket)
  try {
    const { status, text } = await send(
      (options) => httpRequest({ ...options, socketPath: address.path }),
      { ...question, replyBytesMax: REPLY_BYTES_MAX },
    )
    const reply: unknown = JSON.parse(text)
    if (status === 200 && Check(schema, reply)) return reply
    const { error = 'unknown', message = 'no reason was given', hint } = reply as Refusal
    throw new SvcError(error, message, hint === undefined ? {} : { hint })
  } catch (error) {
    if (error instanceof Error && error.name === 'AbortError') {
      throw new SvcError('hub_timeout', 'nothing answered', { cause: error })
    }
    if (!['ENOENT', 'ECONNREFUSED'].includes(errnoCode(error) ?? '')) throw error
    throw new UserError('hub_not_running', `no svc-server runs with the vault at ${root}`, {
      hint: 'start svc-server on this machine',
    })
  } finally {
    address.release()
  }
}

interface Refusal {
  readonly error?: string
  readonly message?: string
  readonly hint?: string
}
