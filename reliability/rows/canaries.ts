// Tokens are put wherever somebody could put one, and all that hub, agent and CLI write is searched for them. Then
// strangers are refused again and again, and what that leaves in the log is weighed.

import { hash } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { agentEnvironment } from '../../test/support/agent-environment.ts'
import { startDevCaProcess } from '../../test/support/dev-ca-process.ts'
import { enrollHost, type EnrolledHost } from '../../test/support/enrolled-host.ts'
import { HUB_NAME, WITH_ADMIN_PORT } from '../../test/support/hub.ts'
import { type HubProcess, startHubProcess } from '../../test/support/hub-process.ts'
import { runProgram, waitUntil } from '../../test/support/processes.ts'
import type { ReliabilityRow, RowContext, RowResult } from '../row.ts'
import { findTraces } from '../support/canaries/find-traces.ts'
import { IN_THE_CLEAR, type Place, PLACES } from '../support/canaries/places.ts'
import {
  type FloodedPort,
  floodWithRefusals,
  type Targets,
} from '../support/canaries/refusal-flood.ts'
import { pickInteger } from '../support/pick.ts'

const COUNTS = {
  small: { places: 40, refusals: 500 },
  full: { places: Number.POSITIVE_INFINITY, refusals: 20_000 },
} as const
const LOG_BYTES_MAX = 100
const KINDS = ['svct', 'svca'] as const
type Kind = (typeof KINDS)[number]

export const canaries: ReliabilityRow = {
  name: 'canaries',
  promise:
    'no log holds a token, a token in a URL ends; a refusal leaves less than 100 bytes in the log',
  run: async (context) => {
    await using stack = new AsyncDisposableStack()
    const ca = stack.use(await startDevCaProcess())
    const hub = stack.use(
      await startHubProcess({
        caEnvironment: ca.environment,
        environment: {
          ...WITH_ADMIN_PORT,
          SVC_METRICS_BIND: '127.0.0.1:0',
          SVC_TRUSTED_PROXIES: '127.0.0.1',
          RUST_LOG: 'debug',
        },
      }),
    )
    const host = await enrollHost(hub, 'canary.example')
    const scene: Scene = { hub, host, caPath: ca.rootPath, canaries: [], broken: [] }
    await putEverywhere(scene, context, 'debug')
    const programs = await runPrograms(scene, context)
    search(scene, (await hub.stop()).stderr, 'the log of the hub')
    await hub.start({ RUST_LOG: 'info' })
    await putEverywhere(scene, context, 'info')
    const { refusals } = COUNTS[context.setting]
    const net = pickInteger(context.random, 0, 255)
    const targets = await findTargets(scene)
    const weights = [
      await weigh(scene, targets, refusals, 'one stranger', () => `198.51.100.${net}`),
      await weigh(
        scene,
        targets,
        refusals,
        'ever new ones',
        (nth) => `10.${net}.${nth >> 8}.${nth & 255}`,
      ),
    ]
    search(scene, (await hub.stop()).stderr, 'the log of the hub')
    const { stdout } = await hub.svc('evento', 'list', '--limit', '1000', '--json')
    search(scene, stdout, 'the audit log')
    const weighed = weights.map(({ who, bytes }) => `${bytes.toFixed(1)} bytes a refusal of ${who}`)
    return {
      tried: `${scene.canaries.length} tokens in requests at debug and info and in ${programs} programs, ${2 * refusals} refusals`,
      broken: [
        ...scene.broken,
        ...weighed.filter((_, at) => (weights[at]?.bytes ?? 0) > LOG_BYTES_MAX),
      ],
      measured: weighed.join(', '),
    } satisfies RowResult
  },
}

interface Scene {
  readonly hub: HubProcess
  readonly host: EnrolledHost
  readonly caPath: string
  readonly canaries: Canary[]
  readonly broken: string[]
}

interface Canary {
  readonly token: string
  readonly where: string
}

async function putEverywhere(scene: Scene, context: RowContext, level: string): Promise<void> {
  const { hub, broken } = scene
  const targets = await findTargets(scene)
  const ports = Object.keys(targets) as FloodedPort[]
  const wanted = ports.flatMap((port) =>
    placesOf(port).flatMap((place) => KINDS.map((kind) => ({ port, place, kind }))),
  )
  const chosen = shuffled(wanted, context).slice(0, COUNTS[context.setting].places)
  const own: (Canary & { readonly kind: Kind; readonly isUrl: boolean })[] = []
  for (const { port, place, kind } of chosen) {
    const token = await createToken(hub, kind, scene.canaries.length + own.length)
    const where = `${level}, ${port}, ${kind}, ${place.name}`
    await place.put(targets[port], token).catch((error: unknown) => {
      throw new Error(where, { cause: error })
    })
    own.push({ token, where, kind, isUrl: place.isUrl })
  }
  const open = await findOpenTokens(hub)
  for (const { token, where, isUrl } of own) {
    if (open.has(idOf(token)) === isUrl) broken.push(`${where}: ${isUrl ? 'still good' : 'ended'}`)
  }
  scene.canaries.push(...own)
}

/** A request to a port of TLS is in TLS, but for one. */
function placesOf(port: FloodedPort): readonly Place[] {
  // What is no HTTP is not looked at there: Node answers it.
  if (port === 'metrics') return PLACES.filter(({ isBroken }) => !isBroken)
  return port === 'mtls' || port === 'admin' ? [...PLACES, IN_THE_CLEAR] : PLACES
}

async function findTargets({ hub, host, caPath }: Scene): Promise<Targets> {
  const metrics = await waitUntil('the metrics port', () =>
    hub.logEntries().find(({ msg }) => msg === 'metrics listening'),
  )
  const trusted = await readFile(caPath, 'utf8')
  return {
    health: { port: hub.ports.health },
    enroll: { port: hub.ports.enroll },
    mtls: host.mtls,
    admin: { port: hub.ports.admin ?? 0, tls: { ca: trusted, servername: HUB_NAME } },
    metrics: { port: Number(metrics['port']) },
  }
}

async function createToken(hub: HubProcess, kind: Kind, nth: number): Promise<string> {
  if (kind === 'svct') return hub.createToken({ hostname: `canary-${nth}.example` })
  const request = { name: `canary-${nth}`, role: 'viewer' }
  return (await hub.admin<{ token: string }>('POST', '/v1/admin/admin-tokens', request)).token
}

/** By their ids, the tokens of both kinds. */
async function findOpenTokens(hub: HubProcess): Promise<ReadonlySet<string>> {
  interface Listed {
    readonly id: string
    readonly expires_at: string
    readonly revoked_at?: string | null
  }
  const { tokens } = await hub.admin<{ tokens: Listed[] }>('GET', '/v1/admin/tokens')
  const { admin_tokens: adminTokens } = await hub.admin<{ admin_tokens: Listed[] }>(
    'GET',
    '/v1/admin/admin-tokens',
  )
  const isOpen = ({ expires_at: expiresAt, revoked_at: revokedAt = null }: Listed): boolean =>
    Date.parse(expiresAt) > Date.now() && revokedAt === null
  return new Set([...tokens, ...adminTokens].filter(isOpen).map(({ id }) => id))
}

function idOf(token: string): string {
  return hash('sha256', token, 'hex').slice(0, 16)
}

function search({ canaries: all, broken }: Scene, text: string, what: string): void {
  for (const { token, where } of all) {
    broken.push(...findTraces(text, token).map((trace) => `${where}: in ${what}, ${trace}`))
  }
}

/** How many were run. */
async function runPrograms(scene: Scene, context: RowContext): Promise<number> {
  const { hub } = scene
  const token = await hub.createToken({ hostname: 'canary-of-programs.example' })
  scene.canaries.push({ token, where: 'programs' })
  const tokenFile = join(context.directory, 'token')
  await writeFile(tokenFile, `${token}\n`, { mode: 0o600 })
  const dataDir = join(context.directory, 'agent')
  const environment = {
    ...agentEnvironment(hub, { hostname: 'another.example', dataDir }),
    RUST_LOG: 'debug',
    SVC_ENROLL_TOKEN: token,
  }
  const withUrl = { ...environment, SVC_SERVER_URL: `http://127.0.0.1:1/${token}` }
  const runs: (() => Promise<{ readonly stdout: string; readonly stderr: string }>)[] = [
    () => runProgram('svc-agent', ['enroll'], environment),
    () => runProgram('svc-agent', ['enroll', '--allow-http'], withUrl),
    () => runProgram('svc-agent', ['enroll', `--${token}`], environment),
    () => hub.svc('agente', 'show', token),
    () => hub.svc('token', 'revoke', `${token}x`),
    () => hub.svc(`--${token}`),
    () => hub.svc('--hub', `https://127.0.0.1:1/${token}`, '--token-file', tokenFile, 'status'),
  ]
  const chosen = context.setting === 'full' ? runs : shuffled(runs, context).slice(0, 2)
  for (const run of chosen) {
    const { stdout, stderr } = await run()
    search(scene, `${stdout}${stderr}`, 'what a program printed')
  }
  return chosen.length
}

interface Weight {
  readonly who: string
  /** Of log, for each refusal. */
  readonly bytes: number
}

async function weigh(
  { hub }: Scene,
  targets: Targets,
  count: number,
  who: string,
  addressOf: (nth: number) => string,
): Promise<Weight> {
  const before = hub.logText().length
  const sent = await floodWithRefusals(targets, count, addressOf)
  return { who, bytes: (hub.logText().length - before) / sent }
}

function shuffled<Item>(items: readonly Item[], { random }: RowContext): Item[] {
  return items
    .map((item) => ({ item, rank: random() }))
    .toSorted((one, other) => one.rank - other.rank)
    .map(({ item }) => item)
}
