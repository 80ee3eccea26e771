// Three PostgreSQL under Patroni with three etcd, each on a machine of its own, as docs/high-availability.md sets them up.

import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { WritableConnection } from '../../src/hub/store/postgres/writable-connection.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { Secret } from '../../src/platform/secret.ts'
import { ensurePatroni } from '../../tools/install-patroni.ts'
import { createFakeCa } from '../fakes/hub-certificates.ts'
import { postgresProgram } from '../services/support/required-programs.ts'
import { waitUntil } from '../support/processes.ts'
import { pathOfTool } from '../support/tools.ts'
import { DatabaseNode } from './database-node.ts'
import { MachineNetwork } from './machine-network.ts'
import { type ReplicationMode, replacementsOfMode } from './reference-settings.ts'

export interface ClusterOptions {
  readonly replication: ReplicationMode
  /** Where `postgres` and its tools are; the newest that Debian has here when it is undefined. */
  readonly programs: string | undefined
  /** The one that Debian has here when it is undefined. */
  readonly etcd: string | undefined
  /** The size of each disk, for disks that are to be full; undefined for none that is. */
  readonly diskBytes: number | undefined
  /** What is between hub and servers reads along. */
  readonly isInTheClear: boolean
}

export interface DatabaseCluster extends AsyncDisposable {
  readonly nodes: readonly DatabaseNode[]
  readonly directory: string
  /** For SVC_DATABASE_URL. */
  readonly url: string
  /** The one that Patroni says is the leader. */
  findLeader(): Promise<DatabaseNode | undefined>
  /** Nothing reaches that machine, and nobody hears of it. */
  cut(number: number): Promise<void>
  heal(number: number): Promise<void>
  /** Resolves when all three are there, as many of them in step with the leader as the mode asks for. */
  becomeWhole(): Promise<void>
}

const NODES = [1, 2, 3]
const WHOLE_MS_MAX = 120_000
const POLL_MS = 500
const LOG_CHARACTERS = 3000
/** Of the page. */
const ADMIN_PASSWORD = 'choose-a'
const HUB_PASSWORD = 'choose-d'

interface Member {
  readonly role: string
  readonly state: string
}

export async function startDatabaseCluster(options: ClusterOptions): Promise<DatabaseCluster> {
  const stack = new AsyncDisposableStack()
  try {
    const directory = await mkdtemp(join(tmpdir(), 'cluster-'))
    stack.defer(() => rm(directory, { recursive: true, force: true }))
    // PostgreSQL is another user than root.
    await chmod(directory, 0o755)
    const network = stack.use(await MachineNetwork.start())
    const patroni = await ensurePatroni()
    if (patroni === undefined) throw new Error('Patroni could not be installed')
    const ca = await createFakeCa()
    const rootPath = join(directory, 'root.pem')
    await writeFile(rootPath, ca.rootPem)
    const settings = new Map(replacementsOfMode(options.replication))
    if (options.isInTheClear) settings.set('hostssl cartorio', 'host cartorio')
    const programs = options.programs ?? dirname(postgresProgram('postgres'))
    const { diskBytes, etcd = pathOfTool('etcd') } = options
    const common = { network, directory, ca, patroni, programs, etcd, settings, diskBytes }
    const nodes: DatabaseNode[] = []
    for (const number of NODES) {
      const node = await DatabaseNode.create(number, common)
      stack.use(node.machine)
      nodes.push(node)
    }
    await startServices(nodes)
    const isSynchronous = options.replication !== 'async'
    const cluster = {
      nodes,
      directory,
      url: urlOf(nodes, rootPath),
      findLeader: () => findLeader(nodes),
      cut: (number: number) => network.cut(number),
      heal: (number: number) => network.heal(number),
      becomeWhole: () => becomeWhole(nodes, isSynchronous),
    }
    await cluster.becomeWhole()
    await createDatabase(nodes, ca.rootPem)
    return { ...cluster, [Symbol.asyncDispose]: () => stack.disposeAsync() }
  } catch (error) {
    await stack.disposeAsync()
    throw error
  }
}

async function startServices(nodes: readonly DatabaseNode[]): Promise<void> {
  for (const node of nodes) await node.startEtcd()
  for (const node of nodes) await node.startPatroni()
}

async function findLeader(nodes: readonly DatabaseNode[]): Promise<DatabaseNode | undefined> {
  const answers = await Promise.all(nodes.map((node) => node.ask('/leader')))
  return nodes.find((_, index) => answers[index]?.status === 200)
}

async function becomeWhole(nodes: readonly DatabaseNode[], isSynchronous: boolean): Promise<void> {
  const isWhole = async (): Promise<true | undefined> => {
    const leader = await findLeader(nodes)
    const answer = await leader?.ask('/cluster')
    const members = answer === undefined ? [] : await readMembers(answer)
    if (areWhole(members, isSynchronous)) return true
    await systemClock.sleep(POLL_MS)
    return undefined
  }
  try {
    await waitUntil('the cluster to be whole', isWhole, WHOLE_MS_MAX)
  } catch (error) {
    const logs = await Promise.all(nodes.map(({ log }) => readFile(log, 'utf8')))
    const ends = logs.map((text, index) => `db${index + 1}:\n${text.slice(-LOG_CHARACTERS)}`)
    throw new Error(ends.join('\n'), { cause: error })
  }
}

async function readMembers(answer: Response): Promise<readonly Member[]> {
  // Patroni may be killed while it answers.
  const said: unknown = await answer.json().catch(() => ({ members: [] }))
  return (said as { readonly members: readonly Member[] }).members
}

function areWhole(members: readonly Member[], isSynchronous: boolean): boolean {
  const following = members.filter(({ state }) => state === 'streaming')
  const isFollowed = following.length === NODES.length - 1
  return isFollowed && (!isSynchronous || following.some(({ role }) => role === 'sync_standby'))
}

function urlOf(nodes: readonly DatabaseNode[], rootPath: string): string {
  const hosts = nodes.map(({ address }) => `${address}:5432`).join(',')
  return `postgresql://svc:${HUB_PASSWORD}@${hosts}/cartorio?sslrootcert=${rootPath}`
}

async function createDatabase(nodes: readonly DatabaseNode[], rootPem: string): Promise<void> {
  const connection = await WritableConnection.open({
    hosts: nodes.map(({ address }) => ({ host: address, port: 5432 })),
    database: 'postgres',
    user: 'postgres',
    password: new Secret(ADMIN_PASSWORD),
    tls: { rootsPem: [rootPem] },
  })
  try {
    await connection.query(`CREATE ROLE svc LOGIN PASSWORD '${HUB_PASSWORD}'`)
    await connection.query('CREATE DATABASE cartorio OWNER svc')
  } finally {
    connection.destroy()
  }
}
