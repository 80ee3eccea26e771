import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createSeededRandom } from '../../../../test/simulation/seeded-random.ts'
import { makeCertificates } from '../../../../test/support/made-certificates.ts'
import type { AdminOperations } from '../../../protocol/admin/operations.ts'
import { evidenceLines } from './evidence-lines.ts'
import { planEvidence } from './plan-evidence.ts'

const SILENT = { show: () => undefined, clear: () => undefined }
const { log, operations } = makeCertificates(40, createSeededRandom(1))
const PERIOD = { from: '1970-01-01T00:00:10.000000Z', to: '2100-01-01T00:00:00.000000Z' }

async function linesOf(changed: Partial<AdminOperations> = {}, certificatesMax?: number) {
  const hub = { ...operations, ...changed }
  const plan = await planEvidence(hub, { ...PERIOD, agent: undefined, serials: undefined }, SILENT)
  const pieces: string[] = []
  for await (const piece of evidenceLines(hub, plan, SILENT, certificatesMax)) pieces.push(piece)
  return pieces.join('').trimEnd().split('\n')
}

describe('the lines of evidence', () => {
  test('[EVD-5] entries that the hub no longer has are named, and counted', async () => {
    const [gone, back] = [20, 30]
    const lines = await linesOf({
      listRecords: async ({ after = 0, limit = 1000 }) => {
        const first = after >= gone && after < back ? back : after
        const end = first < gone ? Math.min(gone, first + limit) : first + limit
        return { registros: log.records.slice(first, end), next: null }
      },
    })
    assert.ok(
      lines.includes(
        '{"absent":{"after":20,"until":30,"why":"the hub no longer has these entries"}}',
      ),
    )
    const end = JSON.parse(lines.at(-1) ?? '') as { end: { absent: number } }
    assert.equal(end.end.absent, 10)
  })

  test('[EVD-6] a hub that answers what its checkpoint was not signed for is not written down', async () => {
    const otherRecord: Partial<AdminOperations> = {
      listRecords: async (page) => {
        const { registros, next } = await operations.listRecords(page)
        return { registros: registros.map((one) => one.replace('hub', 'HUB')), next }
      },
    }
    await assert.rejects(linesOf(otherRecord), /entry \d+ of the hub is not the one/)
    const otherProof: Partial<AdminOperations> = {
      showBlockProofs: async (wanted) => {
        const { blocks } = await operations.showBlockProofs(wanted)
        return { blocks: blocks.map(({ leaves }) => ({ leaves, proof: [] })) }
      },
    }
    await assert.rejects(linesOf(otherProof), /entry \d+ of the hub is not the one/)
  })

  test('[EVD-14] more certificates than fit are refused', async () => {
    const count = (await linesOf()).filter((line) => line.startsWith('{"certificate"')).length
    assert.ok(count > 10)
    const reason = `the period has more than ${count - 1} certificates`
    await assert.rejects(linesOf({}, count - 1), new RegExp(reason))
    assert.ok(await linesOf({}, count))
  })
})
