import assert from 'node:assert/strict'
import { Writable } from 'node:stream'
import { describe, test } from 'node:test'
import { Output } from './output.ts'
import { printRowsAsJson, printRowsAsTable, type RowPrinter } from './print-rows.ts'

interface Host {
  readonly id: number
  readonly name: string
  readonly sans?: readonly string[]
}

async function printed(
  create: (output: Output) => RowPrinter<Host>,
  pages: readonly (readonly Host[])[],
): Promise<string[]> {
  const chunks: string[] = []
  const stream = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      chunks.push(chunk.toString())
      done()
    },
  })
  const printer = create(new Output(stream))
  for (const page of pages) await printer.print(page)
  await printer.end()
  return chunks
}

const asTable = (output: Output): RowPrinter<Host> =>
  printRowsAsTable(output, { name: ({ name }) => name, id: ({ id }) => id })

describe('[CLI-50] a table', () => {
  test('is written page by page, its columns as wide as the first page wants them', async () => {
    const pages = [
      [{ id: 1, name: 'web-1' }],
      [{ id: 2, name: 'db' }],
      [{ id: 3, name: 'a-long-one' }],
    ]
    assert.deepEqual(await printed(asTable, pages), [
      'NAME   ID\nweb-1  1\n',
      'db     2\n',
      'a-long-one  3\n',
    ])
  })

  test('has its header when it has no rows', async () => {
    assert.deepEqual(await printed(asTable, [[]]), ['NAME  ID\n'])
  })
})

describe('[CLI-14] [CLI-50] a JSON document', () => {
  const pagings: Host[][][] = [
    [[]],
    [[{ id: 1, name: 'a\nb' }]],
    [
      [
        { id: 1, name: 'a', sans: ['x', '[\n]'] },
        { id: 2, name: 'b', sans: [] },
      ],
      [],
      [{ id: 3, name: '"' }],
    ],
  ]
  for (const pages of pagings) {
    test(`of pages of ${pages.map((page) => page.length).join(', ')} is written as if it were whole`, async () => {
      const chunks = await printed((output) => printRowsAsJson(output, 'hosts'), pages)
      assert.equal(chunks.join(''), `${JSON.stringify({ hosts: pages.flat() }, null, 2)}\n`)
    })
  }
})
