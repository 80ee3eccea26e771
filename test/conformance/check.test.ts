// svc-server --check: docs/protocol.md BOOT-32, BOOT-33.

import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { checkHub } from '../../src/hub/check-hub.ts'
import type { Finding } from '../../src/hub/check-places.ts'
import { createSampleRoot } from '../support/sample-roots.ts'
import { runProgram, startProgram, type Variables, waitUntil } from '../support/processes.ts'
import { useHub } from '../support/use-hub.ts'

const { hub } = useHub((started) => started.stop(), { SVC_SERVER_CN: 'localhost' })

async function check(changes: Variables = {}): Promise<Finding[]> {
  const findings: Finding[] = []
  for await (const finding of checkHub({ ...hub.environment, ...changes })) findings.push(finding)
  return findings
}

const failuresOf = (findings: readonly Finding[]): unknown[] =>
  findings
    .filter(({ status }) => status === 'failed')
    .map(({ check: what, variable }) => [what, variable])

describe('[BOOT-32] svc-server --check', () => {
  test('[BOOT-33] finds nothing wrong where nothing is, and the CA has signed nothing', async () => {
    const findings = await check()
    const database = 'SVC_DATABASE_URL' in hub.environment ? ['database'] : []
    assert.deepEqual(
      findings.filter(({ status }) => status !== 'ok'),
      [],
    )
    assert.deepEqual(
      findings.map(({ check: what }) => what),
      ['settings', 'vault', 'ports', 'names', ...database, 'clock', 'ca'],
    )
    assert.match(findings.at(-1)?.message ?? '', /takes the hub’s tokens; it was asked for nothing/)
  })

  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const otherKey = JSON.stringify({ ...privateKey.export({ format: 'jwk' }), alg: 'ES256' })
  const wrong: [title: string, changes: Variables, what: string, variable: string, why: RegExp][] =
    [
      [
        'key id',
        { SVC_CA_PROVISIONER_KID: 'nobody' },
        'ca',
        'SVC_CA_PROVISIONER_KID',
        /no JWK provisioner with the key id nobody; it has \S/,
      ],
      [
        'key',
        { SVC_CA_PROVISIONER_KEY: otherKey },
        'ca',
        'SVC_CA_PROVISIONER_KEY',
        /refused to take a trial token \(401\)/,
      ],
      ['URL', { SVC_CA_URL: 'https://127.0.0.1:1' }, 'ca', 'SVC_CA_URL', /cannot be reached/],
      [
        'URL of the database',
        { SVC_DATABASE_URL: 'postgresql://svc:geheim@db.invalid/cartorio?sslmode=prefer' },
        'settings',
        'SVC_DATABASE_URL',
        /^SVC_DATABASE_URL: sslmode=prefer is less than verify-full/,
      ],
      [
        '[DBS-9] database',
        { SVC_DATABASE_URL: 'postgresql://svc:geheim@127.0.0.1:1/cartorio' },
        'database',
        'SVC_DATABASE_URL',
        /^no database takes writes: 127\.0\.0\.1:1: connect ECONNREFUSED/,
      ],
      [
        'root file',
        { SVC_CA_ROOT_CA_PATH: '/nonexistent' },
        'files',
        'SVC_CA_ROOT_CA_PATH',
        /not found/,
      ],
      [
        'passphrase',
        { SVC_MASTER_PASSPHRASE: 'another one altogether' },
        'vault',
        'SVC_MASTER_PASSPHRASE',
        /wrong passphrase/,
      ],
      [
        'vault',
        { SVC_VAULT_ROOT: '/nonexistent/vault' },
        'vault',
        'SVC_VAULT_ROOT',
        /run svc init first/,
      ],
      [
        'setting',
        { SVC_MTLS_BIND: 'nowhere' },
        'settings',
        'SVC_MTLS_BIND',
        /is not an address and port/,
      ],
    ]
  for (const [title, changes, what, variable, why] of wrong) {
    test(`names the variable of a wrong ${title}`, async () => {
      const findings = await check(changes)
      assert.deepEqual(failuresOf(findings), [[what, variable]])
      assert.match(findings.find(({ status }) => status === 'failed')?.message ?? '', why)
    })
  }

  test('names the variable of a root that is not the CA’s', async () => {
    const path = join(hub.directory, 'other-root.pem')
    const root = await createSampleRoot('other', new Date(Date.now() + 86_400_000))
    await writeFile(path, root.pem)
    const findings = await check({ SVC_CA_ROOT_CA_PATH: path })
    assert.deepEqual(failuresOf(findings), [['ca', 'SVC_CA_ROOT_CA_PATH']])
  })

  test('names the variables of an address that is taken, and of two that are the same', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    const taken = `127.0.0.1:${(other.address() as AddressInfo).port}`
    const findings = await check({ SVC_MTLS_BIND: taken, SVC_HEALTH_BIND: taken })
    other.close()
    assert.deepEqual(failuresOf(findings), [
      ['ports', 'SVC_HEALTH_BIND'],
      ['ports', 'SVC_MTLS_BIND'],
    ])
  })

  test('warns of a file that others may read, of a hub without a name, and of a name that nobody has', async () => {
    const path = join(hub.directory, 'passphrase')
    await writeFile(path, hub.environment['SVC_MASTER_PASSPHRASE'] ?? '', { mode: 0o644 })
    const findings = await check({
      SVC_MASTER_PASSPHRASE: '',
      SVC_MASTER_PASSPHRASE_FILE: path,
      SVC_SERVER_CN: '',
      SVC_SERVER_SANS: 'no-such-host.invalid',
    })
    assert.deepEqual(
      findings.filter(({ status }) => status === 'warning').map(({ variable }) => variable),
      ['SVC_MASTER_PASSPHRASE_FILE', 'SVC_SERVER_CN', 'SVC_SERVER_SANS'],
    )
    assert.deepEqual(failuresOf(findings), [])
  })

  test('is a command that prints a line a finding, or JSON, and exits 0 or 1', async () => {
    const good = await runProgram('svc-server', ['--check'], hub.environment)
    assert.equal(good.status, 0, good.stdout + good.stderr)
    assert.match(good.stdout, /^ok {7}ca {7}https:\/\/\S+ takes the hub’s tokens/m)
    const wrongKid = { ...hub.environment, SVC_CA_PROVISIONER_KID: 'nobody' }
    const bad = await runProgram('svc-server', ['--check', '--json'], wrongKid)
    assert.equal(bad.status, 1)
    const { ok, findings } = JSON.parse(bad.stdout) as { ok: boolean; findings: Finding[] }
    assert.deepEqual([ok, failuresOf(findings)], [false, [['ca', 'SVC_CA_PROVISIONER_KID']]])
  })

  test('[BOOT-34] a hub that waits for its first certificate names the variable', async () => {
    const place = {
      ...hub.environment,
      SVC_CA_PROVISIONER_KID: 'nobody',
      SVC_SERVER_CN: 'renamed.example',
    }
    const running = startProgram('svc-server', [], place)
    const line = await waitUntil('the line', () =>
      running
        .stderr()
        .split('\n')
        .find((entry) => entry.includes('Server certificate not obtained')),
    )
    running.kill('SIGTERM')
    await running.ended
    assert.equal((JSON.parse(line) as { variable: string }).variable, 'SVC_CA_PROVISIONER_KID')
  })
})
