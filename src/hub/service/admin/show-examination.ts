// What a running hub says of itself to `svc doctor`: what waits, by the store, and what only the hub's process can see, which the
// wiring hands in. Every list has a bound. docs/protocol.md DOC-20.

import { readVersion } from '../../../platform/version.ts'
import type { AdminExamination, BacklogFacts } from '../../../protocol/admin/examination.ts'
import { nameWebhook, type Webhook } from '../../domain/webhook.ts'
import type { StoreReader } from '../../store/store.ts'
import type { Read } from '../admin-act.ts'
import { countBacklog } from '../webhooks/count-backlog.ts'
import type { AdminContext } from './admin-context.ts'

/** What the wiring sees: all but what the store knows. */
export type ExaminedProcess = Pick<
  AdminExamination,
  | 'disk'
  | 'ca'
  | 'certificates'
  | 'process'
  | 'checkpoints'
  | 'backups'
  | 'segments'
  | 'openid'
  | 'unknown'
>

const REVOCATIONS_MAX = 100
const LATE_MAX = 10
const WEBHOOKS_MAX = 100
const WEEK_MS = 7 * 86_400_000
const DAYS = 7

const NOT_RUNNING: ExaminedProcess = {
  disk: null,
  ca: null,
  certificates: null,
  process: null,
  checkpoints: null,
  backups: null,
  segments: null,
  unknown: ['disk', 'ca', 'certificates', 'process', 'checkpoints', 'segments'].map((part) => ({
    part,
    reason: 'the hub does not run',
  })),
}

export const showExamination: Read<
  'showExamination',
  Pick<AdminContext, 'clock' | 'renewalThresholdMs' | 'examineProcess'>
> = async (reader, _request, { clock, renewalThresholdMs: thresholdMs, examineProcess }) => {
  const now = clock.now()
  const [seen, backlog] = await Promise.all([
    examineProcess?.() ?? NOT_RUNNING,
    findBacklog(reader, now, thresholdMs),
  ])
  const { disk, ...rest } = seen
  const bytes = disk?.vault_bytes ?? null
  return {
    version: readVersion(),
    time: now.toISOString(),
    disk: disk && {
      ...disk,
      growth_bytes_per_day: await estimateGrowth(reader, now, backlog.entries, bytes),
    },
    ...rest,
    backlog,
  }
}

async function findBacklog(
  reader: StoreReader,
  now: Date,
  thresholdMs: number,
): Promise<BacklogFacts> {
  const revocations =
    (await reader.listCaRevocations({ now, limit: REVOCATIONS_MAX, isRefusedIncluded: true })) ?? []
  const waiting = revocations.filter(({ refusedAt }) => refusedAt === null)
  const oldestMs = Math.min(...waiting.map(({ revokedAt }) => revokedAt.getTime()))
  const webhooks = (await reader.webhooks.list()).slice(0, WEBHOOKS_MAX)
  const late = await reader.listLateCertificates({ now, thresholdMs, limit: LATE_MAX })
  const [last] = await reader.listLastEntries({}, 1)
  return {
    webhooks: await Promise.all(webhooks.map((webhook) => describeWebhook(reader, webhook))),
    revocations: {
      waiting: waiting.length,
      refused: revocations.length - waiting.length,
      oldest_at: waiting.length === 0 ? null : new Date(oldestMs).toISOString(),
      reason: revocations.find(({ reason }) => reason !== null)?.reason ?? null,
    },
    late: late.map(({ hostname, notAfter }) => ({ hostname, not_after: notAfter.toISOString() })),
    last_entry_at: last?.timestamp ?? null,
    entries: last?.seq ?? 0,
  }
}

async function describeWebhook(
  reader: StoreReader,
  webhook: Webhook,
): Promise<BacklogFacts['webhooks'][number]> {
  const { id, disabledAt, progress } = webhook
  return {
    id,
    origin: nameWebhook(webhook).origin,
    disabled: disabledAt !== null,
    error: progress.attempts > 0 ? progress.lastError : null,
    waiting: disabledAt === null ? await countBacklog(reader, webhook) : 0,
    given_up: await reader.webhooks.countDead(id),
  }
}

/** The log is for ever, and by far the most of what a vault gains: what its entries took till now, times those of the last week. */
async function estimateGrowth(
  reader: StoreReader,
  now: Date,
  entries: number,
  vaultBytes: number | null,
): Promise<number | null> {
  const weekAgo = new Date(now.getTime() - WEEK_MS)
  const first = await reader.findFirstSeqSince(weekAgo)
  // Of a younger log nobody knows what an ordinary day is.
  if (vaultBytes === null || first === undefined || first <= 1) return null
  const kept = entries - ((await reader.findFirstSeq()) ?? 1) + 1
  return Math.round(((entries - first + 1) / DAYS) * (vaultBytes / kept))
}
