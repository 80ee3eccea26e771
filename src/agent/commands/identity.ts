// What the identity on disk says, without a hub: `identity` prints it, `check` answers by its exit status.

import { reportFailure } from '../../platform/program.ts'
import { writeOut } from '../../platform/standard-output.ts'
import { renewalInstant } from '../identity/certificate-lifetime.ts'
import { describeIdentity, formatIdentity, formatInstant } from '../identity/describe-identity.ts'
import { loadIdentity, requireIdentity } from '../identity/identity.ts'
import { type Environment, print, startCommand } from './context.ts'

const EXIT = { renewNow: 0, notYet: 1, noIdentity: 2, error: 255 } as const

export async function runIdentity(env: Environment, options: { json: boolean }): Promise<void> {
  const { paths } = await startCommand('identity', env)
  const description = await describeIdentity(await requireIdentity(paths.identityDir), paths)
  await print(description, options, formatIdentity(description))
}

/** Answers by exit status, as `step certificate needs-renewal` does. */
export async function runCheck(readEnvironment: () => Environment): Promise<void> {
  try {
    process.exitCode = await check(readEnvironment())
  } catch (error) {
    reportFailure('svc-agent', error)
    process.exitCode = EXIT.error
  }
}

async function check(env: Environment): Promise<number> {
  const { config, paths, clock } = await startCommand('check', env)
  const identity = await loadIdentity(paths.identityDir)
  if (identity === undefined) {
    await writeOut('no identity\n')
    return EXIT.noIdentity
  }
  const instant = renewalInstant(identity.leaf, config.renewalThresholdMs)
  const isDue = instant <= clock.now()
  await writeOut(`${isDue ? 'renewal due since' : 'renewal due at'} ${formatInstant(instant)}\n`)
  return isDue ? EXIT.renewNow : EXIT.notYet
}
