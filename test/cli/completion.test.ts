// The completion that svc prints, in a bash that has read it.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'

const BIN = fileURLToPath(new URL('../../bin', import.meta.url))

/** What is offered after each of these words, which commas separate. */
function completeAll(
  program: string,
  functionName: string,
  lines: readonly string[],
): Record<string, string[]> {
  const script = `set -e
source <("$0" completion bash)
for line in "$@"; do
  IFS=, read -ra COMP_WORDS <<< "$line,"
  [[ $line == *, ]] && COMP_WORDS+=('')
  COMP_CWORD=$((\${#COMP_WORDS[@]} - 1))
  ${functionName}
  echo "$line:\${COMPREPLY[*]}"
done`
  const { status, stdout, stderr } = spawnSync(
    'bash',
    ['-c', script, `${BIN}/${program}`, ...lines],
    { encoding: 'utf8' },
  )
  assert.equal(status, 0, stderr)
  const rows = stdout.trimEnd().split('\n')
  return Object.fromEntries(
    rows.map((row) => {
      const [line = '', words = ''] = row.split(':')
      return [line, words.split(' ').filter((word) => word !== '')]
    }),
  )
}

describe('completion', () => {
  test('of svc offers every command and option', () => {
    assert.deepEqual(
      completeAll('svc', '_svc', [
        'svc,e',
        'svc,agent,',
        'svc,carga,update,--',
        'svc,entrega,retry,--a',
      ]),
      {
        'svc,e': ['entrega', 'evento', 'event'],
        'svc,agent,': ['list', 'show', 'revoke', 'remove', '--help'],
        'svc,carga,update,--': ['--san', '--no-sans', '--json', '--help'],
        'svc,entrega,retry,--a': ['--all'],
      },
    )
  })

  test('of svc-ca offers its own', () => {
    assert.deepEqual(completeAll('svc-ca', '_svc_ca', ['svc-ca,', 'svc-ca,serve,--l']), {
      'svc-ca,': ['init', 'serve', 'completion', '--version', '--help'],
      'svc-ca,serve,--l': ['--listen'],
    })
  })
})
