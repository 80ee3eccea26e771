// The base image of deploy/Containerfile, made of Debian's packages: tests pull nothing from a registry of images.

import { dirname, join } from 'node:path'
import { installOnce, placeInCache } from '../../../tools/install-once.ts'
import { runTool } from '../../support/processes.ts'

const SUITE = 'bookworm'
/** One that was made in another way is another one. */
const VERSION = 1
const MAKE_MS_MAX = 10 * 60_000
/** As the image that it stands for. */
const LEFT_OUT = ['/usr/share/doc/*', '/usr/share/man/*', '/usr/share/locale/*']

/** An archive of its root directory. Takes about half a minute and 120 MB the first time. */
export async function ensureBaseImage(): Promise<string> {
  const archive = join(placeInCache(`debian-${SUITE}-slim-${VERSION}`), 'root.tar')
  await installOnce(dirname(archive), async (staging) => {
    process.stderr.write(`making a Debian ${SUITE} for images (half a minute the first time)\n`)
    const dpkg = ['force-unsafe-io', ...LEFT_OUT.map((path) => `path-exclude=${path}`)]
    const options = ['--quiet', '--variant=apt', ...dpkg.map((option) => `--dpkgopt=${option}`)]
    const args = [...options, SUITE, join(staging, 'root.tar')]
    await runTool('mmdebstrap', args, undefined, MAKE_MS_MAX)
  })
  return archive
}
