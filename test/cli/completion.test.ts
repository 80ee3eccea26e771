// The completion that svc prints, in a bash and a zsh that have read it.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { findTerminalFault, runOnTerminal } from './terminal.ts'
import { withDirectory } from './with-directory.ts'

const BIN = fileURLToPath(new URL('../../bin', import.meta.url))

/** What is offered after each of these words, which commas separate. */
function completeAll(
  program: string,
  functionName: string,
  lines: readonly string[],
  env: Readonly<Record<string, string>> = {},
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
    { encoding: 'utf8', env: { ...process.env, ...env } },
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
  test('[CLI-86] of svc offers every command and option, in English', () => {
    assert.deepEqual(
      completeAll('svc', '_svc', [
        'svc,e',
        'svc,agent,',
        'svc,carga,update,--',
        'svc,carga,reseal,--e',
        'svc,entrega,retry,--a',
        'svc,policy,',
        'svc,politica,set,--no-',
      ]),
      {
        'svc,e': ['evidence', 'export', 'event'],
        'svc,agent,': [
          'list',
          'show',
          'label',
          'sync',
          'rotate',
          'update',
          'push',
          'revoke',
          'revocations',
          'remove',
          '--help',
        ],
        'svc,carga,update,--': [
          '--san',
          '--no-sans',
          '--if-version',
          '--file',
          '--accept-recipient',
          '--recipient',
          '--waves',
          '--soak',
          '--max-failed',
          '--late-after',
          '--json',
          '--dry-run',
          '--help',
        ],
        'svc,carga,reseal,--e': ['--escrow-identity', '--every'],
        'svc,entrega,retry,--a': ['--all'],
        'svc,policy,': ['set', 'list', 'selectors', 'show', 'remove', '--help'],
        'svc,politica,set,--no-': [
          '--no-token-ttl-max',
          '--no-cert-ttl',
          '--no-sans',
          '--no-loads',
          '--no-reenroll',
        ],
      },
    )
  })

  test('[CLI-86] of svc offers the values of an option, after either spelling of it', () => {
    assert.deepEqual(
      completeAll('svc', '_svc', [
        'svc,entrega,list,--status,f',
        'svc,load,create,--tipo,s',
        'svc,load,list,--output,c',
      ]),
      {
        'svc,entrega,list,--status,f': ['failed'],
        'svc,load,create,--tipo,s': ['sealed'],
        'svc,load,list,--output,c': ['csv'],
      },
    )
  })

  test('[CLI-86] of svc offers the Portuguese words with SVC_LANG=pt', () => {
    const lines = [
      'svc,a',
      'svc,agent,push,--n',
      'svc,politica,set,--no-c',
      'svc,entrega,list,--status,f',
    ]
    assert.deepEqual(completeAll('svc', '_svc', lines, { SVC_LANG: 'pt' }), {
      'svc,a': ['apply', 'agente', 'admin'],
      'svc,agent,push,--n': ['--nome'],
      'svc,politica,set,--no-c': ['--no-cert-ttl', '--no-cargas'],
      'svc,entrega,list,--status,f': ['falhou'],
    })
  })

  test('of svc-ca offers its own', () => {
    assert.deepEqual(completeAll('svc-ca', '_svc_ca', ['svc-ca,', 'svc-ca,serve,--l']), {
      'svc-ca,': ['init', 'serve', 'completion', '--version', '--help'],
      'svc-ca,serve,--l': ['--listen'],
    })
  })
})

const CLEAR_LINE = '\u0015'

/** What stands in .zshrc, for each way in which a zsh gets at the completion. */
const WAYS_INTO_ZSH = {
  'a directory of fpath': `svc completion zsh > $HOME/functions/_svc
fpath=($HOME/functions $fpath)
autoload -Uz compinit && compinit -uD`,
  'a script that .zshrc reads': `autoload -Uz compinit && compinit -uD
source <(svc completion zsh)`,
}

describe('an interactive zsh', () => {
  const hasZsh = spawnSync('zsh', ['--version']).status === 0
  const skip = hasZsh ? findTerminalFault() : 'zsh is not installed'
  for (const [way, commands] of Object.entries(WAYS_INTO_ZSH)) {
    test(`completes at TAB with ${way}`, { skip }, () =>
      withDirectory(async (home) => {
        await mkdir(join(home, 'functions'))
        await writeFile(join(home, '.zshrc'), `PS1='ready> '\n${commands}\n`)
        const { screen } = await runOnTerminal('zsh -di', { HOME: home }, [
          { awaits: 'ready> ', types: 'svc a\t\t' },
          { awaits: '-- the enrolled hosts', types: `${CLEAR_LINE}svc agente sh\t` },
          { awaits: 'svc agente show', types: `${CLEAR_LINE}exit\r` },
        ])
        assert.match(screen, /agent .*-- the enrolled hosts/)
        assert.match(screen, /svc agente show/)
      }),
    )
  }
})
