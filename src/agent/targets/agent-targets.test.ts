import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { createConnection } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { createLogging } from '../../platform/logger.ts'
import type { CargoId, DeliveryId } from '../../protocol/identifiers.ts'
import { reportToRunningAgent, serveControlSocket } from '../control/control-socket.ts'
import type { ProcessedDelivery } from '../delivery/processed-store.ts'
import type { AgentEvent } from '../hub/wire.ts'
import { type ReportSink, takeTargetReport } from './agent-targets.ts'
import type { TargetReport } from './target-report.ts'

const DELIVERY = 'a2a2a2a2-0000-4000-8000-000000000001'
const REPORT: TargetReport = {
  request_id: 'b2b2b2b2-0000-4000-8000-000000000001',
  entrega_id: DELIVERY,
  tipo_evento: 'alvo_revertido',
  payload: { nome: 'site', serial: '0a', step: 'probe', reason: 'old' },
}
const LOG = createLogging({
  filter: { levelOf: () => 'off' },
  format: 'json',
  destination: { write: () => undefined },
}).forModule('test')

const INSTALLED: ProcessedDelivery = {
  deliveryId: DELIVERY as DeliveryId,
  cargoId: '' as CargoId,
  name: 'site',
  kind: 'csr_cert',
  version: 1,
  mark: '0a',
  progress: 'done',
  hookEvent: 'installed',
  reportedHookFailure: null,
  cancelled: false,
}

function createSink(waiting: number): ReportSink & { readonly queued: unknown[] } {
  const queued: unknown[] = []
  return {
    queued,
    processed: { list: () => [INSTALLED] },
    outbox: {
      enqueue: async (event: AgentEvent, requestId?: string) => {
        queued.push({ ...event, requestId })
      },
      listWaiting: () =>
        Array.from({ length: waiting }, () => ({ type: 'alvo_aplicado', deliveryId: undefined })),
    },
  }
}

describe('a report that comes through agent.sock', () => {
  test('[TGT-27] becomes an event with its own request_id', async () => {
    const sink = createSink(199)
    await takeTargetReport(sink, REPORT)
    const { payload } = REPORT
    assert.deepEqual(sink.queued, [
      { type: 'alvo_revertido', payload, deliveryId: DELIVERY, requestId: REPORT.request_id },
    ])
  })

  test('[TGT-27] about a delivery that was replaced meanwhile is one of its name', async () => {
    const sink = createSink(0)
    await takeTargetReport(sink, { ...REPORT, entrega_id: REPORT.request_id })
    const { payload } = REPORT
    assert.deepEqual(sink.queued, [
      { type: 'alvo_revertido', payload, requestId: REPORT.request_id },
    ])
  })

  const refusals: [string, TargetReport, number, string][] = [
    [
      'under the name of no delivery',
      { ...REPORT, payload: { ...REPORT.payload, nome: 'other' } },
      0,
      'report_refused',
    ],
    ['while too many wait', REPORT, 200, 'reports_waiting'],
  ]
  for (const [what, report, waiting, code] of refusals) {
    test(`[TGT-27] is refused ${what}`, async () => {
      const sink = createSink(waiting)
      await assert.rejects(takeTargetReport(sink, report), { code })
      assert.deepEqual(sink.queued, [])
    })
  }

  test('[TGT-27] is refused when it has another form, and the agent goes on', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'report-'))
    const sink = createSink(0)
    const never = (): Promise<never> => Promise.reject(new Error('not asked for'))
    const handlers = { rotate: never, status: never, poll: never, restart: never }
    const server = await serveControlSocket(
      directory,
      'agent.sock',
      { ...handlers, report: (report) => takeTargetReport(sink, report) },
      LOG,
    )
    try {
      const bad: unknown[] = [
        { ...REPORT, tipo_evento: 'entrega_instalada' },
        { ...REPORT, request_id: '../../../../etc/passwd' },
        { ...REPORT, request_id: undefined },
        { ...REPORT, entrega_id: 'x' },
        { ...REPORT, payload: { ...REPORT.payload, step: 'other' } },
        { ...REPORT, payload: { ...REPORT.payload, reason: 'x'.repeat(1025) } },
        { ...REPORT, tipo_evento: 'alvo_aplicado' },
        'report',
        null,
      ]
      for (const report of bad) {
        const line = JSON.stringify({ operation: 'report', report })
        assert.match(await exchange(join(directory, 'agent.sock'), line), /"request_invalid"/)
      }
      assert.deepEqual(sink.queued, [])
      const answer = await reportToRunningAgent(directory, 'agent.sock', REPORT)
      assert.deepEqual(answer, { result: null })
      assert.equal(sink.queued.length, 1)
    } finally {
      server.close()
      await rm(directory, { recursive: true })
    }
    assert.equal(await reportToRunningAgent(directory, 'agent.sock', REPORT), undefined)
  })
})

function exchange(path: string, line: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = createConnection(path, () => socket.write(`${line}\n`))
    let text = ''
    socket.on('data', (chunk: Buffer) => (text += chunk.toString()))
    socket.on('error', reject)
    socket.on('close', () => resolve(text))
  })
}
