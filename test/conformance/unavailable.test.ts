// A hub that cannot store: docs/protocol.md ERR-26. The kernel refuses it every write to a file, as a full disk does.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readEvents } from '../support/audit-log.ts'
import { createKeyAndCsr, enrollHost } from '../support/enrolled-host.ts'
import type { HubProcess } from '../support/hub-process.ts'
import { runTool } from '../support/processes.ts'
import { useHubProcess } from '../support/use-hub.ts'
import { assertOk, assertRefused, post, send, type WireReply } from '../support/wire-client.ts'
import { embeddedAlone } from '../support/test-store.ts'

const { hub } = useHubProcess()

const limitFiles = ({ pid }: HubProcess, bytes: string): Promise<string> =>
  runTool('prlimit', ['--pid', String(pid), `--fsize=${bytes}:`])

/** A record that is in the journal has to be here before the hub answers anybody. */
const OWN_READS = embeddedAlone(
  'a hub that shares a journal, and cannot run a record, answers 503: HUB-4',
)

function assertUnavailable(reply: WireReply): void {
  assertRefused(reply, 503, 'unavailable')
  assert.match(reply.headers['retry-after'] ?? '', /^[1-9]\d*$/)
}

test(
  '[ERR-26] [SRF-15] [RES-8] 503 unavailable with Retry-After while the hub cannot store, and all is well after',
  { skip: (process.platform !== 'linux' && 'prlimit is a Linux tool') || OWN_READS.skip },
  async () => {
    const { pid } = hub
    const host = await enrollHost(hub, 'stores.example')
    // From its first use on an identity is served without a write.
    assertOk(await send(host.mtls, { path: '/v1/manifest' }))
    const hostname = 'waits.example'
    const token = await hub.createToken({ hostname })
    const { csrPem } = await createKeyAndCsr(hostname)
    const enroll = (): Promise<WireReply> =>
      post({ port: hub.ports.enroll }, '/v1/enroll', {
        token,
        hostname,
        role: 'web',
        csr_pem: csrPem,
      })
    const report = (): Promise<WireReply> => {
      const event = { tipo_evento: 'disk_was_full', payload: { n: 1 }, request_id: 'once' }
      return post(host.mtls, '/v1/events', event)
    }
    const { csrPem: nextCsr } = await createKeyAndCsr(host.hostname)
    const issue = (): Promise<WireReply> => post(host.mtls, '/v1/certs/issue', { csr_pem: nextCsr })

    await limitFiles(hub, '1')
    for (const write of [report, enroll, issue, report]) assertUnavailable(await write())
    await assert.rejects(hub.createToken({ hostname: 'more.example' }), /store_unavailable/)
    assertOk(await send(host.mtls, { path: '/v1/manifest' }))
    assertOk(await send({ port: hub.ports.health }, { path: '/health' }))
    assert.deepEqual(await readEvents(hub, 'disk_was_full'), [])

    await limitFiles(hub, 'unlimited')
    for (const write of [report, enroll, issue, report]) assertOk(await write())
    assert.equal((await readEvents(hub, 'disk_was_full')).length, 1)
    assert.equal((await readEvents(hub, 'agent_enrolled')).length, 2)
    assert.equal(hub.pid, pid)
    const verified = await hub.svc('evento', 'list', '--verify', '--json')
    assert.equal(verified.status, 0, verified.stderr)
  },
)
