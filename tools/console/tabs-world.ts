// A hub as a process of its own, with its CA, a fleet in trouble in its vault, and agents that ask it as those of a fleet do.

import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Daemon, startDaemon } from '../../bench/daemon.ts'
import { type LoadGenerator, startLoadGenerator } from '../../bench/load-generator.ts'
import { binary } from '../../bench/world.ts'
import { fillTroubledVault } from '../../fleet/troubled-vault.ts'
import { parseCertificatesPem } from '../../src/pki/certificates.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { Secret } from '../../src/platform/secret.ts'
import type { AdminReplies } from '../../src/protocol/admin/operations.ts'
import { initCheapVault } from '../../test/support/cheap-vault.ts'
import { startDevCaProcess } from '../../test/support/dev-ca-process.ts'
import { callAdmin } from '../../test/support/hub.ts'

/** The vault holds nothing that anybody needs. */
const PASSPHRASE = 'measured and thrown away'
const SEED = 7

export interface TabsWorld extends AsyncDisposable {
  readonly hub: Daemon
  /** Of the admin port. */
  readonly url: string
  /** Agents that poll over mutual TLS. */
  readonly polls: LoadGenerator
  /** Agents of which something becomes an entry of the log. */
  readonly events: LoadGenerator
  /** Good for one session. */
  makeCode(this: void, name: string): Promise<string>
}

export async function startTabsWorld(options: {
  readonly hosts: number
  readonly agents: number
  readonly eventAgents: number
  readonly loadProgram: string
  progress(this: void, text: string): void
}): Promise<TabsWorld> {
  const { hosts, agents, eventAgents, loadProgram, progress } = options
  await using opened = new AsyncDisposableStack()
  const directory = await mkdtemp(join(tmpdir(), 'cartorio-tabs-'))
  opened.defer(() => rm(directory, { recursive: true }))
  const ca = opened.use(await startDevCaProcess())
  const vaultRoot = join(directory, 'vault')
  const vault = await initCheapVault(vaultRoot, new Secret(PASSPHRASE))
  const [root] = parseCertificatesPem(await readFile(ca.rootPath, 'utf8'))
  const fleet = { hosts, seed: SEED, isHostile: false, now: systemClock.now() }
  await fillTroubledVault(vault, { ...fleet, rootSha256: root?.sha256 ?? '' }, progress)
  const hub = opened.use(
    await startDaemon({
      command: [binary('svc-server')],
      environment: {
        ...ca.environment,
        SVC_VAULT_ROOT: vaultRoot,
        SVC_MASTER_PASSPHRASE: PASSPHRASE,
        SVC_SERVER_CN: 'localhost',
        SVC_HEALTH_BIND: '127.0.0.1:0',
        SVC_ENROLL_BIND: '127.0.0.1:0',
        SVC_ENROLL_TLS_BIND: 'off',
        SVC_MTLS_BIND: '127.0.0.1:0',
        SVC_ADMIN_BIND: '127.0.0.1:0',
        SVC_METRICS_BIND: 'off',
        // One address and few agents stand for a fleet here.
        SVC_LIMIT_EVENTS: '0',
        SVC_LIMIT_EVENT_BYTES: '0',
      },
      logPath: join(directory, 'hub.log'),
      readyMessage: 'admin listening',
    }),
  )
  const socketPath = join(vaultRoot, 'admin.sock')
  const startLoad = async (name: string, count: number): Promise<LoadGenerator> => {
    const load = opened.use(startLoadGenerator(loadProgram))
    const setup = {
      enroll_address: `127.0.0.1:${hub.portOf('enroll listening')}`,
      mtls_address: `127.0.0.1:${hub.portOf('mtls listening')}`,
      admin_socket: socketPath,
      ca_url: ca.url,
      ca_root_path: ca.rootPath,
      provisioner_name: ca.provisionerName,
      provisioner_key: JSON.parse(ca.provisionerKey) as unknown,
      host_prefix: name,
    }
    await load.send({ do: 'setup', setup })
    await load.send({ do: 'enroll-agents', count })
    return load
  }
  progress('agents enrol')
  const polls = await startLoad('polls', agents)
  const events = await startLoad('events', eventAgents)
  const kept = opened.move()
  return {
    hub,
    url: `https://localhost:${hub.portOf('admin listening')}`,
    polls,
    events,
    makeCode: async (name) => {
      const wanted = { name, role: 'viewer', valid_seconds: 600 }
      const path = '/v1/admin/sign-in-links'
      const made = await callAdmin<AdminReplies['createSignInLink']>(
        socketPath,
        'POST',
        path,
        wanted,
      )
      return made.code
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}
