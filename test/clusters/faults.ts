// What happens to hubs and servers while clients use them. Each fault ends with everything as it was, as far as its machines are concerned.

import { systemClock } from '../../src/platform/clock.ts'
import { invariant } from '../../src/platform/errors.ts'
import type { Random } from '../simulation/seeded-random.ts'
import { waitUntil } from '../support/processes.ts'
import type { CommitProxy } from './commit-proxy.ts'
import type { DatabaseCluster } from './database-cluster.ts'
import type { DatabaseNode } from './database-node.ts'
import type { SharedHub } from './shared-hubs.ts'

export interface FaultScene {
  readonly cluster: DatabaseCluster
  readonly hubs: readonly SharedHub[]
  /** There when the fault says so. */
  readonly proxy: CommitProxy | undefined
  readonly random: Random
}

export interface Fault {
  readonly text: string
  /** The disks have no more room than this. */
  readonly diskBytes?: number
  readonly needsProxy?: boolean
  /** Resolves when it is over. */
  readonly strike: (scene: FaultScene) => Promise<void>
}

/** Longer than it takes the others to do without. */
const AWAY_MS = 30_000
const DISK_BYTES = 640 * 1024 * 1024
const LAG_MS = 1500
const CUT_SHARE = 0.3
const CUTS = 60
const CUTS_MS_MAX = 120_000
const KILLS = 50

export const FAULTS = {
  'leader-process': {
    text: "the leader's PostgreSQL is killed; Patroni stays",
    strike: async ({ cluster }) => {
      const leader = await leaderOf(cluster)
      await leader.killServer()
      await waitUntil('another leader', async () => {
        const found = await cluster.findLeader()
        return (found !== undefined && found !== leader) || undefined
      })
    },
  },
  'leader-machine': {
    text: "the leader's machine loses its power, and starts again after 30 s",
    strike: async ({ cluster }) => {
      await losePower(cluster, await leaderOf(cluster))
    },
  },
  'leader-stopped': {
    text: "all of the leader's machine stands still for 30 s (SIGSTOP)",
    strike: async ({ cluster }) => {
      const { machine } = await leaderOf(cluster)
      await machine.signalAll('STOP')
      await systemClock.sleep(AWAY_MS)
      await machine.signalAll('CONT')
    },
  },
  'leader-cut': {
    text: "the leader's machine is cut off from everybody for 30 s",
    strike: async ({ cluster }) => {
      const { number } = await leaderOf(cluster)
      await cluster.cut(number)
      await systemClock.sleep(AWAY_MS)
      await cluster.heal(number)
    },
  },
  'leader-split': {
    text: 'the leader is cut off from the other servers for 30 s, and not from the hubs',
    strike: async ({ cluster }) => {
      const leader = await leaderOf(cluster)
      await refuseOthers(cluster, leader)
      await systemClock.sleep(AWAY_MS)
      await leader.refuseNobody()
    },
  },
  'disk-full': {
    text: "the leader's disk is full for 30 s",
    diskBytes: DISK_BYTES,
    strike: async ({ cluster }) => {
      const leader = await leaderOf(cluster)
      await leader.fillDisk()
      await systemClock.sleep(AWAY_MS)
      await leader.emptyDisk()
    },
  },
  'hub-killed': {
    text: 'a hub is killed (kill -9), and started again at once',
    strike: killOneHub,
  },
  'hubs-killed': {
    text: `${KILLS} times, without a pause, a hub is killed (kill -9), and started again`,
    strike: async (scene) => {
      for (let kill = 0; kill < KILLS; kill += 1) await killOneHub(scene)
    },
  },
  'commits-cut': {
    text: `${CUTS} connections are cut around a COMMIT, or stay silent after it`,
    needsProxy: true,
    strike: async ({ proxy }) => {
      invariant(proxy, 'it is between hubs and servers')
      const goal = proxy.cuts + CUTS
      proxy.cutShare = CUT_SHARE
      await waitUntil('the cuts', () => proxy.cuts >= goal || undefined, CUTS_MS_MAX)
      proxy.cutShare = 0
    },
  },
  lag: {
    text: `the standbys get nothing for ${LAG_MS} ms, and then the leader's machine loses its power`,
    strike: async ({ cluster }) => {
      const leader = await leaderOf(cluster)
      await refuseOthers(cluster, leader)
      await systemClock.sleep(LAG_MS)
      await losePower(cluster, leader)
      await leader.refuseNobody()
    },
  },
} as const satisfies Readonly<Record<string, Fault>>

export type FaultName = keyof typeof FAULTS

async function killOneHub({ hubs, random }: FaultScene): Promise<void> {
  const hub = hubs[Math.floor(random() * hubs.length)]
  invariant(hub, 'there is a hub')
  await hub.kill()
  await hub.start()
}

async function leaderOf(cluster: DatabaseCluster): Promise<DatabaseNode> {
  const leader = await cluster.findLeader()
  invariant(leader, 'a whole cluster has a leader')
  return leader
}

async function refuseOthers(cluster: DatabaseCluster, leader: DatabaseNode): Promise<void> {
  const others = cluster.nodes.filter((node) => node !== leader)
  for (const { address } of others) await leader.refuse(address)
}

/** For a while. Its kernel would send what is written; of a machine that is off nobody gets that. */
async function losePower(cluster: DatabaseCluster, node: DatabaseNode): Promise<void> {
  await cluster.cut(node.number)
  await node.machine.signalAll('KILL')
  await systemClock.sleep(AWAY_MS)
  await cluster.heal(node.number)
  await node.startServices()
}
