// Updates that the hub announces: the real hub and svc, svc-ca, minisign, built agents as users of their own, and the programs of root's that the
// package has. A loop starts those, where path units would. docs/protocol.md RLO-36 to RLO-42, UPD-25 to UPD-28.

import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { chown, mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { AdminRolloutDetails } from '../../src/protocol/admin/rollouts.ts'
import { FakeHub } from '../fakes/hub-server.ts'
import { agentEnvironment } from '../support/agent-environment.ts'
import { AgentHost } from '../support/agent-host.ts'
import {
  type BuiltAgents,
  buildAgents,
  InstalledAgent,
  pretendAgent,
} from '../support/built-agent.ts'
import type { TestHub } from '../support/hub.ts'
import { MinisignKey, WITH_MINISIGN } from '../support/minisign.ts'
import { type Ended, waitUntil } from '../support/processes.ts'
import { answerStatus, ReleaseServer } from '../support/release-server.ts'
import { SupervisedAgent } from '../support/supervised-agent.ts'
import { useHub } from '../support/use-hub.ts'

const OLD = '0.1.0'
const NEW = '0.1.1'
/** Nobody’s; an agent that root starts becomes it for good. */
const AGENT_USER = 65_533
const ROLLOUT = '0123456789abcdef'
const LONG_MS = 120_000

const { hub: realHub } = useHub(undefined, { SVC_SERVER_SANS: 'localhost' })

describe('an update that the hub announces', WITH_MINISIGN, () => {
  const started = new AsyncDisposableStack()
  let key: MinisignKey
  let built: BuiltAgents
  let server: ReleaseServer
  let good: Buffer
  before(async () => {
    key = started.use(await MinisignKey.create())
    built = started.use(await buildAgents([OLD, NEW], key.publicKey))
    server = started.use(await ReleaseServer.start())
    good = await readFile(built.paths[1] ?? '')
  })
  after(() => started.disposeAsync())

  const offerGood = (place: string): void => server.offer(place, good, key.sign(good))

  describe('in two waves', () => {
    const hosts = new Map<string, RootedHost>()
    const stopped = new AsyncDisposableStack()
    after(() => stopped.disposeAsync())

    const enrol = async (hostname: string, isPermitted = true): Promise<void> => {
      offerGood(`${hostname}/${NEW}`)
      const url = isPermitted ? `${server.httpUrl}/${hostname}/{version}` : ''
      const host = await RootedHost.enrol(realHub, built.paths[0] ?? '', hostname, url)
      hosts.set(hostname, stopped.use(host))
    }
    const svc = async (...args: string[]): Promise<string> => {
      const { status, stdout, stderr } = await realHub.svc(...args)
      assert.equal(status, 0, stderr)
      return stdout
    }
    const show = async (): Promise<AdminRolloutDetails> =>
      JSON.parse(await svc('rollout', 'show', 'update', '--json')) as AdminRolloutDetails
    const versionsOf = (names: Iterable<string>): Promise<string[]> =>
      Promise.all(Array.from(names, async (name) => (await hosts.get(name)?.version()) ?? ''))

    test('[RLO-36] [RLO-37] [UPD-25] [UPD-26] reaches one host first, which installs it and says so when it has proved itself', async () => {
      for (const name of ['web-1', 'web-2', 'web-3']) await enrol(name)
      const rules = ['--waves', '1,100%', '--soak', '1s', '--max-failed', '0']
      await svc('agente', 'update', NEW, '--all', ...rules)
      // Two looks of the hub, and a soak, before the next wave.
      const first = await waitUntil(
        'a host with the new version',
        async () => {
          const names = [...hosts.keys()]
          const at = (await versionsOf(names)).indexOf(NEW)
          return at === -1 ? undefined : names[at]
        },
        LONG_MS,
      )
      await svc('rollout', 'pause', 'update')
      await waitUntil(
        'it to say so',
        async () => ((await show()).hosts.done === 1 ? true : undefined),
        LONG_MS,
      )
      assert.equal((await show()).wave, 1)
      const others = [...hosts.keys()].filter((name) => name !== first)
      assert.deepEqual(await versionsOf(others), [OLD, OLD])
      for (const name of others) {
        assert.equal(existsSync(`${hosts.get(name)?.agent.binary}.old`), false, name)
      }
    })

    test('[RLO-40] [RLO-41] [UPD-27] is frozen by a host that takes it back, and held up by none that follows no announcements', async () => {
      const names = [...hosts.keys()]
      const versions = await versionsOf(names)
      const broken = names.find((_name, at) => versions[at] === OLD) ?? ''
      const crashing = pretendAgent(NEW, 'sleep 0.2; exit 3')
      server.offer(`${broken}/${NEW}`, crashing, key.sign(crashing))
      await enrol('unwilling', false)
      await svc('rollout', 'resume', 'update')
      const frozen = await waitUntil(
        'the rollout to freeze',
        async () => {
          const shown = await show()
          return shown.state === 'frozen' && shown.hosts.pending === 0 ? shown : undefined
        },
        LONG_MS,
      )
      assert.deepEqual([frozen.wave, frozen.reason], [2, 'of 3 hosts 1 failed, where 0 may'])
      const { done, failed, declined } = frozen.hosts
      assert.deepEqual([done, failed, declined], [2, 1, 1])
      const [failure, refusal] = frozen.failures
      assert.equal(failure?.hostname, broken)
      assert.match(failure?.erro ?? '', /^version 0\.1\.1 was installed, and version 0\.1\.0 runs/)
      assert.deepEqual([refusal?.hostname, refusal?.status], ['unwilling', 'declined'])
      assert.match(refusal?.erro ?? '', /SVC_AGENT_UPDATE_URL is not set/)
      assert.equal(await hosts.get(broken)?.version(), OLD)
      assert.equal(await hosts.get('unwilling')?.version(), OLD)
      assert.ok(existsSync(`${hosts.get(broken)?.agent.binary}.failed`))
    })

    test('[RLO-42] is undone: who has the version keeps it', async () => {
      assert.match(await svc('rollout', 'undo', 'update'), /what is installed stays/)
      await waitUntil('the end', async () =>
        (await svc('rollout', 'list')).includes('undone') ? true : undefined,
      )
      const versions = await versionsOf(hosts.keys())
      assert.deepEqual(versions.toSorted(), [OLD, OLD, NEW, NEW])
    })
  })

  describe('[RLO-38] [AGV-41] of a hub in wrong hands', () => {
    const cheat = async (
      versao: string,
      how: { readonly from?: string; readonly tipo?: string } = {},
    ): Promise<string> => {
      const { from = 'honest', tipo = 'agent_update_failed' } = how
      const url = `${server.httpUrl}/${from}/{version}`
      await using host = await LiedToHost.start(built.paths[0] ?? '', url)
      host.hub.atualizacao = { versao, rollout: ROLLOUT }
      const event = await waitUntil(
        tipo,
        () => host.hub.events.find(({ tipo_evento: type }) => type === tipo),
        LONG_MS,
      )
      assert.equal(await host.rooted.version(), OLD)
      assert.equal(existsSync(`${host.rooted.agent.binary}.old`), false, 'nothing was replaced')
      const payload = event.payload as { versao: string; erro: string }
      assert.equal(payload.versao, versao)
      return payload.erro
    }

    test('an older version is declined', async () => {
      const why = await cheat('0.0.9', { tipo: 'agent_update_declined' })
      assert.equal(why, 'version 0.0.9 is older than 0.1.0, which this host has')
    })

    test('what is no version is declined, and is no part of any path', async () => {
      for (const versao of ['../../etc/passwd', '0.1.1/../evil', '0.1.1 --allow-downgrade']) {
        const why = await cheat(versao, { tipo: 'agent_update_declined' })
        assert.equal(why, `${JSON.stringify(versao)} is not a version such as 0.5.0`)
      }
      assert.ok(server.requests.every((path) => !path.includes('evil') && !path.includes('passwd')))
    })

    test('a version that does not exist is named as such', async () => {
      assert.match(await cheat('9.9.9'), /the server answered 404 \(release_missing\)$/)
    })

    test('a release that is not signed, or by another key, is refused', async () => {
      server.offer(`unsigned/${NEW}`, good, answerStatus(404))
      assert.match(await cheat(NEW, { from: 'unsigned' }), /minisig.* 404 \(release_missing\)$/)
      await using thief = await MinisignKey.create()
      server.offer(`stolen/${NEW}`, good, thief.sign(good))
      assert.match(await cheat(NEW, { from: 'stolen' }), /does NOT match .*\(signature_invalid\)$/)
    })

    test('a signed release under the number of another is refused', async () => {
      server.offer('other/0.1.2', good, key.sign(good))
      const why = await cheat('0.1.2', { from: 'other' })
      assert.equal(why, 'the release is version 0.1.1, and 0.1.2 was announced (version_differs)')
    })
  })

  describe('[UPD-26] of an agent in wrong hands', () => {
    const ask = async (host: RootedHost, text: string): Promise<Ended> => {
      await writeFile(join(host.supervised.dataDir, 'state/update-request'), text)
      return host.supervised.applyAnnounced()
    }
    const request = (version: string): string => `version=${version} rollout=${ROLLOUT} attempt=1\n`

    test('root installs nothing that is no newer signed release, whatever the request says', async () => {
      offerGood(`honest/${NEW}`)
      const old = await readFile(built.paths[0] ?? '')
      const oldSignature = key.sign(old, { trustedComment: `version:${OLD} file:svc-agent` })
      server.offer(`honest/${OLD}`, old, oldSignature)
      const url = `${server.httpUrl}/honest/{version}`
      await using lied = await LiedToHost.start(built.paths[0] ?? '', url, { isServed: false })
      const host = lied.rooted
      const { agent, supervised } = host
      const requestsBefore = server.requests.length
      for (const [text, refusal] of [
        [request('../../0.1.1'), /what the agent left is no request for a version/],
        [request('0.1.1/..'), /is no request/],
        [`version=0.1.1 url=http://evil.example rollout=${ROLLOUT} attempt=1\n`, /is no request/],
        ['x'.repeat(1_000_000), /is no request/],
        ['', /is no request/],
        [request(OLD), /version 0\.1\.0 is not newer than 0\.1\.0/],
        [request('0.0.1'), /version 0\.0\.1 is not newer than 0\.1\.0/],
      ] as const) {
        const { status, stderr } = await ask(host, text)
        assert.deepEqual([status, refusal.test(stderr)], [1, true], stderr)
        assert.equal(existsSync(join(supervised.dataDir, 'state/update-request')), false)
      }
      assert.equal(server.requests.length, requestsBefore, 'nothing was fetched for it')
      assert.equal(await host.version(), OLD)

      // A link is met with the agent's own rights, and not followed.
      const secret = join(agent.directory, 'secret')
      await writeFile(secret, request(NEW), { mode: 0o600 })
      await symlink(secret, join(supervised.dataDir, 'state/update-request'))
      const linked = await supervised.applyAnnounced()
      assert.deepEqual([linked.status, linked.stdout], [0, 'no update is asked for\n'])
      assert.equal(await readFile(secret, 'utf8'), request(NEW))

      agent.env['SVC_AGENT_UPDATE_URL'] = ''
      assert.match((await ask(host, request(NEW))).stderr, /follows no announced updates/)
      // Nor does root look at any program then.
      await writeFile(join(supervised.dataDir, 'state/update-request'), request(NEW))
      const elsewhere = await agent.command('self-update', '--announced', '--binary', '/nowhere')
      assert.match(elsewhere.stderr, /follows no announced updates/)
      agent.env['SVC_AGENT_UPDATE_URL'] = url
      // A version on trial runs as nobody but the agent's user.
      await writeFile(`${agent.binary}.update`, '')
      const waiting = await ask(host, request(NEW))
      assert.match(waiting.stderr, /is on trial: the next one waits/)
      assert.ok(existsSync(join(supervised.dataDir, 'state/update-request')))
    })

    test('an agent that cannot be told is started again all the same', async () => {
      offerGood(`honest/${NEW}`)
      const url = `${server.httpUrl}/honest/{version}`
      await using lied = await LiedToHost.start(built.paths[0] ?? '', url, { isServed: false })
      await mkdir(join(lied.rooted.supervised.dataDir, 'state/update-outcome'))
      const { status, stdout, stderr } = await ask(lied.rooted, request(NEW))
      assert.equal(status, 0, stderr)
      assert.match(stderr, /the agent cannot be told: /)
      assert.match(stdout, /the running agent ends now/)
      assert.equal(await lied.rooted.version(), NEW)
    })
  })
})

/** With a hub of its own that says what it is told to say. */
class LiedToHost implements AsyncDisposable {
  readonly hub: FakeHub
  readonly rooted: RootedHost
  readonly #host: AgentHost

  private constructor(hub: FakeHub, host: AgentHost, rooted: RootedHost) {
    this.hub = hub
    this.#host = host
    this.rooted = rooted
  }

  static async start(
    executable: string,
    updateUrl: string,
    { isServed = true }: { readonly isServed?: boolean } = {},
  ): Promise<LiedToHost> {
    const hub = await FakeHub.start()
    const host = await AgentHost.create(hub)
    await host.enroll()
    const agent = await InstalledAgent.create(executable)
    const supervised = await SupervisedAgent.start(agent, {
      ...host.env,
      SVC_AGENT_UPDATE_URL: updateUrl,
    })
    await supervised.waitForRound('version=')
    return new LiedToHost(hub, host, new RootedHost(supervised, isServed))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.rooted[Symbol.asyncDispose]()
    await this.#host[Symbol.asyncDispose]()
    await this.hub[Symbol.asyncDispose]()
  }
}

/** Root's path units see to it, unless a test does what they do itself. */
class RootedHost implements AsyncDisposable {
  readonly supervised: SupervisedAgent
  readonly #serving: Promise<void>
  #isOver = false

  constructor(supervised: SupervisedAgent, isServed = true) {
    this.supervised = supervised
    this.#serving = isServed ? this.#serve() : Promise.resolve()
  }

  static async enrol(
    toHub: TestHub,
    executable: string,
    hostname: string,
    updateUrl: string,
  ): Promise<RootedHost> {
    const agent = await InstalledAgent.create(executable)
    const dataDir = join(agent.directory, 'data')
    await mkdir(dataDir)
    if (process.getuid?.() === 0) await chown(dataDir, AGENT_USER, AGENT_USER)
    const environment = agentEnvironment(toHub, { hostname, dataDir })
    agent.env = {
      PATH: '/nonexistent',
      ...environment,
      SVC_ENROLL_TOKEN: await toHub.createToken({ hostname }),
    }
    const { status, stderr } = await agent.command('enroll')
    assert.equal(status, 0, stderr)
    const more = { ...environment, SVC_AGENT_UPDATE_URL: updateUrl }
    return new RootedHost(await SupervisedAgent.start(agent, more))
  }

  get agent(): InstalledAgent {
    return this.supervised.agent
  }

  version(): Promise<string> {
    return this.agent.version()
  }

  async #serve(): Promise<void> {
    const { binary } = this.agent
    while (!this.#isOver) {
      if (existsSync(`${binary}.update`)) await this.supervised.watch()
      else if (existsSync(join(this.supervised.dataDir, 'state/update-request'))) {
        await this.supervised.applyAnnounced()
      }
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true
    await this.#serving
    await this.supervised[Symbol.asyncDispose]()
  }
}
