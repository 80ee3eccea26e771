// The parts of a change as they are on a real host.

import { UserError } from '../../platform/errors.ts'
import type { Logger } from '../../platform/logger.ts'
import { ownHome } from '../delivery/run-hook.ts'
import { checkPlace } from './check-places.ts'
import { describeOutput } from './command-output.ts'
import { awaitServedSerial } from './probe.ts'
import { runReload } from './reload.ts'
import { renderContent } from './render-content.ts'
import { resolveFileOwner } from './target-account.ts'
import type { Applier } from './target-applier.ts'
import { nodeTargetFiles } from './target-files.ts'
import type { TargetParts } from './transaction.ts'

export interface TargetPartsOptions {
  readonly applier: Applier
  readonly log: Logger
  /** Of the pass: no other begins before a reload of this one has ended. */
  readonly lockDescriptor: number
}

const PASSWORD_FILE_BYTES_MAX = 4096

export function createTargetParts(options: TargetPartsOptions): TargetParts {
  const { applier, log, lockDescriptor } = options
  return {
    checkPlace: (file) => checkPlace(file, applier),
    async ownerOf(file) {
      const owner = await resolveFileOwner(file, applier)
      if (!owner.ok) throw new UserError('target_owner', owner.reason)
      return owner
    },
    async render(content, material) {
      const password =
        content.format === 'pkcs12' ? await readPassword(content.passwordFile) : undefined
      return renderContent(content, material, password)
    },
    async reload(argv, hidden) {
      const result = await runReload(argv, {
        applier: { uid: applier.uid, home: ownHome() },
        lockDescriptor,
      })
      const { failure, exitCode, durationMs, output, outputEnd } = result
      const fields = { command: argv, exit_code: exitCode, duration_ms: durationMs, output }
      if (failure === undefined) {
        log.info(fields, 'Reload done')
        return undefined
      }
      log.warn({ ...fields, reason: failure }, 'Reload failed')
      return { reason: failure, output: hidden && describeOutput(outputEnd, hidden) }
    },
    async passwordOf({ content }) {
      return content.format === 'pkcs12' ? readPassword(content.passwordFile) : undefined
    },
    async probe(probe, serial) {
      const verdict = await awaitServedSerial(probe, serial)
      return verdict.ok ? undefined : verdict.reason
    },
  }
}

/** The first line, without its end. */
async function readPassword(path: string): Promise<string> {
  const image = await nodeTargetFiles.read(path, PASSWORD_FILE_BYTES_MAX)
  const [line = ''] = Buffer.from(image?.content ?? [])
    .toString('utf8')
    .split(/\r?\n/, 1)
  return line
}
