// Identities that are revoked, expired or superseded while their connections are open: refused from the first request on.

import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { invariant } from '../../src/platform/errors.ts'
import type { Variables } from '../../test/support/processes.ts'
import { startDevCaProcess } from '../../test/support/dev-ca-process.ts'
import { startScriptedCa } from '../../test/support/scripted-ca.ts'
import type { ReliabilityRow, RowContext, RowResult } from '../row.ts'
import { buildHubProgram } from '../support/hub-program.ts'
import { createHubVault } from '../support/hub-vault.ts'
import { SHORT_LIFE, tryExpired } from '../support/identities/expired.ts'
import { tryRevoked } from '../support/identities/revoked.ts'
import { trySuperseded } from '../support/identities/superseded.ts'

/** Of each kind. */
const COUNTS = { small: 24, full: 1000 } as const

export const refusedIdentities: ReliabilityRow = {
  name: 'refused-identities',
  promise:
    'the hub refuses a revoked, expired or superseded identity on the next request, on open connections too',
  run: runRow,
}

async function runRow(context: RowContext): Promise<RowResult> {
  const count = COUNTS[context.setting]
  const { random } = context
  const program = await buildHubProgram(context.directory)
  // In small all at once, since most of it is waiting; in full one after the other, each for itself.
  const kinds = [
    () =>
      withHub(context, program, 'revoked', (hub) => tryRevoked({ ...hub, agents: count, random })),
    () => withShortLives(context, program, count),
    () => trySuperseded({ identities: count, random }),
  ]
  const broken: string[] = []
  if (context.setting === 'full') {
    for (const tryKind of kinds) {
      broken.push(...(await tryKind()))
      context.progress('one kind done')
    }
  } else {
    const ended = await Promise.allSettled(kinds.map((tryKind) => tryKind()))
    for (const result of ended) {
      if (result.status === 'rejected') throw result.reason
      broken.push(...result.value)
    }
  }
  return {
    tried: `${count} identities each revoked, expired and superseded, on open and on new connections`,
    broken,
  }
}

type Serving = Pick<Parameters<typeof tryRevoked>[0], 'ports' | 'admin'>

async function withHub<Result>(
  { directory }: RowContext,
  program: string,
  name: string,
  use: (hub: Serving) => Promise<Result>,
  caEnvironment?: Variables,
): Promise<Result> {
  await using stack = new AsyncDisposableStack()
  const place = join(directory, name)
  await mkdir(place)
  const ca = caEnvironment ?? stack.use(await startScriptedCa(() => ({ kind: 'sign' }))).environment
  const environment = { SVC_LIMIT_EVENTS: '0' }
  const options = { directory: place, program, caEnvironment: ca, environment }
  const vault = stack.use(await createHubVault(options))
  const hub = vault.launch()
  const ports = await hub.ports()
  invariant(ports, `the hub did not start: ${hub.running.stderr()}`)
  return await use({ ports, admin: await vault.admin() })
}

async function withShortLives(
  context: RowContext,
  program: string,
  count: number,
): Promise<readonly string[]> {
  await using ca = await startDevCaProcess({ certDuration: SHORT_LIFE })
  const { random } = context
  const attempt = (hub: Serving): ReturnType<typeof tryExpired> =>
    tryExpired({ ...hub, identities: count, random })
  return (await withHub(context, program, 'expired', attempt, ca.environment)).broken
}
