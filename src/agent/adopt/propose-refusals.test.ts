// Ways to have `adopt` replace what it must not: each is refused, and the plan says why.

import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises'
import { describe, test } from 'node:test'
import { MATERIAL, type Place, selfSigned, withPlace } from '../../../test/support/adopt-place.ts'
import { WITH_OWN_PLACE } from '../../../test/support/own-place.ts'
import { createPairMaterial } from '../../../test/support/pair-material.ts'
import { formatProposal } from './format-plan.ts'
import type { Proposal } from './proposal.ts'
import type { Renewer } from './renewers/renewer.ts'

describe('what is not proposed', WITH_OWN_PLACE, () => {
  const csi: Renewer = { kind: 'cert-manager csi', name: 'tls', stop: undefined, notes: [] }
  const renamed: Renewer = {
    kind: 'certbot',
    name: 'site.test',
    stop: { kind: 'rename', from: '/tmp/site.conf', to: '/tmp/site.conf.svc-adopted' },
    notes: [],
  }
  const refusals: readonly (readonly [
    what: string,
    reason: RegExp,
    how: (place: Place) => Promise<Proposal[]>,
  ])[] = [
    [
      'what the service does not serve now',
      /^it does not serve this certificate now: 127\.0\.0\.1:1 cannot be reached/,
      ({ use, ask }) => ask([use({ listeners: [{ host: '127.0.0.1', port: 1 }] })]),
    ],
    [
      'what listens nowhere',
      /^it listens nowhere that could be asked for its certificate$/,
      ({ use, ask }) => ask([use({ listeners: [] })]),
    ],
    [
      'what nothing reloads',
      /^nothing is known that reloads it for good$/,
      ({ use, ask }) => ask([use({ reload: undefined })]),
    ],
    [
      'a file that is not there',
      /missing\.key cannot be read: ENOENT$/,
      ({ use, ask, path }) => ask([use({ keyPath: path('missing.key') })]),
    ],
    [
      'files in a directory that others may write',
      /is writable by group or others$/,
      async ({ use, ask, path }) => {
        await mkdir(path('open'))
        await writeFile(path('open/site.key'), (await MATERIAL).keyPem, { mode: 0o600 })
        await chmod(path('open'), 0o777)
        return ask([use({ keyPath: path('open/site.key') })])
      },
    ],
    [
      'a link into a directory that others may write',
      /\/link\.pem is a link to what others than root can change: .*\/open\/site\.pem$/,
      async ({ use, ask, path }) => {
        await mkdir(path('open'))
        await writeFile(path('open/site.pem'), (await MATERIAL).leafPem)
        await symlink('open/site.pem', path('link.pem'))
        await chmod(path('open'), 0o777)
        return ask([use({ certificatePath: path('link.pem') })])
      },
    ],
    [
      'a certificate with dates that are none',
      /\/site\.pem cannot be read as certificates$/,
      async ({ use, ask, path }) => {
        const { raw, validToDate } = new X509Certificate((await MATERIAL).leafPem)
        const year = validToDate.toISOString().slice(2, 4)
        const at = raw.lastIndexOf(validToDate.toISOString().slice(2, 10).replaceAll('-', ''))
        assert.equal(raw.toString('latin1', at, at + 2), year)
        raw.write('XX', at, 'latin1')
        const lines = raw.toString('base64').match(/.{1,64}/g) ?? []
        const pem = ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----\n']
        await writeFile(path('site.pem'), pem.join('\n'))
        return ask([use()])
      },
    ],
    [
      'one file that is to hold two things',
      /site\.pem would have to hold cert, chain for one and cert for another$/,
      ({ use, ask, path }) => ask([use(), use({ chainPath: path('site.key') })]),
    ],
    [
      'a file of root’s that a database calls its key',
      /\/shadow holds more than PEM$/,
      async ({ use, ask, path }) => {
        await writeFile(path('shadow'), 'root:$y$x:1:::::\n', { mode: 0o600 })
        return ask([use({ keyPath: path('shadow') })])
      },
    ],
    [
      'settings that have the key in them',
      /\/vpn\.conf holds more than PEM$/,
      async ({ use, ask, path }) => {
        const { keyPem } = await MATERIAL
        await writeFile(path('vpn.conf'), `client\n<key>\n${keyPem}</key>\n`, { mode: 0o600 })
        return ask([use({ keyPath: path('vpn.conf') })])
      },
    ],
    [
      'the key of another certificate',
      /\/other\.key holds the key of another certificate$/,
      async ({ use, ask, path }) => {
        await writeFile(path('other.key'), (await createPairMaterial()).keyPem, { mode: 0o600 })
        return ask([use({ keyPath: path('other.key') })])
      },
    ],
    [
      'a key with another one behind it',
      /\/two\.key holds 2 private keys, not one$/,
      async ({ use, ask, path }) => {
        const { keyPem } = await MATERIAL
        const other = (await createPairMaterial()).keyPem
        await writeFile(path('two.key'), keyPem + other, { mode: 0o600 })
        return ask([use({ keyPath: path('two.key') })])
      },
    ],
    [
      'a file of a key that has certificates too',
      /\/all\.pem holds a block that is not expected there: CERTIFICATE$/,
      async ({ use, ask, path }) => {
        const { keyPem, leafPem } = await MATERIAL
        await writeFile(path('all.pem'), keyPem + leafPem, { mode: 0o600 })
        return ask([use({ keyPath: path('all.pem') })])
      },
    ],
    [
      'a file that has parameters for Diffie-Hellman too',
      /\/dh\.pem holds a block that is not expected there: DH PARAMETERS$/,
      async ({ use, ask, path }) => {
        const { keyPem, leafPem } = await MATERIAL
        const more = '-----BEGIN DH PARAMETERS-----\nMAA=\n-----END DH PARAMETERS-----\n'
        await writeFile(path('dh.pem'), keyPem + leafPem + more, { mode: 0o600 })
        return ask([use({ certificatePath: path('dh.pem'), keyPath: undefined })])
      },
    ],
    [
      'two certificates with one key',
      /\/site\.pem holds another certificate than the files beside it$/,
      async ({ use, ask, path }) => {
        await writeFile(path('a.pem'), (await createPairMaterial()).leafPem)
        return ask([use(), use({ certificatePath: path('a.pem') })])
      },
    ],
    [
      'what only has the serial number of the certificate that is served',
      /^it does not serve this certificate now: it serves another, of serial 07$/,
      async ({ use, ask, path, serve }) => {
        const [mine, other] = [selfSigned(path('mine')), selfSigned(path('other'))]
        const listeners = [{ host: '127.0.0.1', port: await serve(other.cert, other.key) }]
        await writeFile(path('site.pem'), mine.cert)
        await writeFile(path('site.key'), mine.key)
        return ask([use({ listeners })])
      },
    ],
    [
      'what Kubernetes fills',
      /^cert-manager csi \(tls\) cannot be stopped from here$/,
      ({ use, ask }) => ask([use()], { renewers: [() => [csi]] }),
    ],
    [
      'what a renewer fills that was made again beside a stopped one',
      /^certbot \(site\.test\) is there twice: remove .*\/a\.conf or .*\/a\.conf\.svc-adopted$/,
      async ({ use, ask, path }) => {
        const [from, to] = [path('a.conf'), path('a.conf.svc-adopted')]
        for (const name of [from, to]) await writeFile(name, '')
        const twice: Renewer = { ...renamed, stop: { kind: 'rename', from, to } }
        return ask([use()], { renewers: [() => [twice]] })
      },
    ],
    [
      'what another user’s renewer fills',
      /^certbot \(site\.test\) is not root's alone: the directory \/tmp is writable by group or others$/,
      ({ use, ask }) => ask([use()], { renewers: [() => [renamed]] }),
    ],
  ]
  for (const [what, reason, how] of refusals) {
    test(`[ADO-4] ${what} is not adopted, and the plan says why`, () =>
      withPlace(async (place) => {
        const [proposal] = await how(place)
        assert.ok(proposal)
        assert.equal(
          proposal.problems.filter((one) => reason.test(one)).length,
          1,
          proposal.problems.join(),
        )
        assert.match(formatProposal(proposal), /\n {2}not adopted: /)
        assert.doesNotMatch(formatProposal(proposal), /\n {2}(?:replaces|then) /)
      }))
  }
})
