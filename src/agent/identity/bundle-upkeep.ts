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
import { checkLayout } from '../files/versioned-files.ts'
import { type Bundle, type BundleNumber, bundleRefused } from '../hub/wire.ts'

export interface BundleContext {
  readonly session: AgentSession
  readonly retries: RetrySchedule
  readonly targets: { applyRoots(): Promise<void> }
  readonly log: Logger
  reportedRefusal: string | undefined
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
  if (offered === undefined || isAdopted(record?.bundle, offered)) {
    retries.clear(BUNDLE_RETRIES)
    return undefined
  }
  if (!budget.isOpen || !retries.isDue(BUNDLE_RETRIES, clock.now())) return undefined
  try {
    const adoption = await adoptBundle(session)
    if (adoption.kind === 'adopted') {
      budget.noteAnswer()
      retries.clear(BUNDLE_RETRIES)
      context.reportedRefusal = undefined
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

function isAdopted(adopted: AdoptedBundle | undefined, offered: BundleNumber): boolean {
  return adopted?.numero === offered.number && (adopted.epoca ?? 1) === offered.epoch
}

/** In turn with renewals, because both write the identity. */
function adoptBundle(session: AgentSession): Promise<Adoption> {
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
      now: hubTime.now(),
    })
    if (verdict.kind === 'refuse') return { kind: 'refused', offered, reason: verdict.reason }
    if (verdict.kind === 'same') return { kind: 'adopted', identity, isNew: false }
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
    await replaceRoots(paths.identityDir, identity, { caPem, numero: number, epoca: epoch })
    const trusting = await takeUpIdentity(session)
    const fingerprints = trusting.roots.map(({ sha256 }) => sha256)
    logging
      .forModule('agent.trust')
      .info({ numero: number, epoca: epoch, fingerprints }, 'Roots adopted')
    return { kind: 'adopted', identity: trusting, isNew }
  })
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
  budget.noteProblem(`roots ${number} not adopted: ${reason}`)
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
