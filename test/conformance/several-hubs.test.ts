// Several hubs that share one vault. docs/protocol.md HUB.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type IncomingMessage, request as httpRequest } from 'node:http'
import { join as joinPath } from 'node:path'
import { cp, readFile, writeFile } from 'node:fs/promises'
import { hostname as machineName } from 'node:os'
import { after, before, describe, test } from 'node:test'
import { postgresProgram, skipUnlessRunnable } from '../services/support/required-programs.ts'
import { createKeyAndCsr, enrollHost, type EnrolledHost } from '../support/enrolled-host.ts'
import type { HubProcess } from '../support/hub-process.ts'
import type { AdminHubRow } from '../../src/protocol/admin/hubs.ts'
import { createSampleRoot } from '../support/sample-roots.ts'
import { runSvcHere } from '../support/run-svc.ts'
import { runProgram, waitUntil } from '../support/processes.ts'
import type { RunningCa } from '../support/running-ca.ts'
import { type SeveralHubs, startSeveralHubs } from '../support/several-hubs.ts'
import { startSilentCommits } from '../support/silent-commits.ts'
import { openStream } from '../support/stream-client.ts'
import { startTestCa } from '../support/test-hub.ts'
import { post, send } from '../support/wire-client.ts'

const USES = 24

interface Hubs {
  readonly hubs: readonly AdminHubRow[]
}

function assertOwn({ hubs }: Hubs): AdminHubRow {
  return hubs.find(({ is_this: isThis }) => isThis) ?? assert.fail('the hub that answers')
}

function hasEnded(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return false
  } catch {
    return true
  }
}

describe(
  'several hubs with one vault',
  { skip: skipUnlessRunnable([postgresProgram('postgres')]) },
  () => {
    let ca: RunningCa
    let hubs: SeveralHubs
    let here: HubProcess
    let there: HubProcess
    before(async () => {
      ca = await startTestCa()
      hubs = await startSeveralHubs(2, { caEnvironment: ca.environment })
      const [first, second] = hubs.all
      assert.ok(first && second)
      here = first
      there = second
    })
    after(async () => {
      await hubs[Symbol.asyncDispose]()
      await ca[Symbol.asyncDispose]()
    })

    const manifestAt = async (hub: HubProcess, host: EnrolledHost): Promise<number> =>
      (await send({ ...host.mtls, port: hub.ports.mtls }, { method: 'GET', path: '/v1/manifest' }))
        .status

    test('[HUB-4] what one of them has answered, each of them knows at the next request', async () => {
      for (let round = 0; round < 10; round += 1) {
        const hostname = `known-${round}.example.org`
        const token = await here.createToken({ hostname })
        const { csrPem } = await createKeyAndCsr(hostname)
        const body = { token, hostname, role: 'web', csr_pem: csrPem }
        const reply = await post({ port: there.ports.enroll }, '/v1/enroll', body)
        assert.equal(reply.status, 200)
        const again = await post({ port: here.ports.enroll }, '/v1/enroll', body)
        assert.equal(again.json['error'], 'token_consumed')
      }
    })

    test('[HUB-4] [HUB-7] a revocation at one of them is refused at the other from the next request on, streams included', async () => {
      const host = await enrollHost(here, 'revoked.example.org')
      assert.equal(await manifestAt(there, host), 200)
      const stream = await openStream({ ...host.mtls, port: there.ports.mtls })
      await here.admin('POST', '/v1/admin/agentes/revoke', { agente: host.hostname })
      assert.equal(await manifestAt(there, host), 401)
      const startMs = performance.now()
      await waitUntil('the stream to end', () => stream.hasEnded() || undefined)
      assert.ok(performance.now() - startMs < 1000)
    })

    test('[DOR-10] an entry of one of them rings at the other within a second, and once', async () => {
      const request = httpRequest({
        socketPath: joinPath(there.vaultRoot, 'admin.sock'),
        path: '/v1/admin/changes',
      })
      request.end()
      const [response] = (await once(request, 'response')) as [IncomingMessage]
      let text = ''
      response.setEncoding('utf8').on('data', (part: string) => {
        text += part
      })
      await waitUntil('the beginning', () => text.includes('event: hello') || undefined)
      const host = await enrollHost(here, 'rings.example.org')
      const startMs = performance.now()
      await here.admin('POST', `/v1/push/${host.hostname}`, { acao: 'sync' })
      const rings = (): number =>
        text.split(`"tipo":"agent_sync_requested","agente_id":"${host.agentId}"`).length - 1
      await waitUntil('the ring', () => rings() === 1 || undefined)
      assert.ok(performance.now() - startMs < 1000)
      request.destroy()
    })

    test(`[HUB-9] one token, ${USES} times at once at both: one success`, async () => {
      const hostname = 'once.example.org'
      const token = await here.createToken({ hostname })
      const attempts = Array.from({ length: USES }, async (_, at) => {
        const { csrPem } = await createKeyAndCsr(hostname)
        const hub = at % 2 === 0 ? here : there
        const body = { token, hostname, role: 'web', csr_pem: csrPem }
        return post({ port: hub.ports.enroll }, '/v1/enroll', body)
      })
      const replies = await Promise.all(attempts)
      const statuses = replies.map(({ status }) => status).toSorted((a, b) => a - b)
      assert.deepEqual(statuses, [200, ...Array.from({ length: USES - 1 }, () => 401)])
    })

    test(`[JNR-6] a join rule for 10, ${USES} hosts at once at both: ten join`, async () => {
      const { token } = await here.admin<{ token: string }>('POST', '/v1/admin/join-rules', {
        name: 'ten',
        method: 'token',
        pattern: 'join-*.example.org',
        role: 'web',
        hosts_max: 10,
      })
      const join = async (at: number): Promise<unknown> => {
        const hostname = `join-${at}.example.org`
        const { csrPem } = await createKeyAndCsr(hostname)
        const body = { token, hostname, role: 'web', csr_pem: csrPem }
        const hub = at % 2 === 0 ? here : there
        const { status, json } = await post({ port: hub.ports.enroll }, '/v1/enroll', body)
        // As agents do.
        return status === 503 ? join(at) : (json['error'] ?? 'joined')
      }
      const outcomes = await Promise.all(Array.from({ length: USES }, (_, at) => join(at)))
      const countOf = (outcome: string): number =>
        outcomes.filter((each) => each === outcome).length
      assert.deepEqual([countOf('joined'), countOf('token_expired')], [10, USES - 10])
      const rule = await there.admin<{ hosts: number; state: string }>(
        'POST',
        '/v1/admin/join-rules/show',
        { join_rule: 'ten' },
      )
      assert.deepEqual([rule.hosts, rule.state], [10, 'full'])
    })

    test('[HUB-11] ten mismatches of a token are ten in all', async () => {
      const token = await here.createToken({ hostname: 'ten.example.org' })
      const use = async (hub: HubProcess, hostname: string): Promise<unknown> => {
        const { csrPem } = await createKeyAndCsr(hostname)
        const body = { token, hostname, role: 'web', csr_pem: csrPem }
        return (await post({ port: hub.ports.enroll }, '/v1/enroll', body)).json['error']
      }
      for (let at = 0; at < 5; at += 1) {
        assert.equal(await use(here, 'other.example.org'), 'hostname_mismatch')
        assert.equal(await use(there, 'other.example.org'), 'hostname_mismatch')
      }
      assert.match(String(await use(there, 'ten.example.org')), /^token_/)
    })

    test('[HUB-7] news reach a stream at another hub', async () => {
      const host = await enrollHost(here, 'news.example.org')
      const stream = await openStream({ ...host.mtls, port: there.ports.mtls })
      const earlier = await stream.next()
      const request = {
        tipo: 'csr_cert',
        nome: 'site',
        agentes: [host.hostname],
        roles: [],
        sans: [],
      }
      await here.admin('POST', '/v1/admin/cargas', request)
      const news = await stream.next()
      assert.equal(news.event, 'manifest')
      assert.notEqual(news.id, earlier.id)
      stream.close()
    })

    test('[HUB-6] [HUB-10] a hub that is killed: the other goes on, and takes over what one does at a time', async () => {
      const leader = [here, there].find((hub) => hub.logText().includes('"lease":"jobs"')) ?? here
      const other = leader === here ? there : here
      await leader.stop('SIGKILL')
      await enrollHost(other, 'after.example.org')
      const rows = async (): Promise<readonly AdminHubRow[]> =>
        (await other.admin<Hubs>('GET', '/v1/admin/hubs')).hubs
      const gone = await waitUntil('the killed hub to be silent', async () =>
        (await rows()).find(({ state }) => state === 'silent'),
      )
      assert.equal((await rows()).find(({ is_this: isThis }) => isThis)?.state, 'running')
      await waitUntil(
        'the jobs to go on',
        () => other.logText().includes('"lease":"jobs"') || undefined,
        30_000,
      )
      const refused = await runSvcHere(['hubs', 'remove', 'nobody'], other.environment)
      assert.match(refused.stderr, /^svc: error: no hub nobody shares the vault\n/)
      const removed = await runSvcHere(['hubs', 'remove', gone.id], other.environment)
      assert.equal(removed.stdout, `hub ${gone.id} at ${gone.host} removed\n`)
      assert.equal((await rows()).length, 1)
      await leader.start()
      await enrollHost(leader, 'again.example.org')
      const listed = await runSvcHere(['hubs', 'list'], leader.environment)
      assert.equal(listed.stdout.match(/ {2}running {2}/g)?.length, 2, listed.stdout)
      const { stdout } = await runSvcHere(
        ['evento', 'list', '--verify', '--json'],
        leader.environment,
      )
      const { eventos } = JSON.parse(stdout) as { eventos: { tipo_evento: string }[] }
      const types = eventos.map(({ tipo_evento: type }) => type)
      assert.equal(types.filter((type) => type === 'hub_joined').length, 3)
      assert.equal(types.filter((type) => type === 'hub_removed').length, 1)
    })

    test('[HUB-5] a hub that is removed while it runs ends', async () => {
      const { id } = assertOwn(await there.admin<Hubs>('GET', '/v1/admin/hubs'))
      const runs = await runSvcHere(['hubs', 'remove', id], here.environment)
      assert.match(runs.stderr, /^svc: error: hub \S+ at \S+ runs: stop it first\n/)
      const { pid } = there
      await runSvcHere(['hubs', 'remove', id, '--force'], here.environment)
      await waitUntil('the hub to end', () => hasEnded(pid) || undefined)
      assert.match(there.logText(), /error: this hub was removed/)
      await there.start()
    })

    test('[HUB-3] no hub answers while the database is away, and all do when it is back', async () => {
      const host = await enrollHost(here, 'away.example.org')
      hubs.server.kill('SIGKILL')
      await waitUntil('503', async () => (await manifestAt(there, host)) === 503 || undefined)
      assert.equal(await manifestAt(here, host), 503)
      await hubs.server.startAgain()
      for (const hub of hubs.all) {
        await waitUntil('200', async () => (await manifestAt(hub, host)) === 200 || undefined)
      }
    })

    test('[HUB-13] a stream ends within a second of a revocation elsewhere, though its hub waits for a COMMIT of its own', async (context) => {
      const [{ port } = { port: 0 }] = hubs.server.servers.hosts
      await using proxy = await startSilentCommits(port)
      await there.stop()
      const proxied = `postgresql://svc@127.0.0.1:${proxy.port}/postgres`
      await there.start({ SVC_DATABASE_URL: proxied })
      const [held, other] = [
        await enrollHost(there, 'held.example.org'),
        await enrollHost(there, 'other.example.net'),
      ]
      const stream = await openStream({ ...held.mtls, port: there.ports.mtls })
      await stream.next()
      proxy.isSilent = true
      const event = { tipo_evento: 'agent_started', payload: {} }
      const unanswered = post({ ...other.mtls, port: there.ports.mtls }, '/v1/events', event)
      // A beat, and the event.
      await waitUntil('COMMITs of which nobody hears', () => proxy.unheard >= 2 || undefined)
      await here.admin('POST', '/v1/admin/agentes/revoke', { agente: held.hostname })
      const startMs = performance.now()
      await waitUntil('the stream to end', () => stream.hasEnded() || undefined)
      const tookMs = performance.now() - startMs
      context.diagnostic(`the stream ended after ${(tookMs / 1000).toFixed(2)} s`)
      assert.ok(tookMs < 1000, `${tookMs} ms`)
      proxy.isSilent = false
      assert.equal((await unanswered).status, 200)
      assert.equal(await manifestAt(there, held), 401)
      await there.stop()
      await there.start()
    })

    test('[HUB-1] [HUB-2] a vault that is copied with its id is refused, and the database has no name in the clear', async () => {
      const copy = `${there.vaultRoot}.copy`
      await cp(there.vaultRoot, copy, {
        recursive: true,
        filter: (path) => !path.endsWith('.sock'),
      })
      const twin = await runProgram('svc-server', [], {
        ...there.environment,
        SVC_VAULT_ROOT: copy,
      })
      assert.notEqual(twin.status, 0)
      assert.match(twin.stderr, new RegExp(`hub \\S+ is running already at ${machineName()}`))
      const rows = JSON.stringify(await hubs.server.query('SELECT * FROM hub'))
      for (const buffer of await hubs.server.query('SELECT selado FROM hub')) {
        const { selado } = buffer as { selado: Buffer }
        assert.ok(!selado.includes(machineName()))
      }
      assert.ok(!rows.includes(machineName()))
    })

    test('[HUB-8] roots that one puts in force, each has', async () => {
      const path = here.environment['SVC_CA_ROOT_CA_PATH'] ?? assert.fail()
      const another = await createSampleRoot('Another', new Date(Date.now() + 86_400_000))
      const known = await readFile(path, 'utf8')
      await writeFile(path, `${known}${another.pem}`)
      try {
        const updated = await runSvcHere(['bundle', 'update'], here.environment)
        assert.equal(updated.status, 0, updated.stderr)
      } finally {
        await writeFile(path, known)
      }
      const host = await enrollHost(there, 'roots.example.org')
      await waitUntil('the other hub to have the roots', async () => {
        const target = { ...host.mtls, port: there.ports.mtls }
        const { json } = await send(target, { method: 'GET', path: '/v1/bundle' })
        return (json['roots'] as string[]).length === 2 || undefined
      })
    })
  },
)
