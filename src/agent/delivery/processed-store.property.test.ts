import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import * as fc from 'fast-check'
import { anyText, propertyRuns } from '../../../test/support/property.ts'
import { UserError } from '../../platform/errors.ts'
import type { CargoId, DeliveryId } from '../../protocol/identifiers.ts'
import {
  openProcessedStore,
  type ProcessedDelivery,
  type ProcessedPaths,
  readDeliveries,
} from './processed-store.ts'

let directory: string
let paths: ProcessedPaths
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'processed-'))
  paths = {
    processedFile: join(directory, 'processed.json'),
    deliveredFilesFile: join(directory, 'delivered-files.json'),
    pushedFilesFile: join(directory, 'pushed-files.json'),
  }
})
after(() => rm(directory, { recursive: true }))

const recorded = fc.record(
  {
    deliveryId: fc.uuid().map((id) => id as DeliveryId),
    cargoId: fc.uuid().map((id) => id as CargoId),
    kind: fc.constantFrom('csr_cert' as const, 'selado' as const, 'push' as const),
    mode: fc.integer({ min: 0, max: 0o777 }),
    name: anyText(10),
    version: fc.integer(),
    mark: anyText(10),
    progress: fc.constantFrom('installed' as const, 'event_queued' as const, 'done' as const),
    hookEvent: fc.constantFrom('installed' as const, 'renewed' as const),
    reportedHookFailure: fc.option(anyText(10)),
    cancelled: fc.boolean(),
  },
  { noNullPrototype: true },
)
/** Only a pushed file has a mode. */
const delivery: fc.Arbitrary<ProcessedDelivery> = recorded.map(({ mode, ...rest }) =>
  rest.kind === 'push' ? { ...rest, mode } : rest,
)

test('[AGT-31] [SLD-9] whatever is recorded is read back, certificates first, each kind in its order', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(delivery, { selector: (one) => one.deliveryId, maxLength: 4 }),
      async (deliveries) => {
        for (const path of Object.values(paths)) await rm(path, { force: true })
        const store = await openProcessedStore(paths)
        for (const one of deliveries) await store.put(one)
        const expected = ['csr_cert', 'selado', 'push'].flatMap((kind) =>
          deliveries.filter((one) => one.kind === kind),
        )
        assert.deepEqual((await openProcessedStore(paths)).list(), expected)
        assert.deepEqual(await readDeliveries(paths), expected)
        await store.remove(deliveries.map(({ deliveryId }) => deliveryId))
        assert.deepEqual((await openProcessedStore(paths)).list(), [])
      },
    ),
    propertyRuns(20),
  )
})

for (const which of ['processedFile', 'deliveredFilesFile', 'pushedFilesFile'] as const) {
  test(`[AGT-31] any other text in ${which} is read as deliveries or refused with a UserError, and is left as it is`, () =>
    checkAnyText(which))
}

async function checkAnyText(which: keyof ProcessedPaths): Promise<void> {
  const path = paths[which]
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
        const deliveries = (await openProcessedStore(paths)).list()
        assert.ok(deliveries.every(({ name }) => typeof name === 'string'))
      } catch (error) {
        assert.ok(error instanceof UserError && error.code === 'processed_damaged', String(error))
      }
      assert.deepEqual(await readFile(path), written)
    }),
    propertyRuns(120),
  )
  await rm(path)
}
