import assert from 'node:assert/strict'
import { appendFile, mkdtemp, readdir, readFile, rm, stat, truncate } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, test } from 'node:test'
import type { Receipt } from '../../audit/receipt.ts'
import { createLogging } from '../../platform/logger.ts'
import { appendReceipt, createReceiptKeeper, describeReceipts, readReceipts } from './receipts.ts'

const NOW = new Date('2026-11-23T10:00:00Z')

describe('[CHN-34] the receipts of an agent', () => {
  let directory: string
  let path: string
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'receipts-'))
    path = join(directory, 'receipts.jsonl')
  })
  afterEach(() => rm(directory, { recursive: true }))

  const numbers = async (): Promise<number[]> =>
    (await readReceipts(path)).map(({ entryId }) => Number(entryId))

  test('are lines of JSON that only the agent reads, in the order of the answers', async () => {
    assert.deepEqual(await describeReceipts(path), { count: 0, newest_at: null, file: path })
    for (const number of [1, 2, 3]) await appendReceipt(path, receipt(number))
    assert.deepEqual(await numbers(), [1, 2, 3])
    assert.equal((await stat(path)).mode & 0o777, 0o600)
    const [first] = (await readFile(path, 'utf8')).split('\n')
    assert.equal(
      first,
      '{"evento_id":"1","hash_atual":"aa","tipo_evento":"agent_started","entrega_id":null,"request_id":"r-1","at":"2026-11-23T10:00:00.000Z"}',
    )
    const newest = '2026-11-23T10:00:00.000Z'
    assert.deepEqual(await describeReceipts(path), { count: 3, newest_at: newest, file: path })
  })

  test('are the last thousand, in a file that does not grow', async () => {
    const fields = JSON.parse(await lineOf(0)) as object
    const line = `${JSON.stringify({ ...fields, pad: 'x'.repeat(400) })}\n`
    await appendFile(path, line.repeat(1300))
    await appendReceipt(path, receipt(1))
    assert.equal((await numbers()).length, 1000)
    assert.equal((await numbers()).at(-1), 1)
    assert.ok((await stat(path)).size < 512 * 1024)
    await appendReceipt(path, receipt(2))
    assert.deepEqual((await numbers()).slice(-3), [0, 1, 2])
    assert.deepEqual(await readdir(directory), ['receipts.jsonl'])
  })

  test('lose no more than the one that a power cut left half written', async () => {
    for (const number of [1, 2, 3]) await appendReceipt(path, receipt(number))
    await truncate(path, (await stat(path)).size - 20)
    assert.deepEqual(await numbers(), [1, 2])
    await appendReceipt(path, receipt(4))
    assert.deepEqual(await numbers(), [1, 2, 4])
    assert.equal((await readFile(path, 'utf8')).split('\n').length, 4)
  })

  test('hold up no event when the disk does not take them', async () => {
    const lines: string[] = []
    const logging = createLogging({
      filter: { levelOf: () => 'info' },
      format: 'json',
      destination: { write: (line: string) => void lines.push(line) },
    })
    const log = logging.forModule('test')
    const clock = { now: () => NOW, sleep: async () => undefined }
    const nowhere = join(directory, 'none', 'receipts.jsonl')
    const keep = createReceiptKeeper({ path: nowhere, clock, log })
    const event = {
      type: 'agent_started',
      deliveryId: null,
      requestId: 'r',
      receipt: { entryId: '1', hash: 'aa' },
    }
    await keep(event)
    await keep(event)
    assert.equal(lines.length, 1)
    assert.match(lines[0] ?? '', /Receipts of events cannot be kept/)
  })

  async function lineOf(number: number): Promise<string> {
    await appendReceipt(path, receipt(number))
    const line = await readFile(path, 'utf8')
    await rm(path)
    return line
  }
})

function receipt(number: number): Receipt {
  return {
    entryId: String(number),
    hash: 'aa',
    eventType: 'agent_started',
    deliveryId: null,
    requestId: `r-${number}`,
    at: NOW.toISOString(),
  }
}
