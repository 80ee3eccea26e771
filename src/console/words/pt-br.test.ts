import assert from 'node:assert/strict'
import { test } from 'node:test'
import { en } from './en.ts'
import { ptBr } from './pt-br.ts'

const LEAVES_MIN = 700
/** Units, signs and numbers are shorter. */
const WORD = /\p{L}{4}/u
/** What people say in both languages. */
const SAME = new Set([
  'Token',
  'hash',
  'Hash',
  '2 bytes',
  'Hostname…',
  'Hostnames',
  'stream',
  'Webhook',
  'Webhooks',
  'Slack',
  'Teams',
  'Syslog',
  'OpenTelemetry',
  'smtps://user@mail.example.org/?from=hub@example.org&to=oncall@example.org',
  'syslog+tls://log.example.org',
])

interface Leaf {
  readonly path: string
  readonly text: string
}

/** What a function says of twos. */
function* leavesOf(table: object, above = ''): Generator<Leaf> {
  for (const [name, value] of Object.entries(table) as [string, unknown][]) {
    const path = above === '' ? name : `${above}.${name}`
    if (typeof value === 'string') yield { path, text: value }
    if (typeof value === 'function') {
      yield { path, text: (value as (...args: string[]) => string)('2', '2', '2', '2') }
    }
    if (typeof value === 'object' && value !== null) yield* leavesOf(value, path)
  }
}

test('no text of the Portuguese console is the English one, but for names', () => {
  const english = new Map(Array.from(leavesOf(en), ({ path, text }) => [path, text]))
  const portuguese = [...leavesOf(ptBr)]
  assert.ok(portuguese.length >= LEAVES_MIN, `${portuguese.length} texts`)
  const same = portuguese.filter(({ path, text }) => WORD.test(text) && english.get(path) === text)
  const leaked = same.filter(({ text }) => !SAME.has(text))
  assert.deepEqual(leaked, [])
  assert.deepEqual(
    [...SAME].filter((text) => !same.some((leaf) => leaf.text === text)),
    [],
    'what is listed is in both',
  )
})
