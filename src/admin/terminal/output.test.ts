import assert from 'node:assert/strict'
import { Writable } from 'node:stream'
import { describe, test } from 'node:test'
import { Output } from './output.ts'

function createStream(errnoCode?: string): { stream: Writable; written: string[] } {
  const written: string[] = []
  const stream = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      written.push(chunk.toString())
      const failure = errnoCode === undefined ? null : new Error(`write ${errnoCode}`)
      done(failure === null ? null : Object.assign(failure, { code: errnoCode }))
    },
  })
  return { stream, written }
}

describe('Output', () => {
  test('writes a document with a final line break', async () => {
    const { stream, written } = createStream()
    await new Output(stream).writeJson({ agentes: [] })
    assert.deepEqual(written, ['{\n  "agentes": []\n}\n'])
  })

  test('[CLI-47] writes what a terminal would obey as text, and a document stays the same document', async () => {
    const hostile = { payload: 'a\u009b31m\u202e\u061c\u007f\u2028\u001b[2J\t\n' }
    const { stream, written } = createStream()
    const output = new Output(stream)
    await output.writeJson(hostile)
    await output.write('agente \u009b2J\u2066x removed\n\tçé\n')
    assert.deepEqual(written, [
      '{\n  "payload": "a\\u009b31m\\u202e\\u061c\\u007f\\u2028\\u001b[2J\\t\\n"\n}\n',
      'agente \\u009b2J\\u2066x removed\n\tçé\n',
    ])
    assert.deepEqual(JSON.parse(written[0] ?? ''), hostile)
  })

  test('drops the rest when the reader has gone', async () => {
    const { stream, written } = createStream('EPIPE')
    const output = new Output(stream)
    await output.write('one')
    assert.equal(output.isClosed, true)
    await output.write('two')
    assert.deepEqual(written, ['one'])
  })

  test('fails when the output is lost for another reason', async () => {
    const { stream } = createStream('ENOSPC')
    await assert.rejects(new Output(stream).write('one'), {
      code: 'output_failed',
      message: 'cannot write the output: write ENOSPC',
    })
  })
})
