// Where the agent keeps what, and the directories' modes.

import { chmod, lstat, mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { errnoCode, UserError } from '../../platform/errors.ts'
import { syncDirectory } from '../../platform/files.ts'
import type { AgentConfig } from './config.ts'

export interface AgentPaths {
  readonly dataDir: string
  readonly identityDir: string
  /** Opens what is sealed for this host. */
  readonly ageKeyFile: string
  /** By which key roots have to be signed. */
  readonly trustFile: string
  /** What the hub signed of the identity. */
  readonly identityReceiptFile: string
  /** An enrolment under way. */
  readonly pendingDir: string
  /** A recovery under way. */
  readonly pendingRecoveryDir: string
  readonly outDir: string
  readonly stateDir: string
  readonly hookDir: string
  readonly processedFile: string
  /** Apart from the certificates: an agent that knows of no files reads its own records still. */
  readonly deliveredFilesFile: string
  readonly pushedFilesFile: string
  readonly outboxDir: string
  /** Names the last identity whose `cert_renewed` was queued. */
  readonly announcedIdentityFile: string
  /** Names the last set of roots whose `bundle_adopted` was queued. */
  readonly announcedBundleFile: string
  /** What this host did about the last update that was announced to it. */
  readonly announcedUpdateFile: string
  /** What the agent has seen of the hub's audit log. */
  readonly logWitnessFile: string
  /** What the agent holds against the hub's audit log. */
  readonly logAlarmsFile: string
  /** What the hub answered to this agent’s events. */
  readonly receiptsFile: string
  readonly lockFile: string
  readonly socketName: string
}

export function agentPaths(
  config: Pick<AgentConfig, 'dataDir' | 'outDir' | 'stateDir' | 'hookDir'>,
): AgentPaths {
  const { dataDir, outDir, stateDir, hookDir } = config
  const identityDir = join(dataDir, 'identity')
  return {
    dataDir,
    identityDir,
    ageKeyFile: join(identityDir, 'age.key'),
    trustFile: join(identityDir, 'trust.json'),
    identityReceiptFile: join(identityDir, 'receipt.json'),
    pendingDir: join(identityDir, 'pending'),
    pendingRecoveryDir: join(identityDir, 'pending-recovery'),
    outDir,
    stateDir,
    hookDir,
    processedFile: join(stateDir, 'processed.json'),
    deliveredFilesFile: join(stateDir, 'delivered-files.json'),
    pushedFilesFile: join(stateDir, 'pushed-files.json'),
    outboxDir: join(stateDir, 'outbox'),
    announcedIdentityFile: join(stateDir, 'announced-identity'),
    announcedBundleFile: join(stateDir, 'announced-bundle'),
    announcedUpdateFile: join(stateDir, 'announced-update.json'),
    logWitnessFile: join(stateDir, 'log-witness.json'),
    logAlarmsFile: join(stateDir, 'log-alarms.json'),
    receiptsFile: join(stateDir, 'receipts.jsonl'),
    lockFile: join(dataDir, 'agent.lock'),
    socketName: 'agent.sock',
  }
}

const PRIVATE = 0o700
const SHARED = 0o755

/** `out` is open, so that a service can reach a certificate that it may read; identity and state are the agent's alone. */
export async function prepareDirectories(paths: AgentPaths): Promise<void> {
  await ensureDirectory(paths.dataDir, SHARED)
  await ensureDirectory(paths.identityDir, PRIVATE)
  await ensureDirectory(paths.stateDir, PRIVATE)
  await ensureDirectory(paths.outboxDir, PRIVATE)
  await ensureDirectory(paths.outDir, SHARED)
}

async function ensureDirectory(path: string, mode: number): Promise<void> {
  const firstCreated = await mkdir(path, { recursive: true, mode })
  if (firstCreated !== undefined) {
    // The umask may have taken bits away that a service needs.
    await chmod(path, mode)
    await syncDirectory(dirname(path))
    return
  }
  // A kill may have ended the process that made the directory before the directory was durable.
  await syncDirectory(dirname(path)).catch((error: unknown) => {
    // A parent that only others may list was made, and synced, by them.
    if (errnoCode(error) !== 'EACCES') throw error
  })
  if (mode === PRIVATE) await tighten(path)
}

async function tighten(path: string): Promise<void> {
  const { mode } = await lstat(path)
  if ((mode & 0o077) === 0) return
  try {
    await chmod(path, PRIVATE)
  } catch (error) {
    if (errnoCode(error) !== 'EPERM') throw error
    throw new UserError('directory_open', `${path} is open to others`, {
      cause: error,
      hint: `chmod 700 ${path}`,
    })
  }
}
