// What the hub serves by itself, against servers that only answer with the same bytes.

import { join } from 'node:path'
import type { LoadGenerator } from './load-generator.ts'
import type { FigureSpec, Row, Scene } from './row.ts'
import type { Side } from './rounds.ts'
import type { World } from './world.ts'
import { startBareServer, startNginx, type Yardstick } from './yardsticks.ts'

const CLIENTS = 16
const BARE = 'bare node:https'
const BARE_KEPT = 'bare kept request'
const NGINX = 'nginx'
const HYBRID = 'the hub with X25519MLKEM768'
const DISK = '(write 512 B + fdatasync)'

export const PORT_ROWS: readonly Row[] = [
  {
    name: 'handshake',
    start: async (world, seconds) =>
      beside(world, 'handshake', seconds, {
        what: 'full mTLS handshake + manifest, 16 at once',
        nginxAim: 1.28,
        isHybridToo: true,
      }),
  },
  {
    name: 'kept',
    start: async (world, seconds) =>
      beside(world, 'kept', seconds, { what: 'manifest, 16 kept connections', bareAim: 1.8 }),
  },
  { name: 'refused-enrolment', start: startRefusals },
  { name: 'event-16', start: (world, seconds) => startEvents(world, seconds, 16) },
  { name: 'event-128', start: (world, seconds) => startEvents(world, seconds, 128) },
]

interface Aims {
  readonly what: string
  readonly nginxAim?: number
  readonly bareAim?: number
  /** What the post-quantum key exchange costs the hub, for information. */
  readonly isHybridToo?: boolean
}

/**
 * nginx as Debian has it lacks the post-quantum key exchange, so the client offers all of them X25519 alone: they do the
 * same work.
 */
async function beside(
  world: World,
  workload: string,
  seconds: number,
  { what, nginxAim, bareAim, isHybridToo = false }: Aims,
): Promise<Scene> {
  const { load, hub, mtlsAddress } = world
  await load.send({ do: 'enroll-agents', count: CLIENTS })
  const manifest = await readManifest(load)
  await using stack = new AsyncDisposableStack()
  const bare = stack.use(await startBareServer(world, { manifest }))
  const nginx = await startNginx(world, manifest)
  if (nginx !== undefined) stack.use(nginx)
  const sideOf = (
    { name, pid, address }: Omit<Yardstick, keyof AsyncDisposable>,
    isClassic = true,
  ): Side => ({
    name,
    measure: () => load.measure(workload, { seconds, pids: [pid], address, isClassic }),
  })
  const figures: FigureSpec[] = [
    ...(nginx === undefined ? [] : [{ what, by: NGINX, ...aimOf(nginxAim) }]),
    {
      what,
      by: BARE,
      ...aimOf(bareAim),
      ...(nginx === undefined ? { note: 'no nginx here to compare with' } : {}),
    },
    ...(isHybridToo ? [{ what, by: HYBRID }] : []),
  ]
  const owned = stack.move()
  return {
    sides: [
      sideOf({ name: 'hub', pid: hub.pid, address: mtlsAddress }),
      sideOf(bare),
      ...(nginx === undefined ? [] : [sideOf(nginx)]),
      ...(isHybridToo ? [sideOf({ name: HYBRID, pid: hub.pid, address: mtlsAddress }, false)] : []),
    ],
    figures: bareAim === undefined ? figures : figures.toReversed(),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

/** Unknown tokens, all from one address. */
async function startRefusals(world: World, seconds: number): Promise<Scene> {
  const { load, hub } = world
  await load.send({ do: 'enroll-agents', count: CLIENTS })
  const bare = await startBareServer(world, { manifest: await readManifest(load) })
  return {
    sides: [
      { name: 'hub', measure: () => load.measure('refused', { seconds, pids: [hub.pid] }) },
      {
        name: BARE_KEPT,
        measure: () => load.measure('kept', { seconds, pids: [bare.pid], address: bare.address }),
      },
    ],
    figures: [{ what: 'enrolment with an unknown token, 16 clients', by: BARE_KEPT }],
    [Symbol.asyncDispose]: () => bare[Symbol.asyncDispose](),
  }
}

async function startEvents(world: World, seconds: number, clients: number): Promise<Scene> {
  const { load, hub, directory } = world
  await load.send({ do: 'enroll-agents', count: clients })
  const bare = await startBareServer(world, { manifest: await readManifest(load) })
  const path = join(directory, 'fdatasync')
  const isJudged = clients === 128
  return {
    sides: [
      { name: 'hub', measure: () => load.measure('events', { seconds, clients, pids: [hub.pid] }) },
      {
        name: BARE_KEPT,
        measure: () =>
          load.measure('kept', { seconds, clients, pids: [bare.pid], address: bare.address }),
      },
      { name: DISK, measure: () => load.measure('fdatasync', { seconds, path, pids: [] }) },
    ],
    figures: [
      {
        what: `durable event, ${clients} agents`,
        by: BARE_KEPT,
        ...aimOf(isJudged ? 3 : undefined),
      },
      {
        what: 'durable events/s',
        by: DISK,
        isRate: true,
        ...(isJudged ? { aim: { atLeast: 1.5 } } : {}),
      },
    ],
    [Symbol.asyncDispose]: () => bare[Symbol.asyncDispose](),
  }
}

async function readManifest(load: LoadGenerator): Promise<string> {
  const { body } = (await load.send({ do: 'manifest' })) as { readonly body: string }
  return body
}

function aimOf(atMost: number | undefined): Pick<FigureSpec, 'aim'> {
  return atMost === undefined ? {} : { aim: { atMost } }
}
