// A host with targets: the real agent, and a server that takes its certificate from where a target puts it.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { chmod, chown, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { fileURLToPath } from 'node:url'
import { agentEnvironment } from './agent-environment.ts'
import { type LoggedEvent, readEvents, waitForEvent } from './audit-log.ts'
import type { ListedDelivery } from './deliveries.ts'
import type { TestHub } from './hub.ts'
import {
  type Ended,
  runProgram,
  type RunningProgram,
  runTool,
  startProgram,
  type Variables,
  waitUntil,
} from './processes.ts'

/** No temporary directory will do: everyone may write there. */
const ROOTS_OWN = '/var/lib'
const SERVER = fileURLToPath(new URL('../fakes/reloading-tls-server.ts', import.meta.url))
/** Nobody’s. */
export const AGENT_USER = 65_533

/** Root’s own place, with the agent as root or as a user of its own. */
export class ServedHost implements AsyncDisposable {
  readonly hostname: string
  readonly directory: string
  readonly hub: TestHub
  /** Of a poll: whatever is known sooner has another reason. */
  pollInterval = '200ms'
  readonly #stack = new AsyncDisposableStack()

  private constructor(hub: TestHub, hostname: string, directory: string) {
    this.hub = hub
    this.hostname = hostname
    this.directory = directory
  }

  static async create(hub: TestHub, hostname: string, userId = 0): Promise<ServedHost> {
    const directory = await mkdtemp(join(ROOTS_OWN, 'cartorio-targets-test-'))
    const host = new ServedHost(hub, hostname, directory)
    try {
      await chmod(directory, 0o755)
      for (const name of ['data', 'targets.d', 'tls', 'server']) await mkdir(host.path(name))
      await chown(host.path('data'), userId, userId)
      await host.#startServer()
      const token = await hub.createToken({ hostname })
      const enrolled = await runProgram('svc-agent', ['enroll'], {
        ...host.environment,
        SVC_ENROLL_TOKEN: token,
      })
      assert.equal(enrolled.status, 0, enrolled.stderr)
      return host
    } catch (error) {
      await host[Symbol.asyncDispose]()
      throw error
    }
  }

  get environment(): Variables {
    return {
      ...agentEnvironment(this.hub, { hostname: this.hostname, dataDir: this.path('data') }),
      SVC_AGENT_TARGETS_DIR: this.path('targets.d'),
      SVC_AGENT_POLL_INTERVAL: this.pollInterval,
    }
  }

  get pemPath(): string {
    return this.path('tls/site.pem')
  }

  path(name: string): string {
    return join(this.directory, name)
  }

  /** The server gets certificate and key in one file, and somebody else the key alone. */
  async writeTarget(): Promise<void> {
    const port = (await readFile(this.path('server/port'), 'utf8')).trim()
    const reload = `test ! -e ${this.path('server/broken')} || { echo the server says no >&2; exit 1; }; kill -HUP $(cat ${this.path('server/pid')})`
    await writeFile(
      this.path('targets.d/site.toml'),
      `nome = "site"
reload = ["/bin/sh", "-c", ${JSON.stringify(reload)}]
probe = "127.0.0.1:${port}"

[[file]]
path = ${JSON.stringify(this.pemPath)}
content = ["cert", "chain", "key"]
group = "${AGENT_USER}"
mode = "0640"

[[file]]
path = ${JSON.stringify(this.path('tls/ca.pem'))}
content = ["ca"]
`,
    )
  }

  /** It keeps what stands in the server’s place when it runs. */
  async writeHook(): Promise<void> {
    await mkdir(this.path('data/hooks'), { recursive: true })
    const hook = this.path('data/hooks/post-csr-cert')
    const staged = this.path('server/seen')
    await writeFile(
      hook,
      `#!/bin/sh\ncp ${this.pemPath} ${staged} && mv ${staged} ${staged}-by-hook\n`,
    )
    await chmod(hook, 0o755)
  }

  run(): RunningProgram {
    const running = startProgram('svc-agent', ['run'], this.environment)
    this.#stack.defer(() => endOf(running))
    return running
  }

  agent(...args: string[]): Promise<Ended> {
    return runProgram('svc-agent', args, this.environment)
  }

  async raise(flag: 'stubborn' | 'broken'): Promise<void> {
    await writeFile(this.path(`server/${flag}`), '')
  }

  async lower(flag: 'stubborn' | 'broken'): Promise<void> {
    await rm(this.path(`server/${flag}`))
  }

  /** Of the certificate in `out/`. */
  async newestSerial(): Promise<string> {
    return serialOf(this.path('data/out/site.crt'))
  }

  /** Of the certificate that the server shows; undefined while it has none. */
  async servedSerial(): Promise<string | undefined> {
    const port = Number(await readFile(this.path('server/port'), 'utf8'))
    return new Promise((resolve) => {
      const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false }, () => {
        resolve(socket.getPeerX509Certificate()?.serialNumber.toLowerCase())
        socket.destroy()
      })
      socket.on('error', () => resolve(undefined))
    })
  }

  events(type: string): Promise<LoggedEvent[]> {
    return readEvents(this.hub, type, this)
  }

  waitForEvent(type: string, isWanted?: (event: LoggedEvent) => boolean): Promise<LoggedEvent> {
    return waitForEvent(this.hub, type, this, isWanted)
  }

  /** As `svc entrega list` shows it. */
  async delivery(id: string): Promise<ListedDelivery | undefined> {
    const { stdout } = await this.hub.svc('entrega', 'list', '--all', '--json')
    const { entregas } = JSON.parse(stdout) as { entregas: ListedDelivery[] }
    return entregas.find((one) => one.id === id)
  }

  /** The next version of a carga: the agent gets a new certificate. Answers the entrega. */
  async update(cargaId: string): Promise<string> {
    const { stdout, status, stderr } = await this.hub.svc('carga', 'update', cargaId, '--json')
    assert.equal(status, 0, stderr)
    const { entregas } = JSON.parse(stdout) as { entregas: { id: string }[] }
    return entregas[0]?.id ?? ''
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync()
    await rm(this.directory, { recursive: true, force: true })
  }

  async #startServer(): Promise<void> {
    const child = spawn(process.execPath, [SERVER, this.pemPath, this.path('server')], {
      stdio: 'inherit',
    })
    this.#stack.defer(() => void child.kill('SIGKILL'))
    await waitUntil('the server', () =>
      readFile(this.path('server/port'), 'utf8').then(
        (text) => (text === '' ? undefined : text),
        () => undefined,
      ),
    )
  }
}

export async function endOf(running: RunningProgram): Promise<void> {
  if (!running.hasEnded()) running.kill('SIGKILL')
  await running.ended
}

async function serialOf(path: string): Promise<string> {
  const text = await runTool('openssl', ['x509', '-in', path, '-noout', '-serial'])
  return text.trim().replace('serial=', '').toLowerCase()
}
