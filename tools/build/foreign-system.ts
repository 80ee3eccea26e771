// How a program for another architecture runs on this machine: by an emulator, with the libraries of a Debian for that architecture.

import { execFile, execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describeError, errnoCode } from '../../src/platform/errors.ts'
import { installOnce, placeInCache } from '../install-once.ts'
import { type Architecture, DEBIAN_NAMES, GNU_NAMES } from './architecture.ts'

const SUITE = 'bookworm'
/** One that was made in another way is another one. */
const VERSION = 1
const MAKE_MS_MAX = 5 * 60_000

/** What to put before a command; undefined, and a line on standard error, where the tools for it are missing. */
export async function foreignRunner(
  architecture: Architecture,
): Promise<readonly string[] | undefined> {
  const emulator = `qemu-${GNU_NAMES[architecture]}-static`
  const missing = [emulator, 'mmdebstrap'].filter((program) => !isThere(program))
  if (missing.length > 0) return goWithout(architecture, `there is no ${missing.join(' and no ')}`)
  try {
    return [emulator, '-L', await ensureLibraries(architecture)]
  } catch (error) {
    if (process.env['CI'] === 'true') throw error
    return goWithout(architecture, `no Debian can be fetched (${describeError(error)})`)
  }
}

function goWithout(architecture: Architecture, reason: string): undefined {
  process.stderr.write(
    `build: ${reason}: executables for ${architecture} carry no compiled code, and start in twice the time\n`,
  )
}

/** The root of a system that has them and nothing else: nothing of it runs while it is made, and nobody needs to be root. */
async function ensureLibraries(architecture: Architecture): Promise<string> {
  const name = DEBIAN_NAMES[architecture]
  const place = placeInCache(`debian-${SUITE}-libraries-${name}-${VERSION}`)
  await installOnce(place, async (staging) => {
    const what = ['--variant=extract', '--include=libstdc++6', `--architectures=${name}`]
    const args = ['--quiet', '--mode=chrootless', ...what, SUITE, join(staging, 'root')]
    await promisify(execFile)('mmdebstrap', args, { timeout: MAKE_MS_MAX })
  })
  return join(place, 'root')
}

function isThere(program: string): boolean {
  try {
    execFileSync(program, ['--version'], { stdio: 'ignore' })
    return true
  } catch (error) {
    if (errnoCode(error) === 'ENOENT') return false
    throw error
  }
}
