// The hub's own certificate: docs/protocol.md VLT-10 to VLT-13.

import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { enrollHost } from '../support/enrolled-host.ts'
import { HUB_NAME, type TestHub } from '../support/hub.ts'
import { startHubProcess } from '../support/hub-process.ts'
import { startTestCa, startTestHub } from '../support/test-hub.ts'
import { runTool, waitUntil } from '../support/processes.ts'
import { useCa } from '../support/use-hub.ts'
import { assertOk, send } from '../support/wire-client.ts'

const { startHub } = useCa()

const messagesOf = (hub: TestHub): unknown[] => hub.logEntries().map(({ msg }) => msg)
const modeOf = async (path: string): Promise<string> =>
  ((await stat(path)).mode & 0o777).toString(8)
const serverCertificateOf = async (hub: TestHub): Promise<X509Certificate> =>
  new X509Certificate(await readFile(join(hub.vaultRoot, 'server.crt')))

describe('the hub’s own certificate', () => {
  test('[CAX-13] [ENV-7] [ENV-13] has SVC_SERVER_CN as CN and SVC_SERVER_SANS besides as names', async () => {
    await using hub = await startHub({ SVC_SERVER_SANS: 'alias.test, 127.0.0.1' })
    const certificate = await serverCertificateOf(hub)
    assert.equal(certificate.subject, `CN=${HUB_NAME}`)
    assert.equal(certificate.checkHost('alias.test'), 'alias.test')
    assert.equal(certificate.checkHost(HUB_NAME), HUB_NAME)
    assert.equal(certificate.checkIP('127.0.0.1'), '127.0.0.1')
  })

  test('[VLT-10] [BOOT-6] is reused by the next start, and requested anew when SVC_SERVER_CN or SANS change', async () => {
    await using hub = await startHub()
    const first = await serverCertificateOf(hub)
    await hub.stop()
    await hub.start()
    assert.equal((await serverCertificateOf(hub)).serialNumber, first.serialNumber)
    await hub.stop()
    await hub.start({ SVC_SERVER_CN: 'renamed.test' })
    assert.ok(messagesOf(hub).includes('server certificate created'))
    const renamed = await serverCertificateOf(hub)
    assert.equal(renamed.subject, 'CN=renamed.test')
    await hub.stop()
    await hub.start({ SVC_SERVER_CN: 'renamed.test', SVC_SERVER_SANS: 'more.test' })
    assert.ok(messagesOf(hub).includes('server certificate created'))
    const host = await enrollHost(hub, 'sees-cert.example')
    const target = { ...host.mtls, tls: { ...host.mtls.tls!, servername: 'more.test' } }
    assertOk(await send(target, { path: '/v1/manifest' }))
  })

  test('[VLT-10] is requested anew when the key is another’s, or one of the files is gone or damaged', async () => {
    await using hub = await startHub()
    const keyPath = join(hub.vaultRoot, 'server.key')
    const certPath = join(hub.vaultRoot, 'server.crt')
    const otherKey = await runTool('openssl', ['genpkey', '-algorithm', 'ed25519'])
    for (const [path, content] of [
      [keyPath, otherKey],
      [keyPath, 'no key'],
      [certPath, 'no certificate'],
      [certPath, ''],
    ] as const) {
      await hub.stop()
      await writeFile(path, content)
      await hub.start()
      assert.ok(messagesOf(hub).includes('server certificate created'))
      assert.equal(await modeOf(keyPath), '600')
    }
  })

  test('[VLT-11] with the CA down and a good certificate on disk the hub starts', async () => {
    await using ownCa = await startTestCa()
    await using hub = await startTestHub({ caEnvironment: ownCa.environment })
    const host = await enrollHost(hub, 'ca-down.example')
    await hub.stop()
    await ownCa.stop()
    await hub.start()
    assert.ok(messagesOf(hub).includes('server certificate reused'))
    assertOk(await send(host.mtls, { path: '/v1/manifest' }))
  })

  test('[VLT-11] with the CA down and no certificate it says so, retries, and starts when the CA is back', async () => {
    await using ownCa = await startTestCa()
    await using hub = await startTestHub({ caEnvironment: ownCa.environment })
    await hub.stop()
    await ownCa.stop()
    const waiting = hub.start({ SVC_SERVER_CN: 'late.test' })
    await waitUntil('a line that says so', () =>
      messagesOf(hub).includes('Server certificate not obtained') ? true : undefined,
    )
    await ownCa.start()
    await waiting
    assert.ok(messagesOf(hub).includes('server certificate created'))
  })

  test('[VLT-11] [BOOT-18] SIGTERM ends a hub that waits for the CA', async () => {
    await using ownCa = await startTestCa()
    await using hub = await startHubProcess({ caEnvironment: ownCa.environment })
    await hub.stop()
    await ownCa.stop()
    const waiting = assert.rejects(hub.start({ SVC_SERVER_CN: 'late.test' }), /the hub ended/)
    await waitUntil('a line that says so', () =>
      hub.logText().includes('Server certificate not obtained') ? true : undefined,
    )
    await hub.stop('SIGTERM')
    await waiting
  })
})
