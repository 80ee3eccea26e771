import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { startFakeCa } from '../../../test/fakes/ca-server.ts'
import { startDevCa } from '../../../test/support/dev-ca.ts'
import type { RunningCa } from '../../../test/support/running-ca.ts'
import { createSampleRoot } from '../../../test/support/sample-roots.ts'
import { parseProvisionerKey } from '../ca/provisioner-key.ts'
import { type AuthorityQuestion, judgeProvisioners, probeAuthority } from './probe-authority.ts'

let ca: RunningCa
let right: AuthorityQuestion

before(async () => {
  ca = await startDevCa()
  right = {
    caUrl: new URL(ca.url),
    rootPem: await readFile(ca.rootPath, 'utf8'),
    kid: ca.provisionerKid,
    name: undefined,
    key: parseProvisionerKey(ca.provisionerKey).reveal(),
    now: () => new Date(),
    signal: AbortSignal.timeout(20_000),
  }
})
after(() => ca[Symbol.asyncDispose]())

const OTHER = { x: 'x', y: 'y' }

describe('probeAuthority', () => {
  test('[DOC-12] [DOC-11] finds the provisioner with the hub’s key, and clocks that agree', async () => {
    const { reason, clock_ahead_seconds: ahead, ...facts } = await probeAuthority(right)
    assert.deepEqual(facts, { url: ca.url, fault: null })
    assert.equal(reason, `it has the provisioner ${ca.provisionerKid}, and the hub has its key`)
    assert.ok(ahead !== null && Math.abs(ahead) <= 20)
    assert.match(
      (await probeAuthority({ ...right, key: undefined })).reason,
      /^it has the provisioner \S+$/,
    )
  })

  test('[DOC-11] finds by how much a clock is ahead', async () => {
    const ahead = { ...right, now: () => new Date(Date.now() + 3_600_000) }
    const { clock_ahead_seconds: seconds } = await probeAuthority(ahead)
    assert.ok(seconds !== null && Math.abs(seconds - 3600) <= 20)
  })

  const wrong: [what: string, change: Partial<AuthorityQuestion>, fault: string, reason: RegExp][] =
    [
      [
        'key id',
        { kid: 'nobody' },
        'no_provisioner',
        /no provisioner with the key id nobody; it has \S+$/,
      ],
      ['key', { key: OTHER }, 'other_key', /has another key than the hub$/],
      ['name', { name: 'admin' }, 'other_name', /is called cartorio, not admin$/],
      ['address', { caUrl: new URL('https://127.0.0.1:1') }, 'unreachable', /ECONNREFUSED/],
    ]
  for (const [what, change, fault, reason] of wrong) {
    test(`[DOC-12] finds another ${what}`, async () => {
      const found = await probeAuthority({ ...right, ...change })
      assert.equal(found.fault, fault)
      assert.match(found.reason, reason)
    })
  }

  test('[DOC-12] finds a root that is not the CA’s', async () => {
    const { pem } = await createSampleRoot('other', new Date(Date.now() + 86_400_000))
    assert.equal((await probeAuthority({ ...right, rootPem: pem })).fault, 'untrusted')
  })

  test('[DOC-12] finds a provisioner of another kind', () => {
    const found = [{ type: 'ACME', name: 'acme', kid: 'k', x: undefined, y: undefined }]
    const { fault, reason } = judgeProvisioners(found, {
      kid: 'k',
      name: undefined,
      key: undefined,
    })
    assert.deepEqual([fault, reason], ['other_kind', 'the provisioner k is of the type ACME'])
    const none = judgeProvisioners([], { kid: 'k', name: undefined, key: undefined })
    assert.equal(none.reason, 'the CA has no provisioner with the key id k; it has none at all')
  })

  test('[DOC-3] [DOC-12] gives up a CA that takes the connection and says nothing', async () => {
    const sockets: Socket[] = []
    const server = createServer((socket) => void sockets.push(socket)).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const found = await probeAuthority({
      ...right,
      caUrl: new URL(`https://127.0.0.1:${port}`),
      signal: AbortSignal.timeout(50),
    })
    for (const socket of sockets) socket.destroy()
    server.close()
    assert.deepEqual([found.fault, found.clock_ahead_seconds], ['unreachable', null])
    assert.match(found.reason, /timeout/i)
  })

  test('[DOC-12] asks for page after page, and for no signature', async () => {
    await using fake = await startFakeCa({ pagesBefore: 2 })
    const found = await probeAuthority({
      ...right,
      caUrl: new URL(fake.url),
      rootPem: fake.rootPem,
      kid: fake.provisionerKid,
      // It shows no key.
      key: undefined,
    })
    assert.equal(found.fault, null)
    assert.deepEqual([fake.calls.length, fake.provisionerPagesServed()], [0, 3])
  })
})
