// A host as Debian has it: services that find their certificates in places of root's, and the real agent beside them.

import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { chmod, chown, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { agentEnvironment } from '../../support/agent-environment.ts'
import { createDelivery, findDelivery, type ListedDelivery } from '../../support/deliveries.ts'
import type { TestHub } from '../../support/hub.ts'
import {
  type Ended,
  runProgram,
  type RunningProgram,
  startProgram,
  type Variables,
  waitUntil,
} from '../../support/processes.ts'
import type { ServicesHub } from './use-services-hub.ts'

export interface TargetEvent {
  readonly entrega_id: string | null
  readonly payload: Readonly<Record<string, unknown>>
}

export interface TargetText {
  readonly reload: readonly string[]
  readonly port: number
  readonly probeProtocol?: 'tls' | 'postgres'
  readonly keyType?: string
  /** Each the keys of a `[[file]]`. */
  readonly files: readonly Readonly<Record<string, string | readonly string[]>>[]
}

/** The name of the delivery, and the name that its certificate is for. */
export const ARTEFACT = 'site'
export const SITE = 'site.test'
/** Nobody's: an agent without rights. */
export const AGENT_USER = 65_531

/** With the real /etc, for who gave this run one of its own: `CONTRIBUTING.md` says how. */
const IS_REAL_ETC = process.env['TEST_REAL_ETC'] === '1'
/** No temporary directory will do: everyone may write there. */
const ROOTS_OWN = '/var/lib'
const LONG_MS = 60_000
const LOG_CHARACTERS = 4000

export class ServiceHost implements AsyncDisposable {
  readonly hostname: string
  readonly hub: TestHub
  /** The certificate that all chains lead to. */
  readonly rootPath: string
  readonly directory: string
  /** Whose the agent is, which never is another user while it runs. */
  readonly agentUser: number
  /** What is started on the host ends with it, the last first. */
  readonly resources = new AsyncDisposableStack()
  #cargoId = ''
  #running: RunningProgram | undefined
  #lastApply = ''

  private constructor(
    { ca, hub }: ServicesHub,
    hostname: string,
    agentUser: number,
    directory: string,
  ) {
    this.hub = hub
    this.rootPath = ca.rootPath
    this.hostname = hostname
    this.agentUser = agentUser
    this.directory = directory
  }

  /** The agent belongs to `agentUser`: whoever starts it, it becomes that user. */
  static async create(
    services: ServicesHub,
    hostname: string,
    agentUser = 0,
  ): Promise<ServiceHost> {
    const directory = await mkdtemp(join(ROOTS_OWN, 'cartorio-test-'))
    const host = new ServiceHost(services, hostname, agentUser, directory)
    try {
      await chmod(directory, 0o755)
      for (const name of ['data', 'targets.d', 'run', 'log']) await mkdir(host.path(name))
      await chown(host.path('data'), agentUser, agentUser)
      const token = await host.hub.createToken({ hostname })
      const enrolled = await host.agent(['enroll'], { SVC_ENROLL_TOKEN: token })
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
      SVC_AGENT_POLL_INTERVAL: '200ms',
    }
  }

  path(name: string): string {
    return IS_REAL_ETC && name.startsWith('etc/') ? join('/', name) : join(this.directory, name)
  }

  /** Directories on the way are made as a package makes them: root's, and open. */
  async write(name: string, content: string | Buffer, mode = 0o644): Promise<string> {
    const path = this.path(name)
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, content)
    await chmod(path, mode)
    return path
  }

  async writeTarget({ reload, port, probeProtocol, keyType, files }: TargetText): Promise<void> {
    const line = (key: string, value: unknown): string => `${key} = ${JSON.stringify(value)}\n`
    const head = [
      line('nome', ARTEFACT),
      keyType === undefined ? '' : line('key_type', keyType),
      line('reload', reload),
      line('probe', `127.0.0.1:${port}`),
      line('probe_name', SITE),
      line('probe_protocol', probeProtocol ?? 'tls'),
    ]
    const tables = files.map((file) => {
      const lines = Object.entries(file).map(([key, value]) => line(key, value))
      return `\n[[file]]\n${lines.join('')}`
    })
    await this.write('targets.d/site.toml', [...head, ...tables].join(''))
  }

  /** Starts `svc-agent run`. */
  run(extra: Variables = {}): RunningProgram {
    const running = startProgram('svc-agent', ['run'], { ...this.environment, ...extra })
    this.#running = running
    this.resources.defer(() => endAbruptly(running))
    return running
  }

  /** Ends the agent that was started last, abruptly. */
  async stop(): Promise<void> {
    if (this.#running !== undefined) await endAbruptly(this.#running)
  }

  agent(args: readonly string[], extra: Variables = {}): Promise<Ended> {
    return runProgram('svc-agent', args, { ...this.environment, ...extra })
  }

  /** As root beside the agent; `now`: what failed is tried again, before its time. */
  async apply(
    options: { readonly now?: boolean; readonly extra?: Variables } = {},
  ): Promise<Ended> {
    const { now = false, extra = {} } = options
    const ended = await this.agent(['targets', 'apply', ...(now ? ['--now'] : [])], extra)
    this.#lastApply = ended.stdout + ended.stderr
    return ended
  }

  /** A certificate with names, for this host; answers the entrega. */
  async deliver(): Promise<string> {
    const { id, cargaId } = await createDelivery(this.hub, this.hostname, ARTEFACT, [
      SITE,
      `www.${SITE}`,
      '127.0.0.1',
    ])
    this.#cargoId = cargaId
    return id
  }

  /** The next version of the carga, which is a new certificate of a new key; answers the entrega. */
  async renew(): Promise<string> {
    const updated = await this.hub.admin<{ entregas: { id: string }[] }>(
      'POST',
      '/v1/admin/cargas/update',
      { carga: this.#cargoId },
    )
    return updated.entregas[0]?.id ?? ''
  }

  /** Waits until the agent has it in `out/`; answers the serial there. */
  async waitForPair(deliveryId: string): Promise<string> {
    await this.waitForEvent('entrega_instalada', ({ entrega_id: id }) => id === deliveryId)
    return this.newestSerial()
  }

  /** Waits until the targets are as the entrega wants them; answers the event. An error when they were put back. */
  waitForApplied(deliveryId: string): Promise<TargetEvent> {
    const isAbout = ({ entrega_id: id }: TargetEvent): boolean => id === deliveryId
    return this.#waitFor('alvo_aplicado', async () => {
      const reverted = (await this.events('alvo_revertido')).find(isAbout)
      assert.equal(reverted?.payload['reason'], undefined)
      return (await this.events('alvo_aplicado')).find(isAbout)
    })
  }

  async newestSerial(): Promise<string> {
    return serialOf(await readFile(this.path(`data/out/${ARTEFACT}.crt`)))
  }

  async events(type: string): Promise<TargetEvent[]> {
    const { eventos } = await this.hub.admin<{ eventos: TargetEvent[] }>(
      'POST',
      '/v1/admin/eventos/list',
      { tipo: type, agente: this.hostname },
    )
    return eventos
  }

  waitForEvent(
    type: string,
    isWanted: (event: TargetEvent) => boolean = () => true,
  ): Promise<TargetEvent> {
    return this.#waitFor(type, async () => (await this.events(type)).find(isWanted))
  }

  /** What comes in vain is explained by what the agent, or root beside it, said last. */
  async #waitFor<T>(what: string, ask: () => Promise<T | undefined>): Promise<T> {
    try {
      return await waitUntil(`${what} of ${this.hostname}`, ask, LONG_MS)
    } catch (error) {
      const said = [this.#running?.stderr() ?? '', this.#lastApply]
      throw new Error(said.map((text) => text.slice(-LOG_CHARACTERS)).join('\n'), { cause: error })
    }
  }

  delivery(id: string): Promise<ListedDelivery | undefined> {
    return findDelivery(this.hub, id)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.resources.disposeAsync()
    await rm(this.directory, { recursive: true, force: true })
  }
}

export function serialOf(pem: Buffer | string): string {
  return new X509Certificate(pem).serialNumber.toLowerCase()
}

async function endAbruptly(running: RunningProgram): Promise<void> {
  if (!running.hasEnded()) running.kill('SIGKILL')
  await running.ended
}
