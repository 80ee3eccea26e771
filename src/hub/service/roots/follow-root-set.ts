// The roots that another hub has put in force. docs/protocol.md HUB-8.

import { describeError } from '../../../platform/errors.ts'
import { parseCertificatesPem } from '../../../pki/certificates.ts'
import { compareRoots } from '../../domain/decide-root-set.ts'
import { toPem } from './change-root-set.ts'
import type { UpdateRootSetDependencies } from './update-root-set.ts'

export async function followRootSet({
  store,
  log,
  current,
  hub,
}: UpdateRootSetDependencies): Promise<void> {
  const set = await store.reader.findRootSet()
  const { set: before, roots } = current
  if (set === undefined || (set.epoch === before.epoch && set.number === before.number)) return
  const next = parseCertificatesPem(set.pem)
  const { added, removed } = compareRoots(roots, next)
  hub.useForAuthority(toPem([...roots, ...added]))
  // Agents that have the new roots already do not believe this hub until it has another certificate.
  if (hub.serverRoot(next) === undefined) {
    await hub.renewServerCertificate().catch((error: unknown) => {
      const fields = { reason: describeError(error) }
      log.error(
        fields,
        'Server certificate leads to a root that another hub removed, and is not renewed',
      )
    })
  }
  current.replace(set)
  hub.useForAuthority(set.pem)
  await hub.useForAgents(set, { isAnyRemoved: removed.length > 0 })
  log.warn(
    { numero: set.number, epoca: set.epoch, added: added.length, removed: removed.length },
    'Roots changed by another hub',
  )
}
