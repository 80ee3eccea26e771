// A hub that cannot start: docs/protocol.md BOOT-10 to BOOT-17 and VLT-5 to VLT-9. Nothing it finds is rewritten.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { failToStart } from '../support/boot-here.ts'
import { type Ended, runProgram, type Variables } from '../support/processes.ts'
import { useHub } from '../support/use-hub.ts'

/** Ran once, so that everything that a hub keeps is there, and does not run. */
const { hub } = useHub((listening) => listening.stop())

type Start = (extra?: Variables) => Promise<Ended>
const start: Start = (extra) => failToStart({ ...hub.environment, ...extra })
/** The program, for one failure of each kind. */
const startProcess: Start = (extra) =>
  runProgram('svc-server', [], { ...hub.environment, ...extra })

/** It says exactly this on a line of its own, exits 1, and leaves the vault as it was. */
async function assertFails(message: string, extra: Variables = {}, by = start): Promise<Ended> {
  const found = await contentOfVault()
  const ended = await by(extra)
  assert.equal(ended.status, 1, ended.stderr)
  assert.equal(ended.stdout, '')
  const lines = ended.stderr.split('\n')
  assert.ok(lines.includes(`svc-server: error: ${message}`), ended.stderr)
  assert.doesNotMatch(ended.stderr, /internal error|^ +at /m)
  assert.deepEqual(await contentOfVault(), found)
  return ended
}

async function contentOfVault(): Promise<Record<string, string>> {
  const content: Record<string, string> = {}
  for (const name of (await readdir(hub.vaultRoot)).sort()) {
    const path = join(hub.vaultRoot, name)
    const stats = await stat(path)
    if (stats.isFile()) content[name] = (await readFile(path)).toString('hex')
  }
  return content
}

/** Runs the work with other bytes in a file of the vault, and puts the old ones back. */
async function withChanged(name: string, bytes: Buffer, work: () => Promise<void>): Promise<void> {
  const path = join(hub.vaultRoot, name)
  const old = await readFile(path)
  await writeFile(path, bytes)
  try {
    await work()
  } finally {
    await writeFile(path, old)
  }
}

describe('missing variables', () => {
  test('[BOOT-10] [ENV-1] [ENV-2] [ENV-3] [ENV-4] [ENV-5] are named all at once, in table order', async () => {
    const ended = await runProgram('svc-server', [], { SVC_VAULT_ROOT: hub.vaultRoot })
    assert.equal(ended.status, 1)
    const named = ended.stderr.split('\n').filter((line) => line.endsWith(' required'))
    assert.deepEqual(
      named.map((line) => line.replace('svc-server: error: ', '')),
      [
        'SVC_MASTER_PASSPHRASE required',
        'SVC_CA_URL required',
        'SVC_CA_PROVISIONER_KID required',
        'SVC_CA_PROVISIONER_KEY required',
        'SVC_CA_ROOT_CA_PATH required',
      ],
    )
    assert.doesNotMatch(ended.stderr, /starting/)
  })

  for (const name of [
    'SVC_MASTER_PASSPHRASE',
    'SVC_CA_URL',
    'SVC_CA_PROVISIONER_KID',
    'SVC_CA_PROVISIONER_KEY',
    'SVC_CA_ROOT_CA_PATH',
  ]) {
    test(`[BOOT-10] ${name} required, when it alone is missing or empty`, async () => {
      const ended = await assertFails(`${name} required`, { [name]: '' })
      assert.equal(ended.stderr.match(/ required/g)?.length, 1)
    })
  }
})

describe('wrong variables', () => {
  const wrong: readonly (readonly [string, string])[] = [
    ['SVC_CA_URL', 'http://127.0.0.1:9000'],
    ['SVC_CA_URL', 'no url'],
    ['SVC_CA_PROVISIONER_KEY', 'no json'],
    ['SVC_CA_PROVISIONER_KEY', '{"kty":"RSA"}'],
    ['SVC_SERVER_CN', 'Upper.Case'],
    ['SVC_SERVER_SANS', 'a b'],
    ['SVC_HEALTH_BIND', '8080'],
    ['SVC_ENROLL_BIND', '127.0.0.1:65536'],
    ['SVC_MTLS_BIND', ':8443'],
    ['SVC_ADMIN_BIND', 'on'],
    ['SVC_IDENTITY_MATCH', 'CN'],
  ]
  for (const [name, value] of wrong) {
    test(`[CAX-14] [ENV-8] [ENV-9] [ENV-10] ${name}=${value} is refused in words that do not quote a secret`, async () => {
      const found = await contentOfVault()
      const ended = await start({ [name]: value })
      assert.equal(ended.status, 1)
      assert.match(ended.stderr, /^svc-server: error: /m)
      assert.doesNotMatch(ended.stderr, /internal error|^ +at /m)
      if (name === 'SVC_CA_PROVISIONER_KEY') assert.ok(!ended.stderr.includes(value))
      else assert.ok(ended.stderr.includes(name))
      assert.deepEqual(await contentOfVault(), found)
    })
  }

  test('[ENV-16] a secret’s file that is not there is named', async () => {
    const ended = await start({
      SVC_MASTER_PASSPHRASE: '',
      SVC_MASTER_PASSPHRASE_FILE: '/nonexistent/passphrase',
    })
    assert.equal(ended.status, 1)
    assert.match(ended.stderr, /error: SVC_MASTER_PASSPHRASE_FILE: .*\/nonexistent\/passphrase/)
  })
})

describe('the vault', () => {
  test('[BOOT-11] [VLT-8] [LIM-16] vault already locked: Resource temporarily unavailable, while a hub runs', async () => {
    await hub.start()
    try {
      const ended = await startProcess()
      assert.equal(ended.status, 1)
      const message = 'vault already locked: Resource temporarily unavailable'
      assert.ok(ended.stderr.includes(`svc-server: error: ${message}\n`), ended.stderr)
      // The first one is none the worse for it.
      assert.deepEqual(await hub.admin('GET', '/v1/admin/tokens'), { tokens: [], next: null })
    } finally {
      await hub.stop()
    }
  })

  test('[BOOT-12] [VLT-5] [VLT-6] unwrap DEK — wrong passphrase?', async () => {
    for (const [passphrase, by] of [
      ['wrong', startProcess],
      ['correct horse battery staple ', start],
      ['Correct horse', start],
    ] as const) {
      const extra = { SVC_MASTER_PASSPHRASE: passphrase }
      const ended = await assertFails('unwrap DEK — wrong passphrase?', extra, by)
      assert.doesNotMatch(ended.stderr, /vault unsealed/)
    }
  })

  test('[BOOT-15] [VLT-7] no vault at <path> — run svc init first, and none is made', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'no-vault-'))
    for (const root of [directory, join(directory, 'missing')]) {
      await assertFails(`no vault at ${root} — run svc init first`, { SVC_VAULT_ROOT: root })
    }
    assert.deepEqual(await readdir(directory), [])
    await rm(directory, { recursive: true })
  })

  test('[VLT-9] [BOOT-17] a damaged config.json is told from a wrong passphrase, and not rewritten', async () => {
    const path = join(hub.vaultRoot, 'config.json')
    const text = await readFile(path, 'utf8')
    const damaged = [
      '',
      '{',
      'null',
      '[]',
      '{}',
      text.slice(0, -20),
      text.replace('8192', '16384'),
      text.replace('"passes": 1', '"passes": 2'),
      text.replace('"memory_kib": 8192', '"memory_kib": 1073741824'),
      text.replace(/"salt": "./, '"salt": "g'),
      '\u0000'.repeat(100),
    ]
    for (const bytes of damaged) {
      assert.notEqual(bytes, text)
      await withChanged('config.json', Buffer.from(bytes), async () => {
        await assertFails(`${path} is damaged`)
      })
    }
  })

  test('[VLT-9] a config.json of a newer format says so', async () => {
    const path = join(hub.vaultRoot, 'config.json')
    const text = (await readFile(path, 'utf8')).replace('"format": 1', '"format": 3')
    await withChanged('config.json', Buffer.from(text), async () => {
      await assertFails(`${path} has format 3, this program knows formats up to 2`)
    })
  })

  test('[VLT-9] [BOOT-17] a damaged, cut or empty db.enc gives a clear message and is not rewritten', async () => {
    const whole = await readFile(join(hub.vaultRoot, 'db.enc'))
    const flipped = Buffer.from(whole)
    flipped[100] = (flipped[100] ?? 0) ^ 1
    const zeroed = Buffer.alloc(whole.length)
    const damaged = { flipped, zeroed, cut: whole.subarray(0, 1000), empty: Buffer.alloc(0) }
    for (const [name, bytes] of Object.entries(damaged)) {
      await withChanged('db.enc', bytes, async () => {
        const found = await contentOfVault()
        const ended = await start()
        assert.equal(ended.status, 1, name)
        assert.match(ended.stderr, /^svc-server: error: .*(db\.enc|database)/m, name)
        assert.doesNotMatch(ended.stderr, /internal error|^ +at /m, name)
        assert.deepEqual(await contentOfVault(), found, name)
      })
    }
  })

  test('[VLT-9] a missing db.enc is named, and none is made', async () => {
    const path = join(hub.vaultRoot, 'db.enc')
    const old = await readFile(path)
    await rm(path)
    try {
      await assertFails(`database missing: ${path}`)
    } finally {
      await writeFile(path, old)
      await chmod(path, 0o600)
    }
  })

  test('[VLT-9] with everything put back it starts again', async () => {
    await hub.start()
    assert.equal((await hub.stop()).status, 0)
  })
})

describe('the CA’s root', () => {
  test('[BOOT-13] [CAX-7] read root CA from <path>: not found', async () => {
    const path = join(hub.directory, 'no-root.pem')
    const message = `read root CA from ${path}: not found`
    await assertFails(message, { SVC_CA_ROOT_CA_PATH: path }, startProcess)
  })

  const pem = (base64: string): string =>
    `-----BEGIN CERTIFICATE-----\n${base64}\n-----END CERTIFICATE-----\n`
  const wrong = {
    'that is empty': ['', 'no PEM certificate in it'],
    'without a certificate': ['nothing\n', 'no PEM certificate in it'],
    'whose PEM is not base64': [pem('MIIB~~~~'), 'no PEM certificate in it'],
    'whose PEM is cut': [pem('MIIBpDCCAUqg'), 'a certificate in it does not parse'],
    'whose PEM holds something else': [pem('bm90aGluZw=='), 'a certificate in it does not parse'],
  } as const
  for (const [what, [text, why]] of Object.entries(wrong)) {
    test(`[BOOT-13] [CAX-7] a root file ${what} is an error that names it, with a hint`, async () => {
      const path = join(hub.directory, 'wrong-root.pem')
      await writeFile(path, text)
      const message = `read root CA from ${path}: ${why}`
      const ended = await assertFails(message, { SVC_CA_ROOT_CA_PATH: path })
      assert.match(ended.stderr, /^svc-server: hint: .*SVC_CA_ROOT_CA_PATH/m)
    })
  }
})

describe('the addresses', () => {
  for (const name of [
    'SVC_HEALTH_BIND',
    'SVC_ENROLL_BIND',
    'SVC_MTLS_BIND',
    'SVC_ENROLL_TLS_BIND',
    'SVC_ADMIN_BIND',
  ]) {
    test(`[BOOT-14] Address already in use, for ${name}`, async () => {
      const other = createServer().listen(0, '127.0.0.1')
      await once(other, 'listening')
      const address = `127.0.0.1:${(other.address() as AddressInfo).port}`
      try {
        const ended = await assertFails(`Address already in use (${address})`, { [name]: address })
        assert.match(
          ended.stderr,
          new RegExp(`^svc-server: hint: ${name} says where to listen$`, 'm'),
        )
        assert.doesNotMatch(ended.stderr, /listening/)
      } finally {
        other.close()
      }
    })
  }
})
