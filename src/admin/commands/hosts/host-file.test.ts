import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { openSecret } from '../../sealed/secret-source.ts'
import { parseHostFile, readHostFile } from './host-file.ts'

describe('[CLI-62] a file of hosts', () => {
  test('has a line for each, comments and blank lines', () => {
    const text =
      '# the shop\nweb-1.example.org\r\n\n  web-2.example.org  web  # new\nweb-1.example.org\n'
    assert.deepEqual(parseHostFile(text, 'hosts.txt'), [
      { name: 'web-1.example.org', rest: '' },
      { name: 'web-2.example.org', rest: 'web' },
    ])
  })

  const faults: [text: string, message: string][] = [
    ['a\nb,c\n', 'hosts.txt, line 2: b,c is no hostname and no id'],
    ['-rf\n', 'hosts.txt, line 1: -rf is no hostname and no id'],
    [`${'a'.repeat(254)}\n`, `hosts.txt, line 1: ${'a'.repeat(80)} is no hostname and no id`],
    ['a web\na db\n', 'hosts.txt, line 2: a stands there twice, and differs'],
    ['# nobody\n', 'hosts.txt names no host'],
    [
      Array.from({ length: 200_001 }, (_, index) => `h${index}`).join('\n'),
      'hosts.txt names more than 200000 hosts',
    ],
  ]
  for (const [text, message] of faults) {
    test(`is refused when ${message.slice(0, 60)}`, () => {
      assert.throws(() => parseHostFile(text, 'hosts.txt'), { code: 'hosts_invalid', message })
    })
  }

  test('comes from standard input, too, and never has more than 16 MiB', async () => {
    async function* chunks(count: number): AsyncGenerator<Uint8Array> {
      for (let sent = 0; sent < count; sent += 1) yield Buffer.alloc(1024 * 1024, 'web-1\n')
    }
    const openFile = (count: number) => (name: string) => openSecret(name, chunks(count))
    assert.equal((await readHostFile(openFile(1), '-')).length, 2)
    await assert.rejects(readHostFile(openFile(17), '-'), {
      message: 'standard input names more than 200000 hosts',
    })
  })
})
