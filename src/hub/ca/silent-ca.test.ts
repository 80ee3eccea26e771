import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { describe, test } from 'node:test'
import { type FakeCa, startFakeCa } from '../../../test/fakes/ca-server.ts'
import { systemClock } from '../../platform/clock.ts'
import { createCsrPem, parseCsrPem } from '../../pki/csr.ts'
import { generateEcP256Key } from '../../pki/keys.ts'
import type { AuthorityClient, SignRequest } from './certificate-authority.ts'
import { parseProvisionerKey } from './provisioner-key.ts'
import { createStepCaClient } from './step-ca-client.ts'

const DEADLINE_MS = 200
const ANSWERED_MS_MAX = 5000
const RUNNING_MAX = 16

/** In front of a CA: takes connections, and lets no byte through before it is told to. */
class Gag implements AsyncDisposable {
  readonly sockets: Socket[] = []
  /** Without those of the CA's other side. */
  connections = 0
  #speaks = false
  readonly #server = createServer((client) => {
    this.connections += 1
    this.sockets.push(client.on('error', () => undefined))
    if (this.#speaks) this.#join(client)
  })
  readonly #caPort: number

  constructor(ca: FakeCa) {
    this.#caPort = Number(new URL(ca.url).port)
  }

  async listen(): Promise<URL> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    const { port } = this.#server.address() as AddressInfo
    return new URL(`https://127.0.0.1:${port}`)
  }

  speak(): void {
    this.#speaks = true
    for (const client of this.sockets.slice()) this.#join(client)
  }

  #join(client: Socket): void {
    const ca = connect(this.#caPort, '127.0.0.1').on('error', () => client.destroy())
    this.sockets.push(ca)
    client.pipe(ca)
    ca.pipe(client)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close()
    for (const socket of this.sockets) socket.destroy()
    await once(this.#server, 'close')
  }
}

function clientOf(caUrl: URL, ca: FakeCa): AuthorityClient {
  const log = (): void => undefined
  return createStepCaClient({
    caUrl,
    rootPem: ca.rootPem,
    provisionerKey: parseProvisionerKey(ca.provisionerKey),
    provisionerKid: ca.provisionerKid,
    provisionerName: 'fake',
    clock: systemClock,
    logger: { trace: log, debug: log, info: log, warn: log, error: log },
    deadlineMs: DEADLINE_MS,
  })
}

async function newRequest(): Promise<SignRequest> {
  const csr = parseCsrPem(await createCsrPem('web-1', await generateEcP256Key()))
  assert.ok(csr)
  return { csr, commonName: 'web-1', sans: ['web-1'] }
}

function outcomeOf(client: AuthorityClient, request: SignRequest): Promise<string> {
  const outcome = client.sign(request).then(
    () => 'signed',
    (error: unknown) => String(error),
  )
  return Promise.race([outcome, systemClock.sleep(ANSWERED_MS_MAX).then(() => 'late')])
}

describe('a CA that takes connections and never says a word', () => {
  test('[CAX-8] is waited for no longer than the deadline', async () => {
    await using ca = await startFakeCa()
    await using gag = new Gag(ca)
    await using client = clientOf(await gag.listen(), ca)
    const request = await newRequest()
    // The second finds the connection that the first is still waiting for.
    assert.match(await outcomeOf(client, request), /did not answer within 0\.2 s/)
    assert.match(await outcomeOf(client, request), /did not answer within 0\.2 s/)
  })

  test('[CAX-10] finds no more than 16 calls waiting for it when it speaks again, given up or not', async () => {
    await using ca = await startFakeCa()
    await using gag = new Gag(ca)
    await using client = clientOf(await gag.listen(), ca)
    const request = await newRequest()
    for (let wave = 0; wave < 10; wave += 1) {
      const calls = Array.from({ length: RUNNING_MAX }, () => outcomeOf(client, request))
      for (const outcome of await Promise.all(calls)) assert.match(outcome, /did not answer/)
    }
    gag.speak()
    let outcome = ''
    for (let call = 0; call < 50 && outcome !== 'signed'; call += 1) {
      outcome = await outcomeOf(client, request)
    }
    assert.equal(outcome, 'signed')
    assert.ok(gag.connections <= 2 * RUNNING_MAX, `${gag.connections} connections`)
  })
})
