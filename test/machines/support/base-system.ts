// The Debian that machines boot: made once, from Debian's packages.

import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { installOnce, placeInCache } from '../../../tools/install-once.ts'
import { runTool } from '../../support/processes.ts'

const SUITE = 'bookworm'
const PACKAGES = [
  'systemd',
  'systemd-sysv',
  'dbus',
  'ca-certificates',
  'curl',
  'iproute2',
  'libstdc++6',
  'nginx-light',
  'openssl',
  'procps',
]
/** One that was made of other packages, or in another way, is another one. */
const VERSION = 1
const MAKE_MS_MAX = 10 * 60_000

/**
 * The root directory of one with these services too, as Debian sets them up; nobody changes it. Takes half a minute and 450 MB the
 * first time, and more for services.
 */
export async function ensureBaseSystem(services: readonly string[] = []): Promise<string> {
  const place = placeInCache([`debian-${SUITE}-${VERSION}`, ...services].join('-'))
  await installOnce(place, async (staging) => {
    const what = ['a Debian', SUITE, ...services].join(' ')
    process.stderr.write(`making ${what} for machines (half a minute or more the first time)\n`)
    const archive = join(staging, 'base.tar')
    const root = join(staging, 'root')
    const include = `--include=${[...PACKAGES, ...services].join(',')}`
    const run = (tool: string, ...args: readonly string[]): Promise<string> =>
      runTool(tool, args, undefined, MAKE_MS_MAX)
    await run('mmdebstrap', '--quiet', '--variant=minbase', include, SUITE, archive)
    await mkdir(root)
    // Devices are what systemd-nspawn makes.
    await run('tar', '--extract', '--file', archive, '--directory', root, '--exclude=./dev/*')
    await run('rm', archive, join(root, 'etc/hostname'))
    await writeFile(join(root, 'etc/machine-id'), '')
    await writeFile(join(root, 'etc/hosts'), '127.0.0.1 localhost\n')
  })
  return join(place, 'root')
}
