// Writes agents into a new vault whose certificates the CA's key has signed already, as their enrolments would have: through
// the writer of the store, so that indexes, triggers and the chain of the log are as ever. No hub runs meanwhile, and a vault
// that was half filled is thrown away.

import { randomUUID } from 'node:crypto'
import { open } from 'node:fs/promises'
import { appendEntries } from '../src/hub/service/append-entries.ts'
import { hashToken } from '../src/hub/domain/hash-token.ts'
import { hubAct } from '../src/hub/service/hub-acts.ts'
import { openWriter } from '../src/hub/store/sqlite/encrypted-database.ts'
import { SqlSession } from '../src/hub/store/sqlite/sql-session.ts'
import { SqliteWriter } from '../src/hub/store/sqlite/sqlite-writer.ts'
import type { StoreWriter } from '../src/hub/store/store.ts'
import { openAuditHeadFile } from '../src/hub/vault/audit-head.ts'
import { vaultFiles } from '../src/hub/vault/vault-files.ts'
import { unsealVault } from '../src/hub/vault/vault.ts'
import { systemClock } from '../src/platform/clock.ts'
import { Secret } from '../src/platform/secret.ts'
import type { AgentId, Hostname } from '../src/protocol/identifiers.ts'
import { HubEventType } from '../src/protocol/words.ts'

/** A line of what fleet/driver/signer.go writes. */
interface MadeAgent {
  readonly hostname: Hostname
  readonly serial: string
  readonly sha256: string
  readonly not_before_ms: number
  readonly not_after_ms: number
  readonly chain_pem: string
}

const ROLE = 'fleet'
const AGENTS_OF_A_COMMIT = 1000

export interface InsertAgentsOptions {
  readonly vaultRoot: string
  readonly passphrase: string
  /** One agent a line. */
  readonly path: string
  progress(count: number): void
}

export async function insertAgents(options: InsertAgentsOptions): Promise<void> {
  const vault = await unsealVault(options.vaultRoot, new Secret(options.passphrase))
  const connection = openWriter(vault.databasePath, vault.dataKey)
  const head = openAuditHeadFile(vaultFiles(vault.root).auditHead, vault.dataKey)
  try {
    for (const pragma of HASTY) connection.pragma(pragma)
    const session = new SqlSession(connection)
    const writer = new SqliteWriter(() => session)
    let count = 0
    for await (const agents of batchesOf(options.path)) {
      connection.exec('BEGIN')
      await insertBatch(writer, agents, systemClock.now())
      connection.exec('COMMIT')
      count += agents.length
      options.progress(count)
    }
    if (writer.lastAppended !== undefined) head.reset(writer.lastAppended)
  } finally {
    head.close()
    connection.close()
  }
}

/** Without room for all of it in memory an agent takes ten times as long: its ids are scattered over every index. */
const HASTY = ['synchronous = OFF', 'cache_size = -524288']

async function* batchesOf(path: string): AsyncGenerator<MadeAgent[]> {
  await using file = await open(path)
  let batch: MadeAgent[] = []
  for await (const line of file.readLines()) {
    batch.push(JSON.parse(line) as MadeAgent)
    if (batch.length < AGENTS_OF_A_COMMIT) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}

async function insertBatch(
  writer: StoreWriter,
  agents: readonly MadeAgent[],
  now: Date,
): Promise<void> {
  const entries = []
  for (const made of agents) {
    const { hostname, serial, sha256 } = made
    const id = randomUUID() as AgentId
    const notAfter = new Date(made.not_after_ms)
    const enrolledWith = hashToken(`${hostname} ${sha256}`)
    await writer.insertAgent({
      id,
      hostname,
      role: ROLE,
      enrolledWith,
      createdAt: now,
      lastSeenAt: now,
      revokedAt: null,
      removedAt: null,
      activeIdentity: null,
    })
    await writer.setAgentCertificate(id, made.chain_pem)
    const { seq } = await writer.insertCertificate({
      sha256,
      serial,
      agentId: id,
      purpose: 'identity',
      deliveryId: null,
      notBefore: new Date(made.not_before_ms),
      notAfter,
      rootSha256: null,
    })
    // In use for long, as the identities of a fleet are.
    await writer.setCertificateFirstUsed(sha256, now)
    await writer.setActiveIdentity(id, seq, now)
    entries.push(
      hubAct(now, HubEventType.agentEnrolled, {
        actor: 'token',
        token_id: enrolledWith.slice(0, 16),
        agente_id: id,
        hostname,
        role: ROLE,
        reenroll: false,
      }),
      hubAct(now, HubEventType.certificateIssued, {
        actor: 'hub',
        agente_id: id,
        hostname,
        serial,
        sha256,
        not_after: notAfter.toISOString(),
        purpose: 'identity',
      }),
    )
  }
  await appendEntries(writer, entries)
}
