// The hook of every installed version runs until it has succeeded once, also while its event waits for the hub.

import type { Clock } from '../../platform/clock.ts'
import { describeError } from '../../platform/errors.ts'
import type { Logger } from '../../platform/logger.ts'
import { parseArtefactName } from '../../protocol/identifiers.ts'
import type { RetrySchedule } from '../backoff.ts'
import type { HubBudget } from '../hub-budget.ts'
import type { Identity } from '../identity/identity.ts'
import type { Outbox } from '../reporting/outbox.ts'
import { type HookFailureReport, hookFailed } from '../wire.ts'
import type { HookInvocation, HookRunner } from './hook-runner.ts'
import { pairPaths, readInstalledPair } from './installed-pair.ts'
import type { ProcessedDelivery, ProcessedStore } from './processed-store.ts'

export interface HookContext {
  readonly outDir: string
  readonly caPath: string
  readonly clock: Clock
  readonly processed: ProcessedStore
  readonly outbox: Pick<Outbox, 'enqueue'>
  readonly hookRunner: HookRunner
  readonly retries: RetrySchedule
  readonly hookLog: Logger
}

export async function runDueHooks(
  context: HookContext,
  identity: Identity,
  budget: Pick<HubBudget, 'noteError'>,
): Promise<void> {
  for (const record of context.processed.list()) {
    const retryName = `hook ${record.deliveryId}`
    if (record.progress !== 'event_queued' || record.cancelled) continue
    if (!context.retries.isDue(retryName, context.clock.now())) continue
    try {
      const failures = await runHooksOf(context, identity, record)
      if (failures === undefined) continue
      await settle(context, record, retryName, failures)
      for (const { hook, reason } of failures) budget.noteError(new Error(`${hook}: ${reason}`))
    } catch (error) {
      context.hookLog.warn(
        { delivery_id: record.deliveryId, error: describeError(error) },
        'Hook postponed',
      )
      context.retries.recordFailure(retryName, context.clock.now())
      budget.noteError(error)
    }
  }
}

/** Undefined when the pair is not there, or another one is: then this version's hook is not due any more. */
async function runHooksOf(
  { outDir, caPath, hookRunner }: HookContext,
  identity: Identity,
  record: ProcessedDelivery,
): Promise<HookFailureReport[] | undefined> {
  const name = parseArtefactName(record.name)
  const pair = name && (await readInstalledPair(outDir, name))
  if (name === undefined || pair?.record.delivery_id !== record.deliveryId) return undefined
  const invocation: HookInvocation = {
    event: record.hookEvent,
    name,
    ...pairPaths(outDir, name),
    caPath,
    serial: pair.leaf.serial,
    notAfter: pair.leaf.notAfter,
    deliveryId: record.deliveryId,
    cargoId: record.cargoId,
    version: record.version,
    hostname: identity.hostname,
  }
  return hookRunner.run(invocation)
}

async function settle(
  { processed, outbox, retries, clock }: HookContext,
  record: ProcessedDelivery,
  retryName: string,
  failures: readonly HookFailureReport[],
): Promise<void> {
  if (failures.length === 0) {
    await processed.put({ ...record, progress: 'done', reportedHookFailure: null })
    retries.clear(retryName)
    return
  }
  retries.recordFailure(retryName, clock.now())
  const summary = failures.map(({ hook, reason }) => `${hook}: ${reason}`).join('; ')
  if (summary === record.reportedHookFailure) return
  for (const failure of failures) {
    await outbox.enqueue(hookFailed(record.deliveryId, record.name, failure))
  }
  await processed.put({ ...record, reportedHookFailure: summary })
}
