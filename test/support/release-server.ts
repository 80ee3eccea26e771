// Where releases are fetched from, on loopback: any answer for any path, over http and https.

import { createServer, type RequestListener, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { createFakeCa } from '../fakes/hub-certificates.ts'

export type Answer = (response: ServerResponse) => void

export class ReleaseServer implements AsyncDisposable {
  readonly #answers = new Map<string, Answer>()
  readonly requests: string[] = []
  #servers: ReturnType<typeof createServer>[] = []
  #directory = ''
  httpUrl = ''
  httpsUrl = ''
  /** The root certificate of the https one. */
  caPath = ''

  static async start(): Promise<ReleaseServer> {
    const server = new ReleaseServer()
    await server.#listen()
    return server
  }

  /** A release as `<URL>/<name>`; a response of its own in place of a file where one is given. */
  offer(name: string, content: Uint8Array | Answer, signature: Uint8Array | Answer): void {
    this.#answers.set(`/${name}/svc-agent`, answerOf(content))
    this.#answers.set(`/${name}/svc-agent.minisig`, answerOf(signature))
  }

  async #listen(): Promise<void> {
    this.#directory = await mkdtemp(join(tmpdir(), 'releases-'))
    this.caPath = join(this.#directory, 'root.pem')
    const ca = await createFakeCa()
    await writeFile(this.caPath, ca.rootPem)
    const { certificatePem, keyPem } = await ca.issueServer('localhost')
    const listener: RequestListener = (request, response) => {
      this.requests.push(request.url ?? '')
      const answer = this.#answers.get(request.url ?? '') ?? answerStatus(404)
      response.on('error', () => undefined)
      answer(response)
    }
    this.#servers = [
      createServer(listener),
      createTlsServer({ cert: certificatePem, key: keyPem }, listener),
    ]
    const [http, https] = await Promise.all(
      this.#servers.map(async (server) => {
        server.listen(0, '127.0.0.1')
        await once(server, 'listening')
        return (server.address() as AddressInfo).port
      }),
    )
    this.httpUrl = `http://127.0.0.1:${http}`
    this.httpsUrl = `https://localhost:${https}`
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const server of this.#servers) {
      server.closeAllConnections()
      server.close()
    }
    await rm(this.#directory, { recursive: true, force: true })
  }
}

export function answerStatus(status: number): Answer {
  return (response) => response.writeHead(status).end('sorry')
}

export function answerRedirect(location: string): Answer {
  return (response) => response.writeHead(302, { location }).end()
}

/** Says how long it is, and stops half way. */
export function answerTruncated(content: Uint8Array): Answer {
  return (response) => {
    response.writeHead(200, { 'content-length': content.length })
    response.write(content.subarray(0, content.length >> 1), () => response.destroy())
  }
}

/** Never says how long it is, and never ends. */
export function answerEndless(): Answer {
  return (response) => {
    const chunk = Buffer.alloc(1024 * 1024, 'x')
    const more = (): void => {
      while (!response.destroyed && response.write(chunk));
    }
    response.on('drain', more)
    more()
  }
}

function answerOf(content: Uint8Array | Answer): Answer {
  if (typeof content === 'function') return content
  return (response) => {
    response.writeHead(200, { 'content-length': content.length }).end(content)
  }
}
