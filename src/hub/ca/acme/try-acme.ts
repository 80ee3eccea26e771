// Whether the ACME CA is there and gives the hub an account, and the hook can be run; nothing is ordered. docs/protocol.md BOOT-37.

import { access, constants } from 'node:fs/promises'
import type { Clock } from '../../../platform/clock.ts'
import { startDeadline } from '../../../platform/deadline.ts'
import { describeError } from '../../../platform/errors.ts'
import type { Logger } from '../../../platform/logger.ts'
import { createCaConnection } from '../ca-connection.ts'
import { toCaError } from '../ca-failure.ts'
import { CaError } from '../certificate-authority.ts'
import { type AcmeAuthority, rootsSettingOf } from './acme-client.ts'
import { createAcmeSession } from './acme-session.ts'

export interface TriedAcme extends AcmeAuthority {
  readonly hookPath: string
  readonly rootPem: string
  readonly clock: Clock
  readonly logger: Logger
  readonly deadlineMs?: number
}

const DEADLINE_MS = 5000

/** Undefined when all is well. */
export async function tryAcme(options: TriedAcme): Promise<CaError | undefined> {
  const { hookPath, deadlineMs = DEADLINE_MS } = options
  const connection = createCaConnection({
    origin: options.directoryUrl.origin,
    rootPem: options.tlsRootPem ?? options.rootPem,
    connectionsMax: 1,
  })
  using deadline = startDeadline(deadlineMs)
  const { signal } = deadline
  try {
    const session = createAcmeSession({ ...options, connection, deadlineMs })
    await session.requireAccount(signal)
    await access(hookPath, constants.X_OK).catch((error: unknown) => {
      throw new CaError('refused', `the hook cannot be run: ${describeError(error)}`, {
        variable: 'SVC_ACME_HOOK',
      })
    })
    return undefined
  } catch (error) {
    return toCaError(error, signal, deadlineMs, rootsSettingOf(options), 'SVC_ACME_DIRECTORY')
  } finally {
    await connection.close()
  }
}
