import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { findMissing, parseHubConfig } from './config.ts'

const OPENBAO = {
  SVC_MASTER_PASSPHRASE: 'a passphrase',
  SVC_CA_KIND: 'openbao',
  SVC_CA_URL: 'https://bao.example:8200',
  SVC_CA_ROOT_CA_PATH: '/root.pem',
  SVC_OPENBAO_ROLE: 'hosts',
  SVC_OPENBAO_TOKEN: 's.secret-token',
}
type Changes = Readonly<Record<string, string>>
const parse = (changes: Changes = {}) => parseHubConfig({ ...OPENBAO, ...changes }).ca

describe('[CAX-15] [ENV-57] the kind of the CA', () => {
  test('is a step-ca unless it is said, and none but those', () => {
    assert.deepEqual(findMissing({ ...OPENBAO, SVC_CA_KIND: '' }), [
      'SVC_CA_PROVISIONER_KID',
      'SVC_CA_PROVISIONER_KEY',
    ])
    for (const kind of ['vault', 'Step', 'OPENBAO', ' step', 'toString']) {
      assert.throws(() => parse({ SVC_CA_KIND: kind }), {
        message: `SVC_CA_KIND: ${kind} is none of step, openbao, acme`,
      })
    }
  })

  test('[BOOT-10] [ENV-58] an OpenBao needs a role, and a token or a login', () => {
    const missing = (changes: Changes) => findMissing({ ...OPENBAO, ...changes })
    assert.deepEqual(missing({}), [])
    assert.deepEqual(missing({ SVC_OPENBAO_ROLE: '', SVC_OPENBAO_TOKEN: '' }), [
      'SVC_OPENBAO_ROLE',
      'SVC_OPENBAO_TOKEN',
    ])
    assert.deepEqual(missing({ SVC_OPENBAO_TOKEN: '', SVC_OPENBAO_TOKEN_FILE: '/token' }), [])
    const login = { SVC_OPENBAO_TOKEN: '', SVC_OPENBAO_ROLE_ID: 'hub' }
    assert.deepEqual(missing(login), ['SVC_OPENBAO_SECRET_ID'])
    assert.deepEqual(missing({ ...login, SVC_OPENBAO_SECRET_ID_FILE: '/id' }), [])
  })

  test('[ENV-59] [ENV-60] takes paths of the API, and nothing that leads elsewhere', () => {
    const ca = parse({ SVC_OPENBAO_MOUNT: '/team/pki/', SVC_OPENBAO_NAMESPACE: 'a/b' })
    assert.ok(ca.kind === 'openbao')
    assert.deepEqual([ca.mount, ca.role, ca.namespace], ['team/pki', 'hosts', 'a/b'])
    for (const text of [
      '..',
      'pki/../sys',
      './pki',
      'pki?x',
      'pki#',
      'a b',
      'pki//x',
      'pki%2f',
      'a\nb',
    ]) {
      for (const name of ['SVC_OPENBAO_MOUNT', 'SVC_OPENBAO_NAMESPACE', 'SVC_OPENBAO_ROLE']) {
        assert.throws(() => parse({ [name]: text }), { code: 'config_invalid' }, `${name}=${text}`)
      }
    }
    assert.throws(() => parse({ SVC_OPENBAO_ROLE: 'a/b' }), { code: 'config_invalid' })
  })

  test('[ENV-16] [ENV-61] [ENV-62] reads secrets from files, and shows none', () => {
    const directory = mkdtempSync(join(tmpdir(), 'ca-settings-'))
    try {
      const path = join(directory, 'secret')
      writeFileSync(path, 's.of-the-file\n')
      const login = {
        SVC_OPENBAO_TOKEN: '',
        SVC_OPENBAO_ROLE_ID: 'hub',
        SVC_OPENBAO_SECRET_ID_FILE: path,
      }
      const ca = parse(login)
      assert.ok(ca.kind === 'openbao' && ca.login.by === 'approle')
      assert.equal(ca.login.secretId.reveal(), 's.of-the-file')
      assert.deepEqual([ca.login.mount, ca.login.roleId], ['approle', 'hub'])
      assert.ok(!JSON.stringify([ca, parse()]).includes('s.'))
      writeFileSync(path, 'one\r\nx-other-header: two')
      assert.throws(() => parse(login), {
        message: 'SVC_OPENBAO_SECRET_ID: it is not one line of printable ASCII without blanks',
      })
    } finally {
      rmSync(directory, { recursive: true })
    }
  })

  test('[ENV-61] which of two logins it is has to be said', () => {
    assert.throws(() => parse({ SVC_OPENBAO_ROLE_ID: 'hub', SVC_OPENBAO_SECRET_ID: 'id' }), {
      message: 'SVC_OPENBAO_ROLE_ID: SVC_OPENBAO_TOKEN is set too: which of them is it?',
    })
  })

  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const ACME = {
    ...OPENBAO,
    SVC_CA_KIND: 'acme',
    SVC_IDENTITY_CA_KIND: 'openbao',
    SVC_ACME_DIRECTORY: 'https://acme.example/dir',
    SVC_ACME_ACCOUNT_KEY: privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
    SVC_ACME_HOOK: '/usr/local/bin/hook',
  }
  const parseAll = (changes: Changes) => parseHubConfig({ ...ACME, ...changes })

  test('[CAX-24] [ENV-65] an ACME CA signs deliveries alone, and another kind identities', () => {
    const { ca, acme } = parseAll({})
    assert.deepEqual([ca.kind, acme?.directoryUrl.href], ['openbao', 'https://acme.example/dir'])
    assert.deepEqual([acme?.challengeType, acme?.hookPath], ['dns-01', '/usr/local/bin/hook'])
    assert.deepEqual(findMissing({ ...ACME, SVC_IDENTITY_CA_KIND: '' }), [
      'SVC_CA_PROVISIONER_KID',
      'SVC_CA_PROVISIONER_KEY',
    ])
    assert.equal(parseHubConfig(OPENBAO).acme, undefined)
  })

  test('[ENV-66] [ENV-67] [ENV-68] [ENV-69] [ENV-70] says what of an ACME CA’s settings is wrong', () => {
    assert.deepEqual(
      findMissing({ ...ACME, SVC_ACME_DIRECTORY: '', SVC_ACME_HOOK: '', SVC_ACME_EAB_KID: 'k' }),
      ['SVC_ACME_DIRECTORY', 'SVC_ACME_HOOK', 'SVC_ACME_EAB_KEY'],
    )
    for (const [changes, message] of [
      [
        { SVC_IDENTITY_CA_KIND: 'acme' },
        'SVC_IDENTITY_CA_KIND: an ACME CA signs names that are proved, and no identities of agents: step or openbao',
      ],
      [{ SVC_IDENTITY_CA_KIND: 'x' }, 'SVC_IDENTITY_CA_KIND: x is neither step nor openbao'],
      [{ SVC_ACME_DIRECTORY: 'http://a' }, 'SVC_ACME_DIRECTORY: http://a is not an https URL'],
      [
        { SVC_ACME_CHALLENGE: 'tls-alpn-01' },
        'SVC_ACME_CHALLENGE: tls-alpn-01 is neither dns-01 nor http-01',
      ],
      [{ SVC_ACME_HOOK: 'hook.sh' }, 'SVC_ACME_HOOK: hook.sh is not a whole path'],
      [
        { SVC_ACME_EAB_KID: 'k', SVC_ACME_EAB_KEY: 'not base64url!' },
        'SVC_ACME_EAB_KEY: it is not base64url of at least 12 bytes',
      ],
      [
        { SVC_IDENTITY_MATCH: 'cn' },
        'SVC_IDENTITY_MATCH: who proves a name to an ACME CA gets a certificate for it: use identity',
      ],
    ] as const) {
      assert.throws(() => parseAll(changes), { message })
    }
  })
})
