import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { Secret } from '../../../platform/secret.ts'
import type {
  AgentId,
  CargoId,
  DeliveryId,
  TokenHash,
  WebhookId,
} from '../../../protocol/identifiers.ts'
import { createDatabase, openWriter } from './encrypted-database.ts'
import { SqlSession } from './sql-session.ts'
import { SqliteWriter } from './sqlite-writer.ts'

const NOW = new Date('2026-11-21T10:00:00Z')
const ID = '00000000-0000-4000-8000-000000000000'

test('no query walks through a table that grows, and none sorts the audit log', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'plans-'))
  const path = join(directory, 'db.enc')
  const dataKey = new Secret(randomBytes(32))
  await createDatabase(path, dataKey)
  const connection = openWriter(path, dataKey)
  const texts = new Set<string>()
  const recording = new Proxy(connection, {
    get: (target, property) => {
      if (property !== 'prepare') return Reflect.get(target, property) as unknown
      return (sql: string) => {
        texts.add(sql)
        return target.prepare(sql)
      }
    },
  })
  const session = new SqlSession(recording)
  await runEveryQuery(new SqliteWriter(() => session))
  assert.ok(texts.size >= 15)
  for (const sql of texts) {
    const plan = connection.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...nothingFor(sql)) as {
      detail: string
    }[]
    for (const { detail } of plan) {
      assert.doesNotMatch(
        detail,
        /^SCAN (agentes|enrollment_tokens|admin_tokens|cargas|entregas|certificados|politicas|agentes_recipient|cargas_conteudo|pedidos|webhooks_mortos)/,
      )
      if (/eventos|ca_refused_at, ca_reason/.test(sql)) {
        assert.doesNotMatch(detail, /TEMP B-TREE/, sql)
      }
      if (detail.startsWith('SCAN eventos')) assert.match(sql, /ORDER BY seq DESC LIMIT 1$/)
    }
  }
  connection.close()
  await rm(directory, { recursive: true })
})

/** All but the lists that ask for everything, and the inserts. */
async function runEveryQuery(writer: SqliteWriter): Promise<void> {
  const agentId = ID as AgentId
  await writer.findAgentById(agentId)
  await writer.findAgentByHostname('h')
  await writer.findAgentRequests(agentId)
  await writer.findToken('0' as TokenHash)
  await writer.findCertificate('0')
  await writer.listCurrentIdentities([agentId])
  await writer.findNewestIdentity(agentId)
  await writer.hasCertificateForDelivery(ID as DeliveryId)
  await writer.findRecipient(agentId)
  await writer.findPolicies('web')
  await writer.findCargo(ID as CargoId)
  await writer.findContent(ID as CargoId)
  await writer.summarizeContent(ID as CargoId)
  await writer.findContentMode(ID as CargoId)
  await writer.findDelivery(ID as DeliveryId)
  await writer.listDeliveries({ agentId, statuses: ['pendente'] })
  await writer.listDeliveries({ cargoId: ID as CargoId })
  await writer.listDeliveries({ statuses: ['falhou'] })
  await writer.summariseFleet({ now: NOW, thresholdMs: 1000 })
  await writer.listLateCertificates({ now: NOW, thresholdMs: 1000, limit: 5 })
  await writer.listLateAgents({ now: NOW, thresholdMs: 1000 })
  await writer.listFirstToEnd(NOW, 5)
  await writer.countAgentsThatLose(NOW, NOW)
  await writer.findAccessToken('0' as TokenHash)
  await writer.findReply('0', NOW)
  await writer.insertReply({ id: '0', sealed: new Uint8Array(1), expiresAt: NOW }, NOW)
  for (const after of [undefined, ID, '0'.repeat(16)]) {
    const page = { after, limit: 10 }
    await writer.pageAgents(page)
    await writer.pageTokens(page)
    await writer.pageCargoes(page)
    await writer.pageDeliveries(page)
    await writer.pagePolicies(page)
  }
  await writer.findLastEntry()
  await writer.findEntryByRequestId(agentId, 'r')
  for (const selection of [
    {},
    { agentId },
    { eventType: 't' },
    { agentId, eventType: 't' },
    { since: NOW },
  ]) {
    await writer.listEntries({ ...selection, afterSeq: 5, limit: 10 })
    await writer.listLastEntries(selection, 10)
  }
  const webhookId = ID as WebhookId
  await writer.webhooks.countEntriesOfType('t', 5, 10)
  await writer.webhooks.listDead(webhookId)
  await writer.webhooks.countDead(webhookId)
  await writer.webhooks.listDeadToReplay(webhookId)
  await writer.webhooks.removeDeadAfter(webhookId, 5)
  await writer.setAgentSeen(agentId, NOW)
  await writer.consumeToken('0' as TokenHash, NOW)
  await writer.endExpiredTokens(NOW)
  await writer.revokeCertificates(agentId, NOW)
  await writer.setRecipient(agentId, undefined)
  await writer.removeContent(ID as CargoId)
  await writer.listCaRevocations({ now: NOW, limit: 10, isRefusedIncluded: false })
  await writer.listCaRevocations({ now: NOW, limit: 10, isRefusedIncluded: true, after: '0' })
  await writer.summarizeCaRevocations([agentId], NOW)
  await writer.setCaRevoked('0', NOW)
  await writer.setCaRefused('0', NOW, 'why')
  await writer.setCaFailing(NOW, 'why')
  await writer.forgetCaRefusals(agentId, NOW)
  await writer.findRootSet()
  await writer.removeAgentTrust(agentId)
}

function nothingFor(sql: string): (null | object)[] {
  const names = [...sql.matchAll(/@(\w+)/g)].map(([, name]) => [name, null])
  if (names.length > 0) return [Object.fromEntries(names)]
  return [...sql.matchAll(/\?/g)].map(() => null)
}
