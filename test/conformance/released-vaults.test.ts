// Each released version's vault opens in this one, whole: docs/protocol.md VLT-16, docs/support.md.

import assert from 'node:assert/strict'
import { chmod, cp, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { isFulfilled } from '../../src/hub/domain/agent-requests.ts'
import { openVaultStore } from '../../src/hub/open-store.ts'
import type { StoreReader } from '../../src/hub/store/store.ts'
import { unsealVault } from '../../src/hub/vault/vault.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { Secret } from '../../src/platform/secret.ts'
import type { CargoId } from '../../src/protocol/identifiers.ts'
import { fingerprintOf, recipientOf } from '../../src/sealing/age-identity.ts'
import { openSealed } from '../../src/sealing/sealed-file.ts'
import { startDevCa } from '../support/dev-ca.ts'
import { hubEnvironment, PASSPHRASE } from '../support/hub.ts'
import { runProgram } from '../support/processes.ts'
import { runSvcHere } from '../support/run-svc.ts'
import type {
  PushedThen,
  ReleasedVault,
  SealedThen,
  StandingThen,
} from '../support/released-vault.ts'

const ROOT = join(import.meta.dirname, '../..')
const VAULTS = join(ROOT, 'test/vectors/vaults')

type Releases = Record<string, { commit: string; date: string }>

async function readJson<T>(path: string): Promise<T> {
  return JSON.parse(await readFile(path, 'utf8')) as T
}

const releases = await readJson<Releases>(join(ROOT, 'releases.json'))

test('releases.json names a commit and a day for each version', () => {
  assert.ok(Object.keys(releases).length > 0)
  for (const [version, { commit, date }] of Object.entries(releases)) {
    assert.match(version, /^\d+\.\d+\.\d+$/)
    assert.match(commit, /^[0-9a-f]{40}$/)
    assert.match(date, /^\d{4}-\d{2}-\d{2}$/)
  }
})

describe('[VLT-16] the vault that', () => {
  for (const version of Object.keys(releases)) {
    test(`${version} made opens, verifies and has all that it had`, async () => {
      const directory = await mkdtemp(join(tmpdir(), 'released-'))
      try {
        const vaultRoot = join(directory, 'vault')
        await cp(join(VAULTS, version), vaultRoot, { recursive: true })
        // Git keeps no modes.
        await chmod(vaultRoot, 0o700)
        for (const name of ['config.json', 'db.enc', 'audit.head']) {
          await chmod(join(vaultRoot, name), 0o600)
        }
        const expected = await readJson<ReleasedVault>(join(vaultRoot, 'expected.json'))
        await using ca = await startDevCa()
        const environment = hubEnvironment(vaultRoot, { caEnvironment: ca.environment })
        assert.equal(environment['SVC_MASTER_PASSPHRASE'], PASSPHRASE)
        const svc = async (...args: string[]): Promise<string> => {
          const ended = await runSvcHere(args, environment)
          assert.equal(ended.status, 0, ended.stderr)
          return ended.stdout
        }
        const unsealed = await runProgram('svc', ['unseal'], environment)
        assert.equal(unsealed.status, 0, unsealed.stderr)
        const { agentes } = JSON.parse(await svc('agente', 'list', '--json')) as {
          agentes: { hostname: string }[]
        }
        assert.deepEqual(
          agentes.map(({ hostname }) => hostname),
          expected.hostnames,
        )
        const { entregas } = JSON.parse(await svc('entrega', 'list', '--all', '--json')) as {
          entregas: unknown[]
        }
        assert.equal(entregas.length, expected.deliveries)
        await assertContents(vaultRoot, expected)
        if (expected.standing !== undefined) await assertStanding(svc, expected.standing)
        // And it goes on: a new entry follows the old ones.
        await svc('token', 'create', '--hostname', 'next.example.org', '--role', 'web')
        const log = JSON.parse(await svc('evento', 'list', '--verify', '--json')) as {
          ok: boolean
          eventos: { hash_atual: string }[]
        }
        assert.equal(log.ok, true)
        assert.ok(log.eventos.length > expected.events)
        assert.equal(log.eventos[expected.events - 1]?.hash_atual, expected.lastHash)
      } finally {
        await rm(directory, { recursive: true, force: true })
      }
    })
  }
})

async function assertStanding(
  svc: (...args: string[]) => Promise<string>,
  { adminTokens, politicas, webhooks }: StandingThen,
): Promise<void> {
  const list = async (...noun: string[]): Promise<Record<string, unknown>> =>
    JSON.parse(await svc(...noun, 'list', '--json')) as Record<string, unknown>
  // No version of these knew a token that is bounded.
  const unbounded = adminTokens.map((token) => ({ ...token, only: null }))
  assert.deepEqual(await list('admin', 'token'), { admin_tokens: unbounded })
  // What a version did not know yet, it did not list.
  assert.partialDeepStrictEqual(await list('politica'), { politicas })
  const { webhooks: listed } = await list('webhook')
  assert.partialDeepStrictEqual(listed, webhooks)
}

/** What no list of svc shows. */
async function assertContents(vaultRoot: string, { sealed, pushed }: ReleasedVault): Promise<void> {
  const vault = await unsealVault(vaultRoot, new Secret(PASSPHRASE))
  const store = await openVaultStore(vault, { clock: systemClock })
  try {
    if (sealed !== undefined) await assertSealed(store.reader, sealed)
    if (pushed !== undefined) await assertPushed(store.reader, pushed)
  } finally {
    await store.close()
  }
}

async function assertSealed(
  reader: StoreReader,
  { cargaId, content, fingerprint, escrowIdentity }: SealedThen,
): Promise<void> {
  const step = await reader.listCargoDeliveries(cargaId as CargoId, { limit: 9 })
  const [delivery] = step.deliveries
  const recipient = delivery && (await reader.findRecipient(delivery.agentId))
  assert.equal(recipient && fingerprintOf(recipient), fingerprint)
  const stored = await reader.findContent(cargaId as CargoId)
  assert.deepEqual(stored?.escrow, [await recipientOf(escrowIdentity)])
  const opened = await openSealed(escrowIdentity, stored.bytes)
  assert.equal(opened.ok && Buffer.from(opened.content).toString(), content)
}

async function assertPushed(reader: StoreReader, { hostname, sha256 }: PushedThen): Promise<void> {
  const agent = await reader.findAgentByHostname(hostname)
  assert.ok(agent)
  const [delivery] = await reader.listDeliveries({ agentId: agent.id })
  assert.equal(delivery?.status, 'pendente')
  assert.equal((await reader.findContent(delivery.cargoId))?.sha256, sha256)
  const { rotation } = await reader.findAgentRequests(agent.id)
  assert.ok(rotation !== null && !isFulfilled(rotation, agent), 'the rotation is still wanted')
}
