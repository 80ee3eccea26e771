// The end of a change: its record and its report become durable together.

import type { AppliedFile, TargetFailure } from './applied-store.ts'
import type { JournalEntry } from './journal.ts'
import { retryDelayMs } from './plan-target.ts'
import { boundReason, reportApplied, reportReverted } from './target-report.ts'
import type { TargetFault, TransactionContext } from './transaction.ts'

/** What a record needs to know of a change. */
export type ChangeIdentity = Pick<
  JournalEntry,
  | 'target'
  | 'source'
  | 'source_sha256'
  | 'roots_sha256'
  | 'nome'
  | 'serial'
  | 'versao'
  | 'delivery_id'
  | 'request_id'
>

/** What other targets of the delivery could not do is told again after it: at the hub the report clears what is wrong. */
export async function recordApplied(
  { applied, newRequestId }: Pick<TransactionContext, 'applied' | 'newRequestId'>,
  change: ChangeIdentity,
  files: readonly AppliedFile[],
  report: { readonly isProbed: boolean; readonly drift: readonly string[] },
): Promise<void> {
  const { serial, source_sha256: sourceSha256, roots_sha256: rootsSha256 } = change
  const identity = reportIdentity(change)
  const again = applied
    .listFailures(change.nome, serial, change.target)
    .map(({ source, failure }) =>
      reportReverted({ ...identity, source, requestId: newRequestId() }, failure),
    )
  await applied.put(
    change.target,
    {
      source: change.source,
      nome: change.nome,
      applied: {
        serial,
        source_sha256: sourceSha256,
        ...(rootsSha256 === undefined ? {} : { roots_sha256: rootsSha256 }),
        files: [...files],
      },
      failure: null,
      last_change: { request_id: change.request_id, outcome: 'applied' },
    },
    [reportApplied(identity, { ...report, paths: files.map(({ path }) => path) }), ...again],
  )
}

/** The same failure again is not told again. */
export async function recordReverted(
  { applied, clock }: Pick<TransactionContext, 'applied' | 'clock'>,
  change: ChangeIdentity,
  { step, reason: text, output: printed }: TargetFault,
): Promise<void> {
  const record = applied.find(change.target)
  // Staged files are named for the change, and the same failure is to be known by its words.
  const reason = boundReason(text.replaceAll(change.request_id, '…'))
  const { serial, source_sha256: sourceSha256 } = change
  const last = record?.failure ?? null
  const output = printed ?? ''
  // Of another delivery, or from a version that did not note the delivery, the hub has yet to hear.
  const isSame =
    last?.serial === serial &&
    last.delivery_id === change.delivery_id &&
    last.step === step &&
    last.reason === reason
  await applied.put(
    change.target,
    {
      source: change.source,
      nome: change.nome,
      applied: record?.applied ?? null,
      failure: {
        serial,
        source_sha256: sourceSha256,
        step,
        reason,
        ...(output === '' ? {} : { output }),
        delivery_id: change.delivery_id,
        ...retryTimes(last, change, clock.now()),
      },
      last_change: { request_id: change.request_id, outcome: 'reverted' },
    },
    isSame ? [] : [reportReverted(reportIdentity(change), { step, reason, output })],
  )
}

function retryTimes(
  last: TargetFailure | null,
  { serial, source_sha256: sourceSha256 }: ChangeIdentity,
  now: Date,
): Pick<TargetFailure, 'attempts' | 'failed_at_ms' | 'retry_at_ms'> {
  const isSameTry = last?.serial === serial && last.source_sha256 === sourceSha256
  const attempts = isSameTry ? last.attempts + 1 : 1
  const failedAtMs = now.getTime()
  const retryAtMs = failedAtMs + retryDelayMs(attempts)
  return { attempts, failed_at_ms: failedAtMs, retry_at_ms: retryAtMs }
}

function reportIdentity(change: ChangeIdentity) {
  const { request_id: requestId, delivery_id: deliveryId, nome: name, serial, versao } = change
  return { requestId, deliveryId, name, serial, version: versao, source: change.source }
}
