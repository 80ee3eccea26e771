import assert from 'node:assert/strict'
import { Writable } from 'node:stream'
import { describe, test } from 'node:test'
import type { AdminEntry } from '../../../protocol/admin/views.ts'
import { Output } from '../../terminal/output.ts'
import {
  printEntriesAsJson,
  printEntriesAsJsonLines,
  printEntriesAsTable,
  type EntryPrinter,
} from './print-entries.ts'

const entry: AdminEntry = {
  seq: 1,
  id: '0b0e9c6e-59f5-4f39-9d3b-6f5a3f0f3a11',
  agente_id: null,
  tipo_evento: 'token_created',
  payload: { actor: 'admin' },
  payload_text: '{"actor":"admin"}',
  entrega_id: null,
  request_id: null,
  timestamp: '2026-11-20T00:00:01.000000Z',
  hash_anterior: '0'.repeat(64),
  hash_atual: '1'.repeat(64),
}

test('[CLI-51] a list says that the index of the hub is not complete', async () => {
  const end = (printer: EntryPrinter) => printer.end(undefined, { indexedFrom: 120 })
  assert.equal(await printed(printEntriesAsJson, end), '{"eventos":[\n],"indexed_from":120}\n')
  assert.match(
    await printed(printEntriesAsTable, end),
    /\nwarning: a running hub has yet to index its acts before entry 120: this list lacks them\n$/,
  )
})

async function printed(
  createPrinter: (output: Output) => EntryPrinter,
  work: (printer: EntryPrinter) => Promise<void>,
): Promise<string> {
  let text = ''
  const stream = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      text += chunk.toString()
      done()
    },
  })
  await work(createPrinter(new Output(stream)))
  return text
}

describe('printEntriesAsJson', () => {
  const pagings: AdminEntry[][][] = [[], [[]], [[entry]], [[entry, entry], [], [entry]]]
  for (const pages of pagings) {
    test(`makes one document of pages of ${pages.map((page) => page.length).join(', ') || 'nothing'}`, async () => {
      const text = await printed(printEntriesAsJson, async (printer) => {
        for (const page of pages) await printer.print(page)
        await printer.end(undefined)
      })
      assert.deepEqual(JSON.parse(text), { eventos: pages.flat() })
    })
  }

  test('puts the verification beside the list', async () => {
    const verification = {
      ok: false,
      count: 1,
      head: '0',
      first_bad: { seq: 1, reason: 'why' },
      checkpoint: null,
    }
    const text = await printed(printEntriesAsJson, async (printer) => {
      await printer.print([entry])
      await printer.end(verification)
    })
    assert.deepEqual(JSON.parse(text), { eventos: [entry], ...verification })
  })
})

test('[CLI-47] entries obey nobody as a document and as a stream, and are read back as they were', async () => {
  const text = 'a\u009b31m\u202eb\u200f'
  const hostile = { ...entry, payload: { text }, payload_text: JSON.stringify({ text }) }
  const document = await printed(printEntriesAsJson, async (printer) => {
    await printer.print([hostile])
    await printer.end(undefined)
  })
  const lines = await printed(printEntriesAsJsonLines, (printer) => printer.print([hostile]))
  for (const shown of [document, lines]) {
    assert.ok(shown.includes('a\\u009b31m\\u202eb\\u200f'))
    assert.doesNotMatch(shown, /[\u007f-\u009f\p{Bidi_Control}]/u)
  }
  assert.deepEqual(JSON.parse(document), { eventos: [hostile] })
  assert.deepEqual(JSON.parse(lines), hostile)
})

describe('printEntriesAsTable', () => {
  test('prints the header once, and the result of a good verification below', async () => {
    const text = await printed(printEntriesAsTable, async (printer) => {
      await printer.print([entry])
      await printer.print([{ ...entry, seq: 2 }])
      const checkpoint = { ok: true, entries: 2, root: 'r+/=', key: 'k', reason: null }
      await printer.end({ ok: true, count: 2, head: 'abc', first_bad: null, checkpoint })
    })
    const blanks = ' '.repeat(36)
    assert.equal(
      text,
      [
        `SEQ     TIMESTAMP                    EVENT_TYPE                  AGENT_ID${' '.repeat(30)}PAYLOAD`,
        `1       2026-11-20T00:00:01.000000Z  token_created               -${blanks} {"actor":"admin"}`,
        `2       2026-11-20T00:00:01.000000Z  token_created               -${blanks} {"actor":"admin"}`,
        '',
        'hash chain ok: 2 entries, head abc',
        'checkpoint ok: 2 entries, root r+/=',
        '',
      ].join('\n'),
    )
  })
})
