// What svc doctor says of the database that several hubs share: docs/protocol.md DOC-7, DOC-8, DOC-28, DBS. With a database it is in test/store. No hub runs.

import assert from 'node:assert/strict'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { runSvcHere } from '../support/run-svc.ts'

interface Document {
  readonly checks: readonly {
    readonly id: string
    readonly findings: readonly { readonly status: string; readonly message: string }[]
  }[]
}

let directory: string
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'doctor-database-'))
})
after(() => rm(directory, { recursive: true }))

/** `status message` of each finding of a check, with this URL in a file of this mode, or without any. */
async function findingsOf(id: string, url: string | undefined, mode = 0o600): Promise<string[]> {
  const file = join(directory, 'url')
  await writeFile(file, url ?? '')
  await chmod(file, mode)
  const { stdout } = await runSvcHere(['doctor', '--json'], {
    SVC_VAULT_ROOT: join(directory, 'vault'),
    SVC_MASTER_PASSPHRASE: 'a passphrase of the test',
    SVC_CA_URL: 'https://127.0.0.1:1',
    SVC_CA_PROVISIONER_KID: 'k',
    SVC_CA_PROVISIONER_KEY_FILE: '/none',
    SVC_CA_ROOT_CA_PATH: '/none',
    ...(url !== undefined && { SVC_DATABASE_URL_FILE: file }),
  })
  assert.ok(!stdout.includes('geheim'), 'the password is shown')
  const { checks } = JSON.parse(stdout) as Document
  const { findings } = checks.find((check) => check.id === id) ?? { findings: [] }
  return findings.map(({ status, message }) => `${status} ${message}`)
}

test('[DOC-7] [DBS-5] a URL that is wrong is a finding, and is not shown', async () => {
  const [first] = await findingsOf('settings', 'postgresql://svc:geheim@db/c?sslmode=require')
  assert.match(first ?? '', /^error SVC_DATABASE_URL: sslmode=require is less than verify-full/)
})

test('[DOC-8] [DBS-5] a URL that others may read, and a file of roots that is not there, are findings', async () => {
  const root = join(directory, 'root.crt')
  const url = `postgresql://svc:geheim@db.invalid/cartorio?sslrootcert=${root}`
  const found = await findingsOf('files', url, 0o644)
  assert.ok(found.some((each) => /^error every user .* may open \S+\/url \(mode 644\)$/.test(each)))
  assert.ok(found.includes(`error SVC_DATABASE_URL: there is no file ${root}`))
  assert.ok(!(await findingsOf('settings', url)).some((each) => each.includes('SVC_DATABASE')))
})

test('[DOC-28] [DBS-9] a database that nobody reaches is an error, and one that nobody named is none', async () => {
  const [found] = await findingsOf('database', 'postgresql://svc:geheim@127.0.0.1:1/cartorio')
  assert.match(found ?? '', /^error no database takes writes: 127\.0\.0\.1:1: connect ECONNREFUSED/)
  assert.deepEqual(await findingsOf('database', undefined), [
    'ok the vault is this hub’s alone: no SVC_DATABASE_URL',
  ])
  assert.deepEqual(await findingsOf('database', 'postgresql://svc@db/c?sslmode=require'), [
    'skipped SVC_DATABASE_URL has to be right first',
  ])
  assert.deepEqual(await findingsOf('database', 'postgresql://svc@db/c?sslrootcert=/none'), [
    'unknown not known: the file of SVC_DATABASE_URL, or one that it names, cannot be read',
  ])
})
