// A stranger, or an agent, who sends requests without waiting for answers: megabytes of them on one connection, on each port
// in turn, while a monitor asks for /health and a host enrols. docs/protocol.md SRF-24.
//
// What it costs is read from /proc: the hub's processor time, which other programs do not change, and its resident memory.
// How long the honest ones wait is judged in full only, where the machine has nothing else to do.

import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { connect as connectTcp, type Socket } from 'node:net'
import { join } from 'node:path'
import {
  cpuSecondsSpent,
  forgetResidentPeak,
  residentMegabytes,
  residentPeakMegabytes,
} from '../../bench/daemon.ts'
import { startDevCaProcess } from '../../test/support/dev-ca-process.ts'
import { enrollHost } from '../../test/support/enrolled-host.ts'
import { HUB_NAME, WITH_ADMIN_PORT } from '../../test/support/hub.ts'
import { type HubProcess, startHubProcess } from '../../test/support/hub-process.ts'
import { assertOk, connect, send, type TlsOptions } from '../../test/support/wire-client.ts'
import type { Random } from '../../test/simulation/seeded-random.ts'
import type { ReliabilityRow, RowResult } from '../row.ts'

const ATTACK_BYTES = 2 * 1024 * 1024
const GROWTH_MEGABYTES_MAX = 50
const HONEST_MS_MAX = 1000
/** For each attack, with the handshake and the honest enrolment beside it. */
const CPU_MS_MAX = 300
const ATTACK_MS_MAX = 20_000

const SETTINGS = {
  small: { rounds: 1, connections: 1, isTimeJudged: false },
  full: { rounds: 20, connections: 6, isTimeJudged: true },
} as const

type Open = () => Promise<Socket>

interface Attacked {
  readonly port: string
  readonly cpuMs: number
  readonly honestMs: number
  readonly isCut: boolean
}

export const pipelining: ReliabilityRow = {
  name: 'pipelining',
  promise: `the hub cuts pipelined requests on every port: honest requests take less than ${HONEST_MS_MAX} ms beside ${ATTACK_BYTES / 1024 / 1024} MB of pipelined ones, and the hub grows by less than ${GROWTH_MEGABYTES_MAX} MB`,
  run: async (context) => {
    const { setting, random } = context
    const { rounds, connections, isTimeJudged } = SETTINGS[setting]
    await using ca = await startDevCaProcess()
    await using hub = await startHubProcess({
      caEnvironment: ca.environment,
      environment: WITH_ADMIN_PORT,
    })
    const ports = await portsOf(hub, await readFile(ca.rootPath, 'utf8'))
    // What a hub needs for its first ones is not the attack's.
    for (let count = 0; count < 3; count += 1) await serveHonestly(hub, `first-${count}.example`)
    const quietMegabytes = await residentMegabytes(hub.pid)
    await forgetResidentPeak(hub.pid)
    const attacks: Attacked[] = []
    for (let round = 0; round < rounds; round += 1) {
      for (const [port, open] of Object.entries(ports)) {
        context.progress(`${port}, round ${round + 1}`)
        attacks.push(await attack(hub, random, { port, open, connections }))
      }
    }
    const grownMegabytes = (await residentPeakMegabytes(hub.pid)) - quietMegabytes
    return judge(attacks, grownMegabytes, { connections, isTimeJudged })
  },
}

async function portsOf(hub: HubProcess, trusted: string): Promise<Readonly<Record<string, Open>>> {
  const { mtls } = await enrollHost(hub, 'piping.example')
  const tls: TlsOptions = { ca: trusted, servername: HUB_NAME }
  return {
    health: () => connect({ port: hub.ports.health }),
    enroll: () => connect({ port: hub.ports.enroll }),
    mtls: () => connect(mtls),
    admin: () => connect({ port: hub.ports.admin ?? 0, tls }),
    'admin.sock': async () => {
      const socket = connectTcp(join(hub.vaultRoot, 'admin.sock'))
      await once(socket, 'connect')
      return socket
    },
  }
}

async function attack(
  hub: HubProcess,
  random: Random,
  { port, open, connections }: { port: string; open: Open; connections: number },
): Promise<Attacked> {
  const hostname = `beside-${Math.floor(random() * 1e9)}.example`
  const requests = requestsOf(random)
  const [{ honestMs, areCut }, cpu] = await cpuSecondsSpent(hub.pid, async () => {
    const sockets = await Promise.all(Array.from({ length: connections }, open))
    const ends = Promise.all(sockets.map((socket) => sendUntilCut(socket, requests)))
    return { honestMs: await serveHonestly(hub, hostname), areCut: await ends }
  })
  return { port, cpuMs: cpu * 1000, honestMs, isCut: areCut.every((isCut) => isCut) }
}

/** How long the slower of the two takes. */
async function serveHonestly(hub: HubProcess, hostname: string): Promise<number> {
  const startMs = performance.now()
  await Promise.all([
    send({ port: hub.ports.health }, { path: '/health' }).then(assertOk),
    enrollHost(hub, hostname),
  ])
  return performance.now() - startMs
}

const GET = 'GET / HTTP/1.1\r\n\r\n'
const KINDS = [
  GET,
  'GET /health HTTP/1.1\r\nHost: x\r\n\r\n',
  'HEAD /health HTTP/1.1\r\nHost: x\r\n\r\n',
  'GET /%zz HTTP/1.1\r\n\r\n',
  'POST /v1/enroll HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}',
] as const

/** Most of them the shortest that there is, now and then a few kinds in turn. */
function requestsOf(random: Random): Buffer {
  const isMixed = random() < 0.5
  const block = isMixed
    ? Array.from({ length: 8 }, () => KINDS[Math.floor(random() * KINDS.length)] ?? GET).join('')
    : GET
  return Buffer.from(block.repeat(Math.ceil(ATTACK_BYTES / block.length)))
}

/** Whether the hub has cut it, without a thing read. */
function sendUntilCut(socket: Socket, requests: Buffer): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), ATTACK_MS_MAX)
    socket.on('error', () => undefined)
    socket.once('close', () => {
      clearTimeout(timer)
      resolve(true)
    })
    socket.write(requests)
    socket.resume()
  }).finally(() => socket.destroy()) as Promise<boolean>
}

function judge(
  attacks: readonly Attacked[],
  grownMegabytes: number,
  { connections, isTimeJudged }: { readonly connections: number; readonly isTimeJudged: boolean },
): RowResult {
  const worst = (of: (attacked: Attacked) => number): number => Math.max(...attacks.map(of))
  const cpuMsMax = connections * CPU_MS_MAX
  return {
    tried: `${attacks.length} attacks of ${connections} connections with 2 MB of requests each, on 5 ports`,
    broken: [
      ...attacks.filter(({ isCut }) => !isCut).map(({ port }) => `${port}: not cut`),
      ...attacks
        .filter(({ cpuMs }) => cpuMs > cpuMsMax)
        .map(({ port, cpuMs }) => `${port}: ${cpuMs} ms of the hub's CPU`),
      ...attacks
        .filter(({ honestMs }) => isTimeJudged && honestMs >= HONEST_MS_MAX)
        .map(({ port, honestMs }) => `${port}: honest ones took ${honestMs} ms`),
      ...(grownMegabytes < GROWTH_MEGABYTES_MAX ? [] : [`grown by ${grownMegabytes} MB`]),
    ],
    measured: [
      `at most ${worst(({ cpuMs }) => cpuMs).toFixed(0)} ms of the hub's CPU an attack, with an enrolment beside it`,
      `honest ones took ${worst(({ honestMs }) => honestMs).toFixed(0)} ms at most`,
      `grown by ${grownMegabytes.toFixed(0)} MB`,
    ].join('; '),
  }
}
