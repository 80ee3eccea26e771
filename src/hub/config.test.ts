import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { describe, test } from 'node:test'
import { UserError } from '../platform/errors.ts'
import { findUnknownVariables } from '../protocol/variable-names.ts'
import { parseHubConfig, withoutSecrets } from './config.ts'

const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const JWK = JSON.stringify({ ...privateKey.export({ format: 'jwk' }), alg: 'ES256', kid: 'k' })
const REQUIRED = {
  SVC_MASTER_PASSPHRASE: 'secret passphrase',
  SVC_CA_URL: 'https://ca.example:9000',
  SVC_CA_PROVISIONER_KID: 'k',
  SVC_CA_PROVISIONER_KEY: JWK,
  SVC_CA_ROOT_CA_PATH: '/root.pem',
}
const parse = (extra: Record<string, string> = {}) => parseHubConfig({ ...REQUIRED, ...extra })

describe('parseHubConfig', () => {
  test('[ENV-6] [ENV-7] [ENV-8] [ENV-9] [ENV-10] [ENV-14] has the defaults of the table', () => {
    const config = parse()
    assert.equal(config.vaultRoot, '/var/lib/svc')
    assert.deepEqual(config.serverNames, ['svc-server.local'])
    assert.deepEqual(config.healthBind, { host: '0.0.0.0', port: 8080 })
    assert.deepEqual(config.enrollBind, { host: '0.0.0.0', port: 8444 })
    assert.deepEqual(config.mtlsBind, { host: '0.0.0.0', port: 8443 })
    assert.equal(config.identityMatch, 'identity')
    assert.deepEqual(
      [config.ca.kind, 'provisionerName' in config.ca && config.ca.provisionerName],
      ['step', undefined],
    )
  })

  test('[BOOT-10] names every missing variable, one a line, in table order', () => {
    const missing = [
      'SVC_MASTER_PASSPHRASE required',
      'SVC_CA_URL required',
      'SVC_CA_PROVISIONER_KID required',
      'SVC_CA_PROVISIONER_KEY required',
      'SVC_CA_ROOT_CA_PATH required',
    ]
    assert.throws(() => parseHubConfig({}), { name: 'UserError', message: missing.join('\n') })
    const some = { ...REQUIRED, SVC_CA_ROOT_CA_PATH: '', SVC_CA_URL: '' }
    assert.throws(() => parseHubConfig(some), {
      message: 'SVC_CA_URL required\nSVC_CA_ROOT_CA_PATH required',
    })
  })

  test('[ENV-104] seals in the console only when somebody says so', () => {
    assert.equal(parse().isConsoleSealing, false)
    assert.equal(parse({ SVC_CONSOLE_SEALING: 'on' }).isConsoleSealing, true)
    assert.throws(() => parse({ SVC_CONSOLE_SEALING: 'yes' }), {
      message: 'SVC_CONSOLE_SEALING: yes is neither on nor off',
    })
  })

  test('[ENV-92] serves the console unless it is turned off', () => {
    assert.equal(parse().isConsoleServed, true)
    assert.equal(parse({ SVC_CONSOLE: 'off' }).isConsoleServed, false)
    assert.throws(() => parse({ SVC_CONSOLE: 'no' }), {
      message: 'SVC_CONSOLE: no is neither on nor off',
    })
  })

  test('[ENV-13] takes further names, separated by commas, each once', () => {
    const names = parse({ SVC_SERVER_SANS: 'a.example, svc-server.local,192.0.2.1,,' }).serverNames
    assert.deepEqual(names, ['svc-server.local', 'a.example', '192.0.2.1'])
  })

  test('[ENV-21] takes a number of bytes for sealed files, within what carries them', () => {
    assert.equal(parse({}).contentBytesMax, 1_048_576)
    assert.equal(parse({ SVC_BLOB_MAX: '1' }).contentBytesMax, 1)
    assert.equal(parse({ SVC_BLOB_MAX: '8388608' }).contentBytesMax, 8_388_608)
    for (const text of ['0', '8388609', '-1', '1.5', '1M', ' 1', '1e3', '9'.repeat(13)]) {
      assert.throws(() => parse({ SVC_BLOB_MAX: text }), {
        message: `SVC_BLOB_MAX: ${text} is not a number of bytes from 1 to 8388608`,
      })
    }
  })

  test('[ENV-8] takes IPv4, names and IPv6 in brackets as addresses', () => {
    const hostOf = (text: string) => parse({ SVC_HEALTH_BIND: text }).healthBind
    assert.deepEqual(hostOf('[::1]:0'), { host: '::1', port: 0 })
    assert.deepEqual(hostOf('localhost:65535'), { host: 'localhost', port: 65_535 })
    for (const bad of ['8080', ':8080', '::1:8080', '[x]:1', 'a:65536', 'a:', 'a:-1', 'a:1x']) {
      assert.throws(() => hostOf(bad), UserError, bad)
    }
  })

  test('[ENV-51] entries of the log are kept for 30 days at least, and archived only where there is a place', () => {
    assert.equal(parse().logKeepMs, undefined)
    const place = { SVC_LOG_ARCHIVE_DIR: '/archive' }
    assert.equal(parse({ ...place, SVC_LOG_KEEP: '180d' }).logKeepMs, 180 * 86_400_000)
    assert.throws(
      () => parse({ ...place, SVC_LOG_KEEP: '29d' }),
      /SVC_LOG_KEEP: entries stay for 30d at least/,
    )
    assert.throws(
      () => parse({ SVC_LOG_KEEP: '180d' }),
      /SVC_LOG_KEEP: SVC_LOG_ARCHIVE_DIR says where to/,
    )
  })

  test('[ENV-43] [ENV-44] [ENV-45] knows when to make backups, and how many to keep', () => {
    assert.equal(parse().backupSchedule, undefined)
    const day = { directory: '/b', intervalMs: 86_400_000, keep: 7 }
    assert.deepEqual(parse({ SVC_BACKUP_DIR: '/b' }).backupSchedule, day)
    for (const bad of ['59s', '0', 'daily']) {
      assert.throws(() => parse({ SVC_BACKUP_INTERVAL: bad }), UserError, bad)
    }
    for (const bad of ['0', '10001', '-1', 'all']) {
      assert.throws(() => parse({ SVC_BACKUP_KEEP: bad }), UserError, bad)
    }
  })

  test('[ENV-52] takes the URL of a database, and reads the files that it names', () => {
    assert.equal(parse().database, undefined)
    const { database } = parse({ SVC_DATABASE_URL: 'postgresql://svc:geheim@localhost/cartorio' })
    assert.deepEqual(database?.hosts, [{ host: 'localhost', port: 5432 }])
    assert.throws(() => parse({ SVC_DATABASE_URL: 'postgresql://svc@db/c?sslrootcert=/none' }), {
      message: `SVC_DATABASE_URL: sslrootcert: ENOENT: no such file or directory, open '/none'`,
    })
  })

  test('[ENV-80] [ENV-81] takes a certificate for syslog receivers with its key, or neither', () => {
    assert.equal(parse().syslogPair, undefined)
    const [certificate, key] = [
      { SVC_SYSLOG_CERT_PATH: '/c.pem' },
      { SVC_SYSLOG_KEY_PATH: '/k.pem' },
    ]
    assert.deepEqual(parse({ ...certificate, ...key }).syslogPair, {
      certificatePath: '/c.pem',
      keyPath: '/k.pem',
    })
    const together = 'certificate and key go together'
    assert.throws(() => parse(certificate), { message: `SVC_SYSLOG_KEY_PATH: ${together}` })
    assert.throws(() => parse(key), { message: `SVC_SYSLOG_CERT_PATH: ${together}` })
  })

  test('[ENV-103] [PKY-1] takes passkeys for the name in the URL of the console, and for no address', () => {
    assert.equal(parse().confirmationParty, undefined)
    const party = (url: string) =>
      parse({ SVC_CONSOLE_CONFIRM: 'passkey', SVC_CONSOLE_URL: url }).confirmationParty
    assert.deepEqual(party('https://hub.example.org:8445/console/'), {
      id: 'hub.example.org',
      origin: 'https://hub.example.org:8445',
    })
    assert.deepEqual(party('https://hub.example.org:443'), {
      id: 'hub.example.org',
      origin: 'https://hub.example.org',
    })
    for (const host of ['192.0.2.7', '[2001:db8::7]']) {
      assert.throws(() => party(`https://${host}:8445`), {
        message: `SVC_CONSOLE_URL: no browser makes a passkey for ${host}: it takes a name`,
      })
    }
    assert.throws(() => parse({ SVC_CONSOLE_CONFIRM: 'passkey' }), {
      message:
        'SVC_CONSOLE_CONFIRM: SVC_CONSOLE_URL has to say by which name browsers reach the console',
    })
    assert.throws(() => parse({ SVC_CONSOLE_CONFIRM: 'on' }), {
      message: 'SVC_CONSOLE_CONFIRM: on is neither off nor passkey',
    })
  })

  test('[ENV-91] takes where the console is, without a slash at the end', () => {
    assert.equal(parse().consoleUrl, undefined)
    const consoleUrl = (text: string) => parse({ SVC_CONSOLE_URL: text }).consoleUrl
    assert.equal(
      consoleUrl('https://hub.example.org:8445/console/'),
      'https://hub.example.org:8445/console',
    )
    assert.equal(consoleUrl('https://hub.example.org'), 'https://hub.example.org')
    for (const text of [
      'http://hub.example.org/',
      'https://u@hub.example.org/',
      'https://h/?x',
      'x',
    ]) {
      assert.throws(() => consoleUrl(text), /SVC_CONSOLE_URL/, text)
    }
  })

  test('[ENV-53] takes how the database keeps copies', () => {
    assert.equal(parse().databaseReplication, 'standby')
    assert.equal(parse({ SVC_DATABASE_REPLICATION: 'engine' }).databaseReplication, 'engine')
    assert.throws(() => parse({ SVC_DATABASE_REPLICATION: 'none' }), {
      message: 'SVC_DATABASE_REPLICATION: none is neither standby nor engine',
    })
  })

  test('shows no secret when it is printed', () => {
    const printed = JSON.stringify(
      parse({ SVC_DATABASE_URL: 'postgresql://svc:geheim@localhost/c' }),
    )
    assert.ok(!printed.includes('geheim'))
    assert.ok(!printed.includes('secret passphrase'))
    assert.ok(!printed.includes((JSON.parse(JWK) as { d: string }).d))
  })
})

test('[ENV-17] unknown variables are those of our prefix that neither hub nor agent reads', () => {
  const env = { ...REQUIRED, SVC_VAULT: '1', SVC_AGENT_ROLE: '1', PATH: '/', SVC_CA_KEY: '1' }
  const files = { SVC_MASTER_PASSPHRASE_FILE: '1', SVC_SERVER_URL: '1', SVC_LOG_FORMAT: '1' }
  assert.deepEqual(findUnknownVariables({ ...env, ...files }), ['SVC_CA_KEY', 'SVC_VAULT'])
})

test('[LOG-2] the environment that is left has no secret', () => {
  const left = withoutSecrets({ ...REQUIRED, SVC_DATABASE_URL: 'x', PATH: '/bin' })
  assert.deepEqual(Object.keys(left).sort(), [
    'PATH',
    'SVC_CA_PROVISIONER_KID',
    'SVC_CA_ROOT_CA_PATH',
    'SVC_CA_URL',
  ])
})
