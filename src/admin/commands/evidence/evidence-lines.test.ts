import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createSeededRandom } from '../../../../test/simulation/seeded-random.ts'
import { makeCertificates, serialSetOf } from '../../../../test/support/made-certificates.ts'
import { UserError } from '../../../platform/errors.ts'
import type { EvidenceEnd } from '../../../evidence/evidence-lines.ts'
import type { SerialSet } from '../../../evidence/serial-set.ts'
import type { AdminOperations } from '../../../protocol/admin/operations.ts'
import { evidenceLines } from './evidence-lines.ts'
import { type EvidenceWanted, planEvidence } from './plan-evidence.ts'

const SILENT = { show: () => undefined, clear: () => undefined }
const { log, operations, serials } = makeCertificates(40, createSeededRandom(1))
/** A search marks what it finds. */
const allSerials = (): SerialSet => serialSetOf(serials)
const AGENT = '00000000-0000-4000-8000-000002000001'
const PERIOD = { from: '1970-01-01T00:00:10.000000Z', to: '2100-01-01T00:00:00.000000Z' }

async function linesOf(
  changed: Partial<AdminOperations> = {},
  certificatesMax?: number,
  wanted: Partial<EvidenceWanted> = {},
  recordsMax?: number,
): Promise<string[]> {
  const hub = { ...operations, ...changed }
  const whole = { ...PERIOD, agent: undefined, serials: undefined, ...wanted }
  const plan = await planEvidence(hub, whole, SILENT, recordsMax)
  const pieces: string[] = []
  for await (const piece of evidenceLines(hub, plan, SILENT, certificatesMax)) pieces.push(piece)
  return pieces.join('').trimEnd().split('\n')
}

function endOf(lines: readonly string[]): EvidenceEnd {
  return (JSON.parse(lines.at(-1) ?? '') as { end: EvidenceEnd }).end
}

/** As a hub answers whose first entries lie in segments, one of which may be gone. */
function archivedUntil(
  until: number,
  gone?: { readonly first: number; readonly last: number; readonly file: string },
): Partial<AdminOperations> {
  const isGone = (seq: number): boolean =>
    gone !== undefined && seq >= gone.first && seq <= gone.last
  return {
    listEntries: async (request) => {
      const { after = 0, before = Infinity, limit = 500, last, since, ...filter } = request
      const isFiltered = Object.keys(filter).length > 0
      const from = isFiltered ? Math.max(after, until) : after
      const bounds = { ...(since !== undefined && { since }), before, limit: 1e6 }
      const found = await operations.listEntries({ ...filter, ...bounds, after: from })
      const all = found.eventos.filter(({ seq }) => !isGone(seq))
      const isBeforeFirst = since === undefined || all[0]?.seq === (gone?.last ?? 0) + 1
      const isMet = gone !== undefined && gone.last > after && gone.first < before
      return {
        eventos: last === undefined ? all.slice(0, limit) : all.slice(-last),
        next: null,
        ...(isFiltered && until > after && { archived_until: until }),
        ...(!isFiltered && isMet && isBeforeFirst && { missing: [gone] }),
      }
    },
    listRecords: async ({ after = 0, limit = 1000 }) => {
      const registros = log.records.slice(after, after + limit)
      if (registros.some((_, at) => isGone(after + at + 1))) {
        throw new UserError('segment_missing', 'a segment is missing')
      }
      return { registros, next: null }
    },
  }
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
    const why = 'the hub no longer has these entries'
    assert.ok(lines.includes(`{"absent":{"after":20,"until":30,"why":"${why}"}}`))
    assert.equal(endOf(lines).absent, 10)
  })

  test('[EVD-5] [EVD-11] in the archive everything is found, without an index', async () => {
    const late = { ...PERIOD, from: '1970-01-01T00:01:00.000000Z' }
    for (const agent of [undefined, AGENT]) {
      const plain = await linesOf({}, undefined, { ...late, agent, serials: allSerials() })
      assert.equal(endOf(plain).rogue, agent === undefined ? 0 : endOf(plain).rogue)
      for (const until of [20, 80, log.records.length]) {
        const hub = archivedUntil(until)
        assert.deepEqual(
          await linesOf(hub, undefined, { ...late, agent, serials: allSerials() }),
          plain,
        )
      }
    }
  })

  test('[EVD-5] segments that are not there are named, of the period and before it', async () => {
    const late = { ...PERIOD, from: '1970-01-01T00:01:00.000000Z' }
    const why = 'the segment old.svclog is missing or damaged'
    const absent = async (first: number, last: number): Promise<string[]> => {
      const hub = archivedUntil(100, { first, last, file: 'old.svclog' })
      const lines = await linesOf(hub, undefined, { ...late, serials: allSerials() })
      assert.equal(endOf(lines).absent, last - first + 1)
      return lines.filter((line) => line.startsWith('{"absent"'))
    }
    const line = (after: number, until: number): string =>
      `{"absent":{"after":${after},"until":${until},"why":"${why}"}}`
    assert.deepEqual(await absent(5, 12), [line(4, 12)])
    assert.deepEqual(await absent(70, 80), [line(69, 80)])
    assert.deepEqual(await absent(50, 66), [line(49, 66)])
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

  test('[EVD-14] more entries than fit are refused, of other times and of one agent', async () => {
    const later = { from: '2100-01-01T00:00:00.000000Z', to: '2101-01-01T00:00:00.000000Z' }
    const refused = { code: 'evidence_too_large' }
    const outside = { ...later, serials: allSerials() }
    await assert.rejects(linesOf({}, undefined, outside, serials.length - 1), refused)
    await linesOf({}, undefined, { ...later, serials: allSerials() }, serials.length)
    await assert.rejects(linesOf({}, undefined, { agent: AGENT }, 5), refused)
  })

  test('[EVD-14] more certificates than fit are refused', async () => {
    const count = (await linesOf()).filter((line) => /^\{"(?:certificate|lost)"/.test(line)).length
    assert.ok(count > 10)
    const reason = `the period has more than ${count - 1} certificates`
    await assert.rejects(linesOf({}, count - 1), new RegExp(reason))
    assert.ok(await linesOf({}, count))
  })
})
