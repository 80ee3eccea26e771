import assert from 'node:assert/strict'
import { test } from 'node:test'
import { groupFailures } from './group-failures.ts'

const example = { entrega_id: 'e', agente_id: 'a', hostname: 'web-1', nome: 'site' }

test('one first line is one group, whatever a command printed below it', () => {
  const groups = groupFailures([
    { status: 'pendente', reason: 'ca_failed: away', count: 9, example },
    { status: 'falhou', reason: 'hook: exit 1\nline a', count: 1, example },
    { status: 'falhou', reason: 'no space left', count: 2, example },
    { status: 'falhou', reason: 'hook: exit 1\nline b', count: 3, example },
  ])
  assert.deepEqual(
    groups.map(({ status, reason, count, isCut }) => [status, reason, count, isCut]),
    [
      ['falhou', 'hook: exit 1', 4, false],
      ['falhou', 'no space left', 2, false],
      ['pendente', 'ca_failed: away', 9, false],
    ],
  )
})

test('a line as long as the hub shows any may go on', () => {
  const [group] = groupFailures([{ status: 'falhou', reason: 'x'.repeat(200), count: 1, example }])
  assert.equal(group?.isCut, true)
})
