import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { anyText, propertyRuns } from '../../../test/support/property.ts'
import { createLogging } from '../../platform/logger.ts'
import { openOutbox } from './outbox.ts'

const log = createLogging({ filter: { levelOf: () => 'off' }, format: 'json' }).forModule('test')

async function withDirectory(work: (directory: string) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'outbox-property-'))
  try {
    await work(directory)
  } finally {
    await rm(directory, { recursive: true })
  }
}

const number = fc.oneof(fc.nat({ max: 50 }), fc.nat({ max: 999_999_999_000 }))
const fileName = fc
  .tuple(number, fc.uuid())
  .map(([count, id]) => `${String(count).padStart(12, '0')}-${id}.json`)
const good = fc.stringMatching(/^[a-z][a-z0-9_]{0,20}$/).map((type) => ({
  type,
  text: JSON.stringify({ tipo_evento: type, payload: {}, request_id: 'r' }),
}))
const bad = fc
  .oneof(anyText(), fc.json(), fc.constantFrom('', '{', '{"tipo_evento":"A","payload":{}}'))
  .map((text) => ({ type: undefined, text }))

test('[AGT-28] of any files, what can be read waits in the order of the numbers, and the rest is set aside', async () => {
  const files = fc.uniqueArray(fc.tuple(fileName, fc.oneof(good, bad)), {
    selector: ([name]) => name.slice(0, 12),
    maxLength: 6,
  })
  await fc.assert(
    fc.asyncProperty(files, (written) =>
      withDirectory(async (directory) => {
        for (const [name, { text }] of written) await writeFile(join(directory, name), text)
        const outbox = await openOutbox(directory, log)
        await outbox.enqueue({ type: 'newest', payload: {} })
        const sorted = written.toSorted(([a], [b]) => (a < b ? -1 : 1))
        const readable = sorted.flatMap(([, { type }]) => (type === undefined ? [] : [type]))
        // The new one has the greatest number, so that it is last now and when the agent starts again.
        const expected = [...readable, 'newest']
        assert.deepEqual(
          outbox.listWaiting().map(({ type }) => type),
          expected,
        )
        const again = await openOutbox(directory, log)
        assert.deepEqual(
          again.listWaiting().map(({ type }) => type),
          expected,
        )
        const aside = await readdir(join(directory, 'refused'))
        assert.equal(aside.length, written.length - readable.length)
      }),
    ),
    propertyRuns(25),
  )
})

test('[AGT-28] a file of another name is not touched, unless it is a write that was cut short', async () => {
  const name = anyText(30).filter(
    (text) => /^[^/\0]+$/.test(text) && !/[\ud800-\udfff]/.test(text) && !/^\.{1,2}$/.test(text),
  )
  const near = fc
    .tuple(fileName, fc.constantFrom('x', '~', '.tmp', '.json'))
    .map((parts) => parts.join(''))
  const names = fc.uniqueArray(fc.oneof(name, near), { maxLength: 4 })
  await fc.assert(
    fc.asyncProperty(names, (others) =>
      withDirectory(async (directory) => {
        await mkdir(join(directory, 'refused'))
        const kept = others.filter((other) => other !== 'refused')
        for (const other of kept) await writeFile(join(directory, other), 'x')
        const outbox = await openOutbox(directory, log)
        assert.deepEqual(outbox.listWaiting(), [])
        const expected = kept.filter((other) => !(other.startsWith('.') && other.endsWith('.tmp')))
        assert.deepEqual((await readdir(directory)).sort(), [...expected, 'refused'].sort())
      }),
    ),
    propertyRuns(25),
  )
})
