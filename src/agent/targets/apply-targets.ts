// One pass over the targets: what a crash left is put back, then each target is brought to the version in `out/`.
// The caller of a pass holds the lock of the state directory.

import { hash } from 'node:crypto'
import { join } from 'node:path'
import type { Clock } from '../../platform/clock.ts'
import { describeError } from '../../platform/errors.ts'
import type { Logger } from '../../platform/logger.ts'
import { isUuid } from '../../protocol/identifiers.ts'
import { type AppliedStore, openAppliedStore, type TargetRecord } from './applied-store.ts'
import { applyTarget } from './apply-target.ts'
import { JournalStore, TARGET_BYTES_MAX } from './journal.ts'
import { type FileState, planTarget, stateOf } from './plan-target.ts'
import { recoverTargets } from './recover-targets.ts'
import type { Material } from './render-content.ts'
import type { TargetFileOperations } from './target-files.ts'
import { reportReverted } from './target-report.ts'
import type { Target } from './target.ts'
import type { TargetParts, TransactionContext } from './transaction.ts'

export interface TargetsEnvironment {
  /** It exists, and belongs to the applier alone. */
  readonly stateDir: string
  readonly files: TargetFileOperations
  readonly parts: TargetParts
  readonly clock: Clock
  readonly log: Logger
  readonly newRequestId: () => string
  readonly loadTargets: () => Promise<{
    readonly targets: readonly Target[]
    readonly problems: readonly string[]
  }>
  readonly readMaterial: (target: Target) => Promise<MaterialReading>
}

/** What is installed for a target's delivery. */
export type MaterialReading =
  | {
      readonly ok: true
      readonly material: Material
      /** Of the certificate; of a file the SHA-256 of what the hub handed out. Lower-case hex. */
      readonly serial: string
      /** Of a file's delivery. */
      readonly version: number | undefined
      readonly deliveryId: string
    }
  | { readonly ok: false; readonly reason: string }

export interface TargetResult {
  readonly source: string
  readonly name: string
  /** `waiting`: there is nothing to apply. `held_back`: it failed, and its time has not come. */
  readonly result: 'up_to_date' | 'applied' | 'reverted' | 'held_back' | 'waiting' | 'stuck'
  readonly serial: string | null
  readonly detail: string | null
  /** The last that its command printed, where that is why. */
  readonly output?: string | undefined
}

export interface TargetsPass {
  readonly results: readonly TargetResult[]
  /** What is wrong beside the results. */
  readonly problems: readonly string[]
  /** Its reports are to be told. */
  readonly applied: AppliedStore
}

export interface PassOptions {
  /** Nothing else of the pass is done for other deliveries but recovery. */
  readonly only?: string
  /** Also what failed and whose time has not come. */
  readonly isForced?: boolean
}

export async function applyTargets(
  environment: TargetsEnvironment,
  options: PassOptions = {},
): Promise<TargetsPass> {
  const { files, stateDir } = environment
  const journalDir = join(stateDir, 'journal')
  await files.makeDirectory(journalDir, 0o700)
  await files.syncDirectory(stateDir)
  const applied = await openAppliedStore(stateDir, files)
  const context: TransactionContext = {
    ...environment,
    applied,
    journals: new JournalStore(journalDir, files),
  }
  const recovery = await recoverTargets(context)
  const { targets, problems } = await environment.loadTargets()
  // The record of a target that cannot be read today may be needed tomorrow.
  if (problems.length === 0) {
    const nameOf = new Map(targets.map((target) => [targetIdOf(target.source), target.name]))
    await applied.keepOnly(nameOf, environment.newRequestId)
  }
  const results: TargetResult[] = []
  for (const target of targets) {
    if (options.only !== undefined && target.name !== options.only) continue
    results.push(await bringUpToDate(environment, context, target, recovery.stuck, options))
  }
  return { results, problems: [...recovery.problems, ...problems], applied }
}

async function bringUpToDate(
  environment: TargetsEnvironment,
  context: TransactionContext,
  target: Target,
  stuck: ReadonlySet<string>,
  { isForced = false }: PassOptions,
): Promise<TargetResult> {
  const id = targetIdOf(target.source)
  const base = { source: target.source, name: target.name, serial: null }
  if (stuck.has(id)) {
    return { ...base, result: 'stuck', detail: 'the agent cannot put an earlier change back' }
  }
  try {
    const reading = await environment.readMaterial(target)
    if (!reading.ok) return { ...base, result: 'waiting', detail: reading.reason }
    const { serial, material, version, deliveryId } = reading
    // Written by an agent that root does not trust, and soon in records that are read again.
    if (!isUuid(deliveryId) || !/^[0-9a-f]{1,64}$/.test(serial)) {
      return {
        ...base,
        result: 'waiting',
        detail: 'the installed version names no delivery, or has no serial',
      }
    }
    const record = context.applied.find(id)
    const rootsSha256 = rootsOf(target, material)
    const plan = planTarget({
      serial,
      sourceSha256: target.sourceSha256,
      rootsSha256,
      record,
      states: await readStates(context.files, record),
      now: context.clock.now(),
      isForced,
    })
    if (plan.kind === 'up_to_date') return { ...base, serial, result: 'up_to_date', detail: null }
    if (plan.kind === 'held_back') {
      const detail = `not before ${plan.until.toISOString()}: ${plan.reason}`
      const output = record?.failure?.output
      await tellNewDelivery(context, id, { deliveryId, version })
      return { ...base, serial, result: 'held_back', detail, output }
    }
    const { drift } = plan
    const change = { id, target, serial, version, deliveryId, material, rootsSha256, drift }
    const fault = await applyTarget(context, change)
    if (fault !== undefined) {
      const { step, reason, output } = fault
      return { ...base, serial, result: 'reverted', detail: `${step}: ${reason}`, output }
    }
    return { ...base, serial, result: 'applied', detail: plan.because }
  } catch (error) {
    // Not even going back is possible now: the journal stays, and the next pass begins with it.
    const detail = describeError(error)
    context.log.error({ source: target.source, error: detail }, 'Target not settled')
    return { ...base, result: 'stuck', detail }
  }
}

/** What holds the target back holds for the delivery that is installed now; the hub has heard it of another one, or of none. */
async function tellNewDelivery(
  { applied, newRequestId }: TransactionContext,
  id: string,
  { deliveryId, version }: { readonly deliveryId: string; readonly version: number | undefined },
): Promise<void> {
  const record = applied.find(id)
  const failure = record?.failure ?? null
  if (record === undefined || failure === null || failure.delivery_id === deliveryId) return
  const { source, nome: name } = record
  const requestId = newRequestId()
  const { serial } = failure
  const report = reportReverted({ requestId, deliveryId, name, serial, version, source }, failure)
  await applied.put(id, { ...record, failure: { ...failure, delivery_id: deliveryId } }, [report])
}

async function readStates(
  files: TargetFileOperations,
  record: TargetRecord | undefined,
): Promise<Map<string, FileState>> {
  const states = new Map<string, FileState>()
  for (const { path } of record?.applied?.files ?? []) {
    states.set(
      path,
      await files.read(path, TARGET_BYTES_MAX).then(stateOf, (): FileState => 'unexpected'),
    )
  }
  return states
}

/** Of what `ca` stands for in the target's files. */
function rootsOf({ files }: Target, material: Material): string | undefined {
  const isWanted = files.some(
    ({ content }) => content.format === 'pem' && content.parts.includes('ca'),
  )
  return isWanted && 'caPem' in material ? hash('sha256', material.caPem, 'hex') : undefined
}

/** One target file is one target, whatever it says today. */
export function targetIdOf(source: string): string {
  return hash('sha256', source, 'hex').slice(0, 32)
}
