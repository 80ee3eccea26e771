// `svc bundle update` and `svc bundle sign`: the root file is read again, and what it holds becomes the next set; once a
// trust key signs the sets, only what it signed does. docs/protocol.md TRU, TRK.

import type { Clock } from '../../../platform/clock.ts'
import { describeError } from '../../../platform/errors.ts'
import { AdminRefusal, type AdminTurn } from '../admin-act.ts'
import type { Logger } from '../../../platform/logger.ts'
import type { Certificate } from '../../../pki/certificates.ts'
import type { AdminRequest } from '../../../protocol/admin/operations.ts'
import type { RolloutId } from '../../../protocol/identifiers.ts'
import { LIMITS } from '../../../protocol/limits.ts'
import { compareRoots, type EndangeredAgent, findRootsFault } from '../../domain/decide-root-set.ts'
import { decideSetNumber, type NumberRefusal } from '../../domain/next-set-number.ts'
import type { RootSet, SetNumber, SetTrust } from '../../domain/root-set.ts'
import type { Actor } from '../../domain/actor.ts'
import type { Store, StoreReader } from '../../store/store.ts'
import { distinctRoots, findEndangeredBy, insertRootSet, toPem } from './change-root-set.ts'
import type { CurrentRootSet } from './current-root-set.ts'
import { agentSlices } from '../agent-slices.ts'
import {
  parseRules,
  refuseHubsWithoutRollouts,
  type RolloutHubs,
  type RulesRequest,
} from '../rollout/rollout-rules.ts'
import { decideSignedSet } from './decide-signed-set.ts'
import type { RootsWaves } from './roots-in-waves.ts'

export interface UpdateRootSetDependencies {
  readonly store: Store
  readonly clock: Clock
  readonly log: Logger
  readonly current: CurrentRootSet
  /** The roots of SVC_CA_ROOT_CA_PATH, as the file is now. */
  readonly readFileRoots: () => Promise<readonly Certificate[]>
  readonly hub: RootSetHub
}

/** What of the running hub hangs on the roots. */
export interface RootSetHub {
  /** What the CA, and what it signs, is trusted by. */
  useForAuthority(rootPem: string): void
  /** The root that the hub’s own certificate leads to. */
  serverRoot(roots: readonly Certificate[]): Certificate | undefined
  renewServerCertificate(): Promise<void>
  /** For agents that connect from now on; connections by a removed root are cut. */
  useForAgents(set: RootSet, change: { readonly isAnyRemoved: boolean }): Promise<void>
}

export interface RootSetUpdate {
  readonly isChanged: boolean
  readonly endangered: readonly EndangeredAgent[]
  /** Where agents are offered the set in waves. */
  readonly rollout?: RolloutId
}

/** `signed`: of `svc bundle sign`, which says there what else it wants. */
export type RootSetRequest = AdminRequest<'updateBundle'> & {
  readonly signed?: AdminRequest<'signBundle'>
}

/** Who asks, and the hubs beside: for a set that goes out in waves. */
export interface RootSetAsker {
  readonly actor: Actor
  readonly hubs?: RolloutHubs | undefined
}

export type UpdateRootSet = (
  turn: Pick<AdminTurn, 'commit' | 'rehearse'>,
  request: RootSetRequest,
  asker: RootSetAsker,
) => Promise<RootSetUpdate>

/** One after the other, in the order asked for. */
export function createUpdateRootSet(dependencies: UpdateRootSetDependencies): UpdateRootSet {
  let last: Promise<unknown> = Promise.resolve()
  return (turn, request, asker) => {
    const update = last.then(() => updateRootSet(dependencies, turn, request, asker))
    last = update.catch(() => undefined)
    return update
  }
}

async function updateRootSet(
  dependencies: UpdateRootSetDependencies,
  turn: Pick<AdminTurn, 'commit' | 'rehearse'>,
  request: RootSetRequest,
  asker: RootSetAsker,
): Promise<RootSetUpdate> {
  const { store, clock, log, current, hub } = dependencies
  const now = clock.now()
  const { roots, set } = current
  const next = distinctRoots(await dependencies.readFileRoots())
  const fault = findRootsFault(next, now)
  if (fault !== undefined) {
    throw new AdminRefusal('bundle_invalid', `the hub does not accept the root file: ${fault}`)
  }
  const { added, removed } = compareRoots(roots, next)
  const isSame = added.length === 0 && removed.length === 0
  const isRenumbered = request.numero !== undefined || request.nova_epoca === true
  if (isSame && !isRenumbered && request.signed === undefined) {
    return { isChanged: false, endangered: [] }
  }
  const { number, trust } = planSet(set, next, request)
  const rules = (request.signed ?? request).in_waves
  const waves =
    rules &&
    (await planWaves(store.reader, rules, asker, {
      before: set,
      isForward: removed.length === 0 && number.epoch === set.epoch,
    }))
  const endangered = await findEndangeredBy(store.reader, roots, next, now)
  const isForced = (request.signed ?? request).force === true
  if (endangered.length > 0 && !isForced) throw inUse(endangered)

  const change = { current: roots, next, number, trust, endangered: endangered.length, waves }
  const commit = () =>
    turn.commit(async (writer) => {
      await refuseOverOthers(writer, set)
      const { acts, ...reply } = await insertRootSet(writer, now, change)
      return { acts, reply, news: { areRootsChanged: true, areRolloutsChanged: true } }
    })
  if (turn.rehearse !== undefined) {
    if (hub.serverRoot(next) === undefined) throw unforeseeable()
    await commit()
  }

  hub.useForAuthority(toPem([...roots, ...added]))
  let changed: RootSet
  let rollout: RolloutId | undefined
  try {
    await leadServerCertificateTo(dependencies, next)
    const committed = await commit()
    changed = committed.set
    rollout = committed.rollout?.id
  } catch (error) {
    // Hubs that share the vault may have put another one in force meanwhile.
    hub.useForAuthority(current.set.pem)
    throw error
  }
  current.replace(changed)
  hub.useForAuthority(changed.pem)
  await hub.useForAgents(changed, { isAnyRemoved: removed.length > 0 })
  log.warn(
    {
      numero: number.number,
      epoca: number.epoch,
      added: added.length,
      removed: removed.length,
      agents: endangered.length,
    },
    'Roots changed',
  )
  return { isChanged: true, endangered, ...(rollout !== undefined && { rollout }) }
}

/** What goes away, or a count that begins again, cannot reach agents one after the other: the hub itself holds to the set in force. */
async function planWaves(
  reader: StoreReader,
  request: RulesRequest,
  { actor: startedBy, hubs }: RootSetAsker,
  { before, isForward }: { readonly before: SetNumber; readonly isForward: boolean },
): Promise<RootsWaves> {
  if (!isForward) {
    throw new AdminRefusal(
      'bundle_in_waves',
      'a set that takes a root away, or begins an época, goes to all agents at once',
    )
  }
  const rules = parseRules(request)
  await refuseHubsWithoutRollouts(hubs)
  let hosts = 0
  for await (const agents of agentSlices(reader)) {
    hosts += agents.filter(({ revokedAt }) => revokedAt === null).length
  }
  if (hosts === 0) throw new AdminRefusal('rollout_empty', 'there is no host')
  return { rules, startedBy, hosts, before }
}

interface Plan {
  readonly number: SetNumber
  readonly trust?: SetTrust
}

function planSet(set: RootSet, next: readonly Certificate[], request: RootSetRequest): Plan {
  const { signed } = request
  if (signed === undefined) {
    // Asked first: a number that nobody may have is wrong with a signature too.
    const number = chooseNumber(set, request)
    if (set.trust === undefined) return { number }
    throw new AdminRefusal(
      'bundle_unsigned',
      `the trust key ${set.trust.key} signs every set: agents that demand it would refuse this one`,
    )
  }
  const verdict = decideSignedSet({ set, next, request: signed })
  if (!verdict.ok) {
    throw new AdminRefusal('bundle_signature', `the hub does not accept the set: ${verdict.reason}`)
  }
  const { number: numero, epoch } = verdict.statement
  const wanted = { numero, nova_epoca: epoch > set.epoch, force: signed.force === true }
  return { number: chooseNumber(set, wanted), trust: verdict.trust }
}

function chooseNumber(
  set: RootSet,
  { numero, nova_epoca, force }: AdminRequest<'updateBundle'>,
): SetNumber {
  const isNewEpoch = nova_epoca === true
  const isForced = force === true
  const verdict = decideSetNumber(set, { number: numero, isNewEpoch, isForced })
  if (verdict.ok) return { epoch: verdict.epoch, number: verdict.number }
  throw new AdminRefusal('bundle_number', numberRefusal(verdict.reason, set, numero), {
    reason: verdict.reason,
  })
}

/** What is added and removed was judged by the set that this hub knows. */
async function refuseOverOthers(reader: StoreReader, known: RootSet): Promise<void> {
  const last = await reader.findRootSet()
  if (last?.epoch === known.epoch && last.number === known.number) return
  throw new AdminRefusal(
    'bundle_number',
    `another hub has put the set ${last?.number} in force, which this one is about to follow: try again`,
  )
}

function numberRefusal(
  reason: NumberRefusal,
  { number }: RootSet,
  wanted: number | undefined,
): string {
  switch (reason) {
    case 'not_greater':
      return `the set in force has the number ${number} already`
    case 'too_far':
      return `${wanted} is more than ${LIMITS.rootSetNumberJumpMax} ahead of the set in force, ${number}`
    case 'too_great':
      return `the number of a set may be at most ${LIMITS.rootSetNumberNamedMax}`
    default:
      return reason
  }
}

/** Before the set is in force: afterwards no agent would believe the hub. */
async function leadServerCertificateTo(
  { hub }: UpdateRootSetDependencies,
  next: readonly Certificate[],
): Promise<void> {
  if (hub.serverRoot(next) !== undefined) return
  const failure = (reason: string): AdminRefusal =>
    new AdminRefusal(
      'server_certificate_root',
      `the hub’s own certificate leads to a root that this would remove, and the hub has no other certificate: ${reason}`,
    )
  await hub.renewServerCertificate().catch((error: unknown) => {
    throw failure(describeError(error))
  })
  if (hub.serverRoot(next) === undefined) throw failure('the CA still signs by it')
}

function unforeseeable(): AdminRefusal {
  return new AdminRefusal(
    'dry_run_unsupported',
    'the hub’s own certificate leads to a root that the change would remove: only the change itself shows whether the CA signs by another root',
  )
}

const SHOWN_MAX = 20

function inUse(endangered: readonly EndangeredAgent[]): AdminRefusal {
  const shown = endangered
    .slice(0, SHOWN_MAX)
    .map(({ hostname, reasons }) => `${hostname} (${reasons.join('; ')})`)
  const more = endangered.length - shown.length
  const count = endangered.length === 1 ? '1 agent needs' : `${endangered.length} agents need`
  const list = [...shown, ...(more > 0 ? [`and ${more} more`] : [])].join(', ')
  return new AdminRefusal('bundle_in_use', `${count} a root that this would remove: ${list}`)
}
