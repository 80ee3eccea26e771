// Builds a program that is written in Go and that tests can use, once, into the user's cache.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { errnoCode, SvcError } from '../src/platform/errors.ts'
import { exists } from '../src/platform/files.ts'
import { INSTALL_MS_MAX, installOnce, placeInCache } from './install-once.ts'

export interface GoProgram {
  readonly name: string
  readonly version: string
  /** Of its main package, without the version. */
  readonly module: string
  /** How long a first build takes, in words. */
  readonly duration: string
}

/** The program's path, built if need be; undefined where there is no Go, which is an error under CI. */
export async function ensureGoProgram(program: GoProgram): Promise<string | undefined> {
  const { name, version } = program
  const place = placeInCache(`${name}-${version}`)
  if (!(await exists(place)) && !(await hasGo())) {
    if (process.env['CI'] !== 'true') return undefined
    throw new SvcError('no_go', `${name} is needed under CI=true, and there is no Go to build it`)
  }
  await installOnce(place, (staging) => build(program, staging))
  return join(place, name)
}

async function hasGo(): Promise<boolean> {
  try {
    return (await run('go', ['version'], {}, 'ignore')) === 0
  } catch (error) {
    if (errnoCode(error) === 'ENOENT') return false
    throw error
  }
}

async function build(program: GoProgram, directory: string): Promise<void> {
  const { name, version, module, duration } = program
  process.stderr.write(`building ${name} ${version} (${duration} the first time)\n`)
  const source = `${module}@${version}`
  const environment = { CGO_ENABLED: '0', GOBIN: directory }
  const status = await run('go', ['install', source], environment, 'inherit')
  if (status !== 0) throw new SvcError('build_failed', `go install ${source} failed`)
}

async function run(
  command: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
  output: 'inherit' | 'ignore',
): Promise<number | null> {
  const child = spawn(command, args, {
    env: { ...process.env, ...environment },
    // What a tool says about its work is not this program's result, so it goes to stderr.
    stdio: ['ignore', output === 'inherit' ? 2 : 'ignore', output],
    // Not the timeout option: its timer outlives a program that could not be started.
    signal: AbortSignal.timeout(INSTALL_MS_MAX),
  })
  // Rejects with the spawn error when there is no such program.
  const [status] = (await once(child, 'exit')) as [number | null]
  return status
}
