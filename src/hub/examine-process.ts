// What `svc doctor` asks of a running hub that only its process can see: its disk, its CA, its certificates, what the system allows
// it. docs/protocol.md DOC-20, DOC-21.

import type { Clock } from '../platform/clock.ts'
import { startDeadline } from '../platform/deadline.ts'
import { describeError } from '../platform/errors.ts'
import { unlessAborted } from '../platform/unless-aborted.ts'
import type {
  AuthorityFacts,
  CheckpointFacts,
  OpenidFacts,
  SegmentFacts,
} from '../protocol/admin/examination.ts'
import type { HubConfig } from './config.ts'
import { measureDisk } from './facts/measure-disk.ts'
import { describeCertificates } from './facts/read-certificates.ts'
import { readProcessLimits } from './facts/read-process-limits.ts'
import { probeCa } from './probe-ca.ts'
import type { OpenedOpenid } from './open-openid.ts'
import type { SegmentsSeen } from './archive/look-at-segments.ts'
import type { ExaminedProcess } from './service/admin/show-examination.ts'
import type { ServerCertificate } from './service/upkeep/server-certificate.ts'

export interface ProcessExaminerOptions {
  readonly config: Pick<
    HubConfig,
    | 'vaultRoot'
    | 'checkpointDirectory'
    | 'archiveDirectory'
    | 'backupSchedule'
    | 'limits'
    | 'caUrl'
    | 'ca'
  >
  readonly clock: Clock
  readonly certificate: () => Pick<ServerCertificate, 'chainPem' | 'rootPem'>
  readonly checkpointAt: () => CheckpointTimes
  readonly lastBackupAt: () => Date | undefined
  readonly lookAtSegments: () => Promise<SegmentsSeen>
  /** Undefined where people sign in by no OpenID provider. */
  readonly openid?: OpenedOpenid | undefined
  /** In force now. */
  readonly rootPem: () => string
}

interface CheckpointTimes {
  readonly vault: Date | undefined
  readonly outside: Date | undefined
}

/** Less than svc waits for all of it. */
const PART_MS_MAX = 3000
/** However often somebody asks, the CA is asked no more often than that. */
const KEPT_MS = 5000

export function createProcessExaminer(
  options: ProcessExaminerOptions,
): () => Promise<ExaminedProcess> {
  const { config, clock, rootPem } = options
  let latest: Promise<AuthorityFacts> | undefined
  let askedAtMs = Number.NEGATIVE_INFINITY
  /** Once at a time; a recent answer is given again. */
  const askAuthority = (): Promise<AuthorityFacts> => {
    const nowMs = performance.now()
    if (latest === undefined || nowMs - askedAtMs >= KEPT_MS) {
      askedAtMs = nowMs
      const { ca, caUrl } = config
      latest = probeCa(ca, ca.kind === 'step' ? ca.provisionerKey.reveal() : undefined, {
        caUrl,
        rootPem: rootPem(),
        now: () => clock.now(),
        signal: AbortSignal.timeout(PART_MS_MAX),
      })
    }
    return latest
  }
  return () => examine(options, askAuthority)
}

async function examine(
  options: ProcessExaminerOptions,
  askAuthority: () => Promise<AuthorityFacts>,
): Promise<ExaminedProcess> {
  const { config, certificate, rootPem, checkpointAt, lastBackupAt, openid } = options
  const unknown: { part: string; reason: string }[] = []
  const look = async <T>(part: string, work: () => Promise<T>): Promise<T | null> => {
    using deadline = startDeadline(PART_MS_MAX)
    try {
      return await unlessAborted(work(), deadline.signal)
    } catch (error) {
      unknown.push({ part, reason: describeError(error) })
      return null
    }
  }
  const [disk, ca, certificates, limits, segments, provider] = await Promise.all([
    look('disk', () => measureDisk(config.vaultRoot, config.limits.freeSpaceBytes)),
    look('ca', askAuthority),
    look('certificates', async () => describeCertificates(certificate().chainPem, rootPem())),
    look('process', readProcessLimits),
    look('segments', options.lookAtSegments),
    openid && look('openid', () => lookAtProvider(openid)),
  ])
  // What grows is for the store to say.
  return {
    disk: disk && { ...disk, growth_bytes_per_day: null },
    ca,
    certificates,
    process: limits,
    checkpoints: describeCheckpoints(checkpointAt(), config.checkpointDirectory !== undefined),
    backups: config.backupSchedule
      ? {
          interval_seconds: config.backupSchedule.intervalMs / 1000,
          last_at: lastBackupAt()?.toISOString() ?? null,
          up_seconds: Math.floor(process.uptime()),
        }
      : null,
    segments: segments && describeSegments(segments, config.archiveDirectory),
    ...(provider && { openid: provider }),
    unknown,
  }
}

async function lookAtProvider({ provider, signIn }: OpenedOpenid): Promise<OpenidFacts> {
  const { issuer, console: isConsoleReached } = signIn.shown
  const looked = await provider.look()
  return {
    issuer,
    reason: looked.ok ? null : looked.reason,
    is_console_reached: isConsoleReached,
  }
}

function describeSegments(
  { counts, faulty }: SegmentsSeen,
  directory: string | undefined,
): SegmentFacts {
  const { present, missing, damaged } = counts
  const segments = present + missing + damaged
  return { directory: directory ?? null, segments, missing, damaged, faulty: [...faulty] }
}

function describeCheckpoints(
  { vault, outside }: CheckpointTimes,
  isKeptOutside: boolean,
): CheckpointFacts {
  return {
    vault_at: vault?.toISOString() ?? null,
    outside_at: outside?.toISOString() ?? null,
    is_kept_outside: isKeptOutside,
    up_seconds: Math.floor(process.uptime()),
  }
}
