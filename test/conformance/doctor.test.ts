// svc doctor beside a hub and without one: docs/protocol.md DOC. Faults that take a mount or another process are in test/e2e/doctor-faults.test.ts.

import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { chmod, readdir, readFile, rename, stat, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { AdminExamination } from '../../src/protocol/admin/examination.ts'
import { findFreePort } from '../support/free-port.ts'
import { enrollHost } from '../support/enrolled-host.ts'
import { type Ended, type Variables, waitUntil } from '../support/processes.ts'
import { runSvcHere } from '../support/run-svc.ts'
import { useHub } from '../support/use-hub.ts'

interface Document {
  readonly ok: boolean
  readonly exit_status: number
  readonly checks: readonly {
    readonly id: string
    readonly status: string
    readonly findings: readonly {
      readonly status: string
      readonly message: string
      readonly commands: readonly string[]
    }[]
  }[]
}

const { hub, ca } = useHub(undefined, { SVC_SERVER_CN: 'localhost', SVC_ADMIN_BIND: '127.0.0.1:0' })

/** What depends on the machine of whoever runs this, and what no hub here has. */
const OTHER = new Set(['disk', 'swap', 'core-dumps', 'limits', 'database'])

async function examine(changes: Variables = {}): Promise<Document & { readonly ended: Ended }> {
  const ended = await runSvcHere(['doctor', '--json'], { ...hub.environment, ...changes })
  return { ...(JSON.parse(ended.stdout) as Document), ended }
}

/** `id status`, without what is good. */
function badOf({ checks }: Document): string[] {
  return checks.flatMap(({ id, status }) =>
    status === 'ok' || OTHER.has(id) ? [] : [`${id} ${status}`],
  )
}

function messageOf({ checks }: Document, id: string): string {
  return (
    checks
      .find((check) => check.id === id)
      ?.findings.map(({ message }) => message)
      .join('\n') ?? ''
  )
}

const SKIPPED_WITHOUT_HUB = [
  'log',
  'checkpoint',
  'archive',
  'agents',
  'deliveries',
  'rollouts',
  'webhooks',
  'revocations',
  'openid',
].map((id) => `${id} skipped`)

describe('[DOC-1] [CLI-90] svc doctor beside a hub', () => {
  test('[DOC-20] [DOC-4] [DOC-5] finds nothing wrong where nothing is', async () => {
    const found = await examine()
    assert.deepEqual(badOf(found), [], found.ended.stdout)
    assert.deepEqual(found.exit_status, found.ended.status)
    assert.match(messageOf(found, 'ca'), /it has the provisioner \S+, and the hub has its key$/)
    assert.match(messageOf(found, 'vault'), /vault and its \d+ files are \S+’s alone$/)
  })

  test('[DOC-20] [DOC-21] the hub says what it sees, and has a bound for every list', async () => {
    const said = await hub.admin<AdminExamination>('GET', '/v1/admin/examination')
    assert.deepEqual(said.unknown, [])
    assert.equal(said.disk?.directory, hub.vaultRoot)
    assert.equal(said.disk?.floor_bytes, 67_108_864)
    assert.equal(said.disk?.growth_bytes_per_day, null)
    assert.equal(said.ca?.fault, null)
    assert.deepEqual(said.certificates?.own?.names, ['localhost'])
    assert.equal(
      said.certificates?.issuers.some(({ is_root }) => is_root),
      true,
    )
    assert.deepEqual(said.backlog.webhooks, [])
    assert.equal(said.backups, null)
    assert.equal(said.checkpoints?.is_kept_outside, false)
    const again = await hub.admin<AdminExamination>('GET', '/v1/admin/examination')
    assert.deepEqual(again.ca, said.ca)
  })

  test('[DOC-6] [DOC-20] sees by --hub what the hub says, and leaves out its machine', async () => {
    const made = await hub.svc(
      'admin',
      'token',
      'create',
      '--name',
      'd',
      '--role',
      'viewer',
      '--json',
    )
    const tokenFile = join(hub.directory, 'token')
    await writeFile(tokenFile, (JSON.parse(made.stdout) as { token: string }).token, {
      mode: 0o600,
    })
    const url = `https://localhost:${hub.ports.admin}`
    const args = [
      '--hub',
      url,
      '--token-file',
      tokenFile,
      '--hub-ca',
      join(hub.vaultRoot, 'ca.crt'),
    ]
    const { stdout } = await runSvcHere([...args, 'doctor', '--json'], {})
    assert.deepEqual(badOf(JSON.parse(stdout) as Document), [
      'settings skipped',
      'files skipped',
      'vault skipped',
      'standby skipped',
      'names skipped',
      'public-url skipped',
      'ports skipped',
    ])
    const nobody = ['--hub', 'https://127.0.0.1:1', '--token-file', tokenFile]
    const lost = await runSvcHere([...nobody, 'doctor'], {})
    assert.equal(lost.status, 2)
    assert.match(
      lost.stdout,
      /^error {8}hub {10}the hub at https:\/\/127.0.0.1:1 does not answer as it should: cannot reach/m,
    )
    assert.match(lost.stderr, /^svc: error: found 1 error/)
  })

  test('[DOC-17] finds what waits and what was given up', async () => {
    const receiver = `http://127.0.0.1:${await findFreePort()}/`
    const made = await hub.svc('webhook', 'create', '--url', receiver, '--json')
    const { id } = JSON.parse(made.stdout) as { id: string }
    await enrollHost(hub, 'web-1.example')
    const found = await waitUntil('the webhook to fail', async () => {
      const seen = await examine()
      return badOf(seen).length > 0 ? seen : undefined
    })
    assert.deepEqual(badOf(found), ['webhooks warning'])
    assert.match(
      messageOf(found, 'webhooks'),
      /messages wait for webhook \S+ \(http:\/\/127.0.0.1:\d+\), and fails: /,
    )
    assert.equal(found.exit_status, 1)
    await hub.svc('webhook', 'remove', id)
  })

  test('[DOC-7] finds a setting of a wrong name', async () => {
    const found = await examine({ SVC_CA_PROVISONER_KID: 'x' })
    assert.deepEqual(badOf(found), ['settings warning'])
    assert.match(messageOf(found, 'settings'), /SVC_CA_PROVISIONER_KID is the nearest one$/)
    assert.match(found.ended.stderr, /^svc: error: found 1 warning/)
  })

  test('[DOC-8] finds secrets that others may open, and roots that others can change', async () => {
    const secret = join(hub.directory, 'key')
    const root = join(hub.directory, 'root.crt')
    await writeFile(secret, ca.provisionerKey)
    await writeFile(root, 'x')
    await chmod(secret, 0o644)
    await chmod(root, 0o666)
    const { SVC_CA_PROVISIONER_KEY: _inline, ...rest } = hub.environment
    const { stdout } = await runSvcHere(['doctor', '--json'], {
      ...rest,
      SVC_CA_PROVISIONER_KEY_FILE: secret,
      SVC_WEBHOOK_CA_PATH: root,
    })
    const found = JSON.parse(stdout) as Document
    assert.deepEqual(badOf(found), ['files error'])
    assert.match(
      messageOf(found, 'files'),
      /key \(mode 644\)\n(anyone|others) can change \S+root.crt \(mode 666\)$/,
    )
  })

  test('[DOC-8] finds a secret in settings that others may read', async () => {
    const path = join(hub.directory, 'hub.env')
    await writeFile(path, 'SVC_MASTER_PASSPHRASE=correct horse battery staple\n')
    await chmod(path, 0o644)
    const ended = await runSvcHere(['--config', path, 'doctor', '--json'], hub.environment)
    const found = JSON.parse(ended.stdout) as Document
    assert.deepEqual(badOf(found), ['files error'])
    assert.match(messageOf(found, 'files'), /holds SVC_MASTER_PASSPHRASE, and others may read it/)
    assert.ok(!ended.stdout.includes('correct horse'))
  })

  test('[DOC-9] finds a vault that is open to others, and mends it by its own command', async () => {
    const key = join(hub.vaultRoot, 'server.key')
    await chmod(hub.vaultRoot, 0o755)
    await chmod(key, 0o640)
    const found = await examine()
    assert.deepEqual(badOf(found), ['vault warning'])
    const findings = found.checks.find(({ id }) => id === 'vault')?.findings ?? []
    assert.deepEqual(
      findings.map(({ commands }) => commands),
      [[`chmod 700 ${hub.vaultRoot}`], [`chmod go= ${key}`]],
    )
    await chmod(hub.vaultRoot, 0o700)
    await chmod(key, 0o600)
    assert.deepEqual(badOf(await examine()), [])
  })

  test('[DOC-14] finds names that the hub’s certificate lacks, and [DOC-18] that nobody knows', async () => {
    const found = await examine({ SVC_SERVER_SANS: 'hub.invalid' })
    assert.deepEqual(badOf(found), ['certificate warning', 'names warning'])
  })

  test('[DOC-19] finds a port of the settings where the hub does not listen', async () => {
    const found = await examine({ SVC_MTLS_BIND: `127.0.0.1:${await findFreePort()}` })
    assert.deepEqual(badOf(found), ['ports warning'])
  })

  test('[DOC-24] finds a public URL that is not there, and takes one that shows what the CA signed', async () => {
    const away = await examine({ SVC_PUBLIC_URL: `https://127.0.0.1:${await findFreePort()}` })
    assert.deepEqual(badOf(away), ['public-url warning'])
    const there = await examine({ SVC_PUBLIC_URL: `https://localhost:${hub.ports.admin}` })
    assert.deepEqual(badOf(there), [], there.ended.stdout)
    const unnamed = await examine({ SVC_PUBLIC_URL: `https://127.0.0.1:${hub.ports.admin}` })
    assert.match(messageOf(unnamed, 'public-url'), /vouch for/)
  })

  test('[DOC-13] finds a renewal that begins too late', async () => {
    const found = await examine({ SVC_RENEWAL_THRESHOLD: '10m' })
    assert.deepEqual(badOf(found), ['lifetime warning'])
  })
})

describe('[DOC-1] svc doctor without a hub', () => {
  test('[DOC-3] [DOC-20] looks by itself, and changes nothing', async () => {
    await hub.stop()
    const before = await fingerprint(hub.vaultRoot)
    const found = await examine()
    assert.deepEqual(badOf(found), ['hub error', ...SKIPPED_WITHOUT_HUB])
    assert.equal(found.exit_status, 2)
    assert.match(messageOf(found, 'ca'), /and the hub has its key$/)
    assert.match(messageOf(found, 'certificate'), /is good until/)
    assert.deepEqual(await fingerprint(hub.vaultRoot), before)
  })

  test('[DOC-3] asks for no passphrase', async () => {
    const { SVC_MASTER_PASSPHRASE: _passphrase, ...rest } = hub.environment
    const { stdout } = await runSvcHere(['doctor', '--json'], rest)
    const found = JSON.parse(stdout) as Document
    assert.match(messageOf(found, 'settings'), /^SVC_MASTER_PASSPHRASE is not set$/)
    assert.match(messageOf(found, 'vault'), /’s alone$/)
  })

  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const otherKey = JSON.stringify({ ...privateKey.export({ format: 'jwk' }), alg: 'ES256' })
  const wrong: [what: string, changes: Variables, bad: string[], id: string, message: RegExp][] = [
    [
      'key id',
      { SVC_CA_PROVISIONER_KID: 'nobody' },
      ['ca error'],
      'ca',
      /no provisioner with the key id nobody; it has \S+$/,
    ],
    [
      'key',
      { SVC_CA_PROVISIONER_KEY: otherKey },
      ['ca error'],
      'ca',
      /has another key than the hub$/,
    ],
    [
      'CA',
      { SVC_CA_URL: 'https://127.0.0.1:1' },
      ['clock skipped', 'ca error'],
      'ca',
      /ECONNREFUSED/,
    ],
    [
      'name of a CA',
      { SVC_CA_URL: 'https://nobody.invalid' },
      ['clock skipped', 'ca error'],
      'ca',
      /nobody.invalid/,
    ],
    [
      'root file',
      { SVC_CA_ROOT_CA_PATH: '/nonexistent' },
      [
        'files error',
        'clock unknown',
        'ca unknown',
        'lifetime unknown',
        'certificate unknown',
        'issuers unknown',
      ],
      'files',
      /SVC_CA_ROOT_CA_PATH: there is no file \/nonexistent/,
    ],
    [
      'vault',
      { SVC_VAULT_ROOT: '/nonexistent/vault' },
      ['vault error', 'lifetime skipped', 'certificate skipped'],
      'vault',
      /^there is no vault in \/nonexistent\/vault$/,
    ],
    [
      'setting',
      { SVC_MTLS_BIND: 'nowhere' },
      [
        'settings error',
        'clock skipped',
        'ca skipped',
        'lifetime skipped',
        'certificate skipped',
        'issuers skipped',
        'names skipped',
        'public-url skipped',
        'ports skipped',
      ],
      'settings',
      /^SVC_MTLS_BIND: nowhere is not an address and port/,
    ],
  ]
  for (const [what, changes, bad, id, message] of wrong) {
    test(`[DOC-7] [DOC-9] [DOC-12] finds another ${what}`, async () => {
      const found = await examine(changes)
      assert.deepEqual(badOf(found), ['hub error', ...bad, ...SKIPPED_WITHOUT_HUB])
      assert.match(messageOf(found, id), message)
    })
  }

  test('[DOC-23] settings that do not parse are a finding', async () => {
    const path = join(hub.directory, 'broken.env')
    await writeFile(path, 'export SVC_CA_URL=https://ca.example\n', { mode: 0o600 })
    const { stdout, status } = await runSvcHere(['--config', path, 'doctor'], hub.environment)
    assert.equal(status, 2)
    assert.match(stdout, /^error {8}settings {5}\S+broken.env, line 1: not NAME=value$/m)
    const other = await runSvcHere(['--config', path, 'status'], hub.environment)
    assert.match(other.stderr, /^svc: error: \S+broken.env, line 1: not NAME=value\n/)
  })

  test('[DOC-9] finds a vault without its database', async () => {
    const database = join(hub.vaultRoot, 'db.enc')
    await rename(database, `${database}.away`)
    assert.match(messageOf(await examine(), 'vault'), /db.enc is not there$/)
    await rename(`${database}.away`, database)
  })

  test('[DOC-26] [DOC-25] finds that there is no backup, and directories that cannot be used or are no help', async () => {
    const beside = await examine({ SVC_BACKUP_DIR: hub.directory })
    assert.match(
      messageOf(beside, 'backup'),
      /is on the file system of the vault\nthere is no backup$/,
    )
    const gone = await examine({
      SVC_BACKUP_DIR: '/nonexistent/backups',
      SVC_CHECKPOINT_PATH: '/nonexistent/checkpoints',
    })
    assert.deepEqual(badOf(gone), [
      'hub error',
      'log skipped',
      'checkpoint error',
      'backup error',
      ...SKIPPED_WITHOUT_HUB.slice(2),
    ])
    const config = await readFile(join(hub.vaultRoot, 'config.json'), 'utf8')
    const { vault_id: vaultId } = JSON.parse(config) as { vault_id: string }
    const unnamed = join(hub.directory, 'now.svcbackup')
    const made = await hub.svc('backup', unnamed, '--json')
    assert.equal(made.status, 0, made.stderr)
    const { created_at: createdAt } = JSON.parse(made.stdout) as { created_at: string }
    const named = `${vaultId}-${createdAt.replaceAll(':', '')}.svcbackup`
    await rename(unnamed, join(hub.directory, named))
    const kept = await examine({ SVC_BACKUP_DIR: hub.directory })
    assert.match(
      messageOf(kept, 'backup'),
      /^SVC_BACKUP_DIR: \S+ is on the file system of the vault$/,
    )
  })

  test('[DOC-19] finds a port that another program has', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    const taken = `127.0.0.1:${(other.address() as AddressInfo).port}`
    const found = await examine({ SVC_MTLS_BIND: taken })
    other.close()
    assert.deepEqual(badOf(found), ['hub error', 'ports error', ...SKIPPED_WITHOUT_HUB])
    assert.match(messageOf(found, 'ports'), /^another program has 127.0.0.1:\d+ \(SVC_MTLS_BIND\)$/)
  })

  test('[DOC-12] finds a CA that is stopped', async () => {
    await ca.stop()
    const found = await examine()
    assert.deepEqual(badOf(found), [
      'hub error',
      'clock skipped',
      'ca error',
      ...SKIPPED_WITHOUT_HUB,
    ])
    await ca.start()
  })
})

async function fingerprint(directory: string): Promise<string[]> {
  const names = (await readdir(directory)).sort()
  return Promise.all(
    names.map(async (name) => {
      const { ino, size, mode, mtimeMs, ctimeMs } = await stat(join(directory, name))
      return `${name} ${ino} ${size} ${mode} ${mtimeMs} ${ctimeMs}`
    }),
  )
}
