// The set of roots at the hub: docs/protocol.md TRU. How agents follow it is in src/agent/identity/bundle-upkeep.test.ts,
// a whole rotation in test/foreign/trust.test.ts.

import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { createRootPem } from '../../src/dev-ca/issuer.ts'
import { parseCertificatesPem } from '../../src/pki/certificates.ts'
import { generateEcP256Key } from '../../src/pki/keys.ts'
import type { AdminBundle, AdminUpdatedBundle } from '../../src/protocol/admin/views.ts'
import { createKeyAndCsr, enrollHost, type EnrolledHost } from '../support/enrolled-host.ts'
import type { TestHub } from '../support/hub.ts'
import { waitUntil } from '../support/processes.ts'
import { embeddedAlone } from '../support/test-store.ts'
import { useCa } from '../support/use-hub.ts'
import {
  assertOk,
  assertRefused,
  connectSecurely,
  exchange,
  post,
  send,
} from '../support/wire-client.ts'

const { ca, startHub } = useCa()

const DAY_MS = 86_400_000
const BUNDLE = '/v1/bundle'

async function newRoot(notAfterMs = Date.now() + DAY_MS): Promise<string> {
  const validity = { notBefore: new Date(notAfterMs - 2 * DAY_MS), notAfter: new Date(notAfterMs) }
  return createRootPem({ commonName: 'next', ...validity }, await generateEcP256Key())
}

interface Setting extends AsyncDisposable {
  readonly hub: TestHub
  readonly ownRoot: string
  readonly writeRoots: (...roots: string[]) => Promise<void>
}

/** A hub whose root file is the test's own, which holds the CA's root and these. */
async function setUp(others: readonly string[] = []): Promise<Setting> {
  const ownRoot = await readFile(ca.rootPath, 'utf8')
  await using stack = new AsyncDisposableStack()
  const directory = await mkdtemp(join(tmpdir(), 'roots-'))
  stack.defer(() => rm(directory, { recursive: true }))
  const rootFile = join(directory, 'roots.pem')
  const writeRoots = (...roots: string[]): Promise<void> => writeFile(rootFile, roots.join('\n'))
  await writeRoots(ownRoot, ...others)
  const hub = stack.use(await startHub({ SVC_CA_ROOT_CA_PATH: rootFile }))
  const kept = stack.move()
  return { hub, ownRoot, writeRoots, [Symbol.asyncDispose]: () => kept.disposeAsync() }
}

const restart = async (hub: TestHub): Promise<void> => {
  await hub.stop()
  await hub.start()
}
const statusOf = (hub: TestHub): Promise<AdminBundle> => hub.admin('GET', '/v1/admin/bundle')
const update = (hub: TestHub, request: object = {}): Promise<AdminUpdatedBundle> =>
  hub.admin('POST', '/v1/admin/bundle/update', request)
const fingerprints = (...pems: string[]): string[] =>
  parseCertificatesPem(pems.join('\n')).map(({ sha256 }) => sha256)

async function bundleFor(host: EnrolledHost): Promise<{ numero: number; roots: string[] }> {
  const reply = await send(host.mtls, { path: BUNDLE })
  assertOk(reply)
  return reply.json as { numero: number; roots: string[] }
}

const report = (host: EnrolledHost, numero: number, roots: readonly string[], more = {}) =>
  post(host.mtls, '/v1/events', {
    tipo_evento: 'bundle_adopted',
    payload: { numero, fingerprints: roots, ...more },
  })

const OWN_ROOTS = embeddedAlone('a start of a hub that shares its vault changes no roots: HUB-8')

describe('GET /v1/bundle', () => {
  test('[TRU-1] [TRU-3] hands out the set in force, its number with each manifest, and 304 to who has it', async () => {
    await using setting = await setUp()
    const { hub, ownRoot, writeRoots } = setting
    const host = await enrollHost(hub, 'reader.example')
    const first = await send(host.mtls, { path: BUNDLE })
    assert.equal(first.status, 200)
    const { numero, roots, ...rest } = first.json as { numero: number; roots: string[] }
    assert.deepEqual([numero, fingerprints(...roots), rest], [1, fingerprints(ownRoot), {}])
    const etag = String(first.headers.etag)
    const same = await send(host.mtls, { path: BUNDLE, headers: { 'if-none-match': etag } })
    assert.deepEqual([same.status, same.headers.etag], [304, etag])
    const manifest = await send(host.mtls, { path: '/v1/manifest' })
    assert.deepEqual([manifest.json, manifest.headers['x-bundle-numero']], [{ entregas: [] }, '1'])

    const next = await newRoot()
    await writeRoots(ownRoot, next)
    assert.equal((await statusOf(hub)).file_differs, true)
    assert.equal((await update(hub)).numero, 2)
    const changed = await send(host.mtls, { path: BUNDLE, headers: { 'if-none-match': etag } })
    assert.equal(changed.status, 200)
    const both = changed.json as { numero: number; roots: string[] }
    assert.deepEqual(
      [both.numero, both.roots.map((pem) => fingerprints(pem))],
      [2, [fingerprints(ownRoot), fingerprints(next)]],
    )
    const unchanged = await send(host.mtls, {
      path: '/v1/manifest',
      headers: { 'if-none-match': String(manifest.headers.etag) },
    })
    assert.deepEqual([unchanged.status, unchanged.headers['x-bundle-numero']], [304, '2'])
    assertRefused(await post(host.mtls, BUNDLE, {}), 405, 'method_not_allowed')
  })

  test('[TRU-3] [ENR-2] [ISS-2] who enrols or renews is handed all of them', async () => {
    await using setting = await setUp()
    const { hub, ownRoot, writeRoots } = setting
    const next = await newRoot()
    await writeRoots(ownRoot, next)
    await update(hub)
    const host = await enrollHost(hub, 'new.example')
    const { csrPem } = await createKeyAndCsr('new.example')
    const issued = await post(host.mtls, '/v1/certs/issue', { csr_pem: csrPem })
    assertOk(issued)
    for (const pem of [host.caPem, String(issued.json['ca_pem'])]) {
      assert.deepEqual(fingerprints(pem), fingerprints(ownRoot, next))
    }
    const kept = await readFile(join(hub.vaultRoot, 'ca.crt'), 'utf8')
    assert.deepEqual(fingerprints(kept), fingerprints(ownRoot, next))
  })
})

describe('the roots of a hub that starts', () => {
  test(
    '[TRU-1] [TRU-11] are those that it had, and those that its file has more',
    OWN_ROOTS,
    async () => {
      await using setting = await setUp()
      const { hub, ownRoot, writeRoots } = setting
      await enrollHost(hub, 'standing.example')
      await restart(hub)
      assert.equal((await statusOf(hub)).numero, 1)
      const next = await newRoot()
      await writeRoots(ownRoot, next)
      await restart(hub)
      assert.equal((await statusOf(hub)).numero, 2)

      // Gone from the file, and needed: it stays, beside what is new.
      const later = await newRoot()
      await writeRoots(later)
      await restart(hub)
      const { numero, roots, file_differs: differs } = await statusOf(hub)
      const found = roots.map(({ fingerprint }) => fingerprint)
      assert.deepEqual([numero, differs], [3, true])
      assert.deepEqual(new Set(found), new Set(fingerprints(ownRoot, next, later)))
      const warning = hub
        .logEntries()
        .find(({ msg }) => String(msg).startsWith('Roots missing from the file'))
      assert.deepEqual(warning?.['hostnames'], ['standing.example'])
    },
  )

  test('[TRU-2] [TRU-3] are at first whatever its file has, and more of them than agents take in are offered to none', async () => {
    const others = await Promise.all(Array.from({ length: 16 }, () => newRoot()))
    await using setting = await setUp(others)
    const { hub, ownRoot, writeRoots } = setting
    const warning = hub.logEntries().find(({ reason }) => reason === 'more than 16 roots')
    assert.equal(warning?.['msg'], 'Agents do not adopt the roots in force')
    const host = await enrollHost(hub, 'many.example')
    const numberOffered = async (): Promise<unknown> =>
      (await send(host.mtls, { path: '/v1/manifest' })).headers['x-bundle-numero']
    assert.equal(await numberOffered(), undefined)
    await writeRoots(ownRoot)
    assert.equal((await update(hub, { force: true })).numero, 2)
    assert.equal(await numberOffered(), '2')
  })

  test(
    '[TRU-11] follow the file where no agent needs what went, and not to nothing valid',
    OWN_ROOTS,
    async () => {
      await using setting = await setUp()
      const { hub, ownRoot, writeRoots } = setting
      await writeRoots(ownRoot, await newRoot())
      await restart(hub)
      await writeRoots(ownRoot)
      await restart(hub)
      const shown = await statusOf(hub)
      assert.deepEqual(
        [shown.numero, shown.roots.map(({ fingerprint }) => fingerprint)],
        [3, fingerprints(ownRoot)],
      )
      await writeRoots(await newRoot(Date.now() - 1000))
      await restart(hub)
      assert.equal((await statusOf(hub)).numero, 3)
      await assert.rejects(update(hub), /none of the roots is valid now/)
    },
  )

  test(
    '[TRU-11] follow the file while the hub waits for its first certificate',
    OWN_ROOTS,
    async () => {
      await using setting = await setUp()
      const { hub, ownRoot, writeRoots } = setting
      await hub.stop()
      await rm(join(hub.vaultRoot, 'server.crt'))
      await writeRoots(await newRoot())
      let isUp = false
      const started = hub.start().then(() => (isUp = true))
      const hasSaid = (message: string) => hub.logEntries().some(({ msg }) => msg === message)
      await waitUntil('waiting', () => hasSaid('Server certificate not obtained') || undefined)
      await writeRoots(ownRoot)
      await Promise.race([started, waitUntil('the start', () => isUp || undefined)])
      const shown = await statusOf(hub)
      assert.deepEqual(
        [shown.numero, shown.roots.map(({ fingerprint }) => fingerprint)],
        [3, fingerprints(ownRoot)],
      )
    },
  )
})

describe('svc bundle update', () => {
  test('[TRU-10] a root that goes: refused with the list of those who need it, or done by force', async () => {
    await using setting = await setUp()
    const { hub, ownRoot, writeRoots } = setting
    const next = await newRoot()
    await writeRoots(ownRoot, next)
    await update(hub)
    const both = fingerprints(ownRoot, next)
    const host = await enrollHost(hub, 'needs.example')
    const silent = await enrollHost(hub, 'silent.example')
    await report(host, 2, both)

    await writeRoots(next)
    const refused = await hub.svc('bundle', 'update')
    assert.equal(refused.status, 1)
    assert.match(
      refused.stderr,
      /2 agents need a root that this would remove: needs\.example \(identity /,
    )
    assert.match(refused.stderr, /silent\.example \(has not said what it trusts; identity /)
    assert.equal((await statusOf(hub)).numero, 2)
    // The CA signs by the old root alone: nobody would believe the hub, whatever force is used.
    const forced = await hub.svc('bundle', 'update', '--force')
    assert.match(
      forced.stderr,
      /own certificate leads to a root that this would remove, .*CA still signs/,
    )
    assert.deepEqual(
      [(await statusOf(hub)).numero, await bundleFor(silent)],
      [2, await bundleFor(host)],
    )

    await writeRoots(ownRoot)
    await assert.rejects(update(hub), /silent\.example \(has not said what it trusts\)/)
    const open = await connectSecurely(host.mtls)
    const updated = await update(hub, { force: true })
    assert.deepEqual(
      [updated.numero, updated.endangered],
      [3, [{ hostname: 'silent.example', reasons: ['has not said what it trusts'] }]],
    )
    assertOk(await send(silent.mtls, { path: BUNDLE }))
    // Its identity leads to a root that stays.
    const request = `GET ${BUNDLE} HTTP/1.1\r\nHost: hub.test\r\n\r\n`
    assert.match(await exchange(open, request, (text) => text.endsWith('}')), /^HTTP\/1.1 200 /)
    open.destroy()
    const { eventos } = JSON.parse((await hub.svc('evento', 'list', '--json')).stdout) as {
      eventos: { tipo_evento: string; payload: Record<string, unknown> }[]
    }
    const last = eventos.findLast(({ tipo_evento: type }) => type === 'bundle_changed')
    assert.deepEqual(last?.payload, {
      actor: 'admin',
      numero: 3,
      epoca: 1,
      fingerprints: fingerprints(ownRoot),
      added: [],
      removed: fingerprints(next),
      agentes_endangered: 1,
    })
  })

  test('[TRU-1] the number grows, as far as it is told to, and never shrinks', async () => {
    await using setting = await setUp()
    const { hub } = setting
    const same = await update(hub)
    assert.deepEqual([same.is_changed, same.numero], [false, 1])
    assert.equal((await update(hub, { numero: 40 })).numero, 40)
    await assert.rejects(update(hub, { numero: 40 }), /has the number 40 already/)
    await restart(hub)
    assert.equal((await statusOf(hub)).numero, 40)
  })

  test('[TRU-17] a number jumps 1,000 at most, further by force, and never near the end; a new época counts anew', async () => {
    await using setting = await setUp()
    const { hub, ownRoot, writeRoots } = setting
    const host = await enrollHost(hub, 'counting.example')
    await assert.rejects(update(hub, { numero: 1002 }), /bundle_number.*more than 1000 ahead/)
    assert.equal((await update(hub, { numero: 1001 })).numero, 1001)
    await assert.rejects(update(hub, { numero: 1001 }), /bundle_number.*"reason":"not_greater"/)
    for (const numero of [2_146_483_648, 2_147_483_647]) {
      await assert.rejects(update(hub, { numero, force: true }), /request_invalid/)
    }
    const highest = await update(hub, { numero: 2_146_483_647, force: true })
    assert.deepEqual([highest.numero, highest.epoca], [2_146_483_647, 1])
    await writeRoots(ownRoot, await newRoot())
    assert.equal((await update(hub)).numero, 2_146_483_648)

    await assert.rejects(update(hub, { numero: 1001, nova_epoca: true }), /bundle_number/)
    const anew = await update(hub, { nova_epoca: true })
    assert.deepEqual([anew.numero, anew.epoca, anew.is_changed], [1, 2, true])
    await restart(hub)
    const reply = await send(host.mtls, { path: BUNDLE })
    assert.deepEqual([reply.json['numero'], reply.json['epoca']], [1, 2])
    const { headers } = await send(host.mtls, { path: '/v1/manifest' })
    assert.deepEqual([headers['x-bundle-numero'], headers['x-bundle-epoca']], ['1', '2'])
    assert.equal((await update(hub, { numero: 40 })).numero, 40)
  })

  test('[TRU-13] status says who trusts other roots, and why', async () => {
    await using setting = await setUp()
    const { hub, ownRoot } = setting
    const own = fingerprints(ownRoot)
    const hosts = [
      await enrollHost(hub, 'a-adopted.example'),
      await enrollHost(hub, 'b-pinned.example'),
      await enrollHost(hub, 'c-refused.example'),
      await enrollHost(hub, 'd-silent.example'),
      await enrollHost(hub, 'e-rebuilt.example'),
    ] as const
    const [adopted, pinned, refused, , rebuilt] = hosts
    assertOk(await report(adopted, 1, own))
    assertOk(await report(pinned, 1, own, { pinned: ['f'.repeat(64)] }))
    const payload = { numero: 1, erro: 'why not', current: null, fingerprints: [] }
    assertOk(await post(refused.mtls, '/v1/events', { tipo_evento: 'bundle_refused', payload }))
    assertOk(await report(rebuilt, 1, own))
    await enrollHost(hub, rebuilt.hostname, { reenroll: true })
    const { agentes, pendentes } = await statusOf(hub)
    assert.equal(agentes, 5)
    assert.deepEqual(
      pendentes.map(({ hostname, numero, is_pinned, erro }) => [hostname, numero, is_pinned, erro]),
      [
        ['b-pinned.example', 1, true, null],
        ['c-refused.example', null, false, 'why not'],
        ['d-silent.example', null, false, null],
        ['e-rebuilt.example', null, false, null],
      ],
    )
    const { stdout } = await hub.svc('bundle', 'status')
    assert.match(stdout, /^agents pending +4 of 5$/m)
    assert.match(stdout, /^c-refused\.example +- +no +\S+ +why not$/m)
  })

  test('[TRU-13] [CLI-1] a vault without a hub shows its roots, and changes none', async () => {
    await using setting = await setUp()
    const { hub } = setting
    await hub.stop()
    const shown = await hub.svc('bundle', 'status', '--json')
    assert.equal((JSON.parse(shown.stdout) as AdminBundle).file_differs, null)
    const updated = await hub.svc('bundle', 'update')
    assert.deepEqual([updated.status, /only while the hub runs/.test(updated.stderr)], [1, true])
  })
})
