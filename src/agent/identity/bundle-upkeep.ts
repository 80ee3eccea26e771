// The roots that the hub offers, adopted: over a connection that the roots in use vouch for, after a connection by the new roots.

import { describeError } from '../../platform/errors.ts'
import type { Logger } from '../../platform/logger.ts'
import type { RetrySchedule } from '../hub/backoff.ts'
import type { HubBudget } from '../hub/budget.ts'
import type { HubOutcome, HubRefusal } from '../hub/request.ts'
import { readPinned } from './announce-bundle.ts'
import { decideBundle, sameRoots } from './decide-bundle.ts'
import { type AdoptedBundle, type Identity, identityLayout, replaceRoots } from './identity.ts'
import { type AgentSession, takeUpIdentity } from './session.ts'
import { settleTrustDemand, storeTrustDemand, type TrustDemand } from './trust-record.ts'
import { checkLayout } from '../files/versioned-files.ts'
import { type Bundle, type BundleNumber, bundleRefused } from '../hub/wire.ts'

export interface BundleContext {
  readonly session: AgentSession
  readonly retries: RetrySchedule
  readonly targets: { applyRoots(): Promise<void> }
  readonly log: Logger
  reportedRefusal: string | undefined
  /** Why the roots that the hub offers are not adopted, for as long as that is so. */
  rootsAlarm: string | undefined
}

/** What it is called in the schedule. */
export const BUNDLE_RETRIES = 'the roots'

type Adoption =
  | { readonly kind: 'adopted'; readonly identity: Identity; readonly isNew: boolean }
  | { readonly kind: 'refused'; readonly offered: BundleNumber; readonly reason: string }
  | { readonly kind: 'not answered'; readonly refusal: HubRefusal }

/** The identity with the roots that it is used with from now on; undefined when they stay. */
export async function followBundle(
  context: BundleContext,
  { record }: Identity,
  offered: BundleNumber | undefined,
  budget: HubBudget,
): Promise<Identity | undefined> {
  const { session, retries, targets } = context
  const { clock } = session
  const demand = await lookUpDemand(session)
  const isSettled = 'fault' in demand ? false : isConfirmed(demand.demand, offered)
  if (offered === undefined || (isSettled && isAdopted(record?.bundle, offered))) {
    retries.clear(BUNDLE_RETRIES)
    if (offered !== undefined) context.rootsAlarm = undefined
    return undefined
  }
  if (!budget.isOpen || !retries.isDue(BUNDLE_RETRIES, clock.now())) return undefined
  try {
    const adoption: Adoption =
      'fault' in demand
        ? { kind: 'refused', offered, reason: demand.fault }
        : await adoptBundle(session, demand.demand)
    if (adoption.kind === 'adopted') {
      budget.noteAnswer()
      retries.clear(BUNDLE_RETRIES)
      context.reportedRefusal = undefined
      context.rootsAlarm = undefined
      if (adoption.isNew) await targets.applyRoots()
      return adoption.identity
    }
    await settleRefusal(context, adoption, budget)
  } catch (error) {
    retries.recordFailure(BUNDLE_RETRIES, clock.now())
    throw error
  }
  return undefined
}

type LookedUp = { readonly demand: TrustDemand | undefined } | { readonly fault: string }

/** A file that cannot be understood is no reason to demand less: no roots are adopted until it is. */
async function lookUpDemand({ paths, config, logging }: AgentSession): Promise<LookedUp> {
  try {
    const log = logging.forModule('agent.trust')
    return { demand: await settleTrustDemand(paths.trustFile, config.trustKey, log) }
  } catch (error) {
    return { fault: describeError(error) }
  }
}

function isConfirmed(demand: TrustDemand | undefined, offered: BundleNumber | undefined): boolean {
  if (demand === undefined || offered === undefined) return true
  const { newest } = demand
  const isSame = newest.epoch === offered.epoch && newest.number === offered.number
  return demand.isConfirmed && isSame
}

function isAdopted(adopted: AdoptedBundle | undefined, offered: BundleNumber): boolean {
  return adopted?.numero === offered.number && (adopted.epoca ?? 1) === offered.epoch
}

/** In turn with renewals, because both write the identity. */
function adoptBundle(session: AgentSession, demand: TrustDemand | undefined): Promise<Adoption> {
  const { paths, hub, hubTime, identityTurns, logging } = session
  return identityTurns.run(async (): Promise<Adoption> => {
    const identity = await takeUpIdentity(session)
    // Looked at first: what cannot be written need not be asked for.
    await checkLayout(identityLayout(paths.identityDir))
    const outcome: HubOutcome<Bundle> = await hub.fetchBundle()
    if (!outcome.ok) return { kind: 'not answered', refusal: outcome }
    const { number, epoch } = outcome.value
    const offered: BundleNumber = { number, epoch }
    const adopted = identity.record?.bundle
    const verdict = decideBundle({
      roots: identity.roots,
      adopted: adopted && { epoch: adopted.epoca ?? 1, number: adopted.numero },
      offered: outcome.value,
      demand,
      now: hubTime.now(),
    })
    if (verdict.kind === 'refuse') return { kind: 'refused', offered, reason: verdict.reason }
    if (verdict.kind === 'same') {
      await keepDemand(session, verdict.demand)
      return { kind: 'adopted', identity, isNew: false }
    }
    const isNew = !sameRoots(identity.roots, verdict.roots)
    const caPem = isNew ? verdict.roots.map(({ pem }) => pem).join('') : identity.caPem
    if (isNew) {
      try {
        await hub.tryRoots(caPem)
      } catch (error) {
        const reason = `the agent cannot reach the hub by it: ${describeError(error)}`
        return { kind: 'refused', offered, reason }
      }
    }
    // First: after a crash in between the same set comes again, and none before it.
    await keepDemand(session, verdict.demand)
    await replaceRoots(paths.identityDir, identity, { caPem, numero: number, epoca: epoch })
    const trusting = await takeUpIdentity(session)
    const fingerprints = trusting.roots.map(({ sha256 }) => sha256)
    logging
      .forModule('agent.trust')
      .info({ numero: number, epoca: epoch, fingerprints }, 'Roots adopted')
    return { kind: 'adopted', identity: trusting, isNew }
  })
}

async function keepDemand(
  { paths, logging }: AgentSession,
  demand: TrustDemand | undefined,
): Promise<void> {
  if (demand === undefined) return
  await storeTrustDemand(paths.trustFile, demand)
  const { key, newest } = demand
  const fields = { trust_key: key.text, numero: newest.number, epoca: newest.epoch }
  logging.forModule('agent.trust').info(fields, 'Roots are signed as demanded')
}

async function settleRefusal(
  context: BundleContext,
  adoption: Exclude<Adoption, { kind: 'adopted' }>,
  budget: HubBudget,
): Promise<void> {
  const { session, retries, log } = context
  const { clock } = session
  if (adoption.kind === 'not answered') {
    const { refusal } = adoption
    log.warn({ status: refusal.status, code: refusal.code }, 'The hub refused to send its roots')
    retries.recordFailure(BUNDLE_RETRIES, clock.now(), refusal.retryAfterMs)
    budget.noteRefusal(refusal)
    return
  }
  const { offered, reason } = adoption
  const { number, epoch } = offered
  budget.noteAnswer()
  context.rootsAlarm = `roots ${number} not adopted: ${reason}`
  budget.noteProblem(context.rootsAlarm)
  retries.recordFailure(BUNDLE_RETRIES, clock.now())
  log.error({ numero: number, epoca: epoch, reason }, 'Roots not adopted')
  await reportRefusal(context, offered, reason)
}

/** Once, until something else is wrong. */
async function reportRefusal(
  context: BundleContext,
  { epoch, number }: BundleNumber,
  erro: string,
): Promise<void> {
  const what = `${epoch} ${number} ${erro}`
  if (context.reportedRefusal === what) return
  const { config, outbox } = context.session
  const { roots, record } = await takeUpIdentity(context.session)
  await outbox.enqueue(
    bundleRefused({
      numero: number,
      ...(epoch > 1 && { epoca: epoch }),
      erro: erro.slice(0, ERROR_CHARACTERS_MAX),
      current: record?.bundle?.numero ?? null,
      fingerprints: roots.map(({ sha256 }) => sha256),
      ...(await readPinned(config.serverCaPath, roots)),
    }),
  )
  context.reportedRefusal = what
}

const ERROR_CHARACTERS_MAX = 1024
