import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import * as fc from 'fast-check'
import { anyText, propertyRuns } from '../../../test/support/property.ts'
import { UserError } from '../../platform/errors.ts'
import type { CargoId, DeliveryId } from '../../protocol/identifiers.ts'
import { openProcessedStore, type ProcessedDelivery } from './processed-store.ts'

let directory: string
let path: string
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'processed-'))
  path = join(directory, 'processed.json')
})
after(() => rm(directory, { recursive: true }))

const delivery: fc.Arbitrary<ProcessedDelivery> = fc.record(
  {
    deliveryId: fc.uuid().map((id) => id as DeliveryId),
    cargoId: fc.uuid().map((id) => id as CargoId),
    name: anyText(10),
    version: fc.integer(),
    serial: anyText(10),
    progress: fc.constantFrom('installed', 'event_queued', 'done'),
    hookEvent: fc.constantFrom('installed', 'renewed'),
    reportedHookFailure: fc.option(anyText(10)),
    cancelled: fc.boolean(),
  },
  { noNullPrototype: true },
)

test('[AGT-31] whatever is recorded is read back, in its order', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(delivery, { selector: (one) => one.deliveryId, maxLength: 4 }),
      async (deliveries) => {
        await rm(path, { force: true })
        const store = await openProcessedStore(path)
        for (const one of deliveries) await store.put(one)
        assert.deepEqual((await openProcessedStore(path)).list(), deliveries)
      },
    ),
    propertyRuns(20),
  )
})

test('[AGT-31] any other text is read as deliveries or refused with a UserError, and is left as it is', async () => {
  const field = fc.constantFrom('format', 'deliveries', 'name', 'version', '__proto__', 'progress')
  const value = fc.oneof(fc.constantFrom(1, 2, null, {}, []), fc.jsonValue({ maxDepth: 2 }))
  const near = fc
    .dictionary(field, value)
    .map((document) => JSON.stringify({ format: 1, ...document }))
  const prefix =
    '{"format":1,"deliveries":{"a":{"cargo_id":"b","name":"c","version":1,"serial":"d",'
  const cut = fc.nat({ max: prefix.length }).map((length) => prefix.slice(0, length))
  await fc.assert(
    fc.asyncProperty(fc.oneof(anyText(), near, cut), async (text) => {
      await writeFile(path, text)
      const written = await readFile(path)
      try {
        const deliveries = (await openProcessedStore(path)).list()
        assert.ok(deliveries.every(({ name }) => typeof name === 'string'))
      } catch (error) {
        assert.ok(error instanceof UserError && error.code === 'processed_damaged', String(error))
      }
      assert.deepEqual(await readFile(path), written)
    }),
    propertyRuns(120),
  )
})
