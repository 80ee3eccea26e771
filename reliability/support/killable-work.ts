// The four things that an agent does to its host's files, each ready to be killed in the middle and looked at afterwards.

import { chmod, mkdir, readlink, rename, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createDelivery, findDelivery } from '../../test/support/deliveries.ts'
import { withIdentity } from '../../test/support/enrolled-host.ts'
import { agentEnvironment } from '../../test/support/agent-environment.ts'
import type { HubProcess } from '../../test/support/hub-process.ts'
import { type Ended, runProgram, type Variables } from '../../test/support/processes.ts'
import { send } from '../../test/support/wire-client.ts'
import { findOpenKeys, type Pair, readPair, readText } from './host-files.ts'
import type { ProgramRun } from './kill-points.ts'

export interface KillableWork {
  readonly name: string
  /** Before each time; answers what is to be run and killed. */
  prepare(): Promise<ProgramRun>
  /** Right after the kill: what is not as it has to be. */
  inspect(): Promise<string[]>
  /** Starts the agent again, as its service would, and says what is not as it has to be then. */
  recover(): Promise<string[]>
}

class Host {
  readonly hub: HubProcess
  readonly hostname: string
  readonly directory: string
  readonly environment: Variables

  constructor(hub: HubProcess, directory: string, hostname: string) {
    this.hub = hub
    this.hostname = hostname
    this.directory = join(directory, hostname)
    this.environment = {
      ...agentEnvironment(hub, { hostname, dataDir: this.path('data') }),
      SVC_AGENT_TARGETS_DIR: this.path('targets.d'),
    }
  }

  static async create(hub: HubProcess, directory: string, hostname: string): Promise<Host> {
    const host = new Host(hub, directory, hostname)
    await mkdir(host.directory, { mode: 0o755 })
    return host
  }

  static async enrol(hub: HubProcess, directory: string, hostname: string): Promise<Host> {
    const host = await Host.create(hub, directory, hostname)
    const token = await hub.createToken({ hostname })
    mustSucceed(await host.agent(['enroll'], { SVC_ENROLL_TOKEN: token }))
    return host
  }

  path(name: string): string {
    return join(this.directory, name)
  }

  agent(args: readonly string[], more: Variables = {}): Promise<Ended> {
    return runProgram('svc-agent', args, { ...this.environment, ...more })
  }

  identityPair(): Promise<Pair | string | undefined> {
    return readPair(this.path('data/identity/agent.crt'), this.path('data/identity/agent.key'))
  }

  delivered(nome: string): Promise<Pair | string | undefined> {
    return readPair(this.path(`data/out/${nome}.crt`), this.path(`data/out/${nome}.key`))
  }

  /** Whether the hub knows this host by the identity on its disk. */
  async findIdentityFault(): Promise<string | undefined> {
    const pair = await this.identityPair()
    if (pair === undefined) return 'no identity'
    if (typeof pair === 'string') return pair
    const caPem = (await readText(this.path('data/identity/ca.pem'))) ?? ''
    const target = withIdentity(
      this.hub,
      {
        keyPem: pair.keyPem,
        certPem: pair.certificatePem,
        caPem,
      },
      { servername: 'localhost' },
    )
    const { status, text } = await send(target, { path: '/v1/manifest' })
    return status === 200 ? undefined : `the hub answers ${status} ${text}`
  }
}

/** A new host each time. */
export function enrolling(hub: HubProcess, directory: string): KillableWork {
  let host: Host
  let token = ''
  let count = 0
  return {
    name: 'enroll',
    prepare: async () => {
      count += 1
      host = await Host.create(hub, directory, `enrolled-${count}`)
      token = await hub.createToken({ hostname: host.hostname })
      return { args: ['enroll'], environment: { ...host.environment, SVC_ENROLL_TOKEN: token } }
    },
    inspect: async () => faultsOf(await host.identityPair(), await findOpenKeys(host.directory)),
    recover: async () => {
      const { status, stderr } = await host.agent(['enroll'], { SVC_ENROLL_TOKEN: token })
      const isDone = status === 0 || stderr.includes('identity already present')
      const faults = isDone ? [] : [`enroll again: ${stderr}`]
      const { agentes } = await hub.admin<{ agentes: { hostname: string }[] }>(
        'GET',
        '/v1/admin/agentes',
      )
      const rows = agentes.filter(({ hostname }) => hostname === host.hostname).length
      if (rows !== 1) faults.push(`${rows} agent rows`)
      return [...faults, ...listed(await host.findIdentityFault())]
    },
  }
}

/** The same host each time, which must have an identity at every instant. */
export async function rotating(hub: HubProcess, directory: string): Promise<KillableWork> {
  const host = await Host.enrol(hub, directory, 'rotated')
  return {
    name: 'rotate',
    prepare: async () => ({ args: ['rotate'], environment: host.environment }),
    inspect: async () =>
      faultsOf((await host.identityPair()) ?? 'no identity', await findOpenKeys(host.directory)),
    recover: async () => {
      const { status, stderr } = await host.agent(['rotate'])
      const faults = status === 0 ? [] : [`rotate again: ${stderr}`]
      return [...faults, ...listed(await host.findIdentityFault())]
    },
  }
}

/** The next version of a delivery each time; once there is a pair there must always be one. */
export async function installing(hub: HubProcess, directory: string): Promise<KillableWork> {
  const host = await Host.enrol(hub, directory, 'installed')
  const { cargaId } = await createDelivery(hub, host.hostname, 'site')
  mustSucceed(await host.agent(['run', '--once']))
  let delivery = ''
  return {
    name: 'install',
    prepare: async () => {
      delivery = await nextVersion(hub, cargaId)
      return { args: ['run', '--once'], environment: host.environment }
    },
    inspect: async () => [
      ...faultsOf((await host.delivered('site')) ?? 'no pair', []),
      ...faultsOf((await host.identityPair()) ?? 'no identity', await findOpenKeys(host.directory)),
    ],
    recover: async () => {
      const { status, stderr } = await host.agent(['run', '--once'])
      const faults = status === 0 ? [] : [`run --once again: ${stderr}`]
      const shown = await findDelivery(hub, delivery)
      if (shown?.status !== 'instalada') faults.push(`the delivery is ${shown?.status}`)
      return [...faults, ...faultsOf((await host.delivered('site')) ?? 'no pair', [])]
    },
  }
}

const TARGET_MODE = 0o640

/** From one version to the other and back; after a restart all files are of one of them. */
export async function switchingTargets(hub: HubProcess, directory: string): Promise<KillableWork> {
  const host = await Host.enrol(hub, directory, 'targeted')
  const { cargaId } = await createDelivery(hub, host.hostname, 'site')
  mustSucceed(await host.agent(['run', '--once']))
  await nextVersion(hub, cargaId)
  mustSucceed(await host.agent(['run', '--once']))
  const files = await writeTarget(host)
  const current = host.path('data/out/.versions/site/current')
  const versions = [await readlink(current), '000001']
  const wholes: string[] = []
  for (const version of versions) {
    await point(current, version)
    mustSucceed(await host.agent(['targets', 'apply']))
    wholes.push(await standing(files))
  }
  let next = 0
  const modesOf = (path: string): readonly number[] =>
    path.startsWith(host.path('tls')) ? [0o600, TARGET_MODE] : [0o600]
  return {
    name: 'target switch',
    prepare: async () => {
      await point(current, versions[next] ?? '')
      return { args: ['targets', 'apply', '--now'], environment: host.environment }
    },
    inspect: async () => [
      ...(await findOpenKeys(host.directory, modesOf)),
      ...(await findOpenKeys(`${host.path('data')}-targets`)),
    ],
    recover: async () => {
      const faults: string[] = []
      // What was rolled back is held back for a minute, which it says by its exit status.
      const { stdout, stderr } = await host.agent(['targets', 'apply'])
      const now = wholes.indexOf(await standing(files))
      if (now === -1) faults.push(`neither the old nor the new set: ${stdout}${stderr}`)
      if (now !== next) {
        const again = await host.agent(['targets', 'apply', '--now'])
        if (again.status !== 0) faults.push(`targets apply --now: ${again.stdout}${again.stderr}`)
      }
      if ((await standing(files)) !== wholes[next]) faults.push('the new set does not come')
      faults.push(...(await findOpenKeys(host.directory, modesOf)))
      next = 1 - next
      return faults
    },
  }
}

async function writeTarget(host: Host): Promise<string[]> {
  await mkdir(host.path('targets.d'), { mode: 0o755 })
  await mkdir(host.path('tls'), { mode: 0o755 })
  const files = [
    { name: 'site.pem', content: '["cert", "chain", "key"]', mode: '0640' },
    { name: 'site.key', content: '["key"]', mode: '0600' },
    { name: 'chain.pem', content: '["cert", "chain", "ca"]', mode: '0644' },
  ]
  const tables = files.map(
    ({ name, content, mode }) =>
      `[[file]]\npath = "${host.path(`tls/${name}`)}"\ncontent = ${content}\nmode = "${mode}"\n`,
  )
  const place = host.path('targets.d/site.toml')
  await writeFile(place, `nome = "site"\nreload = ["/bin/true"]\n\n${tables.join('\n')}`)
  await chmod(place, 0o644)
  return files.map(({ name }) => host.path(`tls/${name}`))
}

async function standing(files: readonly string[]): Promise<string> {
  const texts = await Promise.all(files.map(readText))
  return texts.map((text) => text ?? 'nothing').join('\n--\n')
}

async function point(link: string, version: string): Promise<void> {
  await symlink(version, `${link}.new`)
  await rename(`${link}.new`, link)
}

async function nextVersion(hub: HubProcess, cargaId: string): Promise<string> {
  const { status, stdout, stderr } = await hub.svc('carga', 'update', cargaId, '--json')
  if (status !== 0) throw new Error(stderr)
  const { entregas } = JSON.parse(stdout) as { entregas: { id: string }[] }
  return entregas[0]?.id ?? ''
}

function mustSucceed({ status, stdout, stderr }: Ended): void {
  if (status !== 0) throw new Error(`${stdout}${stderr}`)
}

function faultsOf(pair: Pair | string | undefined, others: readonly string[]): string[] {
  return typeof pair === 'string' ? [pair, ...others] : [...others]
}

function listed(fault: string | undefined): string[] {
  return fault === undefined ? [] : [fault]
}
