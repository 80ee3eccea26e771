import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { assert as assertProperty, property, string, uint8Array } from 'fast-check'
import { createSshKeys, type SshKey, type SshKeys } from '../../test/support/ssh-keys.ts'
import { withTools } from '../../test/support/tools.ts'
import { parseHostCertificate } from './host-certificate.ts'
import { isNamed, parseKnownHosts } from './known-hosts.ts'
import { parseSshPrivateKey } from './private-key.ts'
import { parseSshsig } from './sshsig.ts'

describe('[JNR-27] known_hosts', withTools('ssh-keygen'), () => {
  let keys: SshKeys
  let key: SshKey
  before(() => {
    keys = createSshKeys()
    key = keys.make('ed25519')
  })
  after(() => keys[Symbol.dispose]())

  const named = (list: string, hostname: string, marker = ''): boolean =>
    parseKnownHosts(`${marker}${list} ${key.publicLine}`).hosts.some((host) =>
      isNamed(host, hostname),
    )

  test('names hosts in full, hashed, and in any case', () => {
    assert.equal(named('web-1,WEB-2.example.org', 'web-2.example.org'), true)
    assert.equal(named('web-1,web-2.example.org', 'web-2'), false)
    const hashed = keys.hashed(`web-3.example.org ${key.publicLine}`)
    const [host] = parseKnownHosts(hashed).hosts
    assert.ok(host)
    assert.equal(isNamed(host, 'web-3.example.org'), true)
    assert.equal(isNamed(host, 'web-4.example.org'), false)
  })

  test('has patterns for CAs alone', () => {
    const ca = '@cert-authority '
    const cases: [pattern: string, hostname: string, isNamed_: boolean][] = [
      ['*', 'web-1.example.org', true],
      ['*.example.org', 'web-1.example.org', true],
      ['*.example.org', 'example.org', false],
      ['web-?.example.org', 'web-1.example.org', true],
      ['web-?.example.org', 'web-12.example.org', false],
      ['*a*b*c', 'xaybzc', true],
      ['*a*b*c', 'xaybz', false],
      ['*.example.org,!db*', 'db-1.example.org', false],
      ['!db*', 'web-1.example.org', false],
    ]
    for (const [pattern, hostname, expected] of cases) {
      assert.equal(named(pattern, hostname, ca), expected, `${pattern} ${hostname}`)
      if (pattern.includes('*')) assert.equal(named(pattern, hostname), false)
    }
  })

  test('has lines of which nothing counts', () => {
    const lines = ['[a]:2222', '*.b', '|1|x', '@other c', '!d'].map(
      (each) => `${each} ${key.publicLine}`,
    )
    const short = 'e ssh-ed25519 AAAA'
    const dss = 'f ssh-dss AAAAB3NzaC1kc3M='
    const other = `g ssh-rsa ${key.publicLine.split(' ')[1]}`
    const { hosts, ignored } = parseKnownHosts([...lines, short, dss, other, '', '# x'].join('\n'))
    assert.deepEqual([hosts.length, ignored], [0, 8])
  })

  test('takes no longer for a pattern that leads astray', () => {
    const hostname = 'a'.repeat(253)
    const started = performance.now()
    assert.equal(named(`${'*a'.repeat(100)}b`, hostname, '@cert-authority '), false)
    assert.ok(performance.now() - started < 1000)
  })

  test('and keys, certificates and signatures of whatever bytes are judged without an exception', () => {
    assertProperty(
      property(uint8Array({ maxLength: 200 }), (bytes) => {
        assert.equal(parseSshsig(Buffer.from(bytes)), undefined)
        assert.equal(parseHostCertificate(Buffer.from(bytes)), undefined)
      }),
    )
    assertProperty(
      property(string(), (text) => {
        assert.deepEqual(parseKnownHosts(text).hosts, [])
        const armoured = `-----BEGIN OPENSSH PRIVATE KEY-----\n${Buffer.from(text).toString('base64')}\n-----END OPENSSH PRIVATE KEY-----`
        assert.equal(parseSshPrivateKey(armoured).ok, false)
      }),
    )
    const certificate = keys.certify(key, keys.make('rsa-2048'), ['-h', '-n', 'web-1'])
    for (let length = 0; length < certificate.length; length += 1) {
      assert.equal(parseHostCertificate(certificate.subarray(0, length)), undefined)
    }
  })
})
