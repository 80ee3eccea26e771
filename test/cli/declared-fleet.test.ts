// A repository of files that declare a fleet, from its first apply on, with the hub's own use cases behind svc.

import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Writable } from 'node:stream'
import { after, before, describe, test } from 'node:test'
import type { CommandContext } from '../../src/admin/commands/command-context.ts'
import { runCommandLine } from '../../src/admin/commands/program.ts'
import { Output } from '../../src/admin/terminal/output.ts'
import type { Store } from '../../src/hub/store/store.ts'
import { systemClock } from '../../src/platform/clock.ts'
import type { AdminOperations } from '../../src/protocol/admin/operations.ts'
import { insertAgent } from '../store/store-samples.ts'
import { readActs } from '../support/recorded-acts.ts'
import { openTemporaryStore } from '../support/temporary-store.ts'
import { openAdmin } from '../support/told-admin.ts'

const REPOSITORY = {
  'agents/prod.yaml': `agent:
  - hostname: web-1
    labels: {env: prod, rack: 7}
  - hostname: web-2
    labels: {env: prod, rack: "8"}
`,
  'agents/stage.toml': '[[agente]]\nhostname = "db-1"\nlabels = { env = "stage" }\n',
  'join-rules/images.toml': `[[join_rule]]
name = "images"
pattern = "web-*.example.org"
role = "web"
max_hosts = 40
ttl = "30d"
revoke_after = "48h"
labels = { env = "prod" }
`,
  'join-rules/ci.yml':
    'join_rule:\n  - {name: ci, pattern: "ci-*.example.org", role: ci, max_hosts: 8}\n',
  'policies/default.toml': '[[policy]]\nrole = "*"\ntoken_ttl_max = "1h"\n',
  'policies/web.yaml': `policy:
  - role: web
    cert_ttl: 8h
    sans: ["*.shop.example.org", 192.0.2.7]
    reenroll: false
`,
  'policies/db.toml': '[[politica]]\nrole = "db"\nnome = "databases"\ncert_ttl = "none"\n',
  'tokens.toml': '[[admin_token]]\nname = "stage-team"\nonly = "env=stage"\n',
  'webhooks/alerts.yaml':
    'webhook:\n  - url: https://alerts.example.org/in\n    types: [agent_revoked, entrega_falhou]\n',
  'webhooks/all.toml': '[[webhook]]\nurl = "https://siem.example.org/hook"\n',
} as const

const directory = mkdtempSync(join(tmpdir(), 'declared-fleet-'))
const fleet = join(directory, 'fleet')
let store: Store & AsyncDisposable
let admin: AdminOperations

before(async () => {
  store = await openTemporaryStore()
  for (const name of ['web-1', 'web-2', 'db-1']) await insertAgent(store, name)
  const tryLifetime = async () => ({ serial: '0a', revoked: true })
  ;({ admin } = openAdmin(store, { tryLifetime }))
  await admin.createAccessToken({ name: 'stage-team', role: 'operator', only: 'env=test' })
  for (const [name, text] of Object.entries(REPOSITORY)) write(name, text)
})
after(async () => {
  rmSync(directory, { recursive: true })
  await store[Symbol.asyncDispose]()
})

function write(name: string, text: string): void {
  mkdirSync(dirname(join(fleet, name)), { recursive: true })
  writeFileSync(join(fleet, name), text)
}

interface Ran {
  readonly status: number
  readonly output: string
  readonly notes: readonly string[]
}

async function svc(line: string, changes: Partial<CommandContext> = {}): Promise<Ran> {
  let output = ''
  let status = 0
  const notes: string[] = []
  const stdout = new Writable({
    write: (chunk, _encoding, done) => {
      output += String(chunk)
      done()
    },
  })
  const refuse = () => assert.fail('not asked for')
  const context = {
    output: new Output(stdout),
    clock: systemClock,
    progress: { show: () => undefined, clear: () => undefined },
    note: (text: string) => void notes.push(text),
    useOptions: () => undefined,
    exitWith: (wanted: number) => void (status = wanted),
    withAdmin: (work: Parameters<CommandContext['withAdmin']>[0]) =>
      work({ operations: admin, isThroughHub: true, openBackup: refuse, close: refuse }),
    ...changes,
  } as unknown as CommandContext
  await runCommandLine(line.split(' '), context)
  return { status, output, notes }
}

describe('a repository of ten files', () => {
  test('[CLI-151] [DCL-1] [DCL-15] [DCL-16] is planned, applied, and then there is nothing to do', async () => {
    const planned = await svc(`plan -f ${fleet}`)
    assert.equal(planned.status, 2)
    assert.match(planned.output, /^\+ policy \*\n {4}token_ttl_max: 1h$/m)
    assert.match(
      planned.output,
      /^\+ policy web\n {4}cert_ttl: 8h\n {4}sans: \[\*\.shop\.example\.org, 192\.0\.2\.7\]\n {4}reenroll: false$/m,
    )
    assert.match(planned.output, /^~ admin_token stage-team\n {4}only: env=test -> env=stage$/m)
    assert.match(planned.output, /^~ agent web-1\n {4}env: none -> prod\n {4}rack: none -> 7$/m)
    assert.match(planned.output, /\nPlan: 7 to make, 4 to change, 0 to remove\.\n$/)
    await assert.rejects(svc(`apply -f ${fleet}`), {
      code: 'unconfirmed',
      message: 'the plan is not applied: there is nobody to ask',
    })
    const declined = await svc(`apply -f ${fleet}`, { confirm: async () => false })
    assert.deepEqual([declined.status, declined.notes], [2, ['nothing was done']])
    const secrets = join(directory, 'secrets')
    const applied = await svc(`apply -f ${fleet} --yes --out ${secrets}`)
    assert.equal(applied.status, 0)
    assert.match(applied.output, /\n4 new secrets are in .*secrets\.\nDone\.\n$/)
    assert.match(
      readFileSync(secrets, 'utf8'),
      /^ci svcj_\S{43}\nimages svcj_\S{43}\nhttps:\/\/alerts\.example\.org\/in whsec_\S+\nhttps:\/\/siem\.example\.org\/hook whsec_\S+\n$/,
    )
    const again = await svc(`apply -f ${fleet} --yes`)
    const nothing = {
      status: 0,
      output: 'Nothing to do: the fleet is as the files say.\n',
      notes: [],
    }
    assert.deepEqual(again, nothing)
    assert.deepEqual(await svc(`plan -f ${fleet}`), nothing)
    const acts = await readActs(store.reader)
    const types = acts.map(([type]) => type)
    assert.deepEqual(types, ['admin_token_created', 'fleet_applied'])
    const { files_sha256, created, updated } = (acts[1]?.[1] ?? {}) as Record<string, unknown>
    assert.deepEqual([created, updated], [7, 4])
    const { files_sha256: planHash } = JSON.parse(
      (await svc(`plan -f ${fleet} --json`)).output,
    ) as { files_sha256: string }
    assert.equal(files_sha256, planHash)
  })

  test('[DCL-5] [DCL-15] somebody edits by hand: planned, and applied', async () => {
    await admin.setPolicy({ role: 'web', cert_ttl: 3600, untested: true })
    await admin.labelAgents({ agente: 'web-2', set: { rack: '9', mine: 'yes' } })
    const planned = await svc(`plan -f ${fleet}`)
    assert.deepEqual(planned, {
      status: 2,
      output: `~ policy web
    cert_ttl: 1h -> 8h
~ agent web-2
    rack: 9 -> 8
Plan: 0 to make, 2 to change, 0 to remove.
`,
      notes: [],
    })
    const portuguese = new Output(new Writable({ write: (_chunk, _encoding, done) => done() }))
    portuguese.language = 'pt'
    let said = ''
    portuguese.write = async (text) => void (said += text)
    await svc(`plan -f ${fleet}`, { output: portuguese })
    assert.match(said, /^~ politica web\n {4}cert_ttl: 1h -> 8h\n~ agente web-2\n/)
    const applied = await svc(`apply -f ${fleet}`, { confirm: async () => true })
    assert.equal(applied.status, 0)
    assert.equal((await svc(`plan -f ${fleet}`)).status, 0)
    assert.equal((await admin.showPolicy({ role: 'web' })).cert_ttl, 28_800)
    assert.ok((await admin.showAgent({ agente: 'web-2' })).labels.includes('mine=yes'))
  })

  test('[DCL-6] a file goes: with --prune what it declared goes too', async () => {
    rmSync(join(fleet, 'webhooks/all.toml'))
    const kept = await svc(`plan -f ${fleet}`)
    assert.deepEqual(kept, {
      status: 0,
      output: `No longer in the files, and left alone; --prune removes it:
  webhook https://siem.example.org/hook
Nothing to do: the fleet is as the files say.
`,
      notes: [],
    })
    assert.equal((await svc(`apply -f ${fleet} --prune --yes`)).status, 0)
    assert.equal((await admin.listWebhooks({})).webhooks.length, 1)
  })

  test('[DCL-17] an export says nothing to do, and an apply of it only who owns it', async () => {
    for (const format of ['toml', 'yaml']) {
      const out = join(directory, `exported-${format}`)
      await svc(`export --out ${out} --format ${format}`)
      const planned = await svc(`plan -f ${out} --manager other`)
      assert.deepEqual([planned.status, planned.notes], [0, []])
      assert.match(planned.output, /^Only who owns it changes:\n/)
      assert.match(planned.output, /\nNothing to do: the fleet is as the files say\.\n$/)
    }
    await admin.setPolicy({ role: 'new' })
    const out = join(directory, 'exported-toml')
    await svc(`export --out ${out} --replace`)
    const applied = await svc(`apply -f ${out} --manager other --yes`)
    assert.match(
      applied.output,
      /\n {2}policy new: other takes name, token_ttl_max, cert_ttl, loads, reenroll\n/,
    )
    assert.equal(applied.status, 0)
    await assert.rejects(svc(`export --out ${out}`), { code: 'file_exists' })
    const printed = await svc('export --format yaml')
    assert.match(printed.output, /^policy:\n {2}- role: "\*"\n/)
    assert.doesNotMatch(printed.output, /svcj_|whsec_|svca_/)
  })
})

test('[DCL-1] what docs/operations.md shows is a fleet', async () => {
  const pages = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8')
  const shown = [...pages.matchAll(/```(?:toml|yaml)\n(# fleet\/(\S+)\n[^`]*)```/g)]
  assert.equal(shown.length, 2)
  const example = join(directory, 'example')
  mkdirSync(example)
  for (const [, text = '', name = ''] of shown) writeFileSync(join(example, name), text)
  const { output } = await svc(`plan -f ${example} --manager example --take-over`)
  for (const word of [
    'load site',
    'policy web',
    'selector_policy short-lived-stage',
    'join_rule web-images',
    'agent db-1.example.org',
  ]) {
    assert.match(output, new RegExp(`^[+~!=] ${word}`, 'm'))
  }
})

describe('files that are wrong', () => {
  test('[DCL-2] are refused with file, line and key', async () => {
    const wrong = join(directory, 'wrong')
    mkdirSync(wrong)
    const at = (name: string) => join(wrong, name)
    writeFileSync(at('a.yaml'), 'policy:\n  - role: web\n    cert_tll: 8h\n    reenroll: "yes"\n')
    writeFileSync(at('b.toml'), '[[policy]]\nrole = "web"\ncert_ttl = 3600\n')
    writeFileSync(at('c.toml'), '[[policy]]\nrole = \n')
    writeFileSync(at('d.yaml'), 'policies: []\nhost:\n- x\n')
    writeFileSync(at('e.toml'), 'agent = { hostname = "x" }\n')
    const failure: Error & { code?: string } = await svc(`plan -f ${wrong}`).then(
      () => assert.fail('planned'),
      (error: Error) => error,
    )
    assert.equal(failure.code, 'fleet_invalid')
    assert.deepEqual(failure.message.replaceAll(`${wrong}/`, '').split('\n'), [
      'a.yaml:3: policy web: unknown key "cert_tll": did you mean cert_ttl?',
      'a.yaml:4: policy web: reenroll should be true or false, and is "yes"',
      'b.toml: policy web: cert_ttl should be a duration such as "30m", "8h", "7d" or "none", and is 3600',
      'b.toml: policy web stands in a.yaml already',
      'c.toml:2: is not TOML: invalid value',
      'd.yaml:1: unknown key "policies": the keys are load, policy, selector_policy, join_rule, webhook, admin_token, agent',
      'd.yaml:2: unknown key "host": the keys are load, policy, selector_policy, join_rule, webhook, admin_token, agent',
      'e.toml: agent should be a list: [[agent]] in TOML',
    ])
    await assert.rejects(svc(`plan -f ${at('none')}`), { code: 'file_failed' })
    mkdirSync(at('empty'))
    await assert.rejects(svc(`plan -f ${at('empty')}`), { code: 'file_invalid' })
  })

  const bomb = ['a0: &a0 [x, x, x, x, x, x, x, x, x]']
  for (let at = 1; at < 30; at += 1) {
    bomb.push(
      `a${at}: &a${at} [${Array(9)
        .fill(`*a${at - 1}`)
        .join(', ')}]`,
    )
  }
  const HOSTILE: readonly (readonly [string, string, string, RegExp])[] = [
    ['aliases that multiply', 'yaml', bomb.join('\n'), /aliases|alias count/i],
    ['ten megabytes', 'yaml', `a: ${'x'.repeat(10 * 1024 * 1024)}`, /more than the 1048576 bytes/],
    ['nesting in YAML', 'yaml', '['.repeat(100_000), /nested in more than 16 levels/],
    ['nesting that ends', 'yaml', `a: ${'['.repeat(40)}${']'.repeat(40)}`, /more than 16 levels/],
    ['nesting in TOML', 'toml', `a = ${'['.repeat(100_000)}`, /is not TOML/],
    [
      'many keys',
      'yaml',
      Array.from({ length: 50_000 }, (_, at) => `k${at}: 1\n`).join(''),
      /unknown key/,
    ],
    ['dots', 'toml', `[[policy]]\nrole${'.a'.repeat(100_000)} = 1`, /more than 16 levels/],
    [
      'a key twice',
      'yaml',
      'policy: []\npolicy: []\n',
      /:2: is not YAML: the key policy stands twice/,
    ],
    ['a prototype', 'yaml', '__proto__: {a: 1}\n', /unknown key "__proto__"/],
    ['a prototype in TOML', 'toml', '[__proto__]\na = 1\n', /is not TOML/],
    ['bytes that are no text', 'toml', '\ufffd', /is not UTF-8/],
    ['a tag of a language', 'yaml', 'a: !!js/function "x"\n', /is not YAML: Unresolved tag/],
  ]
  for (const [what, form, text, message] of HOSTILE) {
    test(`[DCL-3] ${what}: refused quickly`, async () => {
      const path = join(directory, `hostile.${form}`)
      writeFileSync(path, text)
      const began = process.cpuUsage()
      await assert.rejects(svc(`plan -f ${path}`), { message })
      // Of all threads, so that a busy machine says nothing: it is minutes when the work multiplies.
      const { user } = process.cpuUsage(began)
      assert.ok(user < 10_000_000, `${user / 1e6} s of CPU`)
    })
  }

  test('[DCL-3] too many files, too many bytes and too deep a directory are refused', async () => {
    const many = join(directory, 'many')
    mkdirSync(many)
    for (let at = 0; at <= 500; at += 1) writeFileSync(join(many, `${at}.toml`), '')
    const tooLarge = { code: 'fleet_too_large' }
    await assert.rejects(svc(`plan -f ${many}`), tooLarge)
    const large = join(directory, 'large')
    mkdirSync(large)
    for (let at = 0; at < 5; at += 1) {
      writeFileSync(join(large, `${at}.toml`), '# '.padEnd(1_000_000, 'x'))
    }
    await assert.rejects(svc(`plan -f ${large}`), tooLarge)
    const deep = join(directory, 'deep')
    mkdirSync(join(deep, 'd/d/d/d/d/d/d/d/d'), { recursive: true })
    await assert.rejects(svc(`plan -f ${deep}`), tooLarge)
  })
})
