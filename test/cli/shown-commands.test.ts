// What the console shows as commands of `svc` works when it is pasted: a shell reads each one, and svc understands it.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { globSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { svc } from '../../src/console/commands/svc.ts'
import { sayCommand } from '../../src/console/words/en/say-command.ts'
import { COMMAND_WORDS, OPTION_WORDS } from '../../src/protocol/spoken-words.ts'
import { assertUnderstood, writeGivenFiles } from '../support/understood-commands.ts'

type Made = {
  readonly [
    Name in keyof typeof svc as (typeof svc)[Name] extends (...args: never[]) => unknown
      ? Name
      : never
  ]: (typeof svc)[Name]
}

const ID = '01a21eef-0a5c-4d8e-9d3a-5f1e2d3c4b5a'
const RULES = { waves: ['1', '10%', '100%'], soak_seconds: 600, max_failed: '0', late_seconds: 60 }

/** With every option that a screen can give it. */
const MADE: { readonly [Name in keyof Made]: readonly ReturnType<Made[Name]>[] } = {
  serveConsole: [svc.serveConsole('https://hub.example.org:8445')],
  listHosts: [
    svc.listHosts({
      q: 'web',
      role: 'web',
      where: 'env in (prod,stage)',
      estado: 'late',
      sort: 'hostname',
    }),
  ],
  showHost: [svc.showHost('web-1.example.org')],
  revokeHost: [svc.revokeHost('web-1.example.org')],
  labelHost: [svc.labelHost('web-1.example.org', { set: { env: 'prod' }, remove: ['rack'] })],
  startRollout: [
    svc.startRollout('rotate', RULES),
    svc.startRollout('update', { ...RULES, programa: '0.5.1', where: 'env=prod' }),
  ],
  enrolAgain: [svc.enrolAgain('web-1.example.org', 'web')],
  showRule: [svc.showRule('racks')],
  listCertificates: [
    svc.listCertificates({ state: 'late', agente: 'web-1.example.org', ends_before: '2027-01-01' }),
  ],
  showCargo: [svc.showCargo('site')],
  createCargo: [
    svc.createCargo({ tipo: 'csr_cert', nome: 'a', agentes: ['x', 'y'], sans: ['*.z.org'] }),
    svc.createCargo({ tipo: 'csr_cert', nome: 'a', roles: ['web'] }),
    svc.createCargo({ tipo: 'csr_cert', nome: 'a', where: 'env=prod' }),
    svc.createCargo({ tipo: 'csr_cert', nome: 'a', unassigned: true }),
  ],
  updateSealed: [svc.updateSealed(ID)],
  resealCargo: [svc.resealCargo('site')],
  showSelection: [svc.showSelection('site')],
  selectHosts: [svc.selectHosts('site', 'env=prod'), svc.selectHosts('site', null)],
  listDeliveries: [
    svc.listDeliveries({ status: ['falhou', 'em_andamento'], role: 'web', where: 'env=prod' }),
    svc.listDeliveries({ agente: 'web-1.example.org', carga: 'site', late: true, sort: 'host' }),
  ],
  aboutRollout: [svc.aboutRollout(ID)],
  aboutPolicy: [
    svc.aboutPolicy({ kind: 'role', role: '*' }),
    svc.aboutPolicy({ kind: 'where', nome: 'prod' }),
  ],
  listEntries: [
    svc.listEntries({
      about: 'web-1.example.org',
      by: 'people',
      tipo: ['carga_created', 'entrega_falhou'],
      since: '2026-11-01T00:00:00.000Z',
      until: '2026-11-02T00:00:00.000Z',
      'no-routine': true,
    }),
    svc.listEntries({ actor: 'token:ci' }),
  ],
  listEntriesAbout: [svc.listEntriesAbout('web-1.example.org')],
  showEntry: [svc.showEntry(7)],
  askWitness: [svc.askWitness(0)],
  removeHub: [svc.removeHub('hub-2.example.org')],
  aboutWebhook: [svc.aboutWebhook(ID)],
}

const commands = Object.entries(svc)
  .flatMap(([name, shown]) =>
    typeof shown === 'function' ? MADE[name as keyof Made].flat() : [shown].flat(),
  )
  .toSorted()

const LANGUAGES = [
  ['English', sayCommand, 1],
  ['Portuguese', (command: string) => command, 0],
] as const

/** The nouns and options of the other language alone. */
function listForeign(of: 0 | 1): ReadonlySet<string> {
  return new Set(
    [
      ...Object.values(COMMAND_WORDS),
      ...Object.values(OPTION_WORDS).map((pair) => pair.map((word) => `--${word}`)),
    ]
      .filter((pair) => pair[0] !== pair[1])
      .flatMap((pair) => pair[of] ?? []),
  )
}

describe('a command that the console shows', () => {
  const home = process.cwd()
  let directory = ''
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'svc-shown-'))
    process.chdir(directory)
    await writeGivenFiles()
    for (const name of ['log.key', 'witness.key']) await writeFile(name, `${name}\n`)
  })
  after(async () => {
    process.chdir(home)
    await rm(directory, { recursive: true })
  })

  /** The arguments that a shell gives to svc. */
  async function readArguments(command: string): Promise<string[]> {
    const script = `svc() { printf '%s\\n' "$@" >&3; }; ${command}`
    execFileSync('/bin/sh', ['-c', `exec 3>arguments; ${script}`])
    return (await readFile('arguments', 'utf8')).trimEnd().split('\n')
  }

  for (const [language, say, other] of LANGUAGES) {
    for (const command of commands) {
      const said = say(command)
      test(`is understood by svc, in ${language}: ${said}`, async () => {
        const args = await readArguments(said)
        await assertUnderstood(args)
        const foreign = listForeign(other)
        const words = [args[0] ?? '', ...args.filter((word) => word.startsWith('--'))]
        assert.deepEqual(
          words.filter((word) => foreign.has(word)),
          [],
        )
      })
    }
  }
})

test('no screen has a command of its own, which nobody would have svc read', async () => {
  const sources = globSync('src/console/**/*.{ts,tsx}').filter(
    (path) => !path.endsWith('.test.ts') && !/commands\/svc\.ts|describe-command\.ts/.test(path),
  )
  assert.ok(sources.length > 100)
  for (const path of sources) {
    assert.doesNotMatch(
      await readFile(path, 'utf8'),
      /^(?!\s*(\/\/|\/\*)).*(['"`]svc [a-z-]|describeCommand)/m,
      path,
    )
  }
})
