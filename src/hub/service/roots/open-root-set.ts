// The roots at a start: the roots of the vault, and what the file holds now. A start adds roots by itself; it
// removes a root that an agent still needs only when an operator says so, since a start cannot ask. It leaves alone
// what is on its way in waves. docs/protocol.md TRU, RLO-34.

import type { Clock } from '../../../platform/clock.ts'
import { describeError, SvcError } from '../../../platform/errors.ts'
import type { Logger } from '../../../platform/logger.ts'
import { type Certificate, parseCertificatesPem } from '../../../pki/certificates.ts'
import { compareRoots, findRootsFault, isValid } from '../../domain/decide-root-set.ts'
import { nextSetNumber } from '../../domain/next-set-number.ts'
import type { RootSet } from '../../domain/root-set.ts'
import type { Store } from '../../store/store.ts'
import { entriesOfActs } from '../admin-act.ts'
import { appendEntries } from '../append-entries.ts'
import { findOpenRoots } from './roots-in-waves.ts'
import { distinctRoots, findEndangeredBy, insertRootSet, toPem } from './change-root-set.ts'

export interface OpenRootSetDependencies {
  readonly store: Store
  readonly clock: Clock
  readonly log: Logger
  /** The file of each hub may be another one: where several share the vault, a start changes nothing that is in force. */
  readonly isShared?: boolean | undefined
}

/** `fileRoots` are the roots of SVC_CA_ROOT_CA_PATH. */
export async function openRootSet(
  { store, clock, log, isShared = false }: OpenRootSetDependencies,
  fileRoots: readonly Certificate[],
): Promise<RootSet> {
  const now = clock.now()
  const wanted = distinctRoots(fileRoots)
  const set = await store.reader.findRootSet()
  const fault = findRootsFault(wanted, now)
  if (set === undefined) {
    if (fault !== undefined) log.warn({ reason: fault }, 'Agents do not adopt the roots in force')
    const first: RootSet = { epoch: 1, number: 1, pem: toPem(wanted), createdAt: now }
    const isFirst = await store.write(async (writer) => {
      if ((await writer.findRootSet()) !== undefined) return false
      await writer.insertRootSet(first)
      return true
    })
    // Of hubs that start together one puts the first roots in force.
    return isFirst ? first : openRootSet({ store, clock, log, isShared }, fileRoots)
  }
  const current = parseCertificatesPem(set.pem)
  const { added, removed } = compareRoots(current, wanted)
  if (added.length === 0 && removed.length === 0) return set
  const refusal = fault ?? (set.trust && `the trust key ${set.trust.key} signs every set`)
  if (refusal !== undefined) {
    const fields = { numero: set.number, reason: refusal, ...(!fault && { hint: SIGN_HINT }) }
    log.warn(fields, 'Root file not used, the roots stay')
    return set
  }
  const isOnItsWay = (await findOpenRoots(store.reader)) !== undefined
  if (isShared || isOnItsWay) {
    const fields = { numero: set.number, hint: isOnItsWay ? WAVES_HINT : UPDATE_HINT }
    log.warn(fields, 'Root file is not what is in force, the roots stay')
    return set
  }
  const endangered = await findEndangeredBy(store.reader, current, wanted, now)
  const isSafe = endangered.length === 0
  const next = isSafe ? wanted : [...wanted.filter((root) => isValid(root, now)), ...removed]
  if (!isSafe) {
    log.warn(
      {
        kept: removed.map(({ sha256 }) => sha256),
        agents: endangered.length,
        hostnames: endangered.slice(0, 20).map(({ hostname }) => hostname),
        hint: 'svc bundle status names these agents; svc bundle update --force removes the roots nevertheless',
      },
      'Roots missing from the file stay: agents need them',
    )
    if (findRootsFault(next, now) !== undefined || compareRoots(current, next).added.length === 0) {
      return set
    }
  }
  const number = nextSetNumber(set)
  const change = { current, next, number, endangered: 0 }
  try {
    const changed = await store.write(async (writer) => {
      const { set: inserted, acts } = await insertRootSet(writer, now, change)
      await appendEntries(writer, entriesOfActs(acts, now, 'hub'))
      return inserted
    })
    log.info({ numero: changed.number, roots: next.length }, 'Roots changed')
    return changed
  } catch (error) {
    if (!(error instanceof SvcError && error.code === 'store_unavailable')) throw error
    // A full disk: the agents are better served by the set that they know than by no hub.
    const reason = describeError(error)
    log.warn({ numero: set.number, reason }, 'Root file not used, the roots stay')
    return set
  }
}

const UPDATE_HINT = 'svc bundle update puts what the file has in force'
const WAVES_HINT =
  'a set is on its way in waves (svc rollout show roots); svc bundle update puts what the file has in its place'
const SIGN_HINT =
  'svc bundle prepare writes what has to be signed; svc bundle sign puts it in force'
