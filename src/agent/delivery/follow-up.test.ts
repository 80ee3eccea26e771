import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Certificate } from '../../pki/certificates.ts'
import type { CargoId, DeliveryId } from '../../protocol/identifiers.ts'
import { applyTargetsAndQueueEvents } from './follow-up.ts'
import type { InstalledPair } from './installed-pair.ts'
import type { ProcessedDelivery, ProcessedStore } from './processed-store.ts'

const DELIVERY = 'a2a2a2a2-0000-4000-8000-000000000001' as DeliveryId

function recordOf(progress: ProcessedDelivery['progress']): ProcessedDelivery {
  return {
    deliveryId: DELIVERY,
    cargoId: '' as CargoId,
    name: 'site',
    version: 1,
    kind: 'csr_cert',
    mark: '0a',
    progress,
    hookEvent: 'installed',
    reportedHookFailure: null,
    cancelled: false,
  }
}

const RENEWAL = { old_serial: '09', trigger: 'auto_threshold' } as const
const CASES: [ProcessedDelivery['progress'], typeof RENEWAL | null, string[]][] = [
  [
    'installed',
    null,
    ['targets site 0a', 'queue entrega_instalada of ["nginx.toml"]', 'put event_queued', 'tell'],
  ],
  ['installed', RENEWAL, ['targets site 0a', 'queue cert_renewed', 'put event_queued', 'tell']],
  ['event_queued', null, ['tell']],
  ['done', null, ['tell']],
]

for (const [progress, renewal, expected] of CASES) {
  test(`[TGT-20] [RLO-8] a pair that is ${progress}${renewal === null ? '' : ' by renewal'}: ${expected.join(', ')}`, async () => {
    const done: string[] = []
    const note = async (what: string): Promise<void> => {
      done.push(what)
    }
    const processed: Pick<ProcessedStore, 'list' | 'put'> = {
      list: () => [recordOf(progress)],
      put: (record) => note(`put ${record.progress}`),
    }
    const record: InstalledPair['record'] = {
      delivery_id: DELIVERY,
      cargo_id: '',
      version: 1,
      request_id: '',
      renewal,
    }
    // Nothing else of the certificate is looked at.
    const leaf = { serial: '0a' } as Certificate
    await applyTargetsAndQueueEvents(
      {
        outDir: '/out',
        processed: processed as ProcessedStore,
        outbox: {
          enqueue: ({ type, payload: { alvos } }) =>
            note(`queue ${type}${alvos === undefined ? '' : ` of ${JSON.stringify(alvos)}`}`),
        },
        targets: {
          applyNew: (name, serial) => note(`targets ${name} ${serial}`),
          reportersOf: async (artefact) => (artefact === 'pair' ? ['nginx.toml'] : []),
          tell: () => note('tell'),
        },
      },
      new Map([['csr_cert site', { leaf, record }]]),
    )
    assert.deepEqual(done, expected)
  })
}
