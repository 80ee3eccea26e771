import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { chmod, mkdir, rm, symlink, writeFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createServer, type Server } from 'node:tls'
import { describe, test } from 'node:test'
import { makeOwnDirectory, WITH_OWN_PLACE } from '../../../test/support/own-place.ts'
import { createPairMaterial } from '../../../test/support/pair-material.ts'
import { createConfigReader } from './config-reader.ts'
import type { ServiceUse } from './find-uses.ts'
import { formatProposal } from './format-plan.ts'
import type { Proposal } from './proposal.ts'
import { type ProposalContext, propose } from './propose.ts'
import type { Renewer } from './renewers/renewer.ts'
import { refuseShared } from './shared-renewers.ts'

interface Place {
  readonly path: (name: string) => string
  readonly port: number
  /** The port of one more server. */
  readonly serve: (cert: string, key: string) => Promise<number>
  readonly use: (given?: Partial<ServiceUse>) => ServiceUse
  readonly ask: (
    uses: readonly ServiceUse[],
    given?: Partial<ProposalContext>,
  ) => Promise<Proposal[]>
}

const MATERIAL = createPairMaterial()

/** Files of a certificate, and a server that serves it. */
async function withPlace(work: (place: Place) => Promise<void>): Promise<void> {
  const directory = await makeOwnDirectory('svc-agent-propose-')
  const { leafPem, keyPem } = await MATERIAL
  const servers: Server[] = []
  const serve = async (cert: string, key: string): Promise<number> => {
    const server = createServer({ cert, key }).listen(0, '127.0.0.1')
    servers.push(server)
    await once(server, 'listening')
    return (server.address() as AddressInfo).port
  }
  try {
    const port = await serve(leafPem, keyPem)
    const path = (name: string): string => join(directory, name)
    await mkdir(path('targets.d'))
    await writeFile(path('site.pem'), leafPem, { mode: 0o644 })
    await writeFile(path('site.key'), keyPem, { mode: 0o600 })
    const uid = process.getuid?.() ?? 0
    const applier = { uid, gid: process.getgid?.() ?? 0, groupIds: [], ownDirectories: [] }
    const context: ProposalContext = {
      targetsDir: path('targets.d'),
      applier,
      reader: createConfigReader(),
      renewers: [],
      takenFiles: new Set(),
      takenPaths: new Set(),
      adopted: new Map(),
    }
    await work({
      path,
      port,
      serve,
      use: (given = {}) => ({
        kind: 'nginx',
        certificatePath: path('site.pem'),
        keyPath: path('site.key'),
        listeners: [{ host: '127.0.0.1', port }],
        serverName: 'site.test',
        reload: ['systemctl', 'reload', 'nginx.service'],
        ...given,
      }),
      ask: (uses, given = {}) => propose({ ...context, ...given }, { uses }),
    })
  } finally {
    for (const server of servers) server.close()
    await rm(directory, { recursive: true })
  }
}

/** All of them with one serial number. */
function selfSigned(
  stem: string,
  name = 'site.test',
): { readonly cert: string; readonly key: string } {
  const made = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-set_serial', '7']
  const [key, cert] = [`${stem}.key`, `${stem}.pem`]
  const subject = [
    '-subj',
    '/CN=x',
    '-addext',
    `subjectAltName=DNS:${name}`,
    '-keyout',
    key,
    '-out',
    cert,
  ]
  execFileSync('openssl', ['req', '-x509', '-nodes', ...made, ...subject], { stdio: 'pipe' })
  return { cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') }
}

describe('what is proposed', WITH_OWN_PLACE, () => {
  test('[ADO-4] services that read one file share one target, with both reloads', () =>
    withPlace(async ({ use, ask, path, port }) => {
      const reload = ['systemctl', 'reload', 'apache2.service']
      const [proposal, ...more] = await ask([use(), use({ kind: 'apache', reload })])
      assert.deepEqual(more, [])
      assert.ok(proposal)
      assert.deepEqual(proposal.problems, [])
      assert.deepEqual(proposal.services, ['apache', 'nginx'])
      const { id, name, targetText, targetPath } = proposal
      assert.equal(id, `${name}-apache-nginx`)
      assert.equal(targetPath, path(`targets.d/${id}.toml`))
      assert.equal(
        targetText.replaceAll(/^(owner|group) = .*\n/gm, ''),
        `name = "${name}"
reload = ["/bin/sh", "-c", "systemctl reload nginx.service && systemctl reload apache2.service"]
probe = "127.0.0.1:${port}"
probe_name = "site.test"

[[file]]
path = "${path('site.key')}"
content = ["key"]
mode = "0600"

[[file]]
path = "${path('site.pem')}"
content = ["cert", "chain"]
mode = "0644"
`,
      )
    }))

  test('[ADO-4] a key that everybody can read gets another mode, and a link is no hindrance', () =>
    withPlace(async ({ use, ask, path }) => {
      await chmod(path('site.key'), 0o644)
      await symlink('site.pem', path('link.pem'))
      const [proposal] = await ask([use({ certificatePath: path('link.pem') })])
      assert.deepEqual(proposal?.problems, [])
      assert.deepEqual(proposal?.notes, [
        `${path('site.key')} holds a key that everybody can read: it gets another mode`,
      ])
      assert.deepEqual(
        proposal?.files.map(({ path: file, link, mode }) => [file, link, mode]),
        [
          [path('link.pem'), 'site.pem', 0o644],
          [path('site.key'), undefined, 0o640],
        ],
      )
    }))

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
        assert.equal(proposal.problems.filter((one) => reason.test(one)).length, 1)
        assert.match(formatProposal(proposal), /\n {2}not adopted: /)
        assert.doesNotMatch(formatProposal(proposal), /\n {2}(?:replaces|then) /)
      }))
  }

  test('[ADO-4] a renewer of several is stopped for all of them, or for none', () =>
    withPlace(async ({ use, ask, path }) => {
      const uses: ServiceUse[] = [use()]
      for (const name of ['b', 'c']) {
        const { leafPem, keyPem } = await createPairMaterial('ec-p256', `${name}.test`)
        await writeFile(path(`${name}.pem`), leafPem)
        await writeFile(path(`${name}.key`), keyPem, { mode: 0o600 })
        uses.push(use({ certificatePath: path(`${name}.pem`), keyPath: path(`${name}.key`) }))
      }
      const stop = { kind: 'unit', unit: 'u', is_enabled: true, is_active: true } as const
      const one: Renewer = { kind: 'step', name: 'u', stop, notes: [] }
      const asked = await ask(uses, { renewers: [() => [one]] })
      const plan = asked.map((proposal): Proposal => ({ ...proposal, problems: [] }))
      const [b, c, site] = plan
      assert.ok(b && c && site)
      const problemsOf = (proposals: readonly Proposal[], isWanted: (p: Proposal) => boolean) =>
        refuseShared(proposals, isWanted).map(({ problems }) => problems)
      assert.deepEqual(
        problemsOf(plan, () => true),
        [[], [], []],
      )
      const fault = `step (u) renews ${site.id} too: choose both, or neither`
      assert.deepEqual(
        problemsOf(plan, ({ id }) => id !== site.id),
        [[fault], [fault], []],
      )
      // What hinders one of them hinders all.
      const hindered: Proposal = { ...site, problems: ['x'] }
      assert.deepEqual(
        problemsOf([b, c, hindered], () => true),
        [[fault], [fault], ['x']],
      )
      const other: Renewer = { ...one, name: 'v', stop: { ...stop, unit: 'v' } }
      const chain = [{ ...b, renewers: [other] }, { ...c, renewers: [other, one] }, hindered]
      assert.deepEqual(
        problemsOf(chain, () => true),
        [[`step (v) renews ${c.id} too: choose both, or neither`], [fault], ['x']],
      )
      // What is adopted, or has a target, needs no renewer any more.
      for (const state of ['adopted', 'target'] as const) {
        assert.deepEqual(
          problemsOf([b, c, { ...hindered, state }], () => true),
          [[], [], ['x']],
        )
      }
      const unfinished: Proposal = { ...site, state: 'unfinished' }
      assert.deepEqual(
        problemsOf([b, unfinished], () => true),
        [[fault], []],
      )
    }))

  test('[ADO-4] what certbot changes together is taken over together', () =>
    withPlace(async ({ use, ask, path }) => {
      const { leafPem, keyPem, chainPems } = await MATERIAL
      await mkdir(path('live/a'), { recursive: true })
      await mkdir(path('archive/a'), { recursive: true })
      const chain = chainPems.join('')
      const all = { cert: leafPem, chain, fullchain: leafPem + chain, privkey: keyPem }
      for (const [name, text] of Object.entries(all)) {
        await writeFile(path(`archive/a/${name}1.pem`), text, { mode: 0o600 })
        await symlink(`../../archive/a/${name}1.pem`, path(`live/a/${name}.pem`))
      }
      const [certificatePath, keyPath] = [path('live/a/fullchain.pem'), path('live/a/privkey.pem')]
      const [proposal] = await ask([use({ certificatePath, keyPath })])
      assert.deepEqual(proposal?.problems, [])
      assert.deepEqual(
        proposal?.files.map(({ path: file, content }) => [file, content]),
        [
          [path('live/a/cert.pem'), ['cert']],
          [path('live/a/chain.pem'), ['chain']],
          [path('live/a/fullchain.pem'), ['cert', 'chain']],
          [path('live/a/privkey.pem'), ['key']],
        ],
      )
    }))

  test('[ADO-4] a load has a name, whatever the certificate says of itself', () =>
    withPlace(async ({ use, ask, path }) => {
      const names = { '..-a': 'a', '-_.': 'site', '*.b.test': 'wildcard.b.test', 'a..b': 'a.b' }
      for (const [san, expected] of Object.entries(names)) {
        const { cert, key } = selfSigned(path('named'), san)
        await writeFile(path('site.pem'), cert)
        await writeFile(path('site.key'), key)
        const [proposal] = await ask([use()])
        assert.equal(proposal?.name, expected)
      }
    }))

  test('[ADO-2] [ADO-4] one that cannot be looked at holds up no other', () =>
    withPlace(async ({ use, ask, path }) => {
      const { leafPem, keyPem } = await createPairMaterial()
      await writeFile(path('b.pem'), leafPem)
      await writeFile(path('b.key'), keyPem, { mode: 0o600 })
      const second = use({ certificatePath: path('b.pem'), keyPath: path('b.key') })
      const find = (_: unknown, file: { readonly path: string }): Renewer[] => {
        if (file.path === path('b.pem')) throw new Error('odd')
        return []
      }
      const problems = (await ask([second, use()], { renewers: [find] })).map((one) => one.problems)
      assert.deepEqual(
        problems.toSorted((a, b) => a.length - b.length),
        [[], ['it cannot be looked at: odd']],
      )
    }))

  test('[ADO-4] what a target or an adoption has is left alone', () =>
    withPlace(async ({ use, ask, path }) => {
      const states: readonly (readonly [Partial<ProposalContext>, string, RegExp])[] = [
        [{ takenPaths: new Set([path('site.key')]) }, 'target', /has these files/],
        [
          { adopted: new Map([[path('site.pem'), { id: 'before', isDone: true }]]) },
          'adopted',
          /--undo before takes it back/,
        ],
        [
          { adopted: new Map([[path('site.pem'), { id: 'before', isDone: false }]]) },
          'unfinished',
          /interrupted: --apply goes on with it, --undo takes it back/,
        ],
      ]
      for (const [given, state, said] of states) {
        const [proposal] = await ask([use()], given)
        assert.ok(proposal)
        assert.equal(proposal.state, state)
        assert.match(formatProposal(proposal), said)
      }
    }))

  test('[ADO-4] the same names are one load with two targets; a name of a target that is there is not taken', () =>
    withPlace(async ({ use, ask, path }) => {
      const { leafPem, keyPem } = await createPairMaterial()
      await writeFile(path('b.pem'), leafPem)
      await writeFile(path('b.key'), keyPem, { mode: 0o600 })
      const second = use({ certificatePath: path('b.pem'), keyPath: path('b.key') })
      const [{ name } = { name: '' }] = await ask([use()])
      const both = await ask([use(), second], { takenFiles: new Set([`${name}-nginx.toml`]) })
      assert.deepEqual(
        both.map((one) => [one.id, one.name]),
        [
          [`${name}-nginx-2`, name],
          [`${name}-nginx-3`, name],
        ],
      )
    }))
})
