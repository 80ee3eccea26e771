import assert from 'node:assert/strict'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { inspect } from 'node:util'
import { createFakeCa } from '../../test/fakes/hub-certificates.ts'
import { readDatabaseServers } from './database-settings.ts'

describe('SVC_DATABASE_URL', () => {
  const directory = mkdtempSync(join(tmpdir(), 'database-settings-'))
  let rootPem: string
  before(async () => {
    const ca = await createFakeCa()
    rootPem = ca.rootPem
    const { certificatePem, keyPem } = await ca.issueServer('hub')
    const other = await ca.issueServer('another')
    write('root.pem', rootPem)
    write('nothing.pem', 'no certificate\n')
    write('broken.pem', rootPem.replace(/^M.{20}/m, 'M'.repeat(21)))
    write('large.pem', rootPem.repeat(3000))
    write('hub.pem', certificatePem)
    write('hub.key', keyPem)
    write('other.key', other.keyPem)
    write('open.key', keyPem)
    chmodSync(at('open.key'), 0o644)
  })
  after(() => rmSync(directory, { recursive: true }))

  const at = (name: string): string => join(directory, name)
  const write = (name: string, text: string): void => writeFileSync(at(name), text, { mode: 0o600 })
  const read = (url: string): ReturnType<typeof readDatabaseServers> =>
    readDatabaseServers({ SVC_DATABASE_URL: url })
  const refuse = (parameters: string, message: string | RegExp): void =>
    assert.throws(() => read(`postgresql://svc:geheim@db/c?${parameters}`), {
      name: 'UserError',
      code: 'config_invalid',
      message,
    })

  test('[DBS-1] is nobody’s without the setting', () => {
    assert.equal(readDatabaseServers({}), undefined)
    assert.equal(
      readDatabaseServers({ SVC_DATABASE_URL: '', SVC_DATABASE_URL_FILE: '' }),
      undefined,
    )
  })

  test('[DBS-5] may stand in a file; no print of it has the password', () => {
    write('url', 'postgresql://svc:geheim@[::1]:5433/c\n')
    const servers = readDatabaseServers({ SVC_DATABASE_URL_FILE: at('url') })
    assert.deepEqual(servers?.hosts, [{ host: '::1', port: 5433 }])
    assert.equal(servers.password?.reveal(), 'geheim')
    assert.ok(!`${inspect(servers, { depth: 9 })}${JSON.stringify(servers)}`.includes('geheim'))
    assert.throws(() => readDatabaseServers({ SVC_DATABASE_URL_FILE: at('none') }), {
      message: `SVC_DATABASE_URL_FILE: ENOENT: no such file or directory, open '${at('none')}'`,
    })
  })

  test('[DBS-3] has the roots of sslrootcert, else those of the system', () => {
    const own = read(`postgresql://svc@db/c?sslrootcert=${at('root.pem')}`)
    assert.deepEqual(own?.tls?.rootsPem, [rootPem.endsWith('\n') ? rootPem : `${rootPem}\n`])
    assert.ok((read('postgresql://svc@db/c')?.tls?.rootsPem.length ?? 0) > 20)
    refuse(
      `sslrootcert=${at('none')}`,
      `SVC_DATABASE_URL: sslrootcert: ENOENT: no such file or directory, open '${at('none')}'`,
    )
    const nothing = at('nothing.pem')
    refuse(
      `sslrootcert=${nothing}`,
      `SVC_DATABASE_URL: sslrootcert: no PEM certificate in ${nothing}`,
    )
    refuse(`sslrootcert=${at('broken.pem')}`, /sslrootcert: a certificate in .* does not parse/)
    refuse(`sslrootcert=${at('large.pem')}`, /large.pem has more than the 1048576 bytes allowed$/)
    refuse(`sslrootcert=${directory}`, /is not a file$/)
  })

  test('[DBS-4] has a certificate whose key nobody else may open', () => {
    const pair = (key: string): string => `sslcert=${at('hub.pem')}&sslkey=${at(key)}`
    const client = read(`postgresql://svc@db/c?${pair('hub.key')}`)?.tls?.client
    assert.match(client?.certificatePem ?? '', /BEGIN CERTIFICATE/)
    assert.match(client?.keyPem.reveal() ?? '', /PRIVATE KEY/)
    refuse(
      pair('open.key'),
      `SVC_DATABASE_URL: sslkey: others may open ${at('open.key')}: chmod 600 ${at('open.key')}`,
    )
    refuse(pair('other.key'), /^SVC_DATABASE_URL: sslcert and sslkey are no pair: /)
    refuse(pair('nothing.pem'), /^SVC_DATABASE_URL: sslcert and sslkey are no pair: /)
  })

  test('names the variable, and never the password', () => {
    refuse('sslmode=require', /^SVC_DATABASE_URL: sslmode=require is less than verify-full/)
    refuse('ssl=1', /^SVC_DATABASE_URL: it has a parameter ssl that the hub does not know/)
  })
})
