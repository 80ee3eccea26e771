// The whole way, on real processes: a supervised agent updates itself, is started again, and the watcher keeps the new
// version or takes it back. A shell script supervises, where systemd would.

import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { after, before, describe, test } from 'node:test'
import { FakeHub } from '../fakes/hub-server.ts'
import { AgentHost } from '../support/agent-host.ts'
import {
  type BuiltAgents,
  buildAgents,
  InstalledAgent,
  pretendAgent,
} from '../support/built-agent.ts'
import { MinisignKey, WITH_MINISIGN } from '../support/minisign.ts'
import { type Ended, waitUntil } from '../support/processes.ts'
import { ReleaseServer } from '../support/release-server.ts'
import { SupervisedAgent } from '../support/supervised-agent.ts'

describe('an update of an agent that is supervised', WITH_MINISIGN, () => {
  let key: MinisignKey
  let built: BuiltAgents
  let server: ReleaseServer
  before(async () => {
    key = await MinisignKey.create()
    built = await buildAgents(['0.1.0', '0.1.1'], key.publicKey)
    server = await ReleaseServer.start()
    const content = await readFile(built.paths[1] ?? '')
    server.offer('good', content, key.sign(content))
    for (const [name, commands] of [
      ['crashing', 'sleep 0.2; exit 3'],
      ['idle', 'exec sleep 1000'],
    ] as const) {
      const program = pretendAgent('0.1.1', commands)
      server.offer(name, program, key.sign(program))
    }
  })
  after(async () => {
    await server[Symbol.asyncDispose]()
    await built[Symbol.asyncDispose]()
    await key[Symbol.asyncDispose]()
  })

  const startHost = (): Promise<SupervisedHost> => SupervisedHost.start(built.paths[0] ?? '')
  const updateTo = (host: SupervisedHost, name: string): Promise<Ended> =>
    host.agent.command('self-update', '--url', `${server.httpUrl}/${name}`, '--json')

  test('[UPD-10] [UPD-11] [UPD-12] ends cleanly, is started as the new version, and is kept', async () => {
    await using host = await startHost()
    await host.waitForRound('version=0.1.0 outcome=completed')
    const { status, stdout, stderr } = await updateTo(host, 'good')
    assert.equal(status, 0, stderr)
    assert.equal((JSON.parse(stdout) as { restart: string }).restart, 'restarting')
    assert.match(await host.agent.readBeside('.update'), /^outcome=completed$/m)
    await host.waitForRound('version=0.1.1 outcome=completed')
    assert.match(await host.log(), /^ended with 0$/m)
    const watched = await host.watch()
    assert.match(watched.stderr, /version 0\.1\.1 has proved itself/)
    assert.equal(existsSync(`${host.agent.binary}.update`), false)
    await host.waitForRound('version=0.1.1 outcome=completed')
  })

  test('[UPD-10] [AGV-24] tells who has to restart it where nobody supervises', async () => {
    await using host = await startHost()
    host.agent.env['SVC_AGENT_SUPERVISED'] = ''
    await host.restartSupervisor()
    await host.waitForRound('version=0.1.0 outcome=completed')
    const { stdout } = await updateTo(host, 'good')
    assert.equal((JSON.parse(stdout) as { restart: string }).restart, 'not_supervised')
  })

  for (const [name, reason] of [
    ['crashing', /its process ended|cannot be started/],
    ['idle', /no round of it within 6 s/],
  ] as const) {
    test(`[UPD-13] the ${name} version is taken back, and the old one goes on`, async () => {
      await using host = await startHost()
      await host.waitForRound('version=0.1.0 outcome=completed')
      assert.equal((await updateTo(host, name)).status, 0)
      assert.equal(await host.agent.version(), '0.1.1')
      const watched = await host.watch('6')
      assert.equal(watched.status, 0)
      assert.match(watched.stderr, reason)
      assert.equal(await host.agent.version(), '0.1.0')
      assert.ok(existsSync(`${host.agent.binary}.failed`))
      assert.equal(existsSync(`${host.agent.binary}.update`), false)
      const pollsBefore = host.hub.requestsTo('manifest').length
      await waitUntil('the old one to poll again', () =>
        host.hub.requestsTo('manifest').length > pollsBefore ? true : undefined,
      )
    })
  }

  test('[UPD-12] with a hub that is away before and after, the new version is kept', async () => {
    await using host = await startHost()
    await host.waitForRound('version=0.1.0 outcome=completed')
    await host.hub.stop()
    await host.waitForRound('version=0.1.0 outcome=network')
    assert.equal((await updateTo(host, 'good')).status, 0)
    assert.match(await host.agent.readBeside('.update'), /^outcome=network$/m)
    const watched = await host.watch()
    assert.match(watched.stderr, /version 0\.1\.1 has proved itself/)
    assert.equal(await host.agent.version(), '0.1.1')
  })

  test('[UPD-13] a version that reaches no hub where the old one did is taken back', async () => {
    await using host = await startHost()
    await host.waitForRound('version=0.1.0 outcome=completed')
    assert.equal((await updateTo(host, 'good')).status, 0)
    await host.hub.stop()
    const watched = await host.watch('6')
    assert.match(watched.stderr, /version 0\.1\.1 is taken back/)
    assert.equal(await host.agent.version(), '0.1.0')
  })
})

class SupervisedHost implements AsyncDisposable {
  readonly hub: FakeHub
  readonly #host: AgentHost
  readonly #supervised: SupervisedAgent

  private constructor(hub: FakeHub, host: AgentHost, supervised: SupervisedAgent) {
    this.hub = hub
    this.#host = host
    this.#supervised = supervised
  }

  static async start(executable: string): Promise<SupervisedHost> {
    const hub = await FakeHub.start()
    const host = await AgentHost.create(hub)
    await host.enroll()
    const agent = await InstalledAgent.create(executable)
    return new SupervisedHost(hub, host, await SupervisedAgent.start(agent, host.env))
  }

  get agent(): InstalledAgent {
    return this.#supervised.agent
  }

  restartSupervisor(): Promise<void> {
    return this.#supervised.restartSupervisor()
  }

  log(): Promise<string> {
    return this.#supervised.log()
  }

  waitForRound(start: string): Promise<void> {
    return this.#supervised.waitForRound(start)
  }

  watch(seconds?: string): Promise<Ended> {
    return this.#supervised.watch(seconds)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#supervised[Symbol.asyncDispose]()
    await this.#host[Symbol.asyncDispose]()
    await this.hub[Symbol.asyncDispose]()
  }
}
